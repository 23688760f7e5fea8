#!/usr/bin/env bash
# Run one of the programs, building them first when needed:  run.sh [NAME ARGS...]
# JAVA_OPTIONS adds JVM flags; LOG_LEVEL (WARN, INFO, DEBUG) lets the client speak; without NAME it only builds.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
stamp="$here/target/.stamp"
sum="$(find "$here/pom.xml" "$here/src" -type f -print0 | sort -z | xargs -0 cat | sha256sum)"
if [ "$(cat "$stamp" 2>/dev/null || true)" != "$sum" ]; then
  rm -rf "$here/target/classes"
  mvn -q -B -f "$here/pom.xml" compile dependency:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$here/target/lib" >&2
  echo "$sum" >"$stamp"
fi
[ $# -gt 0 ] || exit 0
exec java -Xmx512m -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true -Dfile.encoding=UTF-8 \
  --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/java.lang=ALL-UNNAMED \
  -Dlog.level="${LOG_LEVEL:-OFF}" ${JAVA_OPTIONS:-} -cp "$here/target/classes:$here/target/lib/*" "$@"
