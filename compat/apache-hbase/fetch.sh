#!/usr/bin/env bash
# Fetch the jars of Apache HBase from Maven Central into the cache. Does nothing when they are there.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$here/env.sh"
stamp="$APACHE_LIB/.stamp"
pom="$here/../$APACHE_FOLDER/pom.xml"
sum="$(cat "$pom" "${BASH_SOURCE[0]}" | sha256sum)"
[ "$(cat "$stamp" 2>/dev/null || true)" != "$sum" ] || exit 0
rm -rf "$APACHE_LIB"
mkdir -p "$APACHE_LIB"
mvn -q -B -f "$pom" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$APACHE_LIB"
# One SLF4J binding only: log4j2's. HBase 1 has its own.
[ "$APACHE_FOLDER" = hbase-1 ] || rm -f "$APACHE_LIB"/{slf4j-reload4j,slf4j-log4j12,reload4j,log4j-1.2.1,logback}-*.jar
# HBase's default codecs are Hadoop's, those for ZSTD, and in HBase 1 for SNAPPY and LZ4, in C. Maven Central has them inside a
# jar of Trino's; nothing else of that is used.
mkdir -p "$APACHE_NATIVE"
if [ "$(uname -sm)" = "Linux x86_64" ] && [ ! -e "$APACHE_NATIVE/libhadoop.so" ]; then
  artifact=io.trino.hadoop:hadoop-apache:3.2.0-18
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact="$artifact" -DoutputDirectory="$APACHE_NATIVE"
  (cd "$APACHE_NATIVE" && jar xf hadoop-apache-*.jar nativelib/Linux-amd64 && mv nativelib/Linux-amd64/libzstd.so libzstd.so.1 \
    && mv nativelib/Linux-amd64/libsnappy.so libsnappy.so.1 && mv nativelib/Linux-amd64/libhadoop.so . && rm -r hadoop-apache-*.jar nativelib)
fi
echo "$sum" >"$stamp"
echo "apache-hbase: $(find "$APACHE_LIB" -name '*.jar' | wc -l) jars in $APACHE_LIB" >&2
