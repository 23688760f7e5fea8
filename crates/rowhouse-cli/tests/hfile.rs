//! Tests `rowhouse hfile`, `export` and `import` as processes: their output and exit status.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path to a file that Apache HBase wrote.
fn fixture(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rowhouse-format/tests/hfile/fixtures");
    dir.join(name)
}

/// Runs `rowhouse` with these arguments. Returns standard output, standard error, and whether it
/// succeeded.
fn run(args: &[&str]) -> (String, String, bool) {
    let output = Command::new(env!("CARGO_BIN_EXE_rowhouse")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.success())
}

fn stdout(args: &[&str]) -> String {
    let (text, wrong, well) = run(args);
    assert!(well, "{wrong}");
    text
}

#[test]
fn the_page_differs_between_encodings_only_in_file_properties() {
    let page = |name: &str| {
        let text = stdout(&["hfile", fixture(name).to_str().unwrap()]);
        let lines = text.lines().map(str::to_owned);
        lines.take_while(|line| !line.starts_with("info")).collect::<Vec<_>>()
    };
    let want = page("rowindex.hfile");
    assert!(want[1].ends_with("295 in 40 rows; 47 delete markers, 82 with tags"), "{want:?}");
    assert!(want[2].ends_with("6749 of keys, 3022 of values, 902 of tags"), "{want:?}");
    let encodings = [("prefix", "PREFIX"), ("diff", "DIFF"), ("fast-diff", "FAST_DIFF")];
    for (name, encoding) in encodings {
        let page = page(&format!("{name}-tags.hfile"));
        assert_eq!(page[1..8], want[1..8], "{encoding}");
        let made = format!("compression NONE, encoding {encoding}, tags compressed;");
        assert!(page[8].contains(&made), "{page:?}");
    }
}

#[test]
fn cells_are_listed_by_row_and_range_with_the_fields_of_their_keys() {
    let file = fixture("fast-diff-tags.hfile");
    let file = file.to_str().unwrap();
    let cells =
        stdout(&["hfile", "--cells", "--row", "row00006", "--key", "row[n digits 5]", file]);
    assert!(cells.lines().count() > 3);
    assert!(cells.lines().all(|line| line.starts_with("row00006 (n=6) d:")), "{cells}");
    let args = ["hfile", "--cells", "--start", "row0001", "--stop", "row00018", "--json"];
    let cells = stdout(&[&args[..], &["--limit", "1000", file]].concat());
    let rows: Vec<String> = cells
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["row"].to_string())
        .collect();
    assert_eq!((&*rows[0], &**rows.last().unwrap()), ("\"row00012\"", "\"row00015\""));
    assert_eq!(stdout(&["hfile", "--cells", "--limit", "2", file]).lines().count(), 2);
}

#[test]
fn blocks_are_listed_from_the_first_byte_to_the_trailer() {
    let file = fixture("rowindex.hfile");
    let blocks = stdout(&["hfile", "--blocks", "--json", file.to_str().unwrap()]);
    let blocks: Vec<serde_json::Value> =
        blocks.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut offset = 0;
    for block in &blocks {
        assert_eq!(block["offset"], offset);
        offset += block["len"].as_u64().unwrap();
    }
    assert_eq!(offset, std::fs::metadata(&file).unwrap().len() - 4096);
    let cells: u64 = blocks.iter().filter_map(|block| block["cells"].as_u64()).sum();
    assert_eq!(cells, 295);
    let kinds: Vec<&str> = blocks.iter().filter_map(|block| block["kind"].as_str()).collect();
    for kind in ["encoded data", "leaf index", "root index", "bloom chunk", "file info"] {
        assert!(kinds.contains(&kind), "{kind}");
    }
}

#[test]
fn a_damaged_file_is_reported_with_its_place_and_the_next_one_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let damaged = dir.path().join("damaged.hfile");
    let mut bytes = std::fs::read(fixture("rowindex.hfile")).unwrap();
    bytes[1500] ^= 1;
    std::fs::write(&damaged, bytes).unwrap();
    let good = fixture("none.hfile");
    let files = [damaged.to_str().unwrap(), good.to_str().unwrap()];
    for how in [&["--json"][..], &["--json", "--cells"], &["--json", "--blocks"]] {
        let (text, wrong, well) = run(&[&["hfile"], how, &files[..]].concat());
        assert!(!well && wrong.contains("damaged.hfile: checksum mismatch"), "{wrong}");
        assert!(wrong.contains("offset=1091"), "{wrong}");
        assert!(!text.is_empty());
    }
}

#[test]
fn a_table_goes_to_hfiles_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let data = path("data");
    let again = path("again");
    let out = path("out");
    let create = "create 't', {NAME => 'cf', COMPRESSION => 'LZ4'}, SPLITS => ['5']";
    let shell = |data: &str, commands: &str| {
        stdout(&["shell", "--data", data, "--non-interactive", "-e", commands])
    };
    shell(&data, create);
    shell(&data, "put 't', '1', 'cf:q', 'one', 7; put 't', '8', 'cf:q', 'eight', 7");
    let exported = stdout(&["export", "t", "--data", &data, "--hfiles", &out]);
    assert!(exported.starts_with("2 cells of t in 2 HFiles, "), "{exported}");
    let (_, wrong, well) = run(&["export", "t", "--data", &data, "--hfiles", &out]);
    assert!(!well && wrong.trim_end().ends_with("is not empty"), "{wrong}");
    let (_, wrong, well) = run(&["import", "t", "--data", &again, "--hfiles", &out]);
    assert!(!well && wrong.contains("no such directory"), "{wrong}");
    shell(&again, "create 't', 'cf'");
    let imported = stdout(&["import", "t", "--data", &again, "--hfiles", &out]);
    assert_eq!(imported, "2 cells of 2 HFiles are in t\n");
    let cells = |data: &str| {
        let scanned = shell(data, "scan 't'");
        scanned.lines().filter(|line| line.contains("column=")).map(str::to_owned).collect()
    };
    let want: Vec<String> = cells(&data);
    let have: Vec<String> = cells(&again);
    assert_eq!(want.len(), 2);
    assert_eq!(have, want);
}
