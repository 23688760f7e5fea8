#!/usr/bin/env bash
# Searches of a table by Solr's own clients, SolrJ and pysolr, unchanged:  run.sh BINARY
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../steps.sh" # free_port, and $here is compat/
solr="$here/solr"
binary="$(realpath "$1")"
release=9.10.1
cache="${ROWHOUSE_COMPAT_CACHE:-$HOME/.cache/rowhouse-compat}/solr"
lib="$cache/$release"
if [ ! -e "$lib/.complete" ]; then
  rm -rf "$lib"
  mvn -q -B -f "$solr/pom.xml" -Dsolr.version="$release" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$lib" >&2
  touch "$lib/.complete"
fi
if [ ! -e "$cache/python/.complete" ]; then
  python3 -m venv --clear "$cache/python"
  "$cache/python/bin/pip" install --quiet 'pysolr==3.11.0' >&2
  touch "$cache/python/.complete"
fi
work="$(mktemp -d)"
web="127.0.0.1:$(free_port)"
"$binary" serve --data "$work/data" --listen 127.0.0.1:0 --zookeeper 127.0.0.1:0 --web "$web" >"$work/log" 2>&1 </dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
wait_for_port "$web" "$server" "$work/log"
# Every tenth is about row keys, every hundredth is Chinese too.
seq 0 999 | awk '
  BEGIN { print "user,n,body,sender,size,at" }
  { body = "common" ($1 % 10 == 0 ? " row keys" : " words") ($1 % 100 == 0 ? " 行键设计" : "")
    split("ann bob eve", users, " ")
    printf "%s,%d,%s,s%d,%d,%.0f\n", users[$1 % 3 + 1], $1, body, int($1 / 10) % 2, $1, 1669852800000 + $1 * 1000 }' >"$work/mail.csv"
key='[user string][n u32]'
columns='d:b body string; d:s sender string; d:z size u32; d:a at millis'
(cd "$work" && "$binary" shell --data "$work/data" -e "create 'mail', 'd', {KEY => '$key', COLUMNS => '$columns', INDEXES => 'text search body english chinese, sender keyword, size, at'}" \
  && "$binary" import mail mail.csv --data "$work/data" --key "$key" --columns "$columns") >"$work/import.log" || { cat "$work/import.log" >&2; exit 1; }
timeout 120 java -Xmx512m -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true -Dfile.encoding=UTF-8 \
  -cp "$lib/*" "$solr/SolrSteps.java" "http://$web/solr" 2> >(grep -Ev '^(SLF4J|Note:)' >&2)
timeout 60 "$cache/python/bin/python" "$solr/steps.py" "http://$web/solr/mail"
echo "ok Solr's clients"
