#!/usr/bin/env bash
# Files of a running HBase 1.7: tables of every encoding, compression and bloom, flushed and merged there, are read here and loaded, and the same client
# of HBase 1.7 asks both for all cells:  files.sh BINARY
# With FIXTURES=DIR it leaves the files that rowhouse-format's tests have in DIR.
set -euo pipefail
binary="$(realpath "${1:?BINARY}")"
. "$(dirname "${BASH_SOURCE[0]}")/../steps.sh" # free_port, and $here is compat/
work="$(mktemp -d)"
export APACHE_FOLDER=hbase-1 APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
served=""
trap finish EXIT

finish() {
  local status=$?
  if [ -n "$served" ]; then kill "$served" 2>/dev/null || true; wait "$served" 2>/dev/null || true; fi
  "$here/apache-hbase/stop.sh"
  if [ "$status" = 0 ]; then rm -rf "$work"; else echo "FAIL; data and log are kept in $work" >&2; fi
}

tables() { # ARGS of Tables1
  LOG_LEVEL=ERROR "$here/apache-hbase/tool.sh" "$here/hbase-1/Tables1.java" "$@" 2> >(grep -v '^Note:' >&2)
}

"$here/apache-hbase/start.sh"
tables make "$work/out"
if [ -n "${FIXTURES:-}" ]; then
  for file in n/flushed p/flushed d/flushed f/old r/old; do
    to="$FIXTURES/hbase1-served-${file%/*}"
    cp "$work/out/few/${file#*/}/${file%/*}"/* "$to.hfile"
    tables cells "$to.hfile" "$to.txt"
  done
  cp "$work/out/few/flushed/t"/* "$FIXTURES/hbase1-prefix-tree.hfile"
fi

# What HBase 2 cannot read either is refused by name.
! "$binary" hfile "$work/out/few/flushed/t"/* >"$work/tree.txt" 2>&1
grep -q 'encoding PREFIX_TREE is not supported' "$work/tree.txt"
rm -r "$work/out/few"

compared=0
for stage in "$work"/out/*/*/; do
  stage="${stage%/}"
  table="$(basename "$(dirname "$stage")")"
  # Nothing is merged here, so that markers and what they cover stay too.
  families="$(ls "$stage" | sed "s/.*/{NAME => '&', VERSIONS => 4}/" | paste -sd,)"
  echo "create '$table', $families, COMPACTION_ENABLED => 'false', SPLITS => ['k0050000', 'k0120001', 'row00050']" \
    | "$binary" shell --data "$stage-data" --non-interactive >/dev/null
  "$binary" hfile "$stage"/*/* >/dev/null
  "$binary" import "$table" --data "$stage-data" --hfiles "$stage"
  "$binary" check "$stage-data" >/dev/null
  zookeeper="$(free_port)"
  "$binary" serve --data "$stage-data" --listen "127.0.0.1:$(free_port)" --zookeeper "127.0.0.1:$zookeeper" >"$stage-served.log" 2>&1 &
  served=$!
  APACHE_ZOOKEEPER_PORT="$zookeeper" tables read "$table" "$stage-here" >/dev/null
  kill "$served"
  wait "$served" || true
  served=""
  diff "$stage.txt" "$stage-here.txt"
  diff "$stage-raw.txt" "$stage-here-raw.txt"
  compared=$((compared + $(wc -l <"$stage.txt") + $(wc -l <"$stage-raw.txt")))
done
[ "$compared" -gt 2000000 ]
echo "ok $compared cells of $(find "$work"/out/*/*/ -type f | grep -c '/[0-9a-f]\{32\}$') files of HBase 1.7 are here what they are there, in $SECONDS s"
