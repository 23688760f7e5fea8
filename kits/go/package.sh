#!/usr/bin/env bash
# Packs the module with a program for each platform, as files of a Go module proxy:
#   package.sh DIRECTORY VERSION BINARY...
# `GOPROXY=file://DIRECTORY` serves them. Needs Go, and zip by Python 3. LICENCES=… names the file with the licences of
# the program's dependencies, which ../licences.sh makes otherwise.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: package.sh DIRECTORY VERSION BINARY..." >&2; exit 2; }
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
mkdir -p "$1"
out="$(realpath "$1")"
version="$2"
shift 2
module="$(sed -n 's/^module //p' "$here/go.mod")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
root="$work/$module@$version"
mkdir -p "$root"
cp -r "$here"/{go.mod,*.go,README.md,testdata} "$root"
"$here/../licences.sh" "$root"
for binary in "$@"; do
  case "$("$here/../machine.sh" "$binary")" in
    x86_64) platform=linux_amd64 ;;
    aarch64) platform=linux_arm64 ;;
    *) exit 1 ;;
  esac
  gzip -n -c "$binary" >"$root/rowhouse_$platform.gz"
  cat >"$root/packaged_$platform.go" <<END
package rowhousetest

import _ "embed"

//go:embed rowhouse_$platform.gz
var packed []byte

func init() {
	packaged.program = packed
	packaged.hash = "$(sha256sum "$binary" | cut -d ' ' -f 1)"
}
END
done
versions="$out/$module/@v"
mkdir -p "$versions"
cp "$root/go.mod" "$versions/$version.mod"
printf '{"Version":"%s"}\n' "$version" >"$versions/$version.info"
# Go accepts no entries for folders.
(cd "$work" && find "${module%%/*}" -type f | sort | python3 -c '
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    for path in sys.stdin.read().split("\n")[:-1]:
        compression = zipfile.ZIP_STORED if path.endswith(".gz") else None
        archive.write(path, compress_type=compression)
' "$versions/$version.zip")
[ -e "$versions/list" ] && grep -qx "$version" "$versions/list" || echo "$version" >>"$versions/list"
echo "$versions/$version.zip"
