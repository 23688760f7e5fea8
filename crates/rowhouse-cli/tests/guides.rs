//! The examples of guides: what docs/keys.md, from-tables-to-rows.md and stats.md show is what the program prints.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::expect_file;
use tempfile::TempDir;

#[test]
fn the_guide_of_keys_shows_what_the_program_prints() {
    let guide = include_str!("../../../docs/keys.md");
    assert!(guide.matches("\n$ rowhouse key").count() > 10, "the guide has lost its examples");
    let dir = tempfile::tempdir().unwrap();
    expect_file!["../../../docs/keys.md"].assert_eq(&shown(guide, &dir));
}

#[test]
fn the_guide_of_tables_shows_what_the_program_prints() {
    let guide = include_str!("../../../docs/from-tables-to-rows.md");
    assert!(guide.matches("\n$ rowhouse import").count() > 5, "the guide has lost its examples");
    expect_file!["../../../docs/from-tables-to-rows.md"].assert_eq(&shown(guide, &tables()));
}

#[test]
fn the_guide_of_stats_shows_what_the_program_prints() {
    let guide = include_str!("../../../docs/stats.md");
    assert!(guide.contains("\n$ rowhouse stats"), "the guide has lost its example");
    expect_file!["../../../docs/stats.md"].assert_eq(&shown(guide, &tables()));
}

/// A directory with the files of docs/tables.
fn tables() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables");
    for file in fs::read_dir(tables).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
    }
    dir
}

/// The guide, with what its console examples print in the place of what it says. They are run one after the other in one
/// directory.
fn shown(guide: &str, dir: &TempDir) -> String {
    let mut shown = String::new();
    let mut command: Option<String> = None;
    let mut in_console = false;
    for line in guide.lines() {
        match line {
            "```console" => in_console = true,
            "```" => in_console = false,
            _ => {}
        }
        let begun = line.strip_prefix("$ ").filter(|_| in_console).map(str::to_owned);
        let part = command.take().map(|before| format!("{before}\n{line}")).or(begun);
        if !in_console || line == "```console" || part.is_some() {
            shown.push_str(&format!("{line}\n"));
        }
        match part {
            Some(part) if goes_on(&part) => command = Some(part),
            Some(whole) => shown.push_str(&printed(&whole, dir.path())),
            None => {}
        }
    }
    shown
}

/// Whether a command goes on in the next line: behind a backslash, or within single quotes.
fn goes_on(command: &str) -> bool {
    command.ends_with('\\') || !command.matches('\'').count().is_multiple_of(2)
}

/// What a shell prints for a command, with the exit status where it is not 0.
fn printed(command: &str, dir: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_rowhouse"));
    let path = std::env::var("PATH").unwrap();
    let ran = Command::new("bash")
        .args(["-c", command])
        .current_dir(dir)
        .env("PATH", format!("{}:{path}", program.parent().unwrap().display()))
        .output()
        .unwrap();
    let mut printed = String::from_utf8(ran.stdout).unwrap();
    printed.push_str(&String::from_utf8(ran.stderr).unwrap());
    match ran.status.code() {
        Some(0) => {}
        code => printed.push_str(&format!("exit status {}\n", code.unwrap())),
    }
    printed
}
