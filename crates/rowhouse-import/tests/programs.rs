//! Imports by a Rust program.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rowhouse::key::KeySchema;
use rowhouse::schema::{ColumnSchema, TableName};
use rowhouse::{Database, ErrorKind, Scan};
use rowhouse_import::{Duplicates, Import, Reading, Step};
use tempfile::TempDir;

async fn database(dir: &Path) -> Database {
    rowhouse::open(dir.join("data").display().to_string()).await.unwrap()
}

/// Writes a file with 600 rows: one does not fit, and one has the same key as another.
fn files() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut text = "user;points\nu0;many\nu1;7\n".to_owned();
    (1..599).for_each(|number| text.push_str(&format!("u{number};{number}\n")));
    fs::write(dir.path().join("a.csv"), text).unwrap();
    dir
}

fn import(database: &Database, dir: &Path) -> Import {
    let key = KeySchema::parse("[user string]").unwrap();
    let columns = ColumnSchema::parse("d:p points u32").unwrap();
    Import::new(database, TableName::parse("scores").unwrap())
        .file(dir.join("a.csv"))
        .reading(Reading { delimiter: Some(b';'), ..Reading::default() })
        .declare(key, columns, None)
        .rejects(dir)
        .progress(dir.join("a.progress"))
}

/// Returns the table's row count.
async fn rows(database: &Database) -> usize {
    let table = database.table("scores").await.unwrap();
    let mut scanner = table.scan(Scan::all()).await.unwrap();
    let mut count = 0;
    while scanner.next().await.unwrap().is_some() {
        count += 1;
    }
    count
}

#[tokio::test]
async fn a_task_of_any_runtime_imports_and_hears_of_every_step() {
    let dir = files();
    let database = database(dir.path()).await;
    let steps = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&steps);
    let import = import(&database, dir.path())
        .duplicates(Duplicates::Merge)
        .batch_rows(100)
        .on_progress(move |progress| heard.lock().unwrap().push((progress.step, progress.rows)));
    let summary = tokio::spawn(import.run()).await.unwrap().unwrap();
    assert_eq!((summary.counts.rows, summary.counts.rejected), (600, 1));
    assert_eq!((summary.counts.same_key, summary.written), (1, 599));
    assert_eq!(summary.rejects, [dir.path().join("a.csv.rejected")]);
    let steps = std::mem::take(&mut *steps.lock().unwrap());
    assert!(steps.contains(&(Step::Reading, 512)), "{steps:?}");
    assert!(steps.contains(&(Step::Comparing, 512)), "{steps:?}");
    assert_eq!(steps.last(), Some(&(Step::Writing, 599)));
    assert_eq!(rows(&database).await, 598);
    assert!(!dir.path().join("a.progress").exists());
    database.close().await.unwrap();
}

#[tokio::test]
async fn check_reports_refusals_and_writes_nothing() {
    let dir = files();
    let database = database(dir.path()).await;
    let checked = import(&database, dir.path()).check().await.unwrap();
    assert!(checked.is_refused && checked.is_dry_run);
    assert_eq!((checked.counts.same_key, checked.written), (1, 0));
    let refused = import(&database, dir.path()).run().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidRequest);
    let too_many = import(&database, dir.path()).rejects_max(0).run().await.unwrap_err();
    assert!(too_many.message().contains("too many rows"), "{too_many}");
    assert!(!database.table_exists("scores").await.unwrap());
    database.close().await.unwrap();
}

#[tokio::test]
async fn sorted_rows_are_loaded_into_a_store_that_nothing_has_open() {
    let dir = files();
    let opened = database(dir.path()).await;
    let sorted = import(&opened, dir.path()).duplicates(Duplicates::Merge).sort().await.unwrap();
    opened.close().await.unwrap();
    let summary = sorted.load(dir.path().join("data")).unwrap();
    assert_eq!(summary.written, 599);
    let database = database(dir.path()).await;
    assert_eq!(rows(&database).await, 598);
    database.close().await.unwrap();
}

#[tokio::test]
async fn settings_that_cannot_be_followed_are_refused() {
    let dir = files();
    let database = database(dir.path()).await;
    let without_files = Import::new(&database, TableName::parse("scores").unwrap());
    for (import, message) in [
        (without_files, "files=0"),
        (import(&database, dir.path()).batch_rows(0), "batch_rows=0"),
        (import(&database, dir.path()).map("x", "points"), "no field `x`"),
        (import(&database, dir.path()).set("points", "{user"), "brace is not closed"),
    ] {
        let error = import.run().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.message().contains(message), "{error}");
    }
    database.close().await.unwrap();
}
