//! Transcripts: a script in, what the shell prints out, on a new database each.

mod data;
mod errors;
mod help;
mod keys;
mod scans;
mod tables;

use expect_test::Expect;
use regex::Regex;

use super::{Outcome, Reader, Session, Step};

/// Runs a script line by line, each shown behind `>`, on a new database. What changes from run to
/// run (how long it took, the present, names of regions) is masked.
fn check(script: &str, expected: Expect) {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let transcript = runtime.block_on(async {
        let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
        let mut out = Vec::new();
        let mut session = Session::new(database.clone(), &mut out);
        run(&mut session, script).await;
        database.close().await.unwrap();
        String::from_utf8(out).unwrap()
    });
    expected.assert_eq(&mask(&transcript));
}

async fn run(session: &mut Session<&mut Vec<u8>>, script: &str) {
    let mut reader = Reader::default();
    for line in script.lines() {
        session.say(format_args!("> {line}")).unwrap();
        let step = reader.push(line);
        if !obey(session, step).await {
            return;
        }
    }
    let step = reader.finish();
    obey(session, step).await;
}

/// Whether to go on.
async fn obey(session: &mut Session<&mut Vec<u8>>, step: Step) -> bool {
    match step {
        Step::More => {}
        Step::Refuse(message) => {
            session.refuse(&message, None).unwrap();
        }
        Step::Run(statements) => {
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
    ];
    masks.iter().fold(transcript.to_owned(), |text, (pattern, instead)| {
        Regex::new(pattern).unwrap().replace_all(&text, *instead).into_owned()
    })
}
