//! Runs the examples on the pages and compares what they print with the page text. In a block
//! `console` a line is
//!
//! - `$ COMMAND` for the system's shell, in a directory for the page that has the files from
//!   `docs/tables` and `docs/workloads`,
//! - `> COMMAND` for rowhouse's shell, on the data directory there,
//! - or output. `…` stands for any text in the line, and alone for any lines: times, and the
//!   remaining lines in long outputs.
//!
//! A block `text FILE` becomes a file there. The commands in a comment `<!-- run` are run as well;
//! what they print is not shown. With `UPDATE_EXPECT=1` the pages get the program's output.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use expect_test::expect_file;
use tempfile::TempDir;

/// Outputs that no test can produce: each by page and command, with the reason.
const NOT_RUN: &[(&str, &str, &str)] = &[
    ("designing-a-key.md", "> hot 'mail'", "the load of some minutes"),
    ("designing-a-key.md", "> advise 'mail'", "rates of some minutes"),
    ("search.md", "$ rowhouse search build hbase+zk", "Apache HBase"),
];

#[test]
fn pages_show_the_output_of_the_program() {
    let pages = pages();
    let english = pages.iter().filter(|page| !is_chinese(page));
    let run: Vec<_> = english.filter(|page| text(page).contains("\n```console\n")).collect();
    assert!(run.len() >= 5, "pages have lost their examples: {run:?}");
    std::thread::scope(|scope| {
        for page in run {
            scope.spawn(move || {
                let dir = files();
                expect_file![page].assert_eq(&shown(&text(page), dir.path()));
                if page.ends_with("designing-a-key.md") {
                    let drawn = fs::read_to_string(dir.path().join("mail.svg")).unwrap();
                    expect_file!["../../../docs/images/mail-designs.svg"].assert_eq(&drawn);
                }
            });
        }
    });
}

#[test]
fn chinese_pages_have_the_examples_of_the_english_ones() {
    for page in pages().iter().filter(|page| is_chinese(page)) {
        let english = PathBuf::from(page.to_str().unwrap().replace(".zh-CN", ""));
        assert_eq!(examples(&text(page)), examples(&text(&english)), "{}", page.display());
    }
}

#[test]
fn outputs_on_pages_are_run_or_listed_with_a_reason() {
    let mut listed = Vec::new();
    for page in pages().iter().filter(|page| !is_chinese(page)) {
        let text = text(page);
        let blocks =
            text.split("\n```text").skip(1).map(|block| block.split("\n```").next().unwrap());
        for block in blocks.filter(|block| block.lines().count() > 2) {
            let Some(command) = block.lines().nth(1).filter(|line| is_command(line)) else {
                continue;
            };
            // Commands alone are no output.
            if block.lines().skip(1).all(is_command) {
                continue;
            }
            let name = page.file_name().unwrap().to_str().unwrap();
            let of = NOT_RUN.iter().position(|it| it.0 == name && command.starts_with(it.1));
            listed.push(of.unwrap_or_else(|| panic!("{name}: make it `console`: {command}")));
        }
    }
    assert_eq!(listed.len(), NOT_RUN.len(), "{listed:?}");
}

fn is_command(line: &str) -> bool {
    ["$ rowhouse", "> ", "rowhouse:"].iter().any(|prompt| line.starts_with(prompt))
}

/// Returns the pages in the repository and in the folder `docs`.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let files = [root.clone(), root.join("docs")].map(|folder| fs::read_dir(folder).unwrap());
    let files = files.into_iter().flatten().map(|file| file.unwrap().path());
    let mut pages: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    pages.sort();
    pages
}

fn is_chinese(page: &Path) -> bool {
    page.to_str().unwrap().ends_with(".zh-CN.md")
}

fn text(page: &Path) -> String {
    fs::read_to_string(page).unwrap()
}

/// Returns the examples as the page has them.
fn examples(page: &str) -> Vec<Example> {
    let parts = parts(page).into_iter();
    parts.filter_map(|part| if let Part::Example(it) = part { Some(it) } else { None }).collect()
}

/// Returns a directory with the files from the docs folders that examples read.
fn files() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["tables", "workloads"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(folder);
        for file in fs::read_dir(folder).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
        }
    }
    dir
}

/// A page part.
enum Part {
    /// A line that stays.
    Text(String),
    /// The lines in a block that becomes a file.
    File {
        name: String,
        text: String,
    },
    Example(Example),
    /// A command in a comment.
    Hidden(String),
}

/// A command and the output.
#[derive(Debug, PartialEq, Eq)]
struct Example {
    command: String,
    output: String,
}

fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    // The block's first line.
    let mut block = None;
    for line in page.lines().map(|line| format!("{line}\n")) {
        let is_command = line.starts_with("$ ") || line.starts_with("> ");
        match (block.as_deref(), parts.last_mut()) {
            (None, _) => {
                let begins = line.starts_with("```") || line == "<!-- run\n";
                block = begins.then(|| line.clone());
                parts.push(Part::Text(line));
            }
            (Some(_), _) if line == "```\n" || line == "-->\n" => {
                block = None;
                parts.push(Part::Text(line));
            }
            (Some("```console\n"), Some(Part::Example(last))) if goes_on(&last.command) => {
                last.command += &line;
            }
            (Some("```console\n"), _) if is_command => {
                parts.push(Part::Example(Example { command: line, output: String::new() }));
            }
            (Some("```console\n"), Some(Part::Example(last))) => last.output += &line,
            (Some("```console\n"), _) => panic!("an output without a command: {line}"),
            (Some("<!-- run\n"), Some(Part::Hidden(last))) if goes_on(last) => *last += &line,
            (Some("<!-- run\n"), _) => parts.push(Part::Hidden(line)),
            (Some(begin), last) => match (begin.strip_prefix("```text "), last) {
                (Some(_), Some(Part::File { text, .. })) => *text += &line,
                (Some(name), _) => {
                    parts.push(Part::File { name: name.trim().to_owned(), text: line });
                }
                (None, _) => parts.push(Part::Text(line)),
            },
        }
    }
    parts
}

