//! Transcripts: commands and their output, in `transcripts/`.
//!
//! A section in a file is a script for a new database. The runner executes it on an embedded store
//! and on a server through the native client, and compares both outputs with the file;
//! `UPDATE_EXPECT=1` rewrites the file. A file looks like this:
//!
//! ```text
//! # What the file tests.
//!
//! === a section
//! # A comment on the section.
//! > create 'post', 'cf'
//! Created table post
//! Took T seconds
//! => Hbase::Table - post
//! > explain_cell 'post', 'r', 'cf:a'
//! embedded| 0 cell(s)
//! server| …
//! ```
//!
//! The marks `embedded|` and `server|` are on lines that differ between the two by design. Values
//! that change between runs (elapsed time, current time, region names, page views) are masked; a
//! command with the view `VIEW` continues the last page.

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use std::sync::LazyLock;

use expect_test::expect_file;
use regex::Regex;
use rowhouse_server::{Options, Server, WebPort};

use super::{Interrupts, LineOutcome, Outcome, Session, StatementReader};

/// The files in `transcripts/`, each with a test that has the same name.
const FILES: &[&str] = &[
    "alter",
    "analyze",
    "columns",
    "data",
    "errors",
    "explain_cell",
    "help",
    "indexes",
    "keys",
    "queries",
    "regions",
    "scans",
    "searches",
    "snapshots",
    "status",
    "tables",
];

#[test]
fn alter() {
    check("alter");
}

#[test]
fn analyze() {
    check("analyze");
}

#[test]
fn columns() {
    check("columns");
}

#[test]
fn data() {
    check("data");
}

#[test]
fn errors() {
    check("errors");
}

#[test]
fn explain_cell() {
    check("explain_cell");
}

#[test]
fn help() {
    check("help");
}

#[test]
fn indexes() {
    check("indexes");
}

#[test]
fn keys() {
    check("keys");
}

#[test]
fn queries() {
    check("queries");
}

#[test]
fn regions() {
    check("regions");
}

#[test]
fn scans() {
    check("scans");
}

#[test]
fn searches() {
    check("searches");
}

#[test]
fn snapshots() {
    check("snapshots");
}

#[test]
fn status() {
    check("status");
}

#[test]
fn tables() {
    check("tables");
}

#[test]
fn every_transcript_has_a_test() {
    let names = std::fs::read_dir(dir()).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let files: Vec<_> = FILES.iter().map(|name| format!("{name}.txt")).collect();
    assert_eq!(names, files);
}

#[test]
fn regions_begin_at_the_lines_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("splits.txt");
    std::fs::write(&path, "b\n\\x00\\xFF\r\nan e\n").unwrap();
    let create = format!("create 't', 'f', SPLITS_FILE => '{}'", path.display());
    let (embedded, served) = transcripts(&[&create, "get_splits 't'"]);
    assert!(embedded.contains(r#"=> ["\x00\xFF", "an e", "b"]"#), "{embedded}");
    assert_eq!(embedded, served);
}

#[tokio::test]
async fn explain_shows_the_index_that_the_server_takes() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        listen: "127.0.0.1:0".into(),
        zookeeper: Some("127.0.0.1:0".into()),
        ..Options::new(dir.path())
    };
    let server = Server::start(options).await.unwrap();
    let database = rowhouse::open(&format!("hbase://{}", server.address())).await.unwrap();
    let spec = rowhouse::TableSpec::new("mail").family("d").key("[n u32]");
    let spec = spec.columns("d:s sender string; d:z size u32");
    let spec = spec.index("by_sender [sender]; by_size [size]");
    let mail = database.create_table(spec).await.unwrap();
    let puts = (0..3_000_u32).map(|n| {
        let row = [("n", n.into())];
        let put = mail.row(&row).set("d", "s", format!("sender{n}")).into_put().unwrap();
        put.into()
    });
    for done in mail.batch(puts.collect::<Vec<_>>()).await {
        done.unwrap();
    }
    let out = Output::default();
    let mut session = Session::new(database.clone(), Box::new(out.clone()));
    let script =
        ["explain 'mail', \"sender = 'sender7'\"", "explain 'mail', \"size > 3\", LIMIT => 5"];
    run(&mut session, &out, &script).await;
    database.close().await.unwrap();
    server.stop().await.unwrap();
    let text = out.text();
    let chosen = "access: by index by_sender, whose entries are in key order, as the server \
                  chooses\n  key\n  index by_sender\n  index by_size: not used: ";
    assert!(text.contains(chosen), "{text}");
    assert!(text.contains("index: by_sender [sender string][n u32]\nranges: 1\n"), "{text}");
}

