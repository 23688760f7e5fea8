#!/usr/bin/env bash
# Apache HBase replicates to rowhouse while both are killed and its regions are split and moved:
#   replication.sh BINARY [MUTATIONS [ROUNDS]]
# Nothing is installed on HBase's side: peers are added as docs/moving.md says.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
begin "$1"
mutations="${2:-60000}"
rounds="${3:-3}"
export APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT=0
export APACHE_MASTER_OPTIONS="--localRegionServers=2" # regions can move
source_zookeeper="127.0.0.1:$APACHE_ZOOKEEPER_PORT"
zookeeper="127.0.0.1:$(free_port)"
listen="127.0.0.1:$(free_port)"
trap end EXIT

end() {
  local status=$?
  set +e
  "$here/apache-hbase/stop.sh" KILL
  (exit "$status")
  finish
}

start_sink() {
  "$binary" serve --data "$work/sink" --listen "$listen" --zookeeper "$zookeeper" >>"$log" 2>&1 </dev/null &
  pid=$!
  wait_for_port "$zookeeper" "$pid" "$log"
}

kill_sink() {
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null || true
  pid=""
}

"$here/java/run.sh"
"$here/apache-hbase/start.sh"
start_sink
step 120 Replicated zk "$source_zookeeper" create "$zookeeper"
for round in $(seq "$rounds"); do
  timeout 900 "$here/java/run.sh" Replicated zk "$source_zookeeper" write "$round" "$((mutations / rounds))" &
  writer=$!
  for _ in 1 2 3; do
    sleep 2
    kill_sink
    sleep 1
    start_sink
  done
  step 400 Replicated zk "$source_zookeeper" disturb
  wait "$writer"
  if [ "$round" != "$rounds" ]; then
    "$here/apache-hbase/stop.sh" KILL
    "$here/apache-hbase/start.sh"
  fi
done
step 900 Replicated zk "$source_zookeeper" compare "$zookeeper" 600
grep -o 'failed.*panicked' "$log" && exit 1
echo "ok replication: $mutations mutations, $rounds kills of the source, $((3 * rounds)) of the sink, in $SECONDS s"