/// Returns true if a command continues on the next line: after a backslash, or within single
/// quotes.
fn goes_on(command: &str) -> bool {
    command.ends_with("\\\n") || !command.matches('\'').count().is_multiple_of(2)
}

/// Returns the page with the actual example outputs, which run one after the other in one
/// directory.
fn shown(page: &str, dir: &Path) -> String {
    let shown = parts(page).into_iter().map(|part| match part {
        Part::Text(line) => line,
        Part::File { name, text } => {
            fs::write(dir.join(name), &text).unwrap();
            text
        }
        Part::Hidden(command) => {
            let printed = printed(&command, dir);
            let failed = ["exit status", "ERROR:"].iter().any(|it| printed.contains(it));
            assert!(!failed, "{command}: {printed}");
            command
        }
        Part::Example(Example { command, output }) => {
            let actual = printed(&command, dir);
            let expected: Vec<_> = output.lines().collect();
            let is_same = is_match(&expected, &actual.lines().collect::<Vec<_>>());
            command + if is_same { &output } else { &actual }
        }
    });
    shown.collect()
}

/// Returns true if an output is the same as on a page, in which `…` stands for any text.
fn is_match(expected: &[&str], actual: &[&str]) -> bool {
    match (expected, actual) {
        ([], actual) => actual.is_empty(),
        (["…", rest @ ..], actual) => {
            (0..=actual.len()).any(|count| is_match(rest, &actual[count..]))
        }
        ([line, rest @ ..], [first, others @ ..]) => {
            is_line_match(line, first) && is_match(rest, others)
        }
        (_, []) => false,
    }
}

fn is_line_match(expected: &str, actual: &str) -> bool {
    let Some((before, after)) = expected.split_once('…') else { return expected == actual };
    let Some(rest) = actual.strip_prefix(before) else { return false };
    let mut ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    ends.any(|at| is_line_match(after, &rest[at..]))
}

/// Returns a command's output, with the exit status if it is not 0.
fn printed(command: &str, dir: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_rowhouse"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let mut process = match command.split_at(2) {
        ("> ", command) => {
            let mut shell = Command::new(program);
            shell.args(["shell", "-e", command.trim()]);
            shell
        }
        (_, command) => {
            let mut shell = Command::new("bash");
            shell.args(["-c", command]);
            shell
        }
    };
    let ran = process.current_dir(dir).env("PATH", path).output().unwrap();
    let mut printed = String::from_utf8(ran.stdout).unwrap();
    printed.push_str(&String::from_utf8(ran.stderr).unwrap());
    let is_time = |line: &&str| command.starts_with("> ") && line.starts_with("Took ");
    let lines = printed.lines().filter(|line| !is_time(line));
    let mut printed: String = lines.map(|line| format!("{line}\n")).collect();
    match ran.status.code() {
        Some(0) => {}
        code => printed.push_str(&format!("exit status {}\n", code.unwrap())),
    }
    printed
}

#[test]
fn the_kit_for_java_names_the_version_of_hbases_client_that_is_tested() {
    let pom = include_str!("../../../compat/java/pom.xml");
    let (_, rest) = pom.split_once("<hbase.version>").unwrap();
    let version = rest.split('<').next().unwrap();
    let page = include_str!("../../../kits/java/README.md");
    let client = format!("org.apache.hbase:hbase-shaded-client:{version}\"");
    assert!(page.contains(&client), "{version}");
}

/// Numbers in the README that stand on the page about performance, too: their rows there.
#[test]
fn numbers_of_the_readme_are_those_of_the_page_about_performance() {
    let numbers = |page: &str, row: &str| -> Vec<u64> {
        let line = page.lines().find(|line| line.starts_with(&format!("| {row} |")));
        let cells = line.unwrap_or_else(|| panic!("no row {row}")).split('|').skip(2);
        let number = |cell: &str| {
            let cell = cell.trim().replace(',', "");
            let digits = cell.find(|c: char| !(c.is_ascii_digit() || c == '.'));
            let number: f64 = cell[..digits.unwrap_or(cell.len())].parse().ok()?;
            // Seconds on one page are milliseconds on the other.
            let is_seconds = cell.ends_with(" s");
            Some(if is_seconds { number * 1000.0 } else { number }.round() as u64)
        };
        cells.filter_map(number).collect()
    };
    let page = include_str!("../../../docs/PERFORMANCE.md");
    let readmes = [
        (include_str!("../../../README.md"), "memory, idle"),
        (include_str!("../../../README.zh-CN.md"), "空闲内存"),
    ];
    for (readme, row) in readmes {
        assert_eq!(numbers(readme, row), numbers(page, "resident memory, idle"), "{row}");
    }
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
        // A template check exits with 1 if it has findings.
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

/// Returns the lines in the shell's blocks.
fn commands(readme: &str) -> Vec<&str> {
    let blocks = readme.split("```sh\n").skip(1);
    blocks.flat_map(|block| block.split("```").next().unwrap().lines()).collect()
}
