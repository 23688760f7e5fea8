#!/usr/bin/env bash
# Where Apache HBase's RegionSplitter has regions begin, for the shell's NUMREGIONS and SPLITALGO:
#   run.sh            writes it
#   run.sh --check    makes it again and compares; status 1 on any difference
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
golden="$here/../../crates/rowhouse-cli/src/shell/commands/golden/splits.txt"
made="$(mktemp)"
trap 'rm -f "$made"' EXIT
LOG_LEVEL=ERROR "$here/../apache-hbase/tool.sh" "$here/Splits.java" >"$made"
case "${1:-}" in
  --check) diff -u "$golden" "$made" | cut -c1-200 | head -50; cmp "$golden" "$made" ;;
  "") cat "$made" >"$golden" ;;
  *) echo "usage: run.sh [--check]" >&2; exit 2 ;;
esac
