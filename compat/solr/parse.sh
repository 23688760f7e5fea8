#!/usr/bin/env bash
# What Lucene's own parser makes of the queries in rowhouse-search's test:  parse.sh [--check]
# Writes the file anew, or with --check compares it.
set -euo pipefail
solr="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
golden="$solr/../../crates/rowhouse-search/src/lucene/from_lucene.txt"
release=9.12.3
lib="${ROWHOUSE_COMPAT_CACHE:-$HOME/.cache/rowhouse-compat}/lucene/$release"
if [ ! -e "$lib/.complete" ]; then
  rm -rf "$lib"
  mvn -q -B -f "$solr/lucene.xml" -Dlucene.version="$release" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$lib" >&2
  touch "$lib/.complete"
fi
parsed="$(mktemp)"
trap 'rm -f "$parsed"' EXIT
java -XX:TieredStopAtLevel=1 -cp "$lib/*" "$solr/ParseQueries.java" <"$golden" 2> >(grep -Ev 'WARNING|VectorizationProvider' >&2) >"$parsed"
if [ "${1:-}" = --check ]; then
  diff "$golden" "$parsed" >&2 || { echo "FAIL Lucene parses other queries" >&2; exit 1; }
  echo "ok $(wc -l <"$golden") queries as Lucene parses them"
else
  cp "$parsed" "$golden"
fi