#[tokio::test]
async fn port_of_another_protocol_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        listen: "127.0.0.1:0".into(),
        zookeeper: Some("127.0.0.1:0".into()),
        web: WebPort::At("127.0.0.1:0".into()),
        ..Options::new(dir.path())
    };
    let server = Server::start(options).await.unwrap();
    let rpc = server.address().to_owned();
    let zookeeper = server.zookeeper().unwrap();
    let web = server.web().unwrap();
    for (url, message) in [
        (
            format!("hbase+zk://{rpc}"),
            format!("{rpc} is a port of HBase's RPC, not of ZooKeeper; connect to hbase://{rpc}"),
        ),
        (
            format!("hbase://{zookeeper}"),
            format!(
                "{zookeeper} is a port of ZooKeeper, not of HBase's RPC; connect to hbase+zk://{zookeeper}/hbase"
            ),
        ),
        (
            format!("hbase://{web}"),
            format!("{web} is a port for web pages, not one for clients: url=hbase://{web}"),
        ),
        (
            format!("hbase+zk://{web}/hbase"),
            format!(
                "{web} is a port for web pages, not one for clients: url=hbase+zk://{web}/hbase"
            ),
        ),
    ] {
        let error = rowhouse::open(&url).await.map(|_| ()).unwrap_err();
        assert_eq!(error.message(), message);
    }
    server.stop().await.unwrap();
}

fn dir() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/shell/transcripts"))
}

/// Runs every section in a file, side by side, and compares the file with the output.
fn check(name: &str) {
    let path = dir().join(name).with_extension("txt");
    let file = std::fs::read_to_string(&path).unwrap();
    let mut sections = file.split("\n=== ");
    let mut actual = sections.next().unwrap().to_owned();
    std::thread::scope(|scope| {
        let running: Vec<_> =
            sections.map(|section| scope.spawn(|| run_section(section))).collect();
        for section in running {
            actual.extend(["\n=== ", &section.join().unwrap()]);
        }
    });
    expect_file![path].assert_eq(&actual);
}

/// Returns a section with what the script prints now instead of the output in the file.
fn run_section(section: &str) -> String {
    let title = section.lines().take_while(|line| !line.starts_with("> "));
    let title: String = title.map(|line| format!("{line}\n")).collect();
    let script: Vec<_> = section.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    let (embedded, served) = transcripts(&script);
    title + &merge(&embedded, &served)
}

/// Returns a script's transcripts on an embedded store and on a server.
fn transcripts(script: &[&str]) -> (String, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let embedded = transcript(dir.path().to_str().unwrap(), script).await;
        let dir = tempfile::tempdir().unwrap();
        let options = Options {
            listen: "127.0.0.1:0".into(),
            zookeeper: Some("127.0.0.1:0".into()),
            ..Options::new(dir.path())
        };
        let server = Server::start(options).await.unwrap();
        let served = transcript(&format!("hbase://{}", server.address()), script).await;
        server.stop().await.unwrap();
        (embedded, served)
    })
}

/// Runs a script line by line, each shown after `>`.
async fn transcript(url: &str, script: &[&str]) -> String {
    let database = rowhouse::open(url).await.unwrap();
    let out = Output::default();
    let mut session = Session::new(database.clone(), Box::new(out.clone()));
    run(&mut session, &out, script).await;
    database.close().await.unwrap();
    mask(&out.text())
}

/// A session's output so far.
#[derive(Clone, Default)]
struct Output(Rc<RefCell<Vec<u8>>>);

