//! Replays requests recorded between the stock client and Apache HBase against this server, byte
//! for byte except for server-assigned names and numbers, and compares the answers with HBase's.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod differences;
mod names;
mod recorded;
mod replay;
mod show;
#[path = "../support/mod.rs"]
mod support;
mod zookeeper;

use differences::DIFFERENCES;
use recorded::Scenario;
use replay::Exchange;

#[test]
fn recorded_clients_get_the_answers_that_apache_gave() {
    let mut seen = vec![false; DIFFERENCES.len()];
    let mut calls = 0;
    let mut wrong = 0;
    for folder in recorded::folders() {
        let scenario = Scenario::read(&folder);
        for exchange in replay::replay(&scenario) {
            calls += 1;
            let Exchange { method, apache, ours, .. } = &exchange;
            if apache != ours && !differences::is_known(method, apache, ours, &mut seen) {
                wrong += 1;
                print(&exchange);
            }
        }
    }
    assert_eq!(wrong, 0, "answers that are not Apache's");
    assert!(calls > 250, "only {calls} calls were replayed");
    for (difference, seen) in DIFFERENCES.iter().zip(seen) {
        assert!(seen, "no longer different: {}: {}", difference.method, difference.why);
    }
}

/// Prints both answers as a line diff.
fn print(exchange: &Exchange) {
    println!("{}, call {}: {}", exchange.scenario, exchange.call, exchange.method);
    let apache: Vec<&str> = exchange.apache.lines().collect();
    let ours: Vec<&str> = exchange.ours.lines().collect();
    let mut at = 0;
    let mut our_at = 0;
    for (line, our_line) in common(&apache, &ours).into_iter().chain([(apache.len(), ours.len())]) {
        apache[at..line].iter().for_each(|line| println!("  apache | {line}"));
        ours[our_at..our_line].iter().for_each(|line| println!("  ours   | {line}"));
        if let Some(both) = apache.get(line) {
            println!("         | {both}");
        }
        (at, our_at) = (line + 1, our_line + 1);
    }
}

/// Returns the longest common subsequence's positions in both texts.
fn common(a: &[&str], b: &[&str]) -> Vec<(usize, usize)> {
    let mut len = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            len[i][j] =
                if a[i] == b[j] { len[i + 1][j + 1] + 1 } else { len[i + 1][j].max(len[i][j + 1]) };
        }
    }
    let mut i = 0;
    let mut j = 0;
    let mut pairs = Vec::new();
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if len[i + 1][j] >= len[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
