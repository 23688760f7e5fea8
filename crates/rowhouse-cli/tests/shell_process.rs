//! Tests of the shell as a process: its sources of commands, the opened database, its exit status.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use support::serve;

fn rowhouse(command: &str, data: &Path) -> Command {
    let mut process = Command::new(env!("CARGO_BIN_EXE_rowhouse"));
    process.arg(command).arg("--data").arg(data);
    process
}

/// Runs the shell with these additional arguments and this input.
fn shell(data: &Path, args: &[&str], input: &str) -> Output {
    let mut process = rowhouse("shell", data)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends early does not read all input.
    let _ = process.stdin.take().unwrap().write_all(input.as_bytes());
    process.wait_with_output().unwrap()
}

/// Returns the output without elapsed times.
fn printed(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().filter(|line| !line.starts_with("Took")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn commands_come_from_arguments_a_file_or_a_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let given = shell(&data, &["-e", "create 't', 'f'", "--execute", "list"], "");
    assert!(given.status.success());
    assert_eq!(
        printed(&given),
        "Created table t\n=> Hbase::Table - t\nTABLE\nt\n1 row(s)\n=> [\"t\"]\n"
    );
    let script = dir.path().join("script");
    std::fs::write(&script, "put 't',\n  'r', # the row\n  'f:q', 'v', 1\nexit\nlist").unwrap();
    let file = shell(&data, &[script.to_str().unwrap()], "");
    assert_eq!(printed(&file), "");
    let pipe = shell(&data, &[], "scan 't'\nput 't', 'r");
    assert!(printed(&pipe).starts_with(
        "ROW  COLUMN+CELL\n r column=f:q, timestamp=1970-01-01T00:00:00.001, value=v\n1 row(s)\n\n\
         ERROR: unterminated text\n"
    ));
    assert!(pipe.status.success());
}

#[test]
fn the_first_error_ends_it_only_where_that_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let script = "scan 'nosuch'; version\nversion";
    let going_on = shell(dir.path(), &[], script);
    assert!(going_on.status.success());
    assert_eq!(printed(&going_on).matches("rowhouse 0").count(), 2);
    let stopping = shell(dir.path(), &["-n"], script);
    assert_eq!(stopping.status.code(), Some(1));
    assert!(!printed(&stopping).contains("rowhouse 0"));
    assert_eq!(shell(dir.path(), &["-n"], "list 'a' 'b'").status.code(), Some(1));
}

#[test]
fn errors_tell_the_file_and_the_line_of_their_command() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let script = "# A script.\ncreate 't', 'f'\n\nput 't',\n  'r',\n  'g:q', 'v'\nlist 'a' 'b'\nscan 't',\n  LIMIT = 1\n\
                  disable 't'; get 't', 'r'\nput 't', 'r";
    let path = dir.path().join("script.txt");
    std::fs::write(&path, script).unwrap();
    let places = |output: &Output, name: &str| -> Vec<String> {
        let text = printed(output);
        let places = text.lines().filter_map(|line| line.strip_prefix("At "));
        let lines = places.map(|place| place.strip_prefix(name).unwrap().to_owned());
        lines.collect()
    };
    // An error names the line where the command begins; a syntax error its own line.
    let ran = shell(&data, &[path.to_str().unwrap()], "");
    let lines = [":4", ":7", ":9", ":10", ":11"];
    assert_eq!(places(&ran, path.to_str().unwrap()), lines, "{}", printed(&ran));
    assert!(printed(&ran).contains("\n\nAt "), "{}", printed(&ran));
    let piped = shell(&data, &[], &script.replace("create", "enable 't'; create"));
    assert_eq!(places(&piped, "standard input"), [":2", ":4", ":7", ":9", ":10", ":11"]);
    let given = shell(&data, &["-e", "enable 't'", "-e", "get 't'"], "");
    assert_eq!(places(&given, "--execute"), [":2"], "{}", printed(&given));
}

#[test]
fn what_cannot_be_opened_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let missing = shell(&data, &["no-such-script"], "");
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8(missing.stderr).unwrap().contains("no-such-script"));
    assert!(!data.exists(), "a database was made for a script that is not there");

    let mut held =
        rowhouse("shell", &data).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    held.stdin.as_mut().unwrap().write_all(b"version\n").unwrap();
    let mut line = String::new();
    BufReader::new(held.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let refused = shell(&data, &["-e", "list"], "");
    assert_eq!(refused.status.code(), Some(1));
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(why.contains(&format!("held by process {}", held.id())), "{why}");
    drop(held.stdin.take());
    held.wait().unwrap();
}

#[test]
fn a_directory_that_a_server_holds_is_that_server() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(dir.path(), &[]);
    let commands = ["-n", "-e", "create 't', 'f'; incr 't', 'r', 'f:n'; count 't'"];
    let output = shell(dir.path(), &commands, "");
    assert!(output.status.success(), "{output:?}");
    assert!(printed(&output).ends_with("COUNTER VALUE = 1\n1 row(s)\n=> 1\n"));
    drop(server);
    // The killed server's directory is free, and its acknowledged writes are there.
    let output = shell(dir.path(), &["-e", "get_counter 't', 'r', 'f:n'"], "");
    assert_eq!(printed(&output), "COUNTER VALUE = 1\n");
}
