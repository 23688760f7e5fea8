#!/usr/bin/env bash
# Writes the licences of a program, which a package of the program has beside it: licences.sh DIRECTORY. LICENCES=… names
# the file of dependencies that packaging/package.sh makes; without it, Cargo and Rust's sources make one in seconds.
set -euo pipefail
[ $# = 1 ] || { echo "usage: licences.sh DIRECTORY" >&2; exit 2; }
out="$(realpath "$1")"
file="$out/LICENCES-OF-DEPENDENCIES.txt"
[ -z "${LICENCES:-}" ] || cp "$LICENCES" "$file"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cp LICENSE "$out"
[ -n "${LICENCES:-}" ] || packaging/components.py licences >"$file"
[ -s "$file" ] || { echo "the licences of the dependencies are missing: $file" >&2; exit 1; }
