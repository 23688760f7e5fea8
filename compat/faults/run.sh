#!/usr/bin/env bash
# What asynchbase 1.8.2 does when calls fail, by the faults of BINARY serve:  run.sh BINARY
# The outcomes must be those of asynchbase.txt, which docs/in-tests.md explains. TIMES=1 prints them with times instead.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../steps.sh" # $here is compat/
begin "${1:?BINARY}"
lib="${ROWHOUSE_COMPAT_CACHE:-$HOME/.cache/rowhouse-compat}/faults"
if [ ! -e "$lib/.complete" ]; then
  rm -rf "$lib"
  mvn -q -B -f "$here/faults/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$lib" >&2
  touch "$lib/.complete"
fi
bootstrap="127.0.0.1:$(free_port)" zookeeper="127.0.0.1:$(free_port)"
"$binary" serve --data "$work/data" --listen "$bootstrap" --zookeeper "$zookeeper" --no-web --allow-faults >"$log" 2>&1 </dev/null &
pid=$!
wait_for_port "$bootstrap" "$pid" "$log"
"$binary" shell --connect "hbase://$bootstrap" --non-interactive -e "create 't', 'f'" >/dev/null
javac -proc:none -nowarn -d "$work" -cp "$lib/*" "$here/faults/AsyncFaults.java"
timeout 300 java -Xmx256m -XX:TieredStopAtLevel=1 -cp "$work:$lib/*" AsyncFaults "$zookeeper" "$bootstrap" "$binary" >"$work/outcomes.txt"
if [ -n "${TIMES:-}" ]; then
  cat "$work/outcomes.txt"
else
  diff "$here/faults/asynchbase.txt" "$work/outcomes.txt"
  echo "ok asynchbase under faults, in $SECONDS s"
fi
