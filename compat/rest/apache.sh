#!/usr/bin/env bash
# Runs Apache HBase's REST gateway in the foreground, on the Apache HBase of compat/apache-hbase that listens where its
# environment says:  apache.sh [PORT].  Without PORT it only fetches jars. APACHE_REST_CONF is a folder with another hbase-site.xml.
set -euo pipefail
rest="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$rest/../apache-hbase/env.sh"
lib="$ROWHOUSE_COMPAT_CACHE/rest-gateway/lib"
if [ ! -e "$lib/.complete" ]; then
  rm -rf "$lib"
  mvn -q -B -f "$rest/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$lib" >&2
  # Of Hadoop 2; the gateway has newer ones.
  rm -f "$lib"/servlet-api-2*.jar "$lib"/jsp-api-2*.jar "$lib"/jersey-*-1.9.jar
  touch "$lib/.complete"
fi
[ $# -gt 0 ] || exit 0
exec java "${JAVA_17[@]}" -Xmx512m -Djava.net.preferIPv4Stack=true -Dapache.data="$APACHE_DATA" -Dapache.host="$APACHE_HOST" -Dapache.bind="$APACHE_BIND" \
  -Dapache.zookeeper.port="$APACHE_ZOOKEEPER_PORT" -Dapache.master.port="$APACHE_MASTER_PORT" -Dapache.regionserver.port="$APACHE_REGIONSERVER_PORT" \
  -cp "${APACHE_REST_CONF:-$rest/../apache-hbase/conf}:$lib/*" org.apache.hadoop.hbase.rest.RESTServer start -p "$1" --infoport -1
