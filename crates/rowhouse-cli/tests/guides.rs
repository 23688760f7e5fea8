//! Runs the examples of guides and compares the output with the text of docs/keys.md,
//! from-tables-to-rows.md, stats.md and advise.md.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

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

#[test]
fn the_guide_of_designs_shows_what_the_program_prints() {
    let guide = include_str!("../../../docs/advise.md");
    assert!(guide.contains("\n$ rowhouse advise"), "the guide has lost its example");
    assert!(guide.contains(include_str!("../../../docs/workloads/mail.design")));
    expect_file!["../../../docs/advise.md"].assert_eq(&shown(guide, &files("workloads")));
}

/// Returns a directory with the files of docs/tables.
fn tables() -> TempDir {
    files("tables")
}

/// Returns a directory with the files of a folder of docs.
fn files(folder: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(folder);
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
    }
    dir
}

/// Returns the guide with the actual output of its console examples, which run one after the other
/// in one directory.
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

/// Returns whether a command continues on the next line: after a backslash, or within single
/// quotes.
fn goes_on(command: &str) -> bool {
    command.ends_with('\\') || !command.matches('\'').count().is_multiple_of(2)
}

/// Returns the output of a command, with the exit status if it is not 0.
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

/// Runs the README's commands in order: those after `serve` while the server runs, and those after
/// Ctrl-C when it has ended.
#[test]
fn the_commands_of_the_readme_work_in_the_order_in_which_they_stand() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("docs")).unwrap();
    std::os::unix::fs::symlink(root.join("docs/tables"), dir.path().join("docs/tables")).unwrap();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let chinese = fs::read_to_string(root.join("README.zh-CN.md")).unwrap();
    assert_eq!(commands(&readme), commands(&chinese), "the two readmes have other commands");
    let binary = env!("CARGO_BIN_EXE_rowhouse");
    let mut server: Option<Server> = None;
    let mut count = 0;
    for command in commands(&readme) {
        let Some(ours) = command.strip_prefix("cargo run --release -- ") else {
            assert_eq!(command, "cargo test --workspace");
            continue;
        };
        count += 1;
        let mut shell = Command::new("sh");
        shell.current_dir(dir.path()).arg("-c");
        if ours == "serve" {
            // The default ports may be taken on this machine.
            shell.arg(format!("exec {binary} serve --listen 127.0.0.1:0 --zookeeper 127.0.0.1:0"));
            let mut child = shell.stdout(Stdio::piped()).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
            server = Some(Server(child));
            continue;
        }
        if ours.starts_with("check")
            && let Some(mut server) = server.take()
        {
            let id = rustix::process::Pid::from_child(&server.0);
            rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
            assert!(server.0.wait().unwrap().success());
        }
        let output = shell.arg(format!("{binary} {ours}")).output().unwrap();
        // A check of a template exits with 1 if it has findings.
        let is_key_check = ours.starts_with("key") && ours.ends_with("check");
        assert!(output.status.success() || is_key_check, "{command}: {output:?}");
        assert!(!output.stdout.is_empty(), "{command} prints nothing");
    }
    assert!(server.is_none() && count >= 8, "{count}");
}

/// A server that is killed with the test, also when the test fails.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the lines of the shell's blocks.
fn commands(readme: &str) -> Vec<&str> {
    let blocks = readme.split("```sh\n").skip(1);
    blocks.flat_map(|block| block.split("```").next().unwrap().lines()).collect()
}
