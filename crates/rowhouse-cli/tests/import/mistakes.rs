//! Tests rejected rows and refused imports.

use std::fs;

use crate::{cells, import};

#[test]
fn rejected_rows_are_reported_and_stored_and_can_be_imported_after_repair() {
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
fn an_impossible_import_is_refused_before_a_row_is_read() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.csv"), "id,n,extra\n1,1,1\n").unwrap();
    let make = ["t", "a.csv", "--key", "[id u32][at date]", "--columns", "d:n n u32"];
    let refused = |more: &[&str], want: &str| {
        let ran = import(dir.path(), &[&make[..], more].concat());
        assert_eq!(ran.status, 1, "{more:?}");
        assert!(ran.err.contains(want), "{more:?}: {}", ran.err);
    };
    refused(&[], "fields=extra");
    refused(&["--skip", "extra"], "the file has no value for a field of the key");
    let unclosed = import(dir.path(), &[&make[..], &["--set", "at={n"]].concat());
    assert_eq!(unclosed.status, 2);
    assert!(unclosed.err.contains("a brace is not closed"), "{}", unclosed.err);
    refused(
        &["--skip", "extra", "--set", "at=2024-01-01", "--map", "n=m"],
        "no field or column `m`",
    );
    refused(
        &["--skip", "n", "--skip", "extra", "--set", "at=2024-01-01"],
        "no field for any column",
    );
    refused(&["--format", "parquet"], "the file is not Parquet, or damaged");
    let good = ["--skip", "extra", "--set", "at=2024-01-0{id}"];
    assert_eq!(import(dir.path(), &[&make[..], &good].concat()).status, 0);
    assert_eq!(cells(dir.path(), "t"), ["id=1, at=2024-01-01: n=1"]);
    let other = ["t", "a.csv", "--key", "[id u16]", "--columns", "d:n n u32"];
    assert!(import(dir.path(), &other).err.contains("declares another key"));
}

#[test]
fn nested_values_are_refused_only_in_imported_columns() {
    let dir = tempfile::tempdir().unwrap();
    let text = "{\"id\":1,\"n\":1,\"more\":{\"a\":[]}}\n{\"id\":2,\"n\":{\"b\":0},\"more\":{}}\n";
    fs::write(dir.path().join("a.jsonl"), text).unwrap();
    let make = ["t", "a.jsonl", "--key", "[id u32]", "--columns", "d:n n u32"];
    assert!(import(dir.path(), &make).err.contains("fields=more"));
    assert_eq!(import(dir.path(), &[&make[..], &["--skip", "more"]].concat()).status, 3);
    assert_eq!(cells(dir.path(), "t"), ["id=1: n=1"]);
    let rejected = fs::read_to_string(dir.path().join("a.jsonl.rejected")).unwrap();
    assert!(
        rejected
            .starts_with("# line 2: column `n`: an object cannot be the value of a field: value={"),
        "{rejected}"
    );
}

#[test]
fn a_field_that_is_made_of_others_is_not_taken_from_the_file_in_silence() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.jsonl"), "{\"id\":1,\"day\":2}\n{\"id\":2,\"day\":3,\"n\":7}\n")
        .unwrap();
    let make = ["t", "a.jsonl", "--key", "[id u32]", "--columns", "d:n n u32", "--set", "n=1{day}"];
    let ran = import(dir.path(), &make);
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert_eq!(cells(dir.path(), "t"), ["id=1: n=12"]);
}

#[test]
fn hfiles_go_into_a_table_and_take_no_options_of_rows() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.csv"), "id,n\n1,1\n2,2\n").unwrap();
    let make = ["t", "a.csv", "--key", "[id u32]", "--columns", "d:n n u32"];
    assert_eq!(import(dir.path(), &make).status, 0);
    let exported = std::process::Command::new(env!("CARGO_BIN_EXE_rowhouse"))
        .args(["export", "t", "--hfiles", "out", "--data", "data"])
        .current_dir(dir.path())
        .status();
    assert!(exported.unwrap().success());
    let ran = import(dir.path(), &["t", "--hfiles", "out"]);
    assert_eq!((ran.status, &*ran.out), (0, "2 cells of 1 HFile are in t\n"), "{}", ran.err);
    assert_eq!(import(dir.path(), &["t", "--hfiles", "out", "--sorted"]).status, 2);
    assert_eq!(import(dir.path(), &["t", "a.csv", "--hfiles", "out"]).status, 2);
}

