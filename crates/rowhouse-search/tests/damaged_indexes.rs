//! Damage to each file of a full-text index: the index is built anew, and searches answer.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rowhouse_model::{Error, ErrorKind, FamilyDescriptor, Put, TableDescriptor, TableName};
use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, ColumnSchema, INDEXES_ATTRIBUTE, IndexSchema, IndexState, KEY_ATTRIBUTE,
    KeySchema, LIST_FAMILY, Predicate, QUEUE_FAMILY, SEGMENT_FAMILY, SearchPlan, TimeZone,
};
use rowhouse_search::SearchEngine;
use rowhouse_store::{Settings, Store};

const ROWS: usize = 60;

fn name() -> TableName {
    TableName::parse("mail").unwrap()
}

fn descriptor() -> TableDescriptor {
    TableDescriptor::new(name())
        .family(FamilyDescriptor::new("d").unwrap())
        .attribute(KEY_ATTRIBUTE, "1 [user text]")
        .attribute(COLUMNS_ATTRIBUTE, "1 d:b body string; d:f sender string")
        .attribute(INDEXES_ATTRIBUTE, "1 text search body english, sender keyword")
}

fn plan(words: &str) -> SearchPlan {
    let table = descriptor();
    let key = KeySchema::of_table(&table).unwrap().unwrap();
    let columns = ColumnSchema::of_table(&table).unwrap().unwrap();
    let indexes = IndexSchema::of_table(&table).unwrap().unwrap();
    let query = Predicate::all().matches("body", words);
    indexes.search_plan(Some(&key), &columns, &query, &TimeZone::UTC, None).unwrap()
}

fn put(store: &Store, n: usize) {
    let text = format!("common words and w{n} of its own");
    let put = Put::new(format!("row{n:03}")).unwrap().add("d", "b", text).unwrap();
    let put = put.add("d", "f", format!("s{}", n % 7)).unwrap();
    store.table(&name()).unwrap().mutate(&put.into()).unwrap();
}

