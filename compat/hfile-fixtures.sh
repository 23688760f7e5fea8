#!/usr/bin/env bash
# Makes the HFiles under rowhouse-format's tests that hold the cells of rowindex.txt in other encodings, tags and blooms, by
# Apache's own writer:  hfile-fixtures.sh [DIR]     (by default where they are; then git diff tells what is different)
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
