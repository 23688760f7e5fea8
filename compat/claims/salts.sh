#!/usr/bin/env bash
# Claim 1, on four region servers with the same limit, 500 requests a second each:  salts.sh BINARY
set -euo pipefail
claims="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$claims/../steps.sh"
binary="$(realpath "$1")"
work="$(mktemp -d)"
APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
. "$here/apache-hbase/env.sh"
listen="127.0.0.1:$(free_port)" zookeeper="127.0.0.1:$(free_port)"
pid=""
trap finish EXIT

finish() {
  [ -z "$pid" ] || { kill -TERM "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; } || true
  rm -rf "$work"
}

measure() { # SERVER ADDRESS OF ZOOKEEPER
  java -Xmx1g -Djava.net.preferIPv4Stack=true --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/java.lang=ALL-UNNAMED \
    -cp "$claims/target:$here/java/target/classes:$here/java/target/lib/*" Claims zk "$2" "$1" "$pid" http://none salts >>"$work/results.tsv"
  kill -TERM "$pid"
  wait "$pid" || true
  pid=""
}

"$here/java/run.sh"
"$here/apache-hbase/fetch.sh"
mkdir -p "$claims/target"
javac -d "$claims/target" -cp "$here/java/target/classes:$here/java/target/lib/*" "$claims"/src/*.java
"$binary" serve --data "$work/rowhouse" --listen "$listen" --zookeeper "$zookeeper" --no-web --region-servers 4 --ops-per-server 500 >"$work/rowhouse.log" 2>&1 </dev/null &
pid=$!
sleep 1
measure rowhouse "$zookeeper"

mkdir -p "$APACHE_DATA"
(apache_hbase_java -Xmx1g org.apache.hadoop.hbase.master.HMaster -D hbase.master.port=0 -D hbase.regionserver.port=0 \
  -D hbase.quota.enabled=true --localRegionServers=4 start) >"$work/apache.out" 2>"$work/apache.log" </dev/null &
pid=$!
for _ in $(seq 300); do
  ! grep -q 'Master has completed initialization' "$work/apache.log" || break
  kill -0 "$pid" 2>/dev/null || { tail -20 "$work/apache.log" >&2; exit 1; }
  sleep 0.2
done
measure "Apache HBase" "127.0.0.1:$APACHE_ZOOKEEPER_PORT"
cat "$work/results.tsv"

awk -F'\t' '$1 != 1' "$claims/results.tsv" >"$work/kept"
cat "$work/results.tsv" "$work/kept" >"$claims/results.tsv"
