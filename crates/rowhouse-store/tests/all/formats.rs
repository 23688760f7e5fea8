//! Data directories written by earlier versions stay readable.
//!
//! A directory under `tests/fixtures/` is written once, by the version with that format, and never
//! rewritten. `cargo test -p rowhouse-store --test all formats:: -- --ignored` creates the one for
//! the current version if it does not exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rowhouse_model::{
    Delete, FamilyDescriptor, Get, Increment, Nonce, Put, TableDescriptor, TableName,
};
use rowhouse_store::{CompactionKind, Settings, Store, check};

/// The format version that this code writes.
const PRESENT: u32 = 5;

fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/format-{version}"))
}

fn name(text: &str) -> TableName {
    TableName::parse(text).unwrap()
}

/// Writes two regions, two families, files from a flush and from a compaction, a log with two
/// segments, a counter, and a disabled table.
fn write(dir: &Path) {
    let settings = Settings { wal_segment_bytes: 1 << 10, ..Settings::default() };
    let store = Store::builder(dir).settings(settings).open().unwrap();
    let family = |name: &'static str| FamilyDescriptor::new(name).unwrap();
    let compressed = family("g").attribute("COMPRESSION", "LZ4").attribute("VERSIONS", "3");
    let blog = TableDescriptor::new(name("blog")).family(family("f")).family(compressed);
    store.create_table(blog, &["row5".into()]).unwrap();
    store.create_table(TableDescriptor::new(name("off")).family(family("f")), &[]).unwrap();
    let blog = store.table(&name("blog")).unwrap();
    let put = |row: usize, value: &str| {
        let put = Put::new(format!("row{row}")).unwrap();
        let put = put.add("f", "q", value).unwrap().add("g", "q", value);
        blog.mutate(&put.unwrap().into()).unwrap();
    };
    (0..10).for_each(|row| put(row, "first"));
    blog.flush().unwrap();
    (0..3).for_each(|row| put(row, "second"));
    blog.flush().unwrap();
    blog.compact(CompactionKind::Major).unwrap();
    (3..6).for_each(|row| put(row, "third"));
    blog.flush().unwrap();
    blog.mutate(&Delete::new("row9").unwrap().into()).unwrap();
    let mut count = Increment::new("counter").unwrap().add("f", "n", 42).unwrap();
    count.nonce = Some(Nonce { group: 1, number: 2 });
    blog.mutate(&count.into()).unwrap();
    for row in 6..8 {
        put(row, &"logged ".repeat(60));
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    store.disable_table(&name("off")).unwrap();
}

#[test]
#[ignore = "writes a fixture, once for each version"]
fn write_the_fixture_of_the_present_version() {
    let dir = fixture(PRESENT);
    assert!(!dir.exists(), "{} is never written again", dir.display());
    fs::create_dir_all(&dir).unwrap();
    write(&dir);
    fs::remove_file(dir.join("LOCK")).unwrap();
    for empty in ["tmp", "aside"] {
        fs::remove_dir(dir.join(empty)).unwrap();
    }
}

#[test]
fn directories_of_every_version_are_read() {
    for version in 2..=PRESENT {
        let dir = tempfile::tempdir().unwrap();
        copy(&fixture(version), dir.path());
        let report = check(dir.path(), |_| {}).unwrap();
        assert!(report.problems.is_empty(), "format {version}: {report:?}");
        let store = Store::open(dir.path()).unwrap();
        let blog = store.table(&name("blog")).unwrap();
        let value = |row: usize, family: &str| {
            let row = blog.get(&Get::new(format!("row{row}")).unwrap()).unwrap();
            row.value(family, "q").map(|value| String::from_utf8(value.to_vec()).unwrap())
        };
        for row in 0..10 {
            let expected = match row {
                0..3 => Some("second".to_owned()),
                3..6 => Some("third".to_owned()),
                6..8 => Some("logged ".repeat(60)),
                8 => Some("first".to_owned()),
                _ => None,
            };
            assert_eq!((value(row, "f"), value(row, "g")), (expected.clone(), expected));
        }
        let counter = blog.get(&Get::new("counter").unwrap()).unwrap();
        assert_eq!(counter.counter("f", "n").unwrap(), Some(42));
        assert_eq!(blog.regions().len(), 2);
        let off = store.table(&name("off")).unwrap();
        assert_eq!(off.state(), rowhouse_model::TableState::Disabled);
    }
}

#[test]
fn directories_of_every_version_are_upgraded_by_an_open_and_then_whole() {
    for version in 2..=PRESENT {
        let dir = tempfile::tempdir().unwrap();
        copy(&fixture(version), dir.path());
        let store = Store::open(dir.path()).unwrap();
        let blog = store.table(&name("blog")).unwrap();
        let put = Put::new("after").unwrap().add("f", "q", "the upgrade").unwrap();
        blog.mutate(&put.into()).unwrap();
        blog.compact(CompactionKind::Major).unwrap();
        store.close().unwrap();

        let format = fs::read_to_string(dir.path().join("FORMAT")).unwrap();
        assert!(format.starts_with(&format!("written-by {PRESENT}\n")), "{version}: {format}");
        let report = check(dir.path(), |_| {}).unwrap();
        assert!(report.problems.is_empty(), "format {version}: {report:?}");
        let store = Store::open(dir.path()).unwrap();
        let blog = store.table(&name("blog")).unwrap();
        let after = blog.get(&Get::new("after").unwrap()).unwrap();
        assert_eq!(after.value("f", "q").as_deref(), Some(&b"the upgrade"[..]));
        let logged = blog.get(&Get::new("row6").unwrap()).unwrap();
        assert!(logged.value("g", "q").is_some_and(|value| value.starts_with(b"logged ")));
    }
}

#[test]
fn a_directory_of_a_newer_version_is_refused_and_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture(PRESENT), dir.path());
    let newer = PRESENT + 1;
    let text = format!("written-by {newer}\nreadable-by {newer}\nfeatures\n");
    let format = format!("{text}crc32c {:08x}\n", crc32c::crc32c(text.as_bytes()));
    fs::write(dir.path().join("FORMAT"), format).unwrap();
    let before = contents(dir.path());
    let error = Store::open(dir.path()).err().expect("a newer version is refused");
    let expected = format!("was written by a newer version: format={newer}, known={PRESENT}");
    assert!(error.message().contains(&expected), "{error}");
    let problems = check(dir.path(), |_| {}).map(|report| report.problems);
    assert!(!problems.is_ok_and(|problems| problems.is_empty()), "a check reports it");
    assert_eq!(contents(dir.path()), before);
}

/// Returns all files with their bytes.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            files.extend(contents(&entry.path()));
        } else if entry.file_name() != "LOCK" {
            files.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    files
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
