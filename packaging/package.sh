#!/usr/bin/env bash
# Packages a built program: `packaging/package.sh PROGRAM DIR` writes an archive, a .deb and an OCI
# image, each with the licences and components of the program, and SHA256SUMS. Nothing is built.
set -euo pipefail
program="$(realpath "$1")"
mkdir -p "$2"
out="$(realpath "$2")"
cd "$(dirname "$0")/.."

version="$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"
system="$(uname -s | tr '[:upper:]' '[:lower:]')"
machine="$(uname -m | sed 's/^arm64$/aarch64/')"
name="rowhouse-$version-$machine-$system"
# The same commit gives the same bytes.
SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}"
export SOURCE_DATE_EPOCH

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
tree="$work/$name"
mkdir -p "$tree/completions"

cp "$program" "$tree/rowhouse"
chmod 755 "$tree/rowhouse"
strip "$tree/rowhouse"
cp README.md LICENSE CHANGELOG.md packaging/rowhouse.toml packaging/rowhouse.service "$tree"
"$tree/rowhouse" completions bash >"$tree/completions/rowhouse.bash"
"$tree/rowhouse" completions zsh >"$tree/completions/_rowhouse"
"$tree/rowhouse" completions fish >"$tree/completions/rowhouse.fish"
"$tree/rowhouse" man "$tree/man"
packaging/components.py licences >"$tree/LICENCES-OF-DEPENDENCIES.txt"
packaging/components.py sbom >"$out/$name.cdx.json"
cp "$out/$name.cdx.json" "$tree/rowhouse.cdx.json"

packed=("$name.tar.gz" "$name.cdx.json")
packaging/archive.py "$tree" "$name" "$out/$name.tar.gz"
if [ "$system" = linux ]; then
  packaging/image.py "$tree" "$version" "$out/rowhouse-$version-$machine-image.tar"
  packed+=("rowhouse-$version-$machine-image.tar")
  if command -v dpkg-deb >/dev/null; then
    architecture="$(dpkg --print-architecture)"
    packaging/deb.sh "$tree" "$version" "$architecture" "$out/rowhouse_${version}_$architecture.deb"
    packed+=("rowhouse_${version}_$architecture.deb")
  else
    echo "no dpkg-deb: no .deb is made" >&2
  fi
fi
cd "$out"
if command -v sha256sum >/dev/null; then sums=(sha256sum); else sums=(shasum -a 256); fi
"${sums[@]}" "${packed[@]}" >SHA256SUMS
ls -l "$out"
