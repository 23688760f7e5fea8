#!/usr/bin/env bash
# Tests the kit with a program, and packs it: run.sh BINARY. Needs a JDK and Maven.
set -euo pipefail
[ $# = 1 ] || { echo "usage: run.sh BINARY" >&2; exit 2; }
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
binary="$(realpath "$1")"
classes="$here/target/class-path"
mvn -q -B -f "$here/pom.xml" -Drowhouse.binary="$binary" test
mvn -q -B -f "$here/pom.xml" dependency:build-classpath -DincludeScope=test -Dmdep.outputFile="$classes"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
jars="$("$here/package.sh" "$binary" "$work" | tr '\n' ':')"
# The program of the jar, written to a cache of its own.
env -u ROWHOUSE_BINARY PATH=/nonexistent XDG_CACHE_HOME="$work/cache" \
  "$(command -v java)" -cp "$jars$here/target/test-classes:$(cat "$classes")" io.rowhouse.PackagedProgram "$work/cache"
