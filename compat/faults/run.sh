#!/usr/bin/env bash
# What asynchbase 1.8.2 and happybase 1.3.0 do when calls fail, by the faults of BINARY serve:  run.sh BINARY
# The outcomes must be those of asynchbase.txt and happybase.txt, which README.md explains. TIMES=1 prints them with
# times instead.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../steps.sh" # $here is compat/
begin "${1:?BINARY}"
lib="${ROWHOUSE_COMPAT_CACHE:-$HOME/.cache/rowhouse-compat}/faults"
if [ ! -e "$lib/.complete" ]; then
  rm -rf "$lib"
  mvn -q -B -f "$here/faults/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$lib" >&2
  touch "$lib/.complete"
fi
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet 'happybase==1.3.0' 'thriftpy2==0.7.1' >&2
bootstrap="127.0.0.1:$(free_port)" zookeeper="127.0.0.1:$(free_port)" thrift="$(free_port)"
"$binary" serve --data "$work/data" --listen "$bootstrap" --zookeeper "$zookeeper" --thrift "127.0.0.1:$thrift" \
  --no-web --allow-faults >"$log" 2>&1 </dev/null &
pid=$!
wait_for_port "$bootstrap" "$pid" "$log"
"$binary" shell --connect "hbase://$bootstrap" --non-interactive -e "create 't', 'f'" >/dev/null
javac -proc:none -nowarn -d "$work" -cp "$lib/*" "$here/faults/AsyncFaults.java"
judge() { # NAME COMMAND...
  local name="$1"
  shift
  timeout 300 "$@" >"$work/$name.txt"
  if [ -n "${TIMES:-}" ]; then
    cat "$work/$name.txt"
  else
    diff "$here/faults/$name.txt" "$work/$name.txt"
    echo "ok $name under faults, in $SECONDS s"
  fi
}
judge asynchbase java -Xmx256m -XX:TieredStopAtLevel=1 -cp "$work:$lib/*" AsyncFaults "$zookeeper" "$bootstrap" "$binary"
judge happybase "$work/python/bin/python" "$here/faults/happybase_faults.py" "$thrift" "$bootstrap" "$binary"
