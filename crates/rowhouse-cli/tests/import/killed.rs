//! Tests that a killed import resumes.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rowhouse::Delete;

use crate::{cells, command, import, with_table};

const ROWS: usize = 20_000;

const ARGS: [&str; 9] = [
    "scores",
    "scores.csv",
    "--key",
    "[user string]",
    "--columns",
    "d:s score u32; d:c city string",
    "--duplicates",
    "merge",
    "--batch-rows=10",
];

/// Writes a file with rows. Some are rejected, and some have an earlier row's key, with another
/// value.
fn write_scores(dir: &Path) {
    let mut text = "user,score,city\n".to_owned();
    for number in 0..ROWS {
        let score = if number % 1_000 == 7 { "many".to_owned() } else { number.to_string() };
        let city = if number % 3 == 0 { "" } else { "Xi'an" };
        writeln!(text, "u{},{score},{city}", number % (ROWS - 500)).unwrap();
    }
    fs::write(dir.join("scores.csv"), text).unwrap();
}

/// Starts an import and kills it when it has written that many rows.
fn kill_when_written(dir: &Path, args: &[&str], rows: u64) {
    let mut running = command(dir, args).stdout(Stdio::null()).spawn().unwrap();
    while written(dir).is_none_or(|written| written < rows) {
        assert!(running.try_wait().unwrap().is_none(), "it ended before it could be killed");
        std::thread::sleep(Duration::from_millis(2));
    }
    // SIGKILL: nothing in the program runs after it.
    running.kill().unwrap();
    running.wait().unwrap();
}

/// Returns the written row count in the progress file.
fn written(dir: &Path) -> Option<u64> {
    let text = fs::read_to_string(dir.join("scores.csv.progress")).ok()?;
    serde_json::from_str::<serde_json::Value>(&text).ok()?.get("written")?.as_u64()
}

#[test]
fn a_killed_import_that_is_run_again_leaves_the_table_of_one_that_was_not() {
    let whole = tempfile::tempdir().unwrap();
    let killed = tempfile::tempdir().unwrap();
    write_scores(whole.path());
    write_scores(killed.path());
    let ran = import(whole.path(), &ARGS);
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert!(
        ran.out.starts_with("20000 rows of 1 file: 20 rejected, 499 with the key"),
        "{}",
        ran.out
    );

    for until in [1_000, 9_000] {
        kill_when_written(killed.path(), &ARGS, until);
        let written = written(killed.path()).unwrap();
        let there = cells(killed.path(), "scores");
        assert!(written < ROWS as u64 - 20 && !there.is_empty(), "{written}");
    }
    let look = import(killed.path(), &[&ARGS[..], &["--dry-run"]].concat());
    assert_eq!(look.status, 3, "{}", look.err);
    assert!(look.out.contains("would resume an incomplete one"), "{}", look.out);
    let ran = import(killed.path(), &ARGS);
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert!(ran.out.contains("\nrejected rows are in ./scores.csv.rejected\n"), "{}", ran.out);
    assert!(
        ran.out.contains("19980 rows written to scores, resuming an incomplete import"),
        "{}",
        ran.out
    );
    assert_eq!(cells(killed.path(), "scores"), cells(whole.path(), "scores"));
    assert!(!killed.path().join("scores.csv.progress").exists());
    let rejected = |dir: &Path| fs::read_to_string(dir.join("scores.csv.rejected")).unwrap();
    assert_eq!(rejected(killed.path()), rejected(whole.path()));
}

#[test]
fn an_import_does_not_go_on_with_a_table_that_lost_rows_it_wrote() {
    let dir = tempfile::tempdir().unwrap();
    write_scores(dir.path());
    kill_when_written(dir.path(), &ARGS, 500);
    // As if the table had been restored from an earlier snapshot.
    let text = fs::read_to_string(dir.path().join("scores.csv.progress")).unwrap();
    let noted: serde_json::Value = serde_json::from_str(&text).unwrap();
    let last = rowhouse::key::unescape(noted["last"][0].as_str().unwrap()).unwrap();
    with_table(dir.path(), "scores", async |table| {
        table.mutate(Delete::new(last.clone())?.into()).await.map(drop)
    });
    let before = cells(dir.path(), "scores");
    let ran = import(dir.path(), &ARGS);
    assert_eq!(ran.status, 1, "{}", ran.out);
    assert!(ran.err.contains("the table lacks rows"), "{}", ran.err);
    assert_eq!(cells(dir.path(), "scores"), before);
}

#[test]
fn rows_in_key_order_go_to_all_regions_side_by_side() {
    const MAKE: [&str; 9] = [
        "ids",
        "scores.csv",
        "--key",
        "[id digits 5]",
        "--columns",
        "d:n score u32",
        "--regions",
        "4",
        "--batch-rows=20",
    ];
    let dir = tempfile::tempdir().unwrap();
    // Three quarters of the rows are in three regions, and none in the fourth.
    let rows: String = (0..15_000).map(|id| format!("{:05},{id}\n", id * 5)).collect();
    fs::write(dir.path().join("scores.csv"), format!("id,score\n{rows}")).unwrap();
    kill_when_written(dir.path(), &MAKE, 1_500);
    let there = cells(dir.path(), "ids");
    for region in ["id=0", "id=3", "id=6"] {
        let begins = there.iter().any(|cell| cell.starts_with(region));
        assert!(begins, "{region} of {} rows", there.len());
    }
    assert!(there.len() < 15_000);
    let ran = import(dir.path(), &MAKE);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let all = cells(dir.path(), "ids");
    let want: Vec<_> = (0..15_000).map(|id| format!("id={}: score={id}", id * 5)).collect();
    assert_eq!(all, want);
}

#[test]
fn progress_of_another_import_is_not_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    write_scores(dir.path());
    kill_when_written(dir.path(), &ARGS, 0);
    let before = cells(dir.path(), "scores");
    // One more row: later positions differ.
    let text = fs::read_to_string(dir.path().join("scores.csv")).unwrap();
    fs::write(dir.path().join("scores.csv"), text + "new,1,\n").unwrap();
    let ran = import(dir.path(), &ARGS);
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("file=scores.csv.progress"), "{}", ran.err);
    assert_eq!(cells(dir.path(), "scores"), before);
}
