#!/usr/bin/env bash
# Packs the kits for tests with the programs of the archives in a folder, and the crates: `kits.sh DIR` adds to DIR the jars,
# the wheels, the Go module as files of a module proxy, the `.crate` files, and their checksums. Needs a JDK, Maven, Go and
# Python 3.11. One archive for each machine of Linux: what is the same for all is packed once.
set -euo pipefail
out="$(realpath "$1")"
cd "$(dirname "$0")/.."

version="$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}"
export SOURCE_DATE_EPOCH
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir "$work/files"

programs=()
for archive in "$out"/rowhouse-"$version"-*-linux.tar.gz; do
  [ -e "$archive" ] || { echo "there is no archive of a program for Linux in $out" >&2; exit 1; }
  tree="$work/$(basename "$archive" .tar.gz)"
  tar -xzf "$archive" -C "$work"
  programs+=("$tree/rowhouse")
  # The dependencies are the same for each machine.
  export LICENCES="$tree/LICENCES-OF-DEPENDENCIES.txt"
  VERSION="$version" kits/java/package.sh "$tree/rowhouse" "$work/files" >/dev/null
  kits/python/package.sh "$tree/rowhouse" "$work/files" >/dev/null
done
kits/go/package.sh "$work/proxy" "v$version" "${programs[@]}" >/dev/null
packaging/archive.py "$work/proxy" proxy "$work/files/rowhousetest-$version-go-proxy.tar.gz"

cargo package --workspace --locked --no-verify --allow-dirty --quiet
cp "${CARGO_TARGET_DIR:-target}"/package/*-"$version".crate "$work/files"

cp "$work/files"/* "$out"
cd "$work/files"
if command -v sha256sum >/dev/null; then sums=(sha256sum); else sums=(shasum -a 256); fi
"${sums[@]}" ./* | sed 's| \./| |' >>"$out/SHA256SUMS"
ls -l "$work/files"
