#!/usr/bin/env bash
# Packs the wheel with a program: package.sh BINARY DIRECTORY prints its path. Needs Python 3.11 or later.
set -euo pipefail
[ $# = 2 ] || { echo "usage: package.sh BINARY DIRECTORY" >&2; exit 2; }
mkdir -p "$2"
exec python3 "$(dirname "${BASH_SOURCE[0]}")/wheel.py" "$1" "$2"