fn files(dir: &Path, of: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(dir.join(of)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Makes a store with segments and a queue, and returns the file for each index family.
fn filled(dir: &Path) -> Vec<(&'static str, String)> {
    let store = Store::open(dir).unwrap();
    store.create_table(descriptor(), &[]).unwrap();
    let engine = SearchEngine::without_thread(&store);
    for n in 0..ROWS {
        put(&store, n);
        if n % 25 == 24 {
            engine.work(&name(), "text").unwrap();
        }
    }
    drop(engine);
    store.table(&name()).unwrap().flush().unwrap();
    let entries = store.table(&TableName::parse("mail.text").unwrap()).unwrap();
    let mut made = Vec::new();
    for family in [QUEUE_FAMILY, SEGMENT_FAMILY, LIST_FAMILY] {
        let before = files(dir, "files");
        entries.flush_family(family.as_bytes()).unwrap();
        let after = files(dir, "files");
        made.extend(after.difference(&before).map(|file| (family, file.clone())));
    }
    assert_eq!(made.len(), 3, "{made:?}");
    drop(entries);
    store.close().unwrap();
    made
}

/// Copies a store.
fn copy(from: &Path) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for entry in walk(from) {
        let to = dir.path().join(entry.strip_prefix(from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&entry, to).unwrap();
    }
    dir
}

fn walk(dir: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { paths.extend(walk(&path)) } else { paths.push(path) }
    }
    paths
}

/// Counts the rows that a search finds. An answer that meets the damage says to search again.
fn count(engine: &SearchEngine, words: &str) -> Result<u64, Error> {
    let search = || engine.find(&name(), &plan(words))?.count();
    search().or_else(|error| match error.kind() {
        ErrorKind::RegionTooBusy => search(),
        _ => Err(error),
    })
}

fn state(store: &Store) -> IndexState {
    store.index_state(&name(), "text").unwrap()
}

/// Opens a damaged store, and checks that searches answer, writes are found, and the index heals.
/// Returns true if the damage was found.
fn heals(dir: &Path, file: &str, damaged: &str) -> bool {
    let store = Store::open(dir).unwrap();
    let engine = SearchEngine::start(&store).unwrap();
    let count_of = |words: &str| match count(&engine, words) {
        Ok(count) => count,
        Err(error) => panic!("{damaged}: {error}"),
    };
    assert_eq!(count_of("common"), ROWS as u64, "{damaged}");
    assert_eq!(count_of("w7"), 1, "{damaged}");
    put(&store, ROWS);
    assert_eq!(count_of(&format!("w{ROWS}")), 1, "{damaged}");
    assert_eq!(count_of("common"), ROWS as u64 + 1, "{damaged}");
    let verified = loop {
        // A part that no search has read.
        match engine.verify(&name(), "text", &mut |_| {}) {
            Ok(verified) => break verified,
            Err(error) => {
                let kinds = [ErrorKind::Corruption, ErrorKind::RegionTooBusy];
                assert!(kinds.contains(&error.kind()), "{damaged}: {error}");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    };
    assert!(verified.is_clean(), "{damaged}: {verified:?}");
    assert_eq!(verified.rows, ROWS as u64 + 1);
    assert_eq!(state(&store), IndexState::Ready, "{damaged}");
    engine.close();
    store.close().unwrap();
    let is_gone = !files(dir, "files").contains(file);
    let is_aside = files(dir, "aside").iter().any(|name| name.ends_with(file));
    assert!(is_aside || !is_gone || damaged.contains("removed"), "{damaged}");
    is_gone
}

#[test]
fn a_full_text_index_with_a_flipped_bit_in_a_file_is_built_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut healed = BTreeSet::new();
    for (family, file) in filled(dir.path()) {
        let len = fs::metadata(dir.path().join("files").join(&file)).unwrap().len() as usize;
        for at in (0..len).step_by(len / 24) {
            let damaged = copy(dir.path());
            let path = damaged.path().join("files").join(&file);
            let mut bytes = fs::read(&path).unwrap();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, bytes).unwrap();
            if heals(damaged.path(), &file, &format!("{family}: {file} at {at}")) {
                healed.insert(family);
            }
        }
    }
    assert_eq!(healed.len(), 3, "{healed:?}");
}

#[test]
fn a_full_text_index_with_a_file_that_was_cut_or_removed_is_built_anew() {
    let dir = tempfile::tempdir().unwrap();
    for (family, file) in filled(dir.path()) {
        let len = fs::metadata(dir.path().join("files").join(&file)).unwrap().len();
        for cut in [0, 100, len / 2, len - 1] {
            let damaged = copy(dir.path());
            let path = damaged.path().join("files").join(&file);
            fs::File::options().write(true).open(&path).unwrap().set_len(cut).unwrap();
            assert!(heals(damaged.path(), &file, &format!("{family}: {file} cut to {cut}")));
        }
        let damaged = copy(dir.path());
        fs::remove_file(damaged.path().join("files").join(&file)).unwrap();
        assert!(heals(damaged.path(), &file, &format!("{family}: {file} removed")));
    }
}

#[test]
fn a_full_text_index_of_a_large_table_is_off_until_it_is_repaired() {
    let dir = tempfile::tempdir().unwrap();
    for (family, file) in filled(dir.path()) {
        let damaged = copy(dir.path());
        let path = damaged.path().join("files").join(&file);
        let mut bytes = fs::read(&path).unwrap();
        bytes[40] ^= 1;
        fs::write(&path, bytes).unwrap();
        let settings = Settings { index_rebuild_bytes_max: 0, ..Settings::default() };
        let store = Store::builder(damaged.path()).settings(settings).open().unwrap();
        let engine = SearchEngine::start(&store).unwrap();
        for _ in 0..2 {
            let error = count(&engine, "common").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corruption, "{family}: {error}");
            assert!(error.message().contains(&file), "{family}: {error}");
            put(&store, ROWS);
        }
        assert!(matches!(state(&store), IndexState::Off(_)), "{family}");
        store.request_index_repair(&name(), "text").unwrap();
        assert_eq!(count(&engine, "common").unwrap(), ROWS as u64 + 1, "{family}");
        let verified = engine.verify(&name(), "text", &mut |_| {}).unwrap();
        assert!(verified.is_clean(), "{family}: {verified:?}");
        engine.close();
    }
}
