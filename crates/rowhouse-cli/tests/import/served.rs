//! An import into a directory that a server holds.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::{cells, import};

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn rows_are_sent_to_the_server_that_holds_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_rowhouse"))
        .args(["serve", "--data", "data", "--listen", "127.0.0.1:0", "--zookeeper", "127.0.0.1:0"])
        .current_dir(dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut banner = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut banner).unwrap();
    let server = Served(server);
    let rows: String = (0..3_000).map(|id| format!("{{\"id\":{id},\"n\":{}}}\n", id * 2)).collect();
    fs::write(dir.path().join("a.jsonl"), rows).unwrap();
    fs::write(dir.path().join("b.csv"), "id,n\n2999,1\n3000,1\n").unwrap();
    let make = ["--key", "[id u32]", "--columns", "d:n n u32"];
    let ran = import(dir.path(), &[&["t", "a.jsonl"], &make[..]].concat());
    assert_eq!((ran.status, &*ran.err), (0, ""));
    let ran = import(dir.path(), &["t", "b.csv"]);
    assert!(ran.err.contains("of rows of the table=1"), "{}", ran.err);
    let ran = import(dir.path(), &["t", "a.jsonl", "b.csv", "--dry-run"]);
    assert!(ran.out.contains("1 with the key of one before, 3000 in the table"), "{}", ran.out);
    let ran = import(dir.path(), &["t", "b.csv", "--sorted"]);
    assert!(ran.err.contains("which a server has open"), "{}", ran.err);
    drop(server);
    let want: Vec<_> = (0..3_000).map(|id| format!("id={id}: n={}", id * 2)).collect();
    assert_eq!(cells(dir.path(), "t"), want);
}
