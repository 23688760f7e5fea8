//! The examples of docs/keys.md: what the guide shows is what the program prints.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::path::Path;
use std::process::Command;

use expect_test::expect_file;

/// Every console example is run, and what it prints is put in the place of what the guide says.
#[test]
fn the_guide_shows_what_the_program_prints() {
    let guide = include_str!("../../../docs/keys.md");
    let mut shown = String::new();
    let mut in_console = false;
    for line in guide.lines() {
        match line {
            "```console" => in_console = true,
            "```" => in_console = false,
            _ => {}
        }
        let command = line.strip_prefix("$ ").filter(|_| in_console);
        if !in_console || line == "```console" || command.is_some() {
            shown.push_str(&format!("{line}\n"));
        }
        if let Some(command) = command {
            shown.push_str(&printed(command));
        }
    }
    assert!(guide.matches("\n$ rowhouse key").count() > 10, "the guide has lost its examples");
    expect_file!["../../../docs/keys.md"].assert_eq(&shown);
}

/// What a shell prints for a command, with the exit status where it is not 0.
fn printed(command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_rowhouse"));
    let path = std::env::var("PATH").unwrap();
    let ran = Command::new("bash")
        .args(["-c", command])
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
