#!/usr/bin/env bash
# Put a server through HBase's own MapReduce jobs, unchanged:  run.sh ZOOKEEPER_PORT DIR
# Jobs runs them in its process, on Hadoop's local runner; DIR takes the files of exports.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/jars.sh"
APACHE_ZOOKEEPER_PORT="$1"
LOG_LEVEL="${LOG_LEVEL:-OFF}"
apache_hbase_java -Xmx512m "$here/mapreduce/Jobs.java" "$2"
