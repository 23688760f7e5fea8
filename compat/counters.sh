#!/usr/bin/env bash
# CPU of increments by HBase's Java client, logged one by one and buffered:  counters.sh BINARY [COUNT] [THREADS]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
begin "$1"
count="${2:-100000}"
"$here/java/run.sh"
zookeeper="127.0.0.1:$(free_port)"
"$binary" serve --data "$work/data" --listen "127.0.0.1:$(free_port)" --zookeeper "$zookeeper" --no-web >"$log" 2>&1 &
pid=$!
wait_for_port "$zookeeper" "$pid" "$log"
cpu_millis() { awk -v hertz="$(getconf CLK_TCK)" '{ printf "%d", ($14 + $15) * 1000 / hertz }' "/proc/$pid/stat"; }
for round in 1 2 3; do
  for period in - 1s; do
    cpu="$(cpu_millis)"
    "$here/java/run.sh" Counters zk "$zookeeper" "$period" "$count" "${3:-4}"
    sleep 2 # the last period
    echo "  server: $(((($(cpu_millis) - cpu) * 1000) / count)) us of CPU an increment"
  done
done
