#!/usr/bin/env bash
# Start and memory, side by side with Apache HBase in one run:  measure.sh BINARY [ROUNDS]
# BINARY is a release build; examples/first_put must be built beside it (cargo build --release --examples -p rowhouse-client).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
binary="$(realpath "$1")"
rounds="${2:-3}"
first_put="$(dirname "$binary")/examples/first_put"
work="$(mktemp -d)"
pid=""
export APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
trap finish EXIT

finish() {
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
  "$here/apache-hbase/stop.sh" 2>/dev/null || true
  rm -rf "$work"
}

now() { date +%s%3N; }
resident_mb() { awk '/VmRSS/ {printf "%.1f", $2 / 1024}' "/proc/$1/status"; }
median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

rowhouse_start() { # DATA
  began="$(now)"
  "$binary" serve --data "$1" --listen "$listen" --zookeeper "$zookeeper" >/dev/null 2>&1 </dev/null &
  pid=$!
}

rowhouse_stop() {
  kill -TERM "$pid"
  wait "$pid" || true
  pid=""
}

apache_start() {
  began="$(now)"
  "$here/apache-hbase/start.sh" >/dev/null 2>&1 &
}

apache_stop() {
  wait
  "$here/apache-hbase/stop.sh" >/dev/null 2>&1
}

since_start() { # URL
  echo $(($("$first_put" "$1") - began))
}

java_first() { # HOST:PORT: JVM start to create, put and get answered, the server being up
  "$here/java/run.sh" FirstPut rpc "$1" 60 2>/dev/null | sed 's/.*first put after \([0-9]*\) ms.*/\1/'
}

listen="127.0.0.1:$(free_port)"
zookeeper="127.0.0.1:$(free_port)"
"$here/java/run.sh"
"$here/apache-hbase/fetch.sh" >/dev/null

for round in $(seq "$rounds"); do
  rowhouse_start "$work/rowhouse-$round"
  since_start "hbase://$listen" >>"$work/rowhouse.empty"
  rowhouse_stop
  rowhouse_start "$work/rowhouse-$round"
  since_start "hbase://$listen" >>"$work/rowhouse.again"
  rowhouse_stop
done
rowhouse_start "$work/rowhouse-idle"
sleep 2
rowhouse_idle="$(resident_mb "$pid")"
java_first "$listen" >"$work/rowhouse.java"
"$here/java/run.sh" Blog rpc "$listen" >/dev/null 2>&1
rowhouse_posts="$(resident_mb "$pid")"
rowhouse_stop

apache="localhost:$APACHE_REGIONSERVER_PORT"
apache_start
since_start "hbase://$apache" >"$work/apache.empty"
apache_stop
apache_start
since_start "hbase://$apache" >"$work/apache.again"
wait
sleep 5
apache_pid="$(cat "$APACHE_DATA"/*.pid)"
apache_idle="$(resident_mb "$apache_pid")"
java_first "$apache" >"$work/apache.java"
"$here/java/run.sh" Blog rpc "$apache" >/dev/null 2>&1
apache_posts="$(resident_mb "$apache_pid")"

row() { printf '| %s | %s | %s |\n' "$@"; }
row "" "Apache HBase" rowhouse
row --- ---: ---:
row "process start to a put answered, empty directory" "$(median <"$work/apache.empty") ms" "$(median <"$work/rowhouse.empty") ms"
row "the same on the directory it left" "$(median <"$work/apache.again") ms" "$(median <"$work/rowhouse.again") ms"
row "a Java client's first create, put and get" "$(median <"$work/apache.java") ms" "$(median <"$work/rowhouse.java") ms"
row "resident memory, idle" "$apache_idle MB" "$rowhouse_idle MB"
row "resident memory after 10,000 posts" "$apache_posts MB" "$rowhouse_posts MB"
