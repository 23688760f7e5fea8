#!/usr/bin/env bash
# Test classes of HBase's own client tests against BINARY serve, a server for each class:
#   run.sh BINARY                   the classes that classes.txt marks `ci`, first parameters only
#   run.sh BINARY all               all of classes.txt, with all parameters
#   run.sh BINARY CLASS[#TEST]...   these, named as in classes.txt; PARAMETERS=all takes all
# EXCLUDED=1 says why tests are excluded, KEEP=1 keeps the logs, JOBS is how many classes run at once.
# Status 1 when a test fails that is not in known.txt.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$here/../apache-hbase/env.sh" # JAVA_17 and APACHE_LIB
[ $# -gt 0 ] || { echo "usage: run.sh BINARY [all|CLASS[#TEST]...]" >&2; exit 2; }
binary="$(realpath "$1")"
shift
parameters=all
case "${1:-ci}" in
  ci) parameters=first; mapfile -t classes < <(awk '$2 == "ci" { print $1 }' "$here/classes.txt") ;;
  all) mapfile -t classes < <(awk '!/^#/ && NF { print $1 }' "$here/classes.txt") ;;
  *) parameters="${PARAMETERS:-first}"; classes=("$@") ;;
esac

cache="$ROWHOUSE_COMPAT_CACHE/hbase-tests"
"$here/../apache-hbase/fetch.sh"
stamp="$cache/.stamp"
sum="$(cat "$here/pom.xml" "$here/Rename.java" "$here"/java/rowhouse/*.java "$here"/java/org/apache/hadoop/hbase/*.java "$here"/java/org/apache/hadoop/hbase/rest/*.java "${BASH_SOURCE[0]}" | sha256sum)"
if [ "$(cat "$stamp" 2>/dev/null || true)" != "$sum" ]; then
  rm -rf "$cache"
  mkdir -p "$cache/classes"
  mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$cache/lib" >&2
  java -cp "$cache/lib/*" "$here/Rename.java" "$(echo "$cache"/lib/hbase-server-*-tests.jar)" "$cache/classes"
  javac -proc:none -nowarn -Xlint:none -d "$cache/classes" -cp "$cache/classes:$APACHE_LIB/*:$cache/lib/*" \
    "$here"/java/rowhouse/*.java "$here"/java/org/apache/hadoop/hbase/*.java "$here"/java/org/apache/hadoop/hbase/rest/*.java
  echo "$sum" >"$stamp"
fi

work="$(mktemp -d)"
finish() {
  local status=$?
  if [ "$status" = 0 ] && [ -z "${KEEP:-}" ]; then rm -rf "$work"; else echo "logs are kept in $work" >&2; fi
}
trap finish EXIT
cd "$work" # HBase's tests write below the working directory, and copy these two files of their build.
mkdir -p target/test-classes
for file in hbase-site.xml override-hbase-site.xml; do cp "$here/conf/hbase-site.xml" "target/test-classes/$file"; done
began="$SECONDS"

# Many of HBase's tests wait for a time that a busy machine exceeds, so a class that fails gets a second run.
run_class() {
  try_class "$1" || { echo "again: $1"; try_class "$1"; } || touch "$work/failed"
}

try_class() {
  java -Xmx768m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "${JAVA_17[@]}" -Djava.security.manager=allow -Djava.net.preferIPv4Stack=true -Dfile.encoding=UTF-8 \
    -Dlog.level="${LOG_LEVEL:-OFF}" -Dtest.build.data.basedirectory="$work/test-data" \
    -Drowhouse.binary="$binary" -Drowhouse.work="$work" -Drowhouse.parameters="$parameters" -Drowhouse.excluded="${EXCLUDED:+true}" \
    -cp "$cache/classes:$here/conf:$cache/lib/*:$APACHE_LIB/*" rowhouse.RunTests "$here/known.txt" "$1" 2>>"$work/jvm.err"
}

# A JVM for each class, JOBS of them at once.
for class in "${classes[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-3}" ]; do wait -n; done
  run_class "$class" &
done
wait
cat "$work"/*.result | awk '
  $1 == "counts" { passed += $2; failed += $3; excluded += $4 }
  $1 == "fails" { fails = fails "FAIL fails, and is not in known.txt: " $2 "\n" }
  $1 == "passes" { passes = passes "in known.txt, and passes: " $2 "\n" }
  END { printf "%s%s%d passed, %d failed as known.txt says or above, %d excluded\n", passes, fails, passed, failed, excluded }'
[ ! -e "$work/failed" ] || exit 1
echo "ok HBase's tests, $((SECONDS - began)) s"
