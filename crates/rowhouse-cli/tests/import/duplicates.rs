//! Tests with rows that have another row's key.

use std::fs;
use std::path::Path;

use crate::{cells, import};

const MAKE: [&str; 4] = ["--key", "[id u32]", "--columns", "d:a a u32; d:b b u32"];

fn run(dir: &Path, file: &str, more: &[&str]) -> crate::Ran {
    let args: Vec<_> = ["t", file].iter().chain(&MAKE).chain(more).copied().collect();
    import(dir, &args)
}

#[test]
fn duplicates_are_counted_before_anything_is_written() {
    for way in [&[][..], &["--sorted"]] {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        write("one.csv", "id,a,b\n1,1,\n2,2,\n1,,3\n");
        let ran = run(dir.path(), "one.csv", way);
        assert_eq!(ran.status, 1);
        assert!(ran.err.contains("rows of the files=1, rows of the table=0"), "{}", ran.err);
        assert!(ran.err.contains("one.csv, line 4 has the key of one.csv, line 2"), "{}", ran.err);
        // Not even the table is created.
        assert!(import(dir.path(), &["t", "one.csv"]).err.contains("there is no table t"));

        // A merged row has the columns from all input rows.
        assert_eq!(
            run(dir.path(), "one.csv", &[way, &["--duplicates", "merge"]].concat()).status,
            0
        );
        let merged = ["id=1: a=1", "id=1: b=3", "id=2: a=2"];
        assert_eq!(cells(dir.path(), "t"), merged);

        write("two.csv", "id,a,b\n2,7,7\n3,3,3\n");
        let ran = run(dir.path(), "two.csv", way);
        assert!(ran.err.contains("rows of the files=0, rows of the table=1"), "{}", ran.err);
        assert!(
            ran.err.contains("two.csv, line 2 has the key of a row of the table"),
            "{}",
            ran.err
        );
        assert_eq!(cells(dir.path(), "t"), merged);
        // A dry run exits as the import would.
        let ran = run(dir.path(), "two.csv", &["--dry-run", "--json"]);
        assert_eq!(ran.status, 1, "{}", ran.err);
        assert!(ran.out.contains(r#""in_table":1,"#), "{}", ran.out);
        assert!(ran.out.contains(r#""written":0"#), "{}", ran.out);
        assert!(ran.out.contains(r#""refused":true"#), "{}", ran.out);
        let ran = run(dir.path(), "two.csv", &["--dry-run", "--duplicates", "merge"]);
        assert_eq!(ran.status, 0, "{}", ran.err);
        assert!(ran.out.ends_with("\nnothing was written\n"), "{}", ran.out);
        assert_eq!(
            run(dir.path(), "two.csv", &[way, &["--duplicates", "merge"]].concat()).status,
            0
        );
        let all = ["id=1: a=1", "id=1: b=3", "id=2: a=7", "id=2: b=7", "id=3: a=3", "id=3: b=3"];
        assert_eq!(cells(dir.path(), "t"), all);
    }
}

#[test]
fn keys_are_compared_exactly_beyond_memory_and_beyond_one_request() {
    let dir = tempfile::tempdir().unwrap();
    let text = |from: usize, to: usize| {
        let rows: String = (from..to).rev().map(|id| format!("{id},{id},\n")).collect();
        format!("id,a,b\n{rows}")
    };
    fs::write(dir.path().join("one.csv"), text(0, 25_000)).unwrap();
    fs::write(dir.path().join("two.csv"), text(22_500, 40_000)).unwrap();
    let ran = run(dir.path(), "one.csv", &["--memory", "1", "--sorted"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let ran = run(dir.path(), "two.csv", &["--memory", "1", "--dry-run"]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    assert!(ran.out.ends_with("nothing would be without --duplicates merge\n"), "{}", ran.out);
    assert!(ran.out.contains("17500 rows of 1 file: 0 rejected, 0 with the key of one before, 2500 in the table already"), "{}", ran.out);
    let ran = import(
        dir.path(),
        &[&["t", "one.csv", "two.csv"], &MAKE[..], &["--memory", "1", "--dry-run"]].concat(),
    );
    assert!(ran.out.contains("42500 rows of 2 files: 0 rejected, 2500 with the key of one before, 25000 in the table already"), "{}", ran.out);
    assert_eq!(cells(dir.path(), "t").len(), 25_000);
}
