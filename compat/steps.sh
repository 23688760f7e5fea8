# Sourced by run.sh, run-on-apache.sh and tls.sh: what servers are put through. The sourcing script sets $zookeeper,
# $bootstrap and $master (HOST:PORT each) and $work, a folder, and defines start, crash and stop.
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

begin() { # BINARY
  binary="$(realpath "$1")"
  work="$(mktemp -d)"
  log="$work/server.log"
  pid=""
  trap finish EXIT
}

finish() { # at EXIT of a script that has $pid, a server or empty, and $log
  local status=$?
  if [ -n "$pid" ]; then kill -KILL "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
  if [ "$status" = 0 ]; then rm -rf "$work"; else echo "FAIL; data and log are kept in $work" >&2; tail -20 "$log" >&2 || true; fi
}

wait_for_port() { # HOST:PORT PID LOG
  for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/${1/://}") 2>/dev/null && return
    kill -0 "$2" || { cat "$3" >&2; exit 1; }
    sleep 0.1
  done
  echo "FAIL nothing listens on $1" >&2
  exit 1
}

step() { # SECONDS_MAX PROGRAM ARGS...
  local limit="$1" began="$SECONDS"
  shift
  echo "--- $*"
  timeout "$limit" "$here/java/run.sh" "$@" || { echo "FAIL $* (status $?)" >&2; exit 1; }
  echo "--- $*: $((SECONDS - began)) s"
}

steps_until_stop() {
  step 180 FirstPut zk "$zookeeper" 150
  step 120 Blog zk "$zookeeper"
  step 120 Blog rpc "$bootstrap"
  step 120 Blog master "$master"
  crash_while_writing
  start
  step 180 Acknowledged zk "$zookeeper" verify "$work/acknowledged"
  step 180 Blog zk "$zookeeper" verify
  step 120 ArticleScan zk "$zookeeper"
  step 180 BadInput zk "$zookeeper"
  step 180 Basics zk "$zookeeper"
  step 120 Mutations zk "$zookeeper"
  step 120 Answers zk "$zookeeper"
  step 180 AsyncScans zk "$zookeeper" "${ASYNC_ROUNDS:-2}"
  step 120 Endpoints zk "$zookeeper"
  step 120 Families zk "$zookeeper"
  step 60 Mailboxes zk "$zookeeper"
  step 240 Kept zk "$zookeeper"
  step 240 Reopened zk "$zookeeper"
  step 120 Flush zk "$zookeeper"
  step 240 Snapshots zk "$zookeeper"
  [ "${SPLIT_ROUNDS:-3}" = 0 ] || step 300 Splits zk "$zookeeper" "${SPLIT_ROUNDS:-3}"
  step 120 Regions zk "$zookeeper"
  step 120 Administration zk "$zookeeper"
  bulk_load "${BULK_LOAD_ROUNDS:-2}"
  map_reduce
  step 120 Blog rpc "$bootstrap" verify
}

bulk_load() { # ROUNDS; files by Apache's writer, loaded by Apache's tool
  local began="$SECONDS"
  echo "--- BulkLoad $1"
  mkdir -p "$work/hfiles"
  APACHE_ZOOKEEPER_PORT="${zookeeper##*:}" LOG_LEVEL=OFF timeout 300 "$here/apache-hbase/tool.sh" "$here/apache-hbase/BulkLoad.java" "$work/hfiles" "$1" \
    2> >(grep -v '^Note:' >&2) || { echo "FAIL BulkLoad (status $?)" >&2; exit 1; }
  echo "--- BulkLoad: $((SECONDS - began)) s"
}

map_reduce() { # HBase's own jobs
  local began="$SECONDS"
  echo "--- MapReduce"
  timeout 300 "$here/mapreduce/run.sh" "${zookeeper##*:}" "$work/jobs" || { echo "FAIL MapReduce (status $?)" >&2; exit 1; }
  echo "--- MapReduce: $((SECONDS - began)) s"
}

crash_while_writing() {
  step 120 Acknowledged zk "$zookeeper" write "$work/acknowledged" &
  local writer=$!
  for _ in $(seq 600); do # until a few hundred writes are acknowledged
    [ ! -s "$work/acknowledged" ] || [ "$(cut -d' ' -f1 "$work/acknowledged")" -lt 500 ] || break
    sleep 0.1
  done
  crash
  wait "$writer"
}

free_port() { # a port of 127.0.0.1, below the ones the system hands out, that nobody listens on
  local port
  while port=$((20000 + RANDOM % 10000)); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}

client_jars() { # RELEASE of HBase's client; fetches the jars, and prints the class path
  local lib="${ROWHOUSE_COMPAT_CACHE:-$HOME/.cache/rowhouse-compat}/clients/$1"
  if [ ! -e "$lib/.complete" ]; then
    rm -rf "$lib"
    mvn -q -B -f "$here/clients/pom.xml" -Dhbase.version="$1" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$lib" >&2
    touch "$lib/.complete"
  fi
  echo "$lib/*"
}
