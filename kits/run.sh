#!/usr/bin/env bash
# Tests all kits with a program: run.sh BINARY
set -euo pipefail
[ $# = 1 ] || { echo "usage: run.sh BINARY" >&2; exit 2; }
kits="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
binary="$(realpath "$1")"
for kit in java python go; do
  began="$SECONDS"
  "$kits/$kit/run.sh" "$binary"
  echo "ok the kit for $kit, $((SECONDS - began)) s"
done
