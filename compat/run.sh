#!/usr/bin/env bash
# Put a rowhouse binary through the stock Apache HBase client:  run.sh BINARY
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
begin "$1"
data="$work/data"

launch() {
  "$binary" serve --data "$data" --listen "$bootstrap" --zookeeper "$zookeeper" "$@" >>"$log" 2>&1 </dev/null &
  pid=$!
}

start() {
  launch "$@"
  for _ in $(seq 300); do
    (exec 3<>"/dev/tcp/${bootstrap/://}") 2>/dev/null && return
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  echo "FAIL the server does not listen on $bootstrap" >&2
  exit 1
}

crash() {
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null || true
  pid=""
}

stop() { # It is to exit by itself within two seconds, with status 0.
  local began status=0
  began="$(date +%s%N)"
  kill -TERM "$pid"
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  ! kill -0 "$pid" 2>/dev/null || { echo "FAIL the server is still there 10 s after SIGTERM" >&2; exit 1; }
  wait "$pid" || status=$?
  pid=""
  local took=$((($(date +%s%N) - began) / 1000000))
  [ "$status" = 0 ] || { echo "FAIL exit status $status after SIGTERM" >&2; exit 1; }
  [ "$took" -le 2500 ] || { echo "FAIL it took $took ms to stop" >&2; exit 1; }
  echo "ok stopped in $took ms"
}

# What is refused so far, by name; everything else must be as on Apache HBase.
export JAVA_OPTIONS="-Dnot.yet=$here/not-yet.txt"
zookeeper="127.0.0.1:$(free_port)"
bootstrap="127.0.0.1:$(free_port)"
master="$bootstrap"
"$here/java/run.sh"
launch
steps_until_stop
step 120 Queries zk "$zookeeper"
step 60 Mailboxes zk "$zookeeper" index
step 120 Searches zk "$zookeeper"
step 180 History zk "$zookeeper" replay "$here/histories/apache-2.6.4.txt.gz"
stop
"$here/hfile.sh" "$data"
"$here/hfile-kinds.sh"
start
step 120 Blog zk "$zookeeper" verify
stop
start --region-servers 4
step 120 Blog zk "$zookeeper" verify
step 120 Blog rpc "$bootstrap" verify
step 120 Blog master "$master" verify
step 180 AsyncScans zk "$zookeeper" 1
step 120 Regions zk "$zookeeper"
step 300 Splits zk "$zookeeper" 1
step 240 Snapshots zk "$zookeeper"
step 240 RegionServers zk "$zookeeper" 60
stop
start --region-servers 4 --ops-per-server 500
step 60 Hotspot zk "$zookeeper"
stop
echo "ok $binary passed in $SECONDS s"
