#!/usr/bin/env bash
# The REST port with HBase's clients and the recorded calls of Apache's gateway:
#   rest.sh BINARY            the recorded calls, and HBase's own tests of its gateway
#   rest.sh --record OUT      records the calls again, at Apache HBase 2.6.4 with the gateway of 2.6.1
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh" # free_port, wait_for_port, and $here is compat/
work="$(mktemp -d)"
server=""
finish() {
  local status=$?
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  [ "${1:-}" != apache ] || "$here/apache-hbase/stop.sh"
  if [ "$status" = 0 ]; then rm -rf "$work"; else echo "FAIL; logs are kept in $work" >&2; fi
}

if [ "$1" = --record ]; then
  . "$here/apache-hbase/env.sh"
  "$here/rest/apache.sh" # its jars
  export APACHE_DATA="$work/apache"
  trap 'finish apache' EXIT
  "$here/apache-hbase/start.sh"
  mkdir -p "$work/conf"
  # A call that fails is answered after two attempts.
  sed 's#</configuration>#<property><name>hbase.client.retries.number</name><value>2</value></property><property><name>hbase.client.pause</name><value>50</value></property></configuration>#' \
    "$here/apache-hbase/conf/hbase-site.xml" >"$work/conf/hbase-site.xml"
  port="$(free_port)"
  APACHE_REST_CONF="$work/conf" "$here/rest/apache.sh" "$port" >"$work/gateway.log" 2>&1 </dev/null &
  server=$!
  for _ in $(seq 300); do curl -s -o /dev/null "localhost:$port/version" && break; sleep 0.2; done
  python3 "$here/rest/calls.py" record "localhost:$port" "$2"
  exit
fi

trap finish EXIT
binary="$(realpath "$1")"
rest="127.0.0.1:$(free_port)"
"$binary" serve --data "$work/data" --listen 127.0.0.1:0 --no-zookeeper --no-web --rest "$rest" >"$work/log" 2>&1 </dev/null &
server=$!
wait_for_port "$rest" "$server" "$work/log"
python3 "$here/rest/calls.py" replay "$rest" "$here/rest/recorded.jsonl"
mapfile -t classes < <(awk '/^rest\./ { print $1 }' "$here/hbase-tests/classes.txt")
# The first parameters: the second ones set the guard of a gateway in the JVM of the test.
"$here/hbase-tests/run.sh" "$binary" "${classes[@]}"
echo "ok REST"
