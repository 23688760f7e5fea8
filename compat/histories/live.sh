#!/usr/bin/env bash
# Fresh random histories on Apache HBase, and the same on a rowhouse binary:  live.sh BINARY [COUNT [FIRST]]
set -euo pipefail
compat="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
binary="$(realpath "$1")"
count="${2:-100}"
first="${3:-$(($(date +%s) % 1000000 * 1000))}"
. "$compat/steps.sh" # free_port
work="$(mktemp -d)"
export APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
zookeeper="127.0.0.1:$(free_port)"
pid=""
trap finish EXIT

finish() {
  local status=$?
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
  "$compat/apache-hbase/stop.sh" 2>/dev/null || true
  if [ "$status" = 0 ]; then rm -rf "$work"; else echo "FAIL; the histories from $first on, with Apache's answers, are in $work/histories.txt" >&2; fi
}

"$compat/java/run.sh"
"$compat/apache-hbase/start.sh"
timeout $((60 + count)) "$compat/java/run.sh" History zk "127.0.0.1:$APACHE_ZOOKEEPER_PORT" record "$work/histories.txt" "$first" "$count"
"$compat/apache-hbase/stop.sh"
"$binary" serve --data "$work/rowhouse" --listen "127.0.0.1:$(free_port)" --zookeeper "$zookeeper" >"$work/rowhouse.log" 2>&1 </dev/null &
pid=$!
for _ in $(seq 100); do
  (exec 3<>"/dev/tcp/${zookeeper/://}") 2>/dev/null && break
  sleep 0.1
done
timeout $((60 + count)) "$compat/java/run.sh" History zk "$zookeeper" replay "$work/histories.txt"
