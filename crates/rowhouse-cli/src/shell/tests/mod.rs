//! Transcripts: the output of a script, each on a new database.

mod alter;
mod columns;
mod data;
mod errors;
mod explain_cell;
mod help;
mod keys;
mod queries;
mod regions;
mod scans;
mod snapshots;
mod status;
mod tables;

use expect_test::Expect;
use regex::Regex;
use rowhouse_server::{Options, Server};

use super::{LineOutcome, Outcome, Session, StatementReader};

/// Runs a script line by line, each shown after `>`, on a new embedded database and on a served
/// one, and compares both with the same transcript. Values that change between runs (elapsed time,
/// current time, names of regions) are masked.
fn check(script: &str, expected: Expect) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let embedded = runtime.block_on(async {
        let dir = tempfile::tempdir().unwrap();
        transcript(dir.path().to_str().unwrap(), script).await
    });
    let embedded = mask(&embedded);
    expected.assert_eq(&embedded);
    let (served, _) = runtime.block_on(transcript_of_server(script));
    let served = mask(&served);
    for (served, embedded) in served.lines().zip(embedded.lines()) {
        assert_eq!(served, embedded, "the two kinds of database answer differently");
    }
    assert_eq!(served.lines().count(), embedded.lines().count());
}

/// Returns the transcript of a script on a server of its own, and the server's address.
async fn transcript_of_server(script: &str) -> (String, String) {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        listen: "127.0.0.1:0".into(),
        zookeeper: "127.0.0.1:0".into(),
        ..Options::new(dir.path())
    };
    let server = Server::start(options).await.unwrap();
    let address = server.address().to_string();
    let told = transcript(&format!("hbase://{address}"), script).await;
    server.stop().await.unwrap();
    (told, address)
}

async fn transcript(url: &str, script: &str) -> String {
    let database = rowhouse::open(url).await.unwrap();
    let mut out = Vec::new();
    let mut session = Session::new(database.clone(), &mut out);
    run(&mut session, script).await;
    database.close().await.unwrap();
    String::from_utf8(out).unwrap()
}

async fn run(session: &mut Session<&mut Vec<u8>>, script: &str) {
    let mut reader = StatementReader::default();
    for line in script.lines() {
        session.say(format_args!("> {line}")).unwrap();
        if session.answer(line).await.unwrap().is_some() {
            continue;
        }
        let step = reader.push(line);
        if !obey(session, step).await {
            return;
        }
    }
    let step = reader.finish();
    obey(session, step).await;
}

/// Returns whether to continue.
async fn obey(session: &mut Session<&mut Vec<u8>>, step: LineOutcome) -> bool {
    match step {
        LineOutcome::More => {}
        LineOutcome::Refuse(message, _) => {
            session.refuse(&message, None).unwrap();
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

fn mask(transcript: &str) -> String {
    let masks = [
        (r"Took \d+\.\d{4} seconds", "Took T seconds"),
        (r"timestamp=20[2-9]\d-[\d:T.-]+", "timestamp=NOW"),
        (r",\d{13}\.[0-9a-f]{32}\.", ",ID.MD5."),
        (r" (localhost:0|127\.0\.0\.1:\d+) \{ENCODED => [0-9a-f]{32},", " SERVER {ENCODED => MD5,"),
        (r"\(20[2-9]\d-\d\d-\d\d \d\d:\d\d:\d\d \+0000\)", "(NOW)"),
    ];
    masks.iter().fold(transcript.to_owned(), |text, (pattern, instead)| {
        Regex::new(pattern).unwrap().replace_all(&text, *instead).into_owned()
    })
}
