#!/usr/bin/env bash
# Builds the jar, and the one with a program, whose classifier is the platform: package.sh BINARY DIRECTORY prints their
# paths. Needs a JDK, 9 or later, and Maven. VERSION=… sets the version, LICENCES=… the file with the licences of the
# program's dependencies, which ../licences.sh makes otherwise.
set -euo pipefail
[ $# = 2 ] || { echo "usage: package.sh BINARY DIRECTORY" >&2; exit 2; }
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
binary="$(realpath "$1")"
mkdir -p "$2"
out="$(realpath "$2")"
machine="$("$here/../machine.sh" "$binary")"
# As Maven's os-maven-plugin calls it.
platform="linux-${machine/aarch64/aarch_64}"
version="${VERSION:-$(sed -n 's/.*<revision>\(.*\)<.*/\1/p' "$here/pom.xml")}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/META-INF"
"$here/../licences.sh" "$work/META-INF"
mvn -q -B -f "$here/pom.xml" -Drevision="$version" -Dmaven.test.skip=true package >&2
cp "$here/target/rowhouse-test-$version.jar" "$here/pom.xml" "$out"
jar --update --file "$out/rowhouse-test-$version.jar" -C "$work" META-INF/LICENSE
sed -i "s/\${revision}/$version/" "$out/pom.xml"
mv "$out/pom.xml" "$out/rowhouse-test-$version.pom"
folder="$work/io/rowhouse/binary/$platform"
mkdir -p "$folder"
cp "$binary" "$folder/rowhouse"
sha256sum "$binary" | cut -d ' ' -f 1 >"$folder/rowhouse.sha256"
jar --create --file "$out/rowhouse-test-$version-$platform.jar" -C "$work" io -C "$work" META-INF
ls "$out/rowhouse-test-$version.pom" "$out/rowhouse-test-$version.jar" "$out/rowhouse-test-$version-$platform.jar"
