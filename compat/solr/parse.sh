#!/usr/bin/env bash
# What Solr's own parser makes of the queries in rowhouse-search's test:
#   parse.sh                    writes the file anew
#   parse.sh --check            compares it
#   parse.sh --random COUNT     compares as many new queries with rowhouse-search
set -euo pipefail
solr="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
golden="$solr/../../crates/rowhouse-search/src/lucene/from_solr.txt"
solr_release=9.10.1
lucene_release=9.12.3
lib="${ROWHOUSE_COMPAT_CACHE:-$HOME/.cache/rowhouse-compat}/solr-parser/$solr_release"
if [ ! -e "$lib/.complete" ]; then
  rm -rf "$lib"
  mvn -q -B -f "$solr/parser.xml" -Dsolr.version="$solr_release" -Dlucene.version="$lucene_release" \
    dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$lib" >&2
  touch "$lib/.complete"
fi
parsed="$(mktemp)"
trap 'rm -f "$parsed"' EXIT
parse() {
  java -XX:TieredStopAtLevel=1 -Dfile.encoding=UTF-8 -cp "$lib/*" "$solr/ParseQueries.java" "$@" \
    2> >(grep -Ev 'WARNING|VectorizationProvider|SLF4J' >&2) >"$parsed"
}
case "${1:-}" in
  --random)
    parse "$2" "${3:-$RANDOM}"
    ROWHOUSE_SOLR_QUERIES="$parsed" cargo test -p rowhouse-search --locked --lib random_queries_are_parsed_as_by_solr
    ;;
  --check)
    parse <"$golden"
    diff "$golden" "$parsed" >&2 || { echo "FAIL Solr parses other queries" >&2; exit 1; }
    echo "ok $(wc -l <"$golden") queries as Solr parses them"
    ;;
  *)
    parse <"$golden"
    cp "$parsed" "$golden"
    ;;
esac
