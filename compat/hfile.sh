#!/usr/bin/env bash
# Let Apache HBase read HFiles to the last cell:  hfile.sh DIR|FILE...     (of a DIR, every *.hfile under it)
# Fails when its HFilePrettyPrinter fails or complains, or scans another number of cells than the trailer names, or
# when a block's checksum does not fit (see apache-hbase/Checksums.java).
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
mapfile -d '' -t files < <(for path in "$@"; do
  if [ -d "$path" ]; then find "$(realpath "$path")" -name '*.hfile' -type f -print0 | sort -z
  else printf '%s\0' "$(realpath "$path")"; fi
done)
[ "${#files[@]}" -gt 0 ] || { echo "FAIL no HFile in: $*" >&2; exit 1; }

"$here/apache-hbase/fetch.sh"
failed=0
LOG_LEVEL=ERROR "$here/apache-hbase/tool.sh" "$here/apache-hbase/Checksums.java" "${files[@]}" || failed=1
for file in "${files[@]}"; do
  status=0
  # It reports broken rows and files it cannot open on stderr or in its log, and exits with 0 all the same.
  output="$("$here/apache-hbase/tool.sh" org.apache.hadoop.hbase.io.hfile.HFilePrettyPrinter -m -k -s -f "file://$file" 2>&1)" || status=$?
  named="$(sed -n 's/^ *entryCount=\([0-9]*\),$/\1/p' <<<"$output")"
  scanned="$(sed -n '/^ *Val length:/,/count/s/^ *count = //p' <<<"$output")"
  if [ "$status" = 0 ] && [ -n "$named" ] && [ "${scanned:-0}" = "$named" ] && ! grep -qE 'WARNING,|ERROR|Exception' <<<"$output"; then
    echo "ok $file: $named cells"
  else
    echo "FAIL $file: status $status, trailer names ${named:-no} cells, ${scanned:-0} scanned"
    grep -E 'WARNING,|ERROR|Exception' <<<"$output" | head -5 || true
    failed=1
  fi
done
exit "$failed"
