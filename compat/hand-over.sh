#!/usr/bin/env bash
# Hand a table over to a real Apache HBase and back, and compare every version of every cell:  hand-over.sh BINARY
set -euo pipefail
binary="$(realpath "${1:?BINARY}")"
. "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
work="$(mktemp -d)"
export APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"
cluster="hbase://localhost:$APACHE_REGIONSERVER_PORT"
trap finish EXIT

finish() {
  local status=$?
  "$here/apache-hbase/stop.sh"
  if [ "$status" = 0 ]; then rm -rf "$work"; else echo "FAIL; data and log are kept in $work" >&2; fi
}

here_shell() { "$binary" shell --data "$1" --non-interactive; }   # DIR, commands on standard input
there_shell() { "$binary" shell --connect "$cluster" --non-interactive; }
cells() { grep 'column=' || true; } # of a scan, without what it took

families="{NAME => 'plain', VERSIONS => 3},
  {NAME => 'small', VERSIONS => 3, COMPRESSION => 'GZ', DATA_BLOCK_ENCODING => 'FAST_DIFF', BLOOMFILTER => 'ROWCOL'},
  {NAME => 'diff', VERSIONS => 3, DATA_BLOCK_ENCODING => 'DIFF', BLOOMFILTER => 'NONE'},
  {NAME => 'kept', VERSIONS => 3, COMPRESSION => 'SNAPPY', DATA_BLOCK_ENCODING => 'PREFIX', KEEP_DELETED_CELLS => 'TRUE'}"
create() { tr '\n' ' ' <<<"create 'posts', $families, SPLITS => [$1]"; echo; }
scan="scan 'posts', {VERSIONS => 10}"

commands() { # FROM TO: rows with versions, and deletes of some
  local row family
  for row in $(seq -w "$1" "$2"); do
    for family in plain small diff kept; do
      echo "put 'posts', 'row$row', '$family:title', 'title $row', 1000"
      echo "put 'posts', 'row$row', '$family:title', 'another title $row', 2000"
      echo "put 'posts', 'row$row', '$family:body', 'body of $row, which is the same in all families', 1500"
    done
    case "$row" in *7) echo "delete 'posts', 'row$row', 'plain:title', 2000" ;; *8) echo "deleteall 'posts', 'row$row'" ;; esac
  done
}

"$here/apache-hbase/start.sh" &
{ create "'row020'"; commands 001 060; echo "flush 'posts'"; commands 061 090; } | here_shell "$work/data" >"$work/made.txt"
echo "$scan" | here_shell "$work/data" | cells >"$work/here.txt"
[ "$(wc -l <"$work/here.txt")" -gt 500 ] || { echo "FAIL few cells to hand over" >&2; exit 1; }

# There: other regions than here, so that files are divided by HBase.
"$binary" export posts --data "$work/data" --hfiles "$work/out"
find "$work/out" -type f -print0 | xargs -0 "$here/hfile.sh"
wait
create "'row015', 'row050'" | there_shell >/dev/null
LOG_LEVEL=ERROR "$here/apache-hbase/tool.sh" org.apache.hadoop.hbase.tool.BulkLoadHFilesTool "file://$work/out" posts
echo "$scan" | there_shell | cells >"$work/there.txt"
diff "$work/here.txt" "$work/there.txt"
echo "ok $(wc -l <"$work/there.txt") cells, from rowhouse to Apache HBase"

# And back: more is written there, and its files, as they are, come into a table of other regions.
{ commands 030 035; commands 091 099; echo "flush 'posts'"; } | there_shell >/dev/null
echo "$scan" | there_shell | cells >"$work/there.txt"
LOG_LEVEL=ERROR "$here/apache-hbase/tool.sh" "$here/apache-hbase/MajorCompact.java" posts 2> >(grep -v '^Note:' >&2)
mkdir "$work/back"
for file in $(find "$work/apache/hbase/data/default/posts" -type f -regextype posix-extended -regex '.*/[0-9a-f]{32}/(plain|small|diff|kept)/[0-9a-f]{32}[^/]*'); do
  mkdir -p "$work/back/$(basename "$(dirname "$file")")"
  cp "$file" "$work/back/$(basename "$(dirname "$file")")/"
done
"$binary" hfile "$work"/back/*/* >"$work/files.txt"
grep -q 'encoding FAST_DIFF' "$work/files.txt" && grep -q 'encoding DIFF' "$work/files.txt" && grep -q 'encoding PREFIX' "$work/files.txt"
create "'row042', 'row070'" | here_shell "$work/again" >/dev/null
"$binary" import posts --data "$work/again" --hfiles "$work/back"
echo "$scan" | here_shell "$work/again" | cells >"$work/again.txt"
diff "$work/there.txt" "$work/again.txt"
"$binary" check "$work/again"
echo "ok $(wc -l <"$work/again.txt") cells, from Apache HBase to rowhouse, in $SECONDS s"
