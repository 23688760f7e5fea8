//! Tests an import into a directory that a server holds.

use std::fs;

use crate::support::serve;
use crate::{cells, import};

#[test]
fn rows_are_sent_to_the_server_that_holds_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve(&dir.path().join("data"), &[]);
    let rows: String = (0..3_000).map(|id| format!("{{\"id\":{id},\"n\":{}}}\n", id * 2)).collect();
    fs::write(dir.path().join("a.jsonl"), rows).unwrap();
    fs::write(dir.path().join("b.csv"), "id,n\n2999,1\n3000,1\n").unwrap();
    let make = ["--key", "[id u32]", "--columns", "d:n n u32"];
    let ran = import(dir.path(), &[&["t", "a.jsonl"], &make[..]].concat());
    assert_eq!((ran.status, &*ran.err), (0, ""));
    let ran = import(dir.path(), &["t", "b.csv"]);
    assert!(ran.err.contains("rows of the table=1"), "{}", ran.err);
    let ran = import(dir.path(), &["t", "a.jsonl", "b.csv", "--dry-run"]);
    assert!(ran.out.contains("1 with the key of one before, 3000 in the table"), "{}", ran.out);
    let ran = import(dir.path(), &["t", "b.csv", "--sorted"]);
    assert!(ran.err.contains("that no server has open"), "{}", ran.err);
    drop(server);
    let want: Vec<_> = (0..3_000).map(|id| format!("id={id}: n={}", id * 2)).collect();
    assert_eq!(cells(dir.path(), "t"), want);
}
