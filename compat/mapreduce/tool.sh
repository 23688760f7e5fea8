#!/usr/bin/env bash
# Run one of HBase's MapReduce jobs on Hadoop's local runner:  tool.sh ZOOKEEPER_PORT DIR CLASS ARGS...
# The counters of the job are on standard error.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/jars.sh"
APACHE_ZOOKEEPER_PORT="$1"
dir="$2" class="$3"
shift 3
LOG_LEVEL="${LOG_LEVEL:-INFO}"
apache_hbase_java -Xmx512m "$class" -Dmapreduce.framework.name=local -Dfs.defaultFS=file:/// -Dhadoop.tmp.dir="$dir/tmp" \
  -Dmapreduce.local.map.tasks.maximum=2 "$@"
