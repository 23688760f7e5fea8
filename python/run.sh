#!/usr/bin/env bash
# Builds the Python module, and tests and type-checks the wheel in a virtual environment outside of
# the repository: run.sh [BINARY]. With a binary of rowhouse, the tests use a server too.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
[ $# -le 1 ] || { echo "usage: run.sh [BINARY]" >&2; exit 2; }
[ $# = 0 ] || { ROWHOUSE="$(realpath "$1")"; export ROWHOUSE; }
cd "$here"

cache="${XDG_CACHE_HOME:-$HOME/.cache}/rowhouse-python"
python="$cache/venv/bin/python"
if [ ! -x "$python" ] || ! cmp -s requirements.txt "$cache/requirements.txt"; then
  python3 -m venv --clear "$cache/venv"
  "$python" -m pip install --quiet -r requirements.txt
  cp requirements.txt "$cache/requirements.txt"
fi

# The development profile: its dependencies are those that the workspace's tests have compiled.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$here/../target}"
export CARGO_INCREMENTAL=0
cargo fmt --check
PYO3_PYTHON="$python" cargo clippy --locked --quiet -- -D warnings
wheels="$(mktemp -d)"
trap 'rm -rf "$wheels"' EXIT
"$python" -m maturin build --quiet --locked --profile dev --compatibility off \
  --interpreter "$python" --out "$wheels"
"$python" -m pip install --quiet --no-deps --force-reinstall "$wheels"/*.whl

"$cache/venv/bin/pytest" --quiet
# The stubs are those of the compiled module, and the tests use them rightly.
"$cache/venv/bin/stubtest" --allowlist stubtest.txt rowhouse._rowhouse >"$wheels/stubtest.log" ||
  { cat "$wheels/stubtest.log"; exit 1; }
"$cache/venv/bin/mypy" --no-error-summary tests bench.py package/rowhouse/errors.py
