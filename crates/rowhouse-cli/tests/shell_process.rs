//! Tests the shell as a process: where commands come from, the opened database, the exit status.

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
fn the_first_error_ends_a_script_only_if_requested() {
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
    // An error names the line where the command begins, and a syntax error also the line with the
    // error.
    let ran = shell(&data, &[path.to_str().unwrap()], "");
    let lines = [":4", ":7", ":8 (the error is in line 9)", ":10", ":11"];
    assert_eq!(places(&ran, path.to_str().unwrap()), lines, "{}", printed(&ran));
    assert!(printed(&ran).contains("\n\nAt "), "{}", printed(&ran));
    let piped = shell(&data, &[], &script.replace("create", "enable 't'; create"));
    let lines = [":2", ":4", ":7", ":8 (the error is in line 9)", ":10", ":11"];
    assert_eq!(places(&piped, "standard input"), lines);
    let given = shell(&data, &["-e", "enable 't'", "-e", "get 't'"], "");
    assert_eq!(places(&given, "--execute"), [" (2 of 2):1"], "{}", printed(&given));
    // Each command has a line number, also among several commands in one piece.
    let script = "version; put 't',\n 'r'\n";
    let ran = shell(&data, &["-e", script], "");
    assert_eq!(places(&ran, "--execute"), [":1"], "{}", printed(&ran));
}

#[test]
fn missing_quote_hides_no_later_command() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let put = "put 't', 'r', 'f:q', 'v'";
    let mut args = vec!["-e", "create 't', 'f'", "-e", "put 't', 'r', 'f:q', 'v"];
    args.extend(["-e", put].repeat(20));
    args.extend(["-e", "count 't'"]);
    let ran = shell(&data, &args, "");
    let text = printed(&ran);
    assert_eq!(text.matches("ERROR").count(), 1, "{text}");
    assert!(text.contains("unterminated text") && text.contains("At --execute (2 of 23):1\n"));
    assert!(text.ends_with("=> 1\n"), "{text}");

    // In a script the text ends at the next quote, one line later.
    let script = format!("version\nput 't', 'r2', 'f:q', 'v\n{put}\n{put}\ncount 't'\n");
    let ran = shell(&data, &[], &script);
    let text = printed(&ran);
    assert_eq!(text.matches("ERROR").count(), 1, "{text}");
    assert!(text.contains("At standard input:2 (the error is in line 3)\n"), "{text}");
    assert!(text.contains("is the closing quote of the first missing?"), "{text}");
    assert!(text.ends_with("=> 1\n"), "{text}");

    // Without a later quote, it ends with the script.
    let ran = shell(&data, &[], "version\nput 't', \"r\nversion\nversion\n");
    let text = printed(&ran);
    assert!(text.contains("unterminated text\n  put 't', \"r\n"), "{text}");
    assert!(text.contains("At standard input:2\n"), "{text}");
}

#[test]
fn a_script_or_database_that_cannot_be_opened_is_reported() {
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
    // The killed server's directory is free, and the acknowledged writes are there.
    let output = shell(dir.path(), &["-e", "get_counter 't', 'r', 'f:n'"], "");
    assert_eq!(printed(&output), "COUNTER VALUE = 1\n");
}

#[test]
fn control_characters_never_reach_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let ran = shell(&data, &["-e", "\u{1b}[31m", "-e", "get \"\u{1b}[31m\", 'r'"], "");
    let missing = shell(&data, &["\u{1b}[31m.txt"], "");
    for text in [ran.stdout, missing.stderr] {
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("\\x1B[31m") && !text.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn server_that_is_starting_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let store = rowhouse_store::Store::builder(dir.path()).for_server().open().unwrap();
    let mut waiting = rowhouse("shell", dir.path())
        .args(["-e", "list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(waiting.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("waiting: data directory "), "{line}");
    assert!(line.ends_with("a server that is starting\n"), "{line}");
    store.close().unwrap();
    drop(store);
    let output = waiting.wait_with_output().unwrap();
    assert!(output.status.success() && printed(&output).contains("0 row(s)"), "{output:?}");
}

#[test]
fn refused_server_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let used = port.local_addr().unwrap().to_string();
    let foreign = dir.path().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("a.csv"), "1,2").unwrap();
    let data = dir.path().join("deep/data");
    let free = "127.0.0.1:0";
    for (data, args, message) in [
        (&data, ["--listen", &used, "--zookeeper", free], "in use"),
        (&data, ["--listen", free, "--zookeeper", &used], "in use"),
        (&data, ["--listen", free, "--backups", "/no/such"], "no such directory"),
        (&foreign, ["--listen", free, "--zookeeper", free], "has other files"),
    ] {
        let zookeeper =
            if args.contains(&"--zookeeper") { vec![] } else { vec!["--zookeeper", free] };
        let output =
            rowhouse("serve", data).args(args).args(zookeeper).arg("--no-web").output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && err.contains(message), "{err}");
    }
    let names = |dir: &Path| -> Vec<_> {
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    assert_eq!(names(dir.path()), ["foreign"]);
    assert_eq!(names(&foreign), ["a.csv"]);
}

