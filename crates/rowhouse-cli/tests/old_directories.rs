//! A database and a backup that the release 0.2.0 wrote, with everything that a table can have,
//! stay readable. `tests/fixtures/0.2.0` is never written again; `write_the_fixture` made it.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Declares and writes each kind of thing that lies in files of the data directory.
const WRITE: &[&str] = &[
    "create 'mail', {NAME => 'd', COMPRESSION => 'LZ4'}, {NAME => 'c', BUFFERED => '1s'}, \
     KEY => '[user string][n u8]', COLUMNS => 'd:b body string; d:s sender string', \
     INDEXES => 'by_sender [sender]; fast [sender] memory; text search body english, sender keyword'",
    "put 'mail', {user => 'bob', n => 1}, 'sender', 'eva'",
    "put 'mail', {user => 'bob', n => 1}, 'body', 'the mountains are calling'",
    "put 'mail', {user => 'bob', n => 2}, 'sender', 'dan'",
    "put 'mail', {user => 'bob', n => 2}, 'body', 'an invoice'",
    "incr 'mail', {user => 'bob', n => 1}, 'c:reads', 3",
    "snapshot 'mail', 'monday'",
    "flush 'mail'",
    "put 'mail', {user => 'cid', n => 1}, 'sender', 'eva'",
    "put 'mail', {user => 'cid', n => 1}, 'body', 'a mountain in winter'",
    "deleteall 'mail', {user => 'bob', n => 2}",
    "incr 'mail', {user => 'bob', n => 1}, 'c:reads', 4",
    "create 'plain', {NAME => 'f', VERSIONS => 3}, SPLITS => ['m']",
    "put 'plain', 'a', 'f:q', 'first'",
    "put 'plain', 'a', 'f:q', 'second'",
    "put 'plain', 'z', 'f:q', 'third'",
    "disable 'plain'",
];

/// Commands, and texts that their output has.
const READ: &[(&str, &[&str])] = &[
    ("count 'mail'", &["2 row(s)"]),
    ("query 'mail', \"sender = 'eva'\"", &["bob", "cid"]),
    ("explain 'mail', \"sender = 'eva'\"", &["by_sender"]),
    ("query 'mail', \"body matches 'mountain'\"", &["bob", "cid"]),
    ("get_counter 'mail', {user => 'bob', n => 1}, 'c:reads'", &["COUNTER VALUE = 7"]),
    ("verify_index 'mail', 'by_sender'", &["0 missing"]),
    ("list_snapshots", &["monday"]),
    ("clone_snapshot 'monday', 'then'", &[]),
    ("count 'then'", &["2 row(s)"]),
    ("get 'then', {user => 'bob', n => 2}", &["an invoice"]),
    ("is_disabled 'plain'", &["true"]),
    ("enable 'plain'", &[]),
    ("get 'plain', 'a', {COLUMN => 'f:q', VERSIONS => 3}", &["first", "second"]),
    ("get 'plain', 'z'", &["third"]),
];

fn fixture(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/0.2.0").join(part)
}

fn run(arguments: &[&str]) -> String {
    let ran: Output =
        Command::new(env!("CARGO_BIN_EXE_rowhouse")).args(arguments).output().unwrap();
    let output = String::from_utf8(ran.stdout).unwrap();
    assert!(
        ran.status.success(),
        "{arguments:?}: {output}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    output
}

fn shell(data: &Path, command: &str) -> String {
    run(&["shell", "--data", data.to_str().unwrap(), "-e", command])
}

/// Reads everything that [`WRITE`] wrote.
fn read(data: &Path) {
    run(&["check", data.to_str().unwrap()]);
    for (command, texts) in READ {
        let output = shell(data, command);
        for text in *texts {
            assert!(output.contains(text), "{command}: {output}");
        }
    }
    run(&["check", data.to_str().unwrap()]);
}

#[test]
fn a_database_of_the_first_release_is_checked_and_read() {
    let dir = TempDir::new().unwrap();
    let data = dir.path().join("data");
    copy(&fixture("data"), &data);
    read(&data);
}

#[test]
fn a_backup_of_the_first_release_is_restored_and_read() {
    let dir = TempDir::new().unwrap();
    let backup = dir.path().join("backup");
    copy(&fixture("backup"), &backup);
    let data = dir.path().join("data");
    run(&["restore", backup.to_str().unwrap(), "--into", data.to_str().unwrap()]);
    read(&data);
}

#[test]
#[ignore = "writes the fixture, once"]
fn write_the_fixture() {
    let data = fixture("data");
    assert!(!data.exists(), "{} is never written again", data.display());
    fs::create_dir_all(fixture("")).unwrap();
    let commands: Vec<&str> = WRITE.iter().flat_map(|command| ["-e", command]).collect();
    run(&[&["shell", "--data", data.to_str().unwrap()][..], &commands].concat());
    run(&["backup", data.to_str().unwrap(), "--into", fixture("backup").to_str().unwrap()]);
    for folder in ["data", "backup"] {
        // Made anew by an open; git has no empty folders.
        let _ = fs::remove_file(fixture(folder).join("LOCK"));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
