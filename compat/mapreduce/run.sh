#!/usr/bin/env bash
# Put a server through HBase's own MapReduce jobs, unchanged:  run.sh ZOOKEEPER_PORT DIR
# Jobs runs them in its process, on Hadoop's local runner; DIR takes the files of exports.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
. "$here/apache-hbase/env.sh"
"$here/apache-hbase/fetch.sh"
jars="$ROWHOUSE_COMPAT_CACHE/mapreduce"
sum="$(sha256sum <"$here/mapreduce/pom.xml")"
if [ "$(cat "$jars/.stamp" 2>/dev/null || true)" != "$sum" ]; then
  rm -rf "$jars"
  mvn -q -B -f "$here/mapreduce/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$jars"
  echo "$sum" >"$jars/.stamp"
fi
APACHE_ZOOKEEPER_PORT="$1"
LOG_LEVEL="${LOG_LEVEL:-OFF}"
APACHE_LIB="$jars/*:$APACHE_LIB" # the class path of apache_hbase_java ends with this
apache_hbase_java -Xmx512m "$here/mapreduce/Jobs.java" "$2"