#[test]
fn an_import_never_overwrites_its_input() {
    let dir = tempfile::tempdir().unwrap();
    let text = "id,n\nx,1\n";
    for name in ["a.csv", "a.csv.rejected.part"] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let make = ["--key", "[id u32]", "--columns", "d:n n u32", "--format", "csv"];
    for more in [&["a.csv", "a.csv.rejected.part"][..], &["a.csv", "--progress", "./a.csv"]] {
        let ran = import(dir.path(), &[&["t"], more, &make].concat());
        assert!(ran.err.contains("overwrite an imported file"), "{}", ran.err);
    }
    assert_eq!(fs::read_to_string(dir.path().join("a.csv.rejected.part")).unwrap(), text);
}

#[test]
fn rejected_rows_of_an_earlier_import_are_retained_and_stored_only_once() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    let make = ["t", "a.csv", "--key", "[id u32]", "--columns", "d:n n u32"];
    let run = |rejected: &str| {
        let ran = import(dir.path(), &[&make[..], &["--duplicates", "merge"]].concat());
        assert_eq!(ran.status, 3, "{}", ran.err);
        let message = format!("rejected rows are in ./{rejected}\n");
        assert!(ran.out.contains(&message), "{message}{}", ran.out);
    };
    write("a.csv", "id,n\n1,1\nx,2\n");
    run("a.csv.rejected");
    run("a.csv.rejected");
    // The user corrects it.
    let repaired = read("a.csv.rejected").replace('x', "2");
    write("a.csv.rejected", &repaired);
    run("a.csv.rejected.2");
    run("a.csv.rejected.2");
    write("a.csv", "id,n\n1,1\ny,2\n");
    run("a.csv.rejected.3");
    assert_eq!(read("a.csv.rejected"), repaired);
    assert!(read("a.csv.rejected.2").ends_with("\nx,2\n"));
    assert!(read("a.csv.rejected.3").ends_with("\ny,2\n"));
    // Rejected rows can be imported together with their file.
    let files = ["t", "a.csv", "a.csv.rejected", "--format", "csv", "--comment", "#"];
    let ran = import(dir.path(), &[&files[..], &["--duplicates", "merge"]].concat());
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert_eq!(cells(dir.path(), "t"), ["id=1: n=1", "id=2: n=2"]);
    let left = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!left.into_iter().any(|name| name.to_string_lossy().ends_with(".part")));
}

#[test]
fn a_look_at_rows_that_are_rejected_ends_as_the_import_would() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.csv"), "id,n\n1,1\n\"2\"0,2\n").unwrap();
    let make = ["t", "a.csv", "--key", "[id u32]", "--columns", "d:n n u32"];
    let look = import(dir.path(), &[&make[..], &["--dry-run"]].concat());
    assert_eq!(look.status, 3, "{}", look.err);
    let ran = import(dir.path(), &make);
    assert_eq!(ran.status, 3, "{}", ran.err);
    let why = "# line 3: a value continues after its closing quote; a quote within quotes is written twice, or with --escape after a backslash";
    let rejected = fs::read_to_string(dir.path().join("a.csv.rejected")).unwrap();
    assert_eq!(rejected, format!("id,n\n{why}\n\"2\"0,2\n"));
    assert_eq!(cells(dir.path(), "t"), ["id=1: n=1"]);
}

#[test]
fn a_salt_follows_from_the_values_so_that_a_row_is_one_row() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.csv"), "id,n\nann,1\nbob,2\ncid,3\nann,4\n").unwrap();
    let make = ["t", "a.csv", "--key", "[salt 200][id string]", "--columns", "d:n n u32"];
    let ran = import(dir.path(), &make);
    assert!(ran.err.contains("rows of the files=1"), "{}", ran.err);
    for _ in 0..2 {
        let ran = import(dir.path(), &[&make[..], &["--duplicates", "merge"]].concat());
        assert_eq!(ran.status, 0, "{}", ran.err);
        assert_eq!(cells(dir.path(), "t").len(), 3);
    }
}
