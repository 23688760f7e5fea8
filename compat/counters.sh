#!/usr/bin/env bash
# CPU and log bytes of a server under increments by HBase's Java client, logged one by one and buffered, each in a store of
# its own:  counters.sh BINARY [COUNT] [THREADS] [ROUNDS]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
begin "$1"
count="${2:-100000}"
"$here/java/run.sh"
zookeeper="127.0.0.1:$(free_port)"
cpu_millis() { awk -v hertz="$(getconf CLK_TCK)" '{ printf "%d", ($14 + $15) * 1000 / hertz }' "/proc/$pid/stat"; }

for _ in $(seq "${4:-3}"); do
  for period in - 1s; do
    "$binary" serve --data "$work/data" --listen "127.0.0.1:$(free_port)" --zookeeper "$zookeeper" --no-web >"$log" 2>&1 &
    pid=$!
    wait_for_port "$zookeeper" "$pid" "$log"
    cpu="$(cpu_millis)"
    "$here/java/run.sh" Counters zk "$zookeeper" "$period" "$count" "${3:-4}"
    sleep 2 # the last period
    cpu="$((($(cpu_millis) - cpu) * 1000 / count))"
    kill -KILL "$pid" # a close would remove the log
    wait "$pid" 2>/dev/null || true
    pid=""
    bytes="$({ "$binary" check "$work/data" || true; } | sed -n 's/^log: .* commits, \([0-9]*\) bytes$/\1/p')"
    echo "  server: $cpu us of CPU and $((bytes / count)) bytes of log an increment"
    rm -rf "$work/data"
  done
done
