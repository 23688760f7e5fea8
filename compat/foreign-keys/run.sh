#!/usr/bin/env bash
# Golden vectors of foreign row keys, made by the original code:
#   run.sh            writes them all into the tests of rowhouse-schema
#   run.sh --check    makes them again and compares; status 1 on any difference
#   run.sh NAME       prints one file, and what the original code said of values it refused
# Jars come from Maven Central and one Go module from the Go proxy, once, into $ROWHOUSE_COMPAT_CACHE (default ~/.cache/rowhouse-compat).
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
golden="$(cd "$here/../../crates/rowhouse-schema/tests" && pwd)/golden"
cache="${ROWHOUSE_COMPAT_CACHE:-$HOME/.cache/rowhouse-compat}/foreign-keys"

# File and program. kiji and bigtable have no public artifact: README.md says what made them.
programs="java:JavaBytes java-text:JavaText hashes:Hashes ordered:Ordered phoenix-types:PhoenixTypes phoenix-keys:PhoenixKeys
opentsdb:OpenTsdb hbasewd:HbaseWd tuple:Tuples ordered-code:go"

build() {
  local sum
  sum="$(cat "$here/pom.xml" "$here"/java/*.java "$here"/go/* | sha256sum)"
  [ "$(cat "$cache/.stamp" 2>/dev/null || true)" != "$sum" ] || return 0
  rm -rf "$cache/lib" "$cache/classes"
  mkdir -p "$cache/classes"
  mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$cache/lib" >&2
  javac -nowarn -encoding UTF-8 --release 17 -proc:none -d "$cache/classes" -cp "$cache/lib/*" "$here"/java/*.java
  (cd "$here/go" && GOFLAGS=-mod=readonly go build -o "$cache/ordered-code" .)
  echo "$sum" >"$cache/.stamp"
}

vectors() {
  if [ "$1" = go ]; then
    "$cache/ordered-code"
  else
    java -Xmx512m -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true -Dfile.encoding=UTF-8 -Duser.language=en -Duser.timezone=UTC \
      --add-opens java.base/java.nio=ALL-UNNAMED --add-opens java.base/java.lang=ALL-UNNAMED -cp "$cache/classes:$cache/lib/*" "$1"
  fi
}

program_of() {
  local entry
  for entry in $programs; do
    [ "${entry%%:*}" != "$1" ] || { echo "${entry#*:}"; return 0; }
  done
  echo "run.sh: no such file: name=$1, known: $(sed -E 's/:[A-Za-z]+//g' <<<"$programs" | tr '\n' ' ')" >&2
  return 1
}

build
case "${1:-}" in
  "" | --check) target="$golden"; [ -z "${1:-}" ] || { target="$(mktemp -d)"; trap 'rm -rf "$target"' EXIT; } ;;
  *) program="$(program_of "$1")"; vectors "$program"; exit ;;
esac
mkdir -p "$target"
status=0
for entry in $programs; do
  name="${entry%%:*}"
  if ! vectors "${entry#*:}" >"$target/$name.txt" 2>"$cache/$name.log"; then
    cat "$cache/$name.log" >&2
    echo "run.sh: $name: program failed" >&2
    exit 1
  fi
  [ "$target" = "$golden" ] || diff -u "$golden/$name.txt" "$target/$name.txt" || status=1
done
if [ "$target" != "$golden" ]; then
  [ "$status" != 0 ] || echo "run.sh: $(wc -w <<<"$programs") files as recorded"
fi
exit "$status"
