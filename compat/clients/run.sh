#!/usr/bin/env bash
# A tour of the everyday operations with Java clients of every age, each by every registry that it has:
#   run.sh BINARY [RELEASE[:REGISTRY]...]     against BINARY serve; the answers must be those of answers-1.txt or answers-2.txt
#   run.sh --apache [RELEASE[:REGISTRY]...]   against Apache HBase 2.6.4, which is where those come from
# Prints every line that differs; status 1 when there is one. KEEP=DIR keeps the answers.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../steps.sh" # free_port, and $here is compat/
clients="$here/clients"
[ $# -gt 0 ] || { echo "usage: run.sh BINARY|--apache [RELEASE[:REGISTRY]...]" >&2; exit 2; }
target="$1"
shift
work="$(mktemp -d)"
kept="${KEEP:-$work/answers}"
mkdir -p "$kept"
pid=""
trap finish EXIT

finish() {
  local status=$?
  if [ "$target" = --apache ]; then "$here/apache-hbase/stop.sh"; fi
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; fi
  if [ "$status" = 0 ]; then rm -rf "$work"; else echo "FAIL; data and log are kept in $work" >&2; fi
}

registries() { # RELEASE
  case "$1" in
    1.* | 2.[0-2].*) echo zk ;;
    2.[34].*) echo zk master ;;
    2.*) echo zk master rpc ;;
    *) echo zk master rpc default ;;
  esac
}

tour() { # RELEASE REGISTRY HOST:PORT
  local tour=Tour2
  case "$1" in 1.*) tour=Tour1 ;; esac
  if [ ! -e "$work/classes/$1" ]; then
    mkdir -p "$work/classes/$1"
    javac -proc:none -nowarn -d "$work/classes/$1" -cp "$(client_jars "$1")" "$clients"/{Steps,TourNames,$tour}.java 2>"$work/javac.log" \
      || { cat "$work/javac.log" >&2; exit 1; }
  fi
  timeout "${TOUR_SECONDS:-180}" java -Xmx512m -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true ${JAVA_OPTIONS:-} \
    --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/java.lang=ALL-UNNAMED \
    -cp "$work/classes/$1:$(client_jars "$1")" "$tour" "$2" "$3"
}

if [ "$target" = --apache ]; then
  export APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
  APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
  zk="127.0.0.1:$APACHE_ZOOKEEPER_PORT" master="localhost:$APACHE_MASTER_PORT" rpc="localhost:$APACHE_REGIONSERVER_PORT"
  "$here/apache-hbase/start.sh"
else
  zk="127.0.0.1:$(free_port)" rpc="127.0.0.1:$(free_port)"
  master="$rpc"
  "$(realpath "$target")" serve --data "$work/data" --listen "$rpc" --zookeeper "$zk" >"$work/server.log" 2>&1 &
  pid=$!
fi

[ $# -gt 0 ] || set -- 1.1.5 1.2.12 1.4.14 1.7.2 2.0.6 2.2.7 2.3.7 2.4.18 2.5.11 2.6.1 3.0.0-beta-1
failed=0
for client in "$@"; do
  release="${client%%:*}"
  client_jars "$release" >/dev/null
  generation=2
  case "$release" in 1.*) generation=1 ;; esac
  for registry in $([ "$release" != "$client" ] && echo "${client#*:}" || registries "$release"); do
    began="$SECONDS"
    case "$registry" in default) address="$master" ;; *) address="${!registry}" ;; esac
    status=0
    tour "$release" "$registry" "$address" >"$kept/$release-$registry.txt" 2>"$kept/$release-$registry.err" || status=$?
    if [ "$status" = 0 ] && diff "$clients/answers-$generation.txt" "$kept/$release-$registry.txt"; then
      echo "ok client $release by $registry, $((SECONDS - began)) s"
    else
      echo "FAIL client $release by $registry (status $status)"
      failed=1
    fi
  done
done
[ "$failed" = 0 ] || exit 1
echo "ok the clients of every age passed in $SECONDS s"
