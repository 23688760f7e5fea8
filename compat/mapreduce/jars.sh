# Sourced: the jars of HBase's MapReduce jobs, before those of its servers on the class path.
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
APACHE_LIB="$jars/*:$APACHE_LIB" # the class path of apache_hbase_java ends with this
