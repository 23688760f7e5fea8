#!/usr/bin/env bash
# Run a class of Apache HBase:  tool.sh CLASS ARGS...
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$here/env.sh"
"$here/fetch.sh"
LOG_LEVEL="${LOG_LEVEL:-WARN}"
apache_hbase_java -Xmx512m "$@"
