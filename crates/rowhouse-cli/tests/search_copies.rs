//! `rowhouse search`, as a separate process, over a table in another data directory.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::path::Path;
use std::process::{Command, Output};

use expect_test::expect;
use rowhouse::TableSpec;

fn run(dir: &Path, args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_rowhouse");
    Command::new(program).args(args).current_dir(dir).output().unwrap()
}

/// Runs a command that succeeds; returns what it prints.
fn printed(dir: &Path, args: &[&str]) -> String {
    let ran = run(dir, args);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

async fn fill(dir: &Path) -> rowhouse::Result<()> {
    let database = rowhouse::open(dir.join("source").display().to_string()).await?;
    let spec = TableSpec::new("mail").family("d").key("[user string][n u32]");
    let columns = "d:b body string; d:s subject string; d:z size u32; d:a at millis";
    let mail = database.create_table(spec.columns(columns)).await?;
    for (n, body) in [(1, "Designing row keys"), (2, "The door")] {
        let row = mail.row(&[("user", "bob".into()), ("n", n.into())]);
        let row = row.set_named("body", body).set_named("subject", "hi").set_named("size", 300u32);
        row.set_named("at", "2022-12-01T08:00Z").put().await?;
    }
    let short = rowhouse::Put::new(&b"bob\0\x01\0\0\0\x01"[..])?.add("d", "z", "?")?;
    mail.put(short.add("d", "x", "beside\n")?).await?;
    mail.put(rowhouse::Put::new("misfit")?.add("d", "b", "key")?).await?;
    database.close().await
}

#[test]
fn a_copy_is_built_searched_and_leads_to_the_rows_at_the_source() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    tokio::runtime::Runtime::new().unwrap().block_on(fill(dir)).unwrap();
    let build = ["search", "build", "source", "mail", "--into", "here", "--index"];
    let build = [&build[..], &["text search body english"]].concat();
    let text = printed(dir, &build);
    assert!(text.starts_with("2 rows of mail searched in here: "), "{text}");
    assert!(text.ends_with("the first:\n  misfit\n"), "{text}");
    let text = printed(dir, &build);
    assert!(text.contains("in place of the copy before"), "{text}");

    let query = ["search", "query", "mail", "body matches 'key'", "--data", "here"];
    expect![[r"
        bob\x00\x01\x00\x00\x00\x01 (user='bob', n=1)
          body='Designing row keys'
        1 row
    "]]
    .assert_eq(&printed(dir, &query));
    expect![[r"
        bob\x00\x01\x00\x00\x00\x01 (user='bob', n=1)
          at=2022-12-01T08:00:00.000Z
          body='Designing row keys'
          subject='hi'
          d:x = beside\x0A
          d:z = ? (value of `size` does not fit: needs 4 bytes, 1 are left: at=0)
        1 row
    "]]
    .assert_eq(&printed(dir, &[&query[..], &["--fetch"]].concat()));
    let by_score = printed(dir, &[&query[..], &["--by-score"]].concat());
    assert!(by_score.contains("(user='bob', n=1), score=0."), "{by_score}");
}

#[test]
fn a_table_that_is_no_copy_is_not_replaced_and_has_no_source() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    tokio::runtime::Runtime::new().unwrap().block_on(fill(dir)).unwrap();
    let build = ["search", "build", "source", "mail", "--into", "other", "--index"];
    printed(dir, &[&build[..], &["text search body english"]].concat());
    let into_source = ["search", "build", "other", "mail", "--into", "source", "--index"];
    let ran = run(dir, &[&into_source[..], &["text search body english"]].concat());
    let why = String::from_utf8(ran.stderr).unwrap();
    assert!(!ran.status.success() && why.contains("is not a search copy"), "{why}");
    let query = ["search", "query", "mail", "user = 'bob'", "--data", "source", "--fetch"];
    let why = String::from_utf8(run(dir, &query).stderr).unwrap();
    assert!(why.contains("the table is no copy, so there is no source: table=mail"), "{why}");
}
