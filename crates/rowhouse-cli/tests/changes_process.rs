//! `rowhouse changes` as a process: killed at any time, it goes on where its file ends.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod support;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::serve;

/// How often the follower is killed.
const KILLS: usize = 6;

/// How many rows are written between two kills.
const ROWS: usize = 40;

fn shell(data: &Path, input: &str) {
    let mut process = Command::new(env!("CARGO_BIN_EXE_rowhouse"))
        .args(["shell", "--data"])
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(process.wait().unwrap().success());
}

fn follow(data: &Path, file: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_rowhouse"))
        .arg("changes")
        .arg(data)
        .args(["t", "--follower", "sums", "--file-bytes", "4000", "--to"])
        .arg(file)
        .spawn()
        .unwrap()
}

/// Returns how often each row is in the files of the follower, and the sum of the values: what a
/// program that reads them adds up.
fn read(dir: &Path) -> (BTreeMap<String, u32>, u64) {
    let mut counts = BTreeMap::new();
    let mut sum = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let lines = std::fs::read_to_string(entry.unwrap().path()).unwrap_or_default();
        // The last line may be half written.
        for change in lines.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            let change: serde_json::Value = change;
            if change["kind"] == "row" {
                *counts.entry(change["row"].as_str().unwrap().to_owned()).or_default() += 1;
                sum += change["put"][0]["value"].as_str().unwrap().parse::<u64>().unwrap();
            }
        }
    }
    (counts, sum)
}

#[test]
fn a_sum_over_changes_is_right_however_often_the_follower_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let out = dir.path().join("out");
    std::fs::create_dir(&out).unwrap();
    shell(&data, "create 't', 'f'");
    let _served = serve(&data, &[]);
    let file = out.join("changes");
    // Registers the follower.
    let first = Command::new(env!("CARGO_BIN_EXE_rowhouse"))
        .arg("changes")
        .arg(&data)
        .args(["t", "--from", "now", "--follower", "sums", "--limit", "0"])
        .status();
    assert!(first.unwrap().success());
    for kill in 0..KILLS {
        let mut follower = follow(&data, &file);
        let puts = (0..ROWS).map(|n| {
            let n = kill * ROWS + n;
            format!("put 't', 'row{n:04}', 'f:q', '{n}'\n")
        });
        shell(&data, &puts.collect::<String>());
        // At another moment each time.
        std::thread::sleep(Duration::from_millis(130 * kill as u64));
        follower.kill().unwrap();
        follower.wait().unwrap();
    }
    let rows = KILLS * ROWS;
    let mut follower = follow(&data, &file);
    let deadline = Instant::now() + Duration::from_secs(120);
    while read(&out).0.len() < rows && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
    }
    follower.kill().unwrap();
    follower.wait().unwrap();
    let (counts, sum) = read(&out);
    assert_eq!(counts.len(), rows);
    let twice: Vec<_> = counts.iter().filter(|(_, count)| **count != 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    assert_eq!(sum, (0..rows as u64).sum::<u64>());
    assert!(out.join("changes.000001").exists(), "the file is rotated");
}
