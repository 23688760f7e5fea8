#!/usr/bin/env bash
# HFiles of every compression, encoding and bloom, handed over both ways and compared cell by cell. Needs cargo.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
exchange() { # TEST
  local output
  output="$(cd "$here/.." && ROWHOUSE_EXCHANGE_DIR="$work" cargo test -q -p rowhouse-format --test hfile "$1" -- --ignored 2>&1)" \
    && grep -q '1 passed' <<<"$output" || { echo "FAIL $1" >&2; tail -20 <<<"$output" >&2; exit 1; }
}

"$here/apache-hbase/fetch.sh"
exchange files_for_apache_are_written
mkdir -p "$work/apache"
LOG_LEVEL=ERROR "$here/apache-hbase/tool.sh" "$here/apache-hbase/StoreFiles.java" exchange "$work" 2> >(grep -v '^Note:' >&2)
exchange files_of_apache_are_read
echo "ok $(find "$work/apache" -name '*.hfile' | wc -l) files of Apache read"
