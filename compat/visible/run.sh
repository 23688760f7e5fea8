#!/usr/bin/env bash
# What Apache HBase's query matchers let through of random cells, for the tests of rowhouse-store:
#   run.sh            writes it
#   run.sh --check    makes it again and compares; status 1 on any difference
# One case a line, fields parted by tabs:
#   VERSIONS, MIN_VERSIONS, TTL in seconds, KEEP_DELETED_CELLS, what deletes go by (NEW_VERSION_BEHAVIOR: sequence)
#   the time, in milliseconds
#   cells in order: QUALIFIER@TIMESTAMP, x c v f for a delete of a version, column, family's version, family; #SEQUENCE; ~TTL of its own
#   read or raw, versions, time range, whether a filter lets only odd timestamps through, columns with ' in front; or major, minor
#   the places of the cells that are let through
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
golden="$here/../../crates/rowhouse-store/tests/fixtures/visible.txt"
made="$(mktemp)"
trap 'rm -f "$made"' EXIT
LOG_LEVEL=ERROR "$here/../apache-hbase/tool.sh" "$here/Visible.java" >"$made"
case "${1:-}" in
  --check) diff -u "$golden" "$made" | head -50; cmp "$golden" "$made" ;;
  "") cat "$made" >"$golden" ;;
  *) echo "usage: run.sh [--check]" >&2; exit 2 ;;
esac
