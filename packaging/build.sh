#!/usr/bin/env bash
# Builds the program as it is released, and prints where it is. On Linux it is static: glibc, whose
# malloc and memcpy are those of the benchmarks, without what has to be on the machine.
set -euo pipefail
cd "$(dirname "$0")/.."

target="$(rustc -vV | sed -n 's/^host: //p')"
case "$target" in
  *-linux-gnu) export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static" ;;
esac
# With a target named, the flags are not those of procedural macros, which cannot be static.
cargo build --release --locked --target "$target" --bin rowhouse >&2
echo "${CARGO_TARGET_DIR:-target}/$target/release/rowhouse"
