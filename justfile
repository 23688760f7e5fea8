# Tasks of this repository: `just NAME`, or run the command below it. Only Rust is needed unless a task says otherwise.

# List the tasks.
default:
    @just --list

# Type-check everything.
check:
    cargo check --workspace --all-targets

# Run all tests that need only Rust.
test:
    cargo test --workspace

# Run the tests of one crate, such as `just test-crate rowhouse-store`.
test-crate CRATE *ARGS:
    cargo test -p {{CRATE}} {{ARGS}}

# Accept the new output of expect tests and shell transcripts; read the diff afterwards.
accept CRATE:
    UPDATE_EXPECT=1 cargo test -p {{CRATE}}

# Format, and deny warnings of clippy and rustdoc.
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets -- -D warnings
    cargo clippy -p rowhouse-import --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

# Start a server in ./rowhouse-data, with web pages on 127.0.0.1:16010.
serve *ARGS:
    cargo run --release -- serve {{ARGS}}

# Open the shell on ./rowhouse-data or its server.
shell *ARGS:
    cargo run --release -- shell {{ARGS}}

# Run everything that a change must pass (Java 17 and Maven, 35 minutes).
ci:
    .ci/run

# Build the program and package it into target/release-files: archive, .deb, image, kits, crates, checksums.
release:
    .ci/release

# Run what is too slow for every change (hours).
ci-long:
    .ci/long

# Run stock HBase clients against the release binary (Java 17 and Maven).
compat:
    cargo build --release --locked --bin rowhouse
    compat/run.sh target/release/rowhouse

# Test the kits for Java, Python and Go with the release binary, and pack them (a JDK, Maven, Python 3.11, Go).
kits:
    cargo build --release --locked --bin rowhouse
    kits/run.sh target/release/rowhouse

# Build the Python module, and test it with the release binary (Python 3.9).
python:
    cargo build --release --locked --bin rowhouse
    python/run.sh target/release/rowhouse

# Run HBase's own client tests against the release binary (Java 17 and Maven).
hbase-tests *CLASSES:
    cargo build --release --locked --bin rowhouse
    compat/hbase-tests/run.sh target/release/rowhouse {{CLASSES}}

# Feed random input to the parsers (nightly compiler); all targets of fuzz/ by default.
fuzz SECONDS *TARGETS:
    fuzz/run.sh {{SECONDS}} {{TARGETS}}

# Compare the store with ready-made engines; bench/README.md explains the cases.
bench *ARGS:
    cd bench && cargo run --release -- {{ARGS}}

# Build the pages as a site with search in target/site, and check its links (Python 3; installs mdbook into target/tools).
site:
    packaging/site/build.py

# Write docs/compatibility.md and the figures of docs/how-it-is-tested.md from the tests (Python 3).
compatibility:
    compat/compatibility/compatibility.py

# Count the words of comments, messages and pages, by folder, and the wide lines of comments.
language:
    cargo test -p rowhouse-cli --test language -- --nocapture
