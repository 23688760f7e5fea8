#!/usr/bin/env bash
# Measure the claims of docs/claims.md on Apache HBase and on rowhouse:  run.sh BINARY [GROUP...]
# Writes results.tsv: claim, case, server, measure, value. With groups named, it replaces the lines of their claims alone.
set -euo pipefail
claims="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$claims/../steps.sh"
binary="$(realpath "$1")"
shift
groups=("$@")
[ $# -gt 0 ] || groups=(pages reads sizes neighbours writes shapes)
work="$(mktemp -d)"
export APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
listen="127.0.0.1:$(free_port)" zookeeper="127.0.0.1:$(free_port)" web="127.0.0.1:$(free_port)"
pid=""
trap finish EXIT

finish() {
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
  "$here/apache-hbase/stop.sh" 2>/dev/null || true
  rm -rf "$work"
}

measure() { # REGISTRY ADDRESS SERVER PID FILES
  java -Xmx1g -Djava.net.preferIPv4Stack=true -Dlog.level=ERROR --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/java.lang=ALL-UNNAMED \
    -cp "$claims/target:$here/java/target/classes:$here/java/target/lib/*" Claims "$@" "${groups[@]}" | tee -a "$work/results.tsv"
}

analyze() { # the reads of analyze.tsv whose tables are there, on the data directory: rowhouse counts blocks only there
  while IFS=$'\t' read -r claim name command; do
    echo "$command" >"$work/command"
    "$binary" shell --data "$work/rowhouse" "$work/command" >"$work/answer" 2>&1 || true
    ! grep -q 'ERROR: Unknown table' "$work/answer" || continue
    sed -n 's/.*"total":{[^}]*"bytes_cached":\([0-9]*\),"bytes_from_disk":\([0-9]*\)}.*/\1 \2/p' "$work/answer" >"$work/bytes"
    [ -s "$work/bytes" ] || { echo "FAIL not analyzed: $command" >&2; cat "$work/answer" >&2; exit 1; }
    read -r cached disk <"$work/bytes"
    printf '%s\t%s\trowhouse\tbytes of blocks read\t%s\n' "$claim" "$name" $((cached + disk)) | tee -a "$work/results.tsv"
  done <"$claims/analyze.tsv"
}

# Bytes of the indexes of blocks, before compression, of the tables of index.tsv that are there.
rowhouse_indexes() {
  while IFS=$'\t' read -r claim name table; do
    "$binary" stats "$work/rowhouse" --table "$table" --json >"$work/answer" 2>/dev/null || continue
    bytes="$(sed -n 's/.*"index_bytes":\s*\([0-9]*\).*/\1/p' "$work/answer")"
    [ -z "$bytes" ] || printf '%s\t%s\trowhouse\tbytes of the index\t%s\n' "$claim" "$name" "$bytes" | tee -a "$work/results.tsv"
  done <"$claims/index.tsv"
}

apache_indexes() {
  while IFS=$'\t' read -r claim name table; do
    file="$(find "$APACHE_DATA/hbase/data/default/$table" -type f 2>/dev/null | grep -E '/[0-9a-f]{32}$' || true)"
    [ -n "$file" ] || continue
    bytes="$("$binary" hfile "$file" | sed -n 's/^index .* \([0-9]*\) bytes before compression/\1/p')"
    printf '%s\t%s\tApache HBase\tbytes of the index\t%s\n' "$claim" "$name" "$bytes" | tee -a "$work/results.tsv"
  done <"$claims/index.tsv"
}

"$here/java/run.sh"
mkdir -p "$claims/target"
javac -d "$claims/target" -cp "$here/java/target/classes:$here/java/target/lib/*" "$claims"/src/*.java

"$binary" serve --data "$work/rowhouse" --listen "$listen" --zookeeper "$zookeeper" --web "$web" >"$work/rowhouse.log" 2>&1 </dev/null &
pid=$!
sleep 1
measure rpc "$listen" rowhouse "$pid" "http://$web"
kill -TERM "$pid"
wait "$pid" || true
pid=""
analyze
rowhouse_indexes

"$here/apache-hbase/start.sh" >&2
measure rpc "localhost:$APACHE_REGIONSERVER_PORT" "Apache HBase" "$(cat "$APACHE_DATA/hbase.pid")" "$APACHE_DATA/hbase"
apache_indexes

cut -f1 "$work/results.tsv" | sort -u >"$work/measured"
[ ! -e "$claims/results.tsv" ] || awk -F'\t' 'NR == FNR {new[$1]; next} !($1 in new)' "$work/measured" "$claims/results.tsv" >"$work/kept"
touch "$work/kept"
sort -t"$(printf '\t')" -s -k1,1n "$work/kept" "$work/results.tsv" >"$claims/results.tsv"
