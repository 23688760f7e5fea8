#!/usr/bin/env bash
# Startup, idle memory and CPU of gets, puts and scans by happybase: BINARY with the gateway inside, and Apache HBase with
# Apache's gateway:  measure.sh BINARY
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../steps.sh" # free_port, and $here is compat/
thrift="$here/thrift"
begin "$1"
gateway=""
. "$here/apache-hbase/timed.sh" # start_apache
trap '[ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true; [ ! -d "$APACHE_DATA" ] || "$here/apache-hbase/stop.sh"; finish' EXIT
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet 'happybase==1.3.0' 'thriftpy2==0.7.1' >&2

answers() { # ADDRESS LABEL: waits for an answer, and prints how long that took since the shell variable `began`
  "$work/python/bin/python" - "$1" "$2" "$began" <<'PYTHON'
import sys, time
import happybase
host, port = sys.argv[1].rsplit(":", 1)
deadline = time.time() + 120
while True:
    try:
        happybase.Connection(host, int(port)).tables()
        break
    except Exception:
        if time.time() > deadline:
            raise
        time.sleep(0.001)
print(f"{sys.argv[2]}: first answer {time.time() - float(sys.argv[3]):.3f} s after its start")
PYTHON
}

resident() { # LABEL PID...
  local label="$1" total=0 pid
  shift
  for pid in "$@"; do total=$((total + $(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status"))); done
  echo "$label: $((total / 1024)) MiB resident"
}

address="127.0.0.1:$(free_port)"
"$binary" --version >/dev/null # from the disk
began="$(date +%s.%N)"
"$binary" serve --data "$work/data" --listen 127.0.0.1:0 --zookeeper 127.0.0.1:0 --no-web --thrift "$address" >"$log" 2>&1 </dev/null &
pid=$!
answers "$address" "rowhouse"
resident "rowhouse, idle" "$pid"
echo "rowhouse, the whole server:"
"$work/python/bin/python" "$thrift/measure.py" "$address" "$pid"

address="127.0.0.1:$(free_port)"
start_apache
began="$(date +%s.%N)"
"$thrift/apache.sh" "$address" >>"$log" 2>&1 </dev/null &
gateway=$!
answers "$address" "Apache's gateway"
hbase="$(cat "$APACHE_DATA/hbase.pid")"
resident "Apache's gateway alone, idle" "$gateway"
resident "Apache HBase and the gateway, idle" "$gateway" "$hbase"
echo "Apache HBase and the gateway:"
"$work/python/bin/python" "$thrift/measure.py" "$address" "$gateway" "$hbase"
