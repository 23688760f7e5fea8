#!/usr/bin/env bash
# Builds the wheel of the Python module for every Linux since glibc 2.17 (manylinux2014), tries it in an environment of its
# own, and adds it to a folder and its checksums: `python-module.sh DIR`. Needs Python 3.9 or later; zig, which links for
# the old glibc, comes as a Python package.
set -euo pipefail
out="$(realpath "$1")"
cd "$(dirname "$0")/.."
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/build"
"$work/build/bin/pip" install --quiet 'maturin[zig]>=1.9,<2' 'auditwheel>=6' >&2
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/python-module"
# maturin looks for zig beside the Python that runs it.
PATH="$work/build/bin:$PATH" maturin build --quiet --release --locked --zig --compatibility manylinux2014 \
  --manifest-path python/Cargo.toml --out "$work/wheels" >&2
wheel="$(echo "$work"/wheels/*.whl)"
# The name of the wheel has the tag too: the quoted one is that of its symbols.
"$work/build/bin/auditwheel" show "$wheel" | tr '\n' ' ' | grep -q 'platform tag: "manylinux_2_17_' ||
  { "$work/build/bin/auditwheel" show "$wheel" >&2; exit 1; }

python3 -m venv "$work/try"
"$work/try/bin/pip" install --quiet --no-index "$wheel" >&2
"$work/try/bin/python" - "$work/data" <<'PYTHON'
import sys

import rowhouse

with rowhouse.open(sys.argv[1]) as db:
    mail = db.create("mail", "d", key="[user string][id u32]", columns="d:s subject string")
    mail.put(user="bob", id=7, subject="Christmas")
    assert [row.subject for row in mail.query("user = 'bob'")] == ["Christmas"]
PYTHON

cp "$wheel" "$out"
cd "$out"
if command -v sha256sum >/dev/null; then sums=(sha256sum); else sums=(shasum -a 256); fi
"${sums[@]}" "$(basename "$wheel")" >>SHA256SUMS
echo "$out/$(basename "$wheel")"
