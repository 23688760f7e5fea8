#!/usr/bin/env bash
# What HBase's own filters, filter language and regular expressions answer, as tests of rowhouse:
#   filters.sh            writes the files
#   filters.sh --check    makes them again and compares; status 1 on any difference
# Needs no server: only the stock client, which java/run.sh fetches.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
crates="$(cd "$here/../crates" && pwd)"
made="$(mktemp -d)"
trap 'rm -rf "$made"' EXIT
"$here/java/run.sh" FilterAnswers "$made"

status=0
for file in rowhouse-format/filter-answers rowhouse-format/filter-texts rowhouse-filter/filter-verdicts rowhouse-filter/filter-regexes; do
  name="${file#*/}.txt"
  golden="$crates/${file%%/*}/tests/golden"
  if [ "${1:-}" = --check ]; then
    diff -u "$golden/$name" "$made/$name" || status=1
  else
    mkdir -p "$golden"
    cp "$made/$name" "$golden/$name"
  fi
done
[ "$status" != 0 ] || echo "filters.sh: answers as recorded"
exit "$status"
