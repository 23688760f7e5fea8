#!/usr/bin/env bash
# Makes the HFiles under rowhouse-format's tests that hold the cells of rowindex.txt in other encodings, tags and blooms, by
# Apache's own writers, of HBase 2.6 and 1.7 (those of a running 1.7 are by hbase-1/files.sh):  hfile-fixtures.sh [DIR]     (by default where they are; then git diff tells what is different)
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
fixtures="$here/../crates/rowhouse-format/tests/hfile/fixtures"
out="$(realpath "${1:-$fixtures}")"
"$here/apache-hbase/fetch.sh"
make() { # NAME ENCODING BLOOM TAGS
  LOG_LEVEL=ERROR "$here/apache-hbase/tool.sh" "$here/apache-hbase/StoreFiles.java" write "$fixtures/rowindex.txt" "$out/$1.hfile" none "$2" "$3" "$4" \
    2> >(grep -v '^Note:' >&2)
}
make prefix PREFIX ROW true
make diff DIFF ROW true
make fast-diff FAST_DIFF ROW true
make prefix-tags PREFIX ROW compressed
make diff-tags DIFF ROW compressed
make fast-diff-tags FAST_DIFF ROW compressed
make row-prefix ROW_INDEX_V1 ROWPREFIX_FIXED_LENGTH true

export APACHE_FOLDER=hbase-1
"$here/apache-hbase/fetch.sh"
make_1() { # NAME COMPRESSION ENCODING COMPRESS_TAGS
  LOG_LEVEL=ERROR "$here/apache-hbase/tool.sh" "$here/hbase-1/StoreFiles1.java" "$fixtures/rowindex.txt" "$out/hbase1-$1.hfile" "$2" "$3" ROW "$4" \
    2> >(grep -v '^Note:' >&2)
}
make_1 none NONE NONE false
make_1 prefix GZ PREFIX false
make_1 fast-diff-tags GZ FAST_DIFF true
