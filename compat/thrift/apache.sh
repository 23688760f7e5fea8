#!/usr/bin/env bash
# Runs Apache HBase's Thrift gateway in the foreground, on the Apache HBase of compat/apache-hbase that listens where
# its environment says:  apache.sh ADDRESS:PORT [OPTIONS OF ThriftServer]
set -euo pipefail
thrift="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$thrift/../apache-hbase/env.sh"
"$thrift/../apache-hbase/fetch.sh"
lib="$ROWHOUSE_COMPAT_CACHE/thrift/lib"
if [ ! -e "$lib/.complete" ]; then
  rm -rf "$lib"
  mvn -q -B -f "$thrift/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$lib" >&2
  # The pages of the gateway are in the binary release alone; their folders have to be there.
  mkdir -p "$lib/webapps/hbase-webapps/thrift" "$lib/webapps/hbase-webapps/static"
  touch "$lib/.complete"
fi
address="$1"
shift
APACHE_LIB="$lib/*:$lib/webapps:$APACHE_LIB"
apache_hbase_java ${APACHE_THRIFT_HEAP:--Xmx512m} org.apache.hadoop.hbase.thrift.ThriftServer start \
  --bind "${address%:*}" --port "${address##*:}" --infoport -1 "$@"