/// A shell at a terminal, which is killed with the test.
struct TerminalShell {
    child: std::process::Child,
    terminal: std::fs::File,
    /// What it has printed.
    text: String,
}

impl Drop for TerminalShell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl TerminalShell {
    fn start(data: &Path) -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let open = || std::fs::File::options().read(true).write(true).open(&name).unwrap();
        let child = rowhouse("shell", data)
            .env("TERM", "xterm")
            .env("HOME", data.parent().unwrap())
            .stdin(open())
            .stdout(open())
            .stderr(open())
            .spawn()
            .unwrap();
        Self { child, terminal: terminal.into(), text: String::new() }
    }

    fn type_line(&mut self, line: &str) {
        self.terminal.write_all(format!("{line}\r").as_bytes()).unwrap();
    }

    /// Reads until `end` is printed, and returns what was printed up to it.
    fn read_to(&mut self, end: &str) -> String {
        loop {
            if let Some(at) = self.text.find(end) {
                return self.text.drain(..at + end.len()).collect();
            }
            let mut bytes = [0; 1024];
            let len = std::io::Read::read(&mut self.terminal, &mut bytes);
            let len = len.unwrap_or_else(|error| panic!("{error}: {}", self.text));
            self.text.push_str(&String::from_utf8_lossy(&bytes[..len]));
        }
    }

    fn interrupt(&self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    }
}

#[test]
fn interrupt_ends_a_scan_at_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let fill = async {
        let database = rowhouse::open(data.display().to_string()).await?;
        let table = database.create_table(rowhouse::TableSpec::new("t").family("f")).await?;
        let puts = (0..20_000).map(|n| {
            let put = rowhouse::Put::new(format!("row{n:05}"))?.add("f", "q", "x".repeat(20))?;
            Ok::<_, rowhouse::Error>(put.into())
        });
        for done in table.batch(puts.collect::<Result<Vec<_>, _>>()?).await {
            done?;
        }
        database.close().await
    };
    tokio::runtime::Runtime::new().unwrap().block_on(fill).unwrap();
    let mut shell = TerminalShell::start(&data);
    shell.read_to("rowhouse:001:0>");
    shell.type_line("scan 't'; version");
    // The terminal holds a few kilobytes: from here on the scan waits for the reader.
    shell.read_to("row00000 column");
    shell.interrupt();
    let after = shell.read_to("rowhouse:002:0>");
    assert!(after.contains("Interrupted.") && !after.contains("row19999"), "{after}");
    assert!(!after.contains("rowhouse 0."), "the rest of the line does not run: {after}");
    shell.type_line("get 't', 'row19999'");
    shell.read_to("1 row(s)");
    shell.type_line("exit");
    assert!(shell.child.wait().unwrap().success());
}

#[test]
fn a_server_that_stops_removes_nothing_from_a_directory_in_the_place_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut server = serve(&data, &[]);
    std::fs::rename(&data, dir.path().join("moved")).unwrap();
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("rowhouse.log"), "of someone else").unwrap();
    let pid = server.0.id().to_string();
    assert!(Command::new("kill").arg(pid).status().unwrap().success());
    assert!(!server.0.wait().unwrap().success(), "the store cannot be closed");
    assert_eq!(std::fs::read(data.join("rowhouse.log")).unwrap(), b"of someone else");
}
