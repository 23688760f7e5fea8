#!/usr/bin/env bash
# Records the calls of record.py with the answers of Apache's gateway 2.6.1 over an Apache HBase, both started for it, or
# compares them with what is recorded:  record.sh [--check]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../steps.sh" # free_port, and $here is compat/
thrift="$here/thrift"
recorded="$here/../crates/rowhouse-server/tests/all/thrift/calls.txt"
work="$(mktemp -d)"
log="$work/gateway.log"
pid=""
export APACHE_DATA="$work" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
address="127.0.0.1:$(free_port)"
trap '"$here/apache-hbase/stop.sh"; finish' EXIT

"$here/apache-hbase/start.sh"
"$thrift/apache.sh" "$address" >"$log" 2>&1 </dev/null &
pid=$!
for _ in $(seq 60); do
  grep -q 'starting HBase ThreadPool Thrift server' "$log" && break
  sleep 0.5
done
wait_for_port "$address" "$pid" "$log"
timeout 300 python3 "$thrift/record.py" "$address" >"$work/calls.txt"
if [ "${1:-}" = --check ]; then
  diff "$recorded" "$work/calls.txt"
  echo "ok $(grep -c '^>' "$work/calls.txt") calls of Thrift are answered as recorded"
else
  cp "$work/calls.txt" "$recorded"
fi
