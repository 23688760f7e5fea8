//! Tests the times in a file: one form for each column, declared or recognized, and never silently
//! read as a time in 1970.

use std::fs;

use crate::{cells, import};

const MAKE: [&str; 4] =
    ["--key", "[who text]_[at millis]", "--columns", "d:n size u32; d:t seen seconds"];

fn write(dir: &std::path::Path, times: &[&str]) {
    let rows: Vec<_> =
        times.iter().enumerate().map(|(nth, time)| format!("u{nth},{time},{nth}\n")).collect();
    fs::write(dir.join("a.csv"), format!("who,at,size\n{}", rows.concat())).unwrap();
}

#[test]
fn days_without_dashes_are_days() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &["20221201", "20221202"]);
    let ran = import(dir.path(), &[&["t", "a.csv"], &MAKE[..]].concat());
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.out.contains("times of `at` in a.csv are read as ymd: 20221201\n"), "{}", ran.out);
    assert_eq!(
        cells(dir.path(), "t"),
        [
            "who='u0', at=2022-12-01T00:00:00.000Z: size=0",
            "who='u1', at=2022-12-02T00:00:00.000Z: size=1"
        ]
    );
}

#[test]
fn a_value_of_another_form_is_rejected_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &["2022", "20221201", "1999"]);
    let ran = import(dir.path(), &[&["t", "a.csv"], &MAKE[..]].concat());
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert_eq!(cells(dir.path(), "t").len(), 2);
    let rejected = fs::read_to_string(dir.path().join("a.csv.rejected")).unwrap();
    assert!(rejected.contains("# line 3: field `at`: the times of this column"), "{rejected}");
    assert!(rejected.contains("value=20221201\nu1,20221201,1\n"), "{rejected}");
}

#[test]
fn the_form_is_of_the_whole_column_however_late_it_shows() {
    let dir = tempfile::tempdir().unwrap();
    let mut times = vec!["20221201"];
    times.extend(["1669852800000", "1669852860000", "1669852920000"]);
    write(dir.path(), &times);
    let ran = import(dir.path(), &[&["t", "a.csv"], &MAKE[..]].concat());
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert!(ran.out.contains("1 rejected"), "{}", ran.out);
    assert!(cells(dir.path(), "t").iter().all(|cell| cell.contains("at=2022-12-01T00:0")));
}

#[test]
fn an_ambiguous_format_stops_the_import_and_can_be_declared() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &["2022", "20221201"]);
    let make = [&["t", "a.csv"], &MAKE[..]].concat();
    let ran = import(dir.path(), &make);
    assert_eq!(ran.status, 1);
    assert!(ran.err.contains("--times at=iso or --times at=ymd"), "{}", ran.err);
    assert!(ran.err.contains("a.csv: equally many"), "{}", ran.err);

    let declared = |times: &str| import(dir.path(), &[&make[..], &["--times", times]].concat());
    assert_eq!(declared("at=days").status, 2);
    assert!(declared("size=ymd").err.contains("for fields and columns of times"));
    assert!(declared("when=ymd").err.contains("no field or column `when`"));
    assert_eq!(declared("at=count").status, 0);
    assert_eq!(
        cells(dir.path(), "t"),
        [
            "who='u0', at=1970-01-01T00:00:02.022Z: size=0",
            "who='u1', at=1970-01-01T05:37:01.201Z: size=1"
        ]
    );
}

#[test]
fn columns_and_other_files_have_forms_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.csv"), "who,at,seen\na,2022-12-01,20221201083000\n").unwrap();
    fs::write(dir.path().join("b.jsonl"), "{\"who\":\"b\",\"at\":20221201,\"seen\":1669852800}\n")
        .unwrap();
    let ran = import(dir.path(), &[&["t", "a.csv", "b.jsonl"], &MAKE[..]].concat());
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert_eq!(
        cells(dir.path(), "t"),
        [
            "who='a', at=2022-12-01T00:00:00.000Z: seen=2022-12-01T08:30:00.000Z",
            "who='b', at=2022-12-01T00:00:00.000Z: seen=2022-12-01T00:00:00.000Z"
        ]
    );
}

#[test]
fn a_text_that_looks_like_a_stored_hash_is_imported_as_a_text() {
    let dir = tempfile::tempdir().unwrap();
    let address = "0x52908400098527886e0f7030069857d2e4169ee7";
    fs::write(dir.path().join("a.csv"), format!("wallet,size\n{address},1\n")).unwrap();
    let key = "[wallet text sha1 20 hex]";
    let ran = import(dir.path(), &["t", "a.csv", "--key", key, "--columns", "d:n size u32"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let schema = rowhouse::key::KeySchema::parse(key).unwrap();
    let row = schema.encode(&[("wallet", address.into())]).unwrap();
    let cell_count = crate::with_table(dir.path(), "t", async |table| {
        Ok(table.get(&rowhouse::Get::new(row)?).await?.len())
    });
    assert_eq!(cell_count, 1, "the row is where its value says");
}
