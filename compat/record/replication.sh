#!/usr/bin/env bash
# Record what a source of Apache HBase ships to a sink, and the cells that both then have:  replication.sh BINARY OUT_DIR
# The test of crates/rowhouse-server/tests/all/replication.rs replays it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
begin "$1"
out="$2"
export APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
source_zookeeper="127.0.0.1:$APACHE_ZOOKEEPER_PORT"
zookeeper="127.0.0.1:$(free_port)"
listen="127.0.0.1:$(free_port)"
proxy="127.0.0.1:$(free_port)"
trap end EXIT

end() {
  local status=$?
  set +e
  "$here/apache-hbase/stop.sh" KILL
  (exit "$status")
  finish
}

"$here/java/run.sh"
"$here/apache-hbase/start.sh"
"$binary" serve --data "$work/sink" --listen "$listen" --advertise "$proxy" --zookeeper "$zookeeper" >"$log" 2>&1 </dev/null &
pid=$!
wait_for_port "$zookeeper" "$pid" "$log"
coproc recorder { exec python3 "$here/record/proxy.py" "$work/conversations" replication "sink=$proxy=$listen"; }
recorder_pid=$recorder_PID
read -r _ <&"${recorder[0]}"
step 120 Replicated zk "$source_zookeeper" create "$zookeeper"
step 120 Replicated zk "$source_zookeeper" write 1 400
for table in every some ordered; do step 120 Replicated zk "$source_zookeeper" equal "$zookeeper" 100 "$table"; done
rm -rf "$out"
mkdir -p "$out"
"$here/java/run.sh" Replicated zk "$source_zookeeper" dump >"$out/cells.txt"
"$here/apache-hbase/stop.sh"
kill "$recorder_pid"
wait "$recorder_pid" || true
for file in "$work"/conversations/*.conv; do # of the source alone
  if grep -q 41646d696e53657276696365 "$file" && ! grep -q 4d617374657253657276696365 "$file"; then cp "$file" "$out/"; fi
done
ls -l "$out"
