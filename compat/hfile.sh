#!/usr/bin/env bash
# Let Apache HBase read HFiles to the last cell:  hfile.sh DIR|FILE...     (of a DIR, every *.hfile under it)
# Fails when its HFilePrettyPrinter fails or complains, or scans another number of cells than the trailer names, or
# when a block's checksum does not fit (see apache-hbase/VerifyHFiles.java).
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
mapfile -d '' -t files < <(for path in "$@"; do
  if [ -d "$path" ]; then find "$(realpath "$path")" -name '*.hfile' -type f -print0 | sort -z
  else printf '%s\0' "$(realpath "$path")"; fi
done)
[ "${#files[@]}" -gt 0 ] || { echo "FAIL no HFile in: $*" >&2; exit 1; }

"$here/apache-hbase/fetch.sh"
status=0
output="$(LOG_LEVEL=ERROR "$here/apache-hbase/tool.sh" "$here/apache-hbase/VerifyHFiles.java" "${files[@]}" 2>&1)" || status=$?
echo "$output"
# What it cannot open it may tell in its log alone.
[ "$status" = 0 ] && ! grep -qE '(ERROR|Exception)' <<<"$output"
