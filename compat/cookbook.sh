#!/usr/bin/env bash
# Runs the programs in docs/cookbook on a server, and compares what they print with printed.txt:  cookbook.sh BINARY
# Tests of the module and of the crate run module.py and the example `cookbook` in Rust.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh" # begin, and $here is compat/
programs="$here/../docs/cookbook"
begin "$1"
command -v jq >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends jq >/dev/null; }
cache="${ROWHOUSE_COMPAT_CACHE:-$HOME/.cache/rowhouse-compat}/cookbook"
if [ ! -e "$cache/python/.complete" ]; then
  python3 -m venv --clear "$cache/python"
  "$cache/python/bin/pip" install --quiet 'happybase==1.3.0' 'thriftpy2==0.7.1' >&2
  touch "$cache/python/.complete"
fi
"$here/java/run.sh" # HBase's client

"$binary" serve --data "$work/data" --json --no-web --listen 127.0.0.1:0 --zookeeper 127.0.0.1:0 --rest 127.0.0.1:0 --thrift 127.0.0.1:0 \
  >"$work/ready" 2>"$log" </dev/null &
pid=$!
for _ in $(seq 100); do
  [ ! -s "$work/ready" ] || break
  kill -0 "$pid" || exit 1
  sleep 0.1
done
address() { jq -r ".$1" "$work/ready" | sed 's#^http://##; s#/$##'; }
rest="$(address rest)" thrift="$(address thrift)" zookeeper="$(address zookeeper)" rpc="$(address rpc)"

with_addresses() { # FILE
  sed -e "s/localhost:8080/$rest/" -e "s/\"localhost\", 9090/\"${thrift%:*}\", ${thrift##*:}/" -e "s/localhost:2181/$zookeeper/" "$1"
}

run_sh() { timeout 60 bash -euo pipefail "$1"; }
run_python() { # the table is created as by curl: in the first two paragraphs
  awk 'NF == 0 && ++blanks == 2 { exit } 1' "$work/curl.sh" >"$work/create.sh"
  run_sh "$work/create.sh" && timeout 60 "$cache/python/bin/python" "$1"
}
run_java() {
  timeout 60 java -Xmx512m -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true --add-opens java.base/java.nio=ALL-UNNAMED \
    --add-opens java.base/java.lang=ALL-UNNAMED -Dlog.level=OFF -cp "$here/java/target/classes:$here/java/target/lib/*" "$1"
}
run_go() { test -z "$(gofmt -l "$1")" && timeout 120 go run "$1"; }
run_js() { timeout 60 node "$1"; }

declare -A files=([sh]=curl.sh [python]=over_thrift.py [java]=Cookbook.java [go]=rest.go [js]=rest.mjs)
for language in sh python java go js; do
  began="$SECONDS"
  file="$work/${files[$language]}"
  with_addresses "$programs/${files[$language]}" >"$file"
  run_$language "$file" >"$work/printed" 2>"$work/errors" || { cat "$work/printed" "$work/errors" >&2; echo "FAIL $language" >&2; exit 1; }
  diff "$programs/printed.txt" "$work/printed" >&2 || { cat "$work/errors" >&2; echo "FAIL $language prints something else" >&2; exit 1; }
  "$binary" shell --connect "hbase://$rpc" -n -e "disable 'mail'" -e "drop 'mail'" >/dev/null
  echo "ok $language, $((SECONDS - began)) s"
done
kill "$pid"
wait "$pid"
pid=""
echo "ok the cookbook"
