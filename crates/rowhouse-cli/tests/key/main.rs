//! Tests `rowhouse key` as a process: the output, the stream it goes to, and the exit status.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod advice;
mod bench;
mod encode_decode;
mod input;
mod plan;

use std::io::Write;
use std::process::{Command, Stdio};

use expect_test::Expect;

const BLOG: &str = "[blogger text]_[at millis digits desc]";

/// Runs `rowhouse key` with these arguments and this input. Returns standard output, standard error
/// and, if it is not 0, the exit status, concatenated.
fn run_key(args: &[&str], input: &[u8]) -> String {
    let mut process = Command::new(env!("CARGO_BIN_EXE_rowhouse"))
        .arg("key")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends early does not read all input.
    let _ = process.stdin.take().unwrap().write_all(input);
    let output = process.wait_with_output().unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    text.push_str(&String::from_utf8(output.stderr).unwrap());
    match output.status.code() {
        Some(0) => {}
        code => text.push_str(&format!("exit status {}\n", code.unwrap())),
    }
    text
}

fn check(args: &[&str], expected: Expect) {
    expected.assert_eq(&run_key(args, b""));
}

fn check_input(args: &[&str], input: &str, expected: Expect) {
    expected.assert_eq(&run_key(args, input.as_bytes()));
}
