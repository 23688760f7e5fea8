#!/usr/bin/env bash
# Packs the wheel with a program: package.sh BINARY DIRECTORY prints its path. Needs Python 3.11 or later.
# LICENCES=… names the file with the licences of the program's dependencies, which ../licences.sh makes otherwise.
set -euo pipefail
[ $# = 2 ] || { echo "usage: package.sh BINARY DIRECTORY" >&2; exit 2; }
mkdir -p "$2"
here="$(dirname "${BASH_SOURCE[0]}")"
licences="$(mktemp -d)"
trap 'rm -rf "$licences"' EXIT
"$here/../licences.sh" "$licences"
machine="$("$here/../machine.sh" "$1")"
python3 "$here/wheel.py" "$1" "$machine" "$2" "$licences"
