#!/usr/bin/env bash
# Feeds random input to the parsers: fuzz/run.sh SECONDS [TARGET...], all targets by default.
# Needs a nightly compiler; installs cargo-fuzz. Inputs that reach new code go to fuzz/corpus, an
# input that fails to fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")"

seconds=$1
shift
cargo fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cargo +nightly fuzz list)
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target"
    # An allocation of more than 256 MiB, or 20 s for one input, is a failure.
    cargo +nightly fuzz run "$target" "corpus/$target" "seeds/$target" -- \
        -max_total_time="$seconds" -max_len=16384 -timeout=20 -malloc_limit_mb=256
done
