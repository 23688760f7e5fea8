#!/usr/bin/env bash
# Server CPU of the operations of Apache HBase's PerformanceEvaluation, of several builds in turn:
#   pe.sh [-r ROUNDS] [-d DIVISOR] NAME=BINARY... ['NAME=BINARY SERVE-OPTIONS'...] [NAME=apache]
# Each round starts every server once, on an empty data directory, and runs all tests against it. The table has the median
# of the rounds (3) in µs of CPU of the server process per operation, user and system, with the least and the greatest.
# A test counts until the server is idle again, so its flushes and compactions are included.
# -d 10 runs a tenth of the operations: to try the script, not to measure. `apache` is Apache HBase 2.6.4.
# A server has no web pages unless its options name --web. KEEP=FILE keeps the figures of every round.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"    # free_port, and $here is compat/
. "$here/apache-hbase/env.sh"                  # apache_hbase_java, APACHE_LIB and the cache
rounds=3
divisor=1
while getopts r:d: option; do
  case "$option" in
    r) rounds="$OPTARG" ;;
    d) divisor="$OPTARG" ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { sed -n '2,9s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
for server; do
  case "$server" in ?*=?*) ;; *) echo "not NAME=BINARY: $server" >&2; exit 2 ;; esac
done
work="$(mktemp -d)"
jars="$ROWHOUSE_COMPAT_CACHE/pe"
pid=""
trap finish EXIT

# What is counted | operations of all clients | clients | options of PerformanceEvaluation, and its test.
# The first test loads the table, and the others use its rows.
tests="
load, buffered puts       | 100000 | 1 | sequentialWrite
put, autoflush            | 30000  | 1 | --autoFlush=true randomWrite
put, autoflush, 4 clients | 80000  | 4 | --autoFlush=true randomWrite
increment                 | 30000  | 1 | increment
increment, 4 clients      | 80000  | 4 | increment
append                    | 30000  | 1 | append
put, 100 in a call        | 100000 | 1 | --autoFlush=true --multiPut=100 randomWrite
get                       | 40000  | 1 | randomRead
get, 4 clients            | 80000  | 4 | randomRead
get, 100 in a call        | 100000 | 1 | --multiGet=100 randomRead
scan, a row               | 100000 | 1 | scan
scan of 100 rows          | 5000   | 1 | scanRange100
"

finish() {
  local status=$?
  server_stop
  if [ "$status" = 0 ]; then rm -rf "$work"; else echo "FAIL; logs are kept in $work" >&2; fi
}

# PerformanceEvaluation is among the tests of hbase-mapreduce, of which no release after 2.6.1 is published, and takes a
# filter from those of hbase-server. It runs on the client of apache-hbase/pom.xml.
fetch_jars() {
  local artifact
  "$here/apache-hbase/fetch.sh"
  for artifact in hbase-mapreduce:2.6.1 hbase-server:2.6.4-hadoop3; do
    [ ! -e "$jars/${artifact/:/-}-tests.jar" ] || continue
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
      -Dartifact="org.apache.hbase:$artifact:jar:tests" -DoutputDirectory="$jars" >&2
  done
}

server_start() { # BINARY|apache SERVE-OPTIONS...; sets pid and address
  local binary="$1"
  shift
  if [ "$binary" = apache ]; then
    APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
    export APACHE_DATA APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
    "$here/apache-hbase/start.sh" 2>/dev/null
    pid="$(cat "$APACHE_DATA/hbase.pid")"
    address="localhost:$APACHE_REGIONSERVER_PORT"
    return
  fi
  local web=(--no-web)
  case " $* " in *" --web"* | *" --no-web "*) web=() ;; esac
  address="127.0.0.1:$(free_port)"
  "$binary" serve --data "$work/data" --listen "$address" --zookeeper "127.0.0.1:$(free_port)" "${web[@]}" "$@" \
    >"$work/server.log" 2>&1 </dev/null &
  pid=$!
  for _ in $(seq 300); do
    ! (exec 3<>"/dev/tcp/${address/://}") 2>/dev/null || return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  echo "FAIL $binary does not listen on $address:" >&2
  tail -5 "$work/server.log" >&2
  exit 1
}

