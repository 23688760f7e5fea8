//! Rows that are rejected, and imports that are refused.

use std::fs;

use crate::{cells, import};

#[test]
fn rejected_rows_are_told_kept_and_can_be_imported_when_they_are_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let text = "who,at,size\nann,2024-01-01,1\nbob,yesterday,2\ncid,2024-01-03,-3\ndan,2024-01-04\neve,2024-01-05,\n,2024-01-06,6\n";
    fs::write(dir.path().join("mail.csv"), text).unwrap();
    let args = ["mail", "mail.csv", "--key", "[who text]_[at date]", "--columns", "d:n size u32"];
    let ran = import(dir.path(), &args);
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert!(ran.out.contains("5 rejected"), "{}", ran.out);
    assert!(ran.out.contains("rejected rows are in ./mail.csv.rejected"), "{}", ran.out);
    assert_eq!(cells(dir.path(), "mail"), ["who='ann', at=2024-01-01: size=1"]);
    let path = dir.path().join("mail.csv.rejected");
    let rejected = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = rejected.lines().collect();
    assert_eq!(lines[0], "who,at,size");
    assert!(lines[1].starts_with("# line 3: field `at`: "), "{rejected}");
    assert_eq!(lines[2], "bob,yesterday,2");
    assert!(lines[3].starts_with("# line 4: column `size`: "), "{rejected}");
    assert_eq!(lines[6], "dan,2024-01-04");
    assert!(lines[7].contains("no column has a value"), "{rejected}");
    assert_eq!(lines[9], "# line 7: field `who`: a key needs a value");

    let repaired = rejected.replace("yesterday", "2024-01-02").replace("-3", "3");
    fs::write(dir.path().join("again.csv"), repaired).unwrap();
    let ran = import(dir.path(), &["mail", "again.csv", "--comment", "#"]);
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert_eq!(cells(dir.path(), "mail").len(), 3);
}

#[test]
fn too_many_rejected_rows_stop_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.jsonl"), "{\"id\":1,\"n\":1}\n{}\n[]\n{\"id\":2,\"n\":1}\n")
        .unwrap();
    let make = ["t", "a.jsonl", "--key", "[id u32]", "--columns", "d:n n u32"];
    let ran = import(dir.path(), &[&make[..], &["--rejects-max", "1"]].concat());
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("too many rows are rejected"), "{}", ran.err);
    assert!(import(dir.path(), &["t", "a.jsonl"]).err.contains("there is no table t"));
    assert_eq!(import(dir.path(), &make).status, 3);
    assert_eq!(cells(dir.path(), "t").len(), 2);
}

#[test]
fn what_cannot_be_imported_is_refused_before_a_row_is_read() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.csv"), "id,n,extra\n1,1,1\n").unwrap();
    let make = ["t", "a.csv", "--key", "[id u32][at date]", "--columns", "d:n n u32"];
    let refused = |more: &[&str], want: &str| {
        let ran = import(dir.path(), &[&make[..], more].concat());
        assert_eq!(ran.status, 1, "{more:?}");
        assert!(ran.err.contains(want), "{more:?}: {}", ran.err);
    };
    refused(&[], "fields=extra");
    refused(&["--skip", "extra"], "the file has nothing for a field of the key");
    refused(&["--skip", "extra", "--set", "at={n"], "a brace is not closed");
    refused(
        &["--skip", "extra", "--set", "at=2024-01-01", "--map", "n=m"],
        "no field or column `m`",
    );
    refused(
        &["--skip", "n", "--skip", "extra", "--set", "at=2024-01-01"],
        "no field for any column",
    );
    refused(&["--format", "parquet"], "cannot be read as Parquet");
    let good = ["--skip", "extra", "--set", "at=2024-01-0{id}"];
    assert_eq!(import(dir.path(), &[&make[..], &good].concat()).status, 0);
    assert_eq!(cells(dir.path(), "t"), ["id=1, at=2024-01-01: n=1"]);
    let other = ["t", "a.csv", "--key", "[id u16]", "--columns", "d:n n u32"];
    assert!(import(dir.path(), &other).err.contains("declares another key"));
}
