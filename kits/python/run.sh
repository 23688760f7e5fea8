#!/usr/bin/env bash
# Packs the wheel with a program, installs it and tests it: run.sh BINARY. Python's packages are in the cache.
set -euo pipefail
[ $# = 1 ] || { echo "usage: run.sh BINARY" >&2; exit 2; }
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
python="${ROWHOUSE_COMPAT_CACHE:-$HOME/.cache/rowhouse-compat}/kits-python"
if [ ! -e "$python/.complete" ]; then
  python3 -m venv --clear "$python"
  "$python/bin/pip" install --quiet 'pytest==8.3.4'
  touch "$python/.complete"
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
wheel="$("$here/package.sh" "$1" "$work")"
"$python/bin/pip" install --quiet --no-deps --no-index --force-reinstall "$wheel"
cd "$work"
# The program of the wheel, not another one.
env -u ROWHOUSE_BINARY "$python/bin/rowhouse" --version
env -u ROWHOUSE_BINARY "$python/bin/python" -m pytest -q -p no:cacheprovider --rootdir "$here/tests" "$here/tests"