server_stop() { # and remove its data
  [ -n "$pid" ] || return 0
  if [ "$pid" = "$(cat "$work/apache/hbase.pid" 2>/dev/null)" ]; then
    "$here/apache-hbase/stop.sh" 2>/dev/null || true
  else
    kill -TERM "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  fi
  pid=""
  rm -rf "$work/data" "$work/apache"
}

# User and system time of the server in ticks. The name of the process ends at the last parenthesis; utime and stime are
# the fields 14 and 15, so the 12th and 13th after the name.
ticks() { sed 's/.*) //' "/proc/$pid/stat" | awk '{print $12 + $13}'; }

# Waits until the server takes less than 5 % of a core, 30 s at most.
until_idle() {
  local before now
  now="$(ticks)"
  for _ in $(seq 60); do
    before="$now"
    sleep 0.5
    now="$(ticks)"
    [ $((now - before)) -gt $((hertz / 40)) ] || return 0
  done
}

evaluate() { # OPTIONS TEST CLIENTS
  (
    LOG_LEVEL=INFO
    APACHE_LIB="$jars/*:$APACHE_LIB" # the class path of apache_hbase_java ends with this
    apache_hbase_java -Xmx1g org.apache.hadoop.hbase.PerformanceEvaluation \
      -Dhbase.client.registry.impl=org.apache.hadoop.hbase.client.RpcConnectionRegistry -Dhbase.client.bootstrap.servers="$address" \
      --nomapred "$@"
  ) >"$work/client.log" 2>&1 || { echo "FAIL PerformanceEvaluation $*" >&2; tail -20 "$work/client.log" >&2; exit 1; }
}

measure() { # NAME; runs every test, and prints a line for each: test, name, µs per operation
  local label operations clients arguments before after
  while IFS='|' read -r label operations clients arguments; do
    [ -n "$label" ] || continue
    label="${label%"${label##*[! ]}"}" # without the spaces at its end
    operations=$((operations / divisor))
    read -ra arguments <<<"$arguments"
    until_idle
    before="$(ticks)"
    evaluate --rows=$((operations / clients)) "${arguments[@]}" $((clients))
    until_idle
    after="$(ticks)"
    awk -v label="$label" -v name="$1" -v ticks=$((after - before)) -v hertz="$hertz" -v operations="$operations" \
      'BEGIN {printf "%s\t%s\t%.2f\n", label, name, ticks / hertz * 1e6 / operations}' | tee -a "$work/results.tsv" >&2
  done <<<"$tests"
}

table() { # of results.tsv: a line for each test, a column for each server
  awk -F'\t' '
    !($1 in test) {test[$1]; labels[++rows] = $1}
    !($2 in server) {server[$2]; names[++columns] = $2}
    {count[$1, $2]++; values[$1, $2, count[$1, $2]] = $3}
    function cell(row, column,    n, i, j, swap, v) {
      n = count[row, column]
      for (i = 1; i <= n; i++) v[i] = values[row, column, i] + 0
      for (i = 1; i < n; i++) for (j = i + 1; j <= n; j++) if (v[j] < v[i]) {swap = v[i]; v[i] = v[j]; v[j] = swap}
      return sprintf("%.1f (%.1f–%.1f)", v[int((n + 1) / 2)], v[1], v[n])
    }
    END {
      line = "| server CPU, µs per operation"; rule = "|---"
      for (c = 1; c <= columns; c++) {line = line " | " names[c]; rule = rule "|---:"}
      print line " |"; print rule "|"
      for (r = 1; r <= rows; r++) {
        line = "| " labels[r]
        for (c = 1; c <= columns; c++) line = line " | " cell(labels[r], names[c])
        print line " |"
      }
    }' "$work/results.tsv"
}

hertz="$(getconf CLK_TCK)"
fetch_jars
for round in $(seq "$rounds"); do
  for server; do
    name="${server%%=*}"
    read -ra command <<<"${server#*=}"
    echo "--- round $round of $rounds, $name" >&2
    server_start "${command[@]}"
    measure "$name"
    server_stop
  done
done
[ -z "${KEEP:-}" ] || cp "$work/results.tsv" "$KEEP"
table