impl Output {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }

    /// Returns the view in the last token for a page by score.
    fn view(&self) -> Option<String> {
        let text = self.text();
        let token = Regex::new(VIEW).unwrap();
        token.captures_iter(&text).last().map(|captures| captures[2].to_owned())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn run(session: &mut Session, out: &Output, script: &[&str]) {
    let mut reader = StatementReader::default();
    let mut lines = script.iter();
    while let Some(line) = lines.next() {
        session.say(format_args!("> {line}")).unwrap();
        let line = match out.view().filter(|_| line.contains(".VIEW.")) {
            Some(view) => &line.replace(".VIEW.", &format!(".{view}.")),
            None => *line,
        };
        if session.answer(line).await.unwrap().is_some() {
            continue;
        }
        let step = reader.push(line);
        if !obey(session, step).await {
            for line in lines {
                session.say(format_args!("> {line}\n(the session has ended)")).unwrap();
            }
            return;
        }
    }
    let step = reader.finish();
    obey(session, step).await;
}

/// An output that raises the session's interrupts at a line.
struct InterruptAt {
    line: usize,
    out: Output,
    sender: tokio::sync::watch::Sender<bool>,
}

impl Write for InterruptAt {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let len = self.out.write(bytes)?;
        if self.out.text().lines().count() == self.line {
            self.sender.send_replace(true);
        }
        Ok(len)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn interrupt_ends_the_command_and_not_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    let out = Output::default();
    let interrupts = Interrupts::none();
    let shown = InterruptAt { line: 6, out: out.clone(), sender: interrupts.sender() };
    let mut session = Session::new(database.clone(), Box::new(shown));
    session.set_interrupts(interrupts);
    let mut reader = StatementReader::default();
    let mut script = "create 't', 'f'; put 't', 'a', 'f:q', 1\n".to_owned();
    script.push_str("put 't', 'b', 'f:q', 1; put 't', 'c', 'f:q', 1\n");
    let LineOutcome::Run(statements) = reader.push(&script) else { panic!("{script}") };
    for statement in statements {
        assert_eq!(session.run(statement).await.unwrap(), Outcome::Done);
    }
    out.0.borrow_mut().clear();
    let mut outcomes = Vec::new();
    for line in ["version", "version", "scan 't'", "count 't'"] {
        let LineOutcome::Run(statements) = reader.push(line) else { panic!("{line}") };
        for statement in statements {
            outcomes.push(session.run(statement).await.unwrap());
        }
    }
    let done = Outcome::Done;
    let interrupted = Outcome::Interrupted;
    assert_eq!(outcomes, [done, done, interrupted, done], "{}", out.text());
    let text = mask(&out.text());
    let (_, rest) = text.split_once("ROW  COLUMN+CELL\n").unwrap();
    let lines: Vec<_> = rest.lines().collect();
    assert!(lines[0].starts_with(" a column=f:q"), "{text}");
    assert_eq!(
        lines[1..],
        ["", "Interrupted.", "Took T seconds", "3 row(s)", "Took T seconds", "=> 3"]
    );
    database.close().await.unwrap();
}

/// Returns true to continue.
async fn obey(session: &mut Session, step: LineOutcome) -> bool {
    match step {
        LineOutcome::More => {}
        LineOutcome::Refuse(refusal) => {
            session.refuse(&refusal.message, None).unwrap();
        }
        LineOutcome::Run(statements) => {
            for statement in statements {
                if session.run(statement).await.unwrap() == Outcome::Exit {
                    return false;
                }
            }
        }
    }
    true
}

/// Merges two transcripts for one script. Lines that differ get their transcript's mark.
fn merge(embedded: &str, served: &str) -> String {
    let mut merged = String::new();
    let embedded = commands(embedded);
    let served = commands(served);
    assert_eq!(embedded.len(), served.len());
    for (embedded, served) in embedded.iter().zip(&served) {
        let same = |(a, b): &(&&str, &&str)| a == b;
        let begin = embedded.iter().zip(served).take_while(same).count();
        let embedded_rest = &embedded[begin..];
        let served_rest = &served[begin..];
        let ends = embedded_rest.iter().rev().zip(served_rest.iter().rev());
        let end = ends.take_while(same).count();
        let mut push = |mark: &str, lines: &[&str]| {
            for line in lines {
                let space = if mark.is_empty() || line.is_empty() { "" } else { " " };
                merged.extend([mark, space, line, "\n"]);
            }
        };
        push("", &embedded[..begin]);
        push("embedded|", &embedded_rest[..embedded_rest.len() - end]);
        push("server|", &served_rest[..served_rest.len() - end]);
        push("", &embedded[embedded.len() - end..]);
    }
    merged
}

/// Returns the lines for each command in a transcript: the command itself, then the output.
fn commands(transcript: &str) -> Vec<Vec<&str>> {
    let mut commands = Vec::<Vec<&str>>::new();
    for line in transcript.lines() {
        match commands.last_mut() {
            Some(command) if !line.starts_with("> ") => command.push(line),
            _ => commands.push(vec![line]),
        }
    }
    commands
}

/// The token for a page by score. The view is a random number.
const VIEW: &str = r"\b(s\.[0-9a-f]{16})\.(\d+)\.(\d+)\b";

/// What changes between runs, and what is shown instead.
static MASKS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let masks = [
        (r"Took \d+\.\d{4} seconds", "Took T seconds"),
        (r"# score: \d+\.\d{3}", "# score: N"),
        (VIEW, "$1.VIEW.$3"),
        (r"\d+\.\d\d ms", "T ms"),
        (r"timestamp=20[2-9]\d-[\d:T.-]+", "timestamp=NOW"),
        (r",\d{13}\.[0-9a-f]{32}\.", ",ID.MD5."),
        (r" (localhost:0|127\.0\.0\.1:\d+) \{ENCODED => [0-9a-f]{32},", " SERVER {ENCODED => MD5,"),
        (r"127\.0\.0\.1:\d+ \d{13}", "127.0.0.1:PORT STARTCODE"),
        (r"127\.0\.0\.1,\d+,\d{13}", "127.0.0.1,PORT,STARTCODE"),
        (r"\(20[2-9]\d-\d\d-\d\d \d\d:\d\d:\d\d \+0000\)", "(NOW)"),
    ];
    masks.map(|(pattern, instead)| (Regex::new(pattern).unwrap(), instead)).into()
});

fn mask(transcript: &str) -> String {
    MASKS.iter().fold(transcript.to_owned(), |text, (pattern, instead)| {
        pattern.replace_all(&text, *instead).into_owned()
    })
}
