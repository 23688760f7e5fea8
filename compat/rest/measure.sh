#!/usr/bin/env bash
# Startup, idle memory and CPU of gets, puts and scans over REST: BINARY with the gateway inside, and Apache HBase with
# Apache's gateway:  measure.sh BINARY
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../steps.sh" # begin, free_port, and $here is compat/
rest="$here/rest"
begin "$1"
gateway=""
. "$here/apache-hbase/timed.sh" # start_apache
stop() {
  if [ -n "$gateway" ]; then kill "$gateway" 2>/dev/null || true; wait "$gateway" 2>/dev/null || true; fi
  [ ! -d "$APACHE_DATA" ] || "$here/apache-hbase/stop.sh"
}
trap 'stop; finish' EXIT

answers() { # ADDRESS LABEL: waits for an answer, and prints how long that took since the shell variable `began`
  python3 - "$1" "$2" "$began" <<'PYTHON'
import http.client, sys, time
deadline = time.time() + 120
while True:
    try:
        connection = http.client.HTTPConnection(sys.argv[1])
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        break
    except Exception:
        if time.time() > deadline:
            raise
        time.sleep(0.001)
print(f"{sys.argv[2]}: first answer {time.time() - float(sys.argv[3]):.3f} s after its start")
PYTHON
}

"$here/apache-hbase/fetch.sh"
"$rest/apache.sh" # its jars
address="127.0.0.1:$(free_port)"
"$binary" --version >/dev/null # from the disk
began="$(date +%s.%N)"
"$binary" serve --data "$work/data" --listen 127.0.0.1:0 --zookeeper 127.0.0.1:0 --no-web --rest "$address" >"$log" 2>&1 </dev/null &
pid=$!
answers "$address" "rowhouse"
echo "rowhouse, the whole server:"
python3 "$rest/measure.py" "$address" "$pid"
kill "$pid"
wait "$pid"
pid=""

address="127.0.0.1:$(free_port)"
start_apache
began="$(date +%s.%N)"
"$rest/apache.sh" "${address##*:}" >>"$log" 2>&1 </dev/null &
gateway=$!
answers "$address" "Apache's gateway"
echo "Apache's gateway and HBase:"
python3 "$rest/measure.py" "$address" "$gateway" "$(cat "$APACHE_DATA/hbase.pid")"
