//! Compile errors: the programs in `tests/ui` do not compile, and the compiler's messages are
//! stored beside them. `TRYBUILD=overwrite cargo test -p rowhouse-derive --test compile_errors`
//! rewrites these after a change.

use std::process::Command;

/// The messages come from one compiler, the oldest that the workspace supports; others format them
/// differently.
#[test]
fn mistakes_are_compile_errors() {
    let expected = concat!("rustc ", env!("CARGO_PKG_RUST_VERSION"), ".");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("rustc runs").stdout;
    let version = String::from_utf8_lossy(&version);
    if !version.starts_with(expected) {
        return eprintln!("not compared: this is {version}, and the words are of {expected}x");
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
