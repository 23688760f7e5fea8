//! Tests backups by the program: a directory, one that a server has open, and the restore.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod support;

use std::path::Path;
use std::process::{Command, Output};

use support::serve;

fn rowhouse(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rowhouse")).args(arguments).output().unwrap()
}

fn shell(data: &Path, script: &str) -> String {
    let data = data.to_str().unwrap();
    let output = rowhouse(&["shell", "--data", data, "-n", "-e", script]);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns a failed run's standard error.
fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_directory_is_backed_up_and_restored_once() {
    let dir = tempfile::tempdir().unwrap();
    let [data, backup, restored] = ["data", "backup", "restored"].map(|name| dir.path().join(name));
    shell(&data, "create 'blog', 'cf'; put 'blog', '1', 'cf:t', 'v'; snapshot 'blog', 'monday'");
    let output = rowhouse(&["backup", text(&data), "--into", text(&backup)]);
    assert!(output.status.success(), "{output:?}");
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.starts_with("1 table, 1 snapshot, 1 file, "), "{report}");
    let again = rowhouse(&["backup", text(&data), "--into", text(&backup)]);
    assert!(refused(&again).contains("already exists"), "{again:?}");
    let output = rowhouse(&["restore", text(&backup), "--into", text(&restored)]);
    assert!(output.status.success(), "{output:?}");
    assert!(shell(&restored, "get 'blog', '1'").contains("value=v"));
    let over = rowhouse(&["restore", text(&backup), "--into", text(&data)]);
    assert!(refused(&over).contains("already exists"), "{over:?}");
    let nothing = rowhouse(&["restore", text(dir.path()), "--into", text(&dir.path().join("x"))]);
    assert!(refused(&nothing).contains("is not a data directory"), "{nothing:?}");
    assert!(!dir.path().join("x").exists());
}

#[test]
fn a_directory_that_a_server_has_open_is_backed_up_by_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let [data, backups] = ["data", "backups"].map(|name| dir.path().join(name));
    std::fs::create_dir(&backups).unwrap();
    let _served = serve(&data, &["--backups", text(&backups)]);
    shell(&data, "create 'blog', 'cf'; put 'blog', '1', 'cf:t', 'v'");
    let monday = backups.join("monday");
    let output = rowhouse(&["backup", text(&data), "--into", text(&monday)]);
    assert!(output.status.success(), "{output:?}");
    // Later writes are not in the backup.
    shell(&data, "put 'blog', '2', 'cf:t', 'later'");
    let scanned = shell(&monday, "scan 'blog'");
    assert!(scanned.contains("value=v") && !scanned.contains("later"), "{scanned}");
    let again = rowhouse(&["backup", text(&data), "--into", text(&monday)]);
    assert!(refused(&again).contains("already exists"), "{again:?}");
    let elsewhere = dir.path().join("elsewhere");
    let output = rowhouse(&["backup", text(&data), "--into", text(&elsewhere)]);
    assert!(refused(&output).contains("backup directory"), "{output:?}");
    assert!(!elsewhere.exists());
}

#[test]
fn a_server_that_was_given_no_directory_makes_no_backups() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let _served = serve(&data, &[]);
    let output = rowhouse(&["backup", text(&data), "--into", text(&dir.path().join("backup"))]);
    assert!(refused(&output).contains("--backups"), "{output:?}");
}
