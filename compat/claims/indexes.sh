#!/usr/bin/env bash
# Claim 18 by rowhouse's own indexes, which the Java client does not declare:  indexes.sh BINARY
set -euo pipefail
claims="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
binary="$(realpath "$1")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"

columns='f:c city string'
for column in 0 1 2 3 4 5 6 7 8; do columns="$columns; f:q$column q$column string"; done
# 20,000 rows of 200 cities, with nine columns of 20 characters.
awk 'BEGIN {
  printf "id,city"; for (column = 0; column < 9; column++) printf ",q%d", column; print ""
  for (row = 0; row < 20000; row++) {
    printf "%d,city%04d", row, row % 200; for (column = 0; column < 9; column++) printf ",%020d", row; print ""
  }
}' >people.csv

shell() { # COMMANDS
  echo "$1" >commands
  "$binary" shell --data data commands >answer 2>&1
}

measure() { # TABLE CASE INDEX
  shell "create '$1', 'f', KEY => '[id digits 8]', COLUMNS => '$columns', INDEXES => '$3'"
  "$binary" import "$1" people.csv --data data --progress "$1.progress" >&2
  shell "flush '$1'
flush '$1.by_city'"
  shell "explain '$1', \"city = 'city0007'\", COLUMNS => ['q0', 'q1'], LIMIT => 20, ANALYZE => 'json'"
  sed -n 's/.*"total":{[^}]*"cells_read":\([0-9]*\),.*"bytes_cached":\([0-9]*\),"bytes_from_disk":\([0-9]*\)}.*/\1 \2 \3/p' answer >reads
  [ -s reads ] || { echo "FAIL not analyzed: $1" >&2; cat answer >&2; exit 1; }
  read -r cells cached disk <reads
  bytes="$("$binary" stats data --table "$1.by_city" --json | grep -o '"file_bytes": *[0-9]*' | grep -o '[0-9]*')"
  printf '18\t%s\trowhouse\t%s\t%s\n' "$2" "bytes of files" "$bytes" "$2" "bytes of blocks read" $((cached + disk)) "$2" "cells looked at" "$cells"
}

{
  measure references "rowhouse's own index of references" 'by_city [city]'
  measure copies "rowhouse's own index with copies of two columns" 'by_city [city] covers q0, q1'
} | tee results.tsv
awk -F'\t' '$2 !~ /^rowhouse.s own/' "$claims/results.tsv" >kept
sort -t"$(printf '\t')" -s -k1,1n kept results.tsv >"$claims/results.tsv"
