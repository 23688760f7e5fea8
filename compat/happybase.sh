#!/usr/bin/env bash
# happybase 1.3.0 on the Thrift interface:  happybase.sh BINARY|HOST:PORT
# Its own tests, unchanged, in both protocols, with and without frames; then a query as a filter. HOST:PORT is a gateway
# that runs, such as Apache's, which has no queries.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh" # free_port, and $here is compat/
work="$(mktemp -d)"
log="$work/server.log"
pid=""
trap finish EXIT
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet 'happybase==1.3.0' 'thriftpy2==0.7.1' 'pytest==9.2.0' >&2
# The tests are in the source archive alone.
"$work/python/bin/pip" download --quiet --no-deps --no-binary :all: --dest "$work" 'happybase==1.3.0' >&2
tar -xzf "$work"/happybase-1.3.0.tar.gz -C "$work" happybase-1.3.0/tests
if [[ "$1" == *:* ]]; then
  address="$1"
else
  binary="$(realpath "$1")"
  address="127.0.0.1:$(free_port)"
  "$binary" serve --data "$work/data" --listen 127.0.0.1:0 --zookeeper 127.0.0.1:0 --no-web --thrift "$address" >"$log" 2>&1 </dev/null &
  pid=$!
  wait_for_port "$address" "$pid" "$log"
  # No call of Thrift declares a template of a key.
  "$binary" shell --data "$work/data" -n -e "create 'mail', 'd', {KEY => '[user text]#[n digits 4]', COLUMNS => 'd:s sender text'}" >&2
fi
# Not HAPPYBASE_PORT: the tests would pass it on as text, which Python's sockets refuse.
export HAPPYBASE_HOST="${address%:*}" THRIFT_PORT="${address##*:}" PYTHONPATH="$here/thrift"
for HAPPYBASE_TRANSPORT in buffered framed; do
  for HAPPYBASE_PROTOCOL in binary compact; do
    export HAPPYBASE_TRANSPORT HAPPYBASE_PROTOCOL
    echo "--- happybase's tests: $HAPPYBASE_TRANSPORT, $HAPPYBASE_PROTOCOL"
    timeout 300 "$work/python/bin/python" -m pytest -q -p no:cacheprovider -p happybase_protocol "$work/happybase-1.3.0/tests"
    [ -z "$pid" ] || timeout 60 "$work/python/bin/python" "$here/thrift/steps.py"
  done
done
echo "ok happybase"
