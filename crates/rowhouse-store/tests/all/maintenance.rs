//! Administration of an open store: truncated regions, switches, the log and the cache.

use rowhouse_model::{
    Append, Bytes, ErrorKind, FamilyDescriptor, Get, MasterSwitch, Put, TableDescriptor, TableName,
};
use rowhouse_store::{CompactionKind, Store};

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

/// Returns a table of two regions with a row in each, in a file and in memory.
fn filled(dir: &std::path::Path) -> Store {
    let store = Store::open(dir).unwrap();
    let table = TableDescriptor::new(name()).family(FamilyDescriptor::new("f").unwrap());
    store.create_table(table, &[Bytes::from_static(b"m")]).unwrap();
    for row in ["a", "z"] {
        put(&store, row, "q1");
    }
    store.table(&name()).unwrap().flush().unwrap();
    for row in ["a", "z"] {
        put(&store, row, "q2");
    }
    store
}

fn put(store: &Store, row: &str, qualifier: &str) {
    let put = Put::new(row.to_owned()).unwrap().add("f", qualifier, "v").unwrap();
    store.table(&name()).unwrap().mutate(&put.into()).unwrap();
}

fn cells(store: &Store, row: &str) -> usize {
    store.table(&name()).unwrap().get(&Get::new(row.to_owned()).unwrap()).unwrap().cells().count()
}

#[test]
fn a_truncated_region_is_empty_keeps_its_name_and_stays_empty_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path());
    let region = store.table(&name()).unwrap().regions()[0].clone();
    // An old table handle writes to the new region.
    let held = store.table(&name()).unwrap();
    store.truncate_region(&region.name().full).unwrap();
    assert_eq!((cells(&store, "a"), cells(&store, "z")), (0, 2));
    let again = store.table(&name()).unwrap().regions()[0].clone();
    assert_eq!(again.name(), region.name());
    assert_eq!(again.size().files, 0);
    let late = Put::new("a").unwrap().add("f", "late", "v").unwrap();
    held.mutate(&late.into()).unwrap();
    assert_eq!(cells(&store, "a"), 1);
    store.close().unwrap();
    drop((store, held, region, again));
    let store = Store::open(dir.path()).unwrap();
    assert_eq!((cells(&store, "a"), cells(&store, "z")), (1, 2));
    let files = std::fs::read_dir(dir.path().join("files")).unwrap().count();
    assert_eq!(files, 1, "the file of the region that was not truncated");
}

#[test]
fn a_region_that_is_not_served_is_not_truncated() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path());
    let region = store.table(&name()).unwrap().regions()[0].clone();
    let kind = |store: &Store, name: &[u8]| store.truncate_region(name).unwrap_err().kind();
    assert_eq!(kind(&store, b"no such region"), ErrorKind::UnknownRegion);
    store.unassign_region(&region.name().full).unwrap();
    assert_eq!(kind(&store, &region.name().full), ErrorKind::NotServingRegion);
    store.assign_region(&region.name().full).unwrap();
    store.disable_table(&name()).unwrap();
    assert_eq!(kind(&store, &region.name().full), ErrorKind::TableNotEnabled);
    store.enable_table(&name()).unwrap();
    assert_eq!(cells(&store, "a"), 2);
}

#[test]
fn switches_of_the_master_are_on_at_first_and_stay_as_they_were_set() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert!(store.set_master_switch(MasterSwitch::Balancer, false).unwrap());
    assert!(!store.set_master_switch(MasterSwitch::Balancer, false).unwrap());
    store.close().unwrap();
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    assert!(!store.master_switch(MasterSwitch::Balancer));
    assert!(store.master_switch(MasterSwitch::Normalizer));
    assert!(store.master_switch(MasterSwitch::PeerModification));
}

#[test]
fn a_rolled_log_begins_a_segment_and_loses_those_whose_cells_are_in_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path());
    let segments = || -> Vec<String> {
        let names = std::fs::read_dir(dir.path().join("wal")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name.ends_with(".wal")).collect();
        names.sort();
        names
    };
    let first = segments()[0].clone();
    store.roll_log().unwrap();
    assert!(segments().contains(&first), "it has cells that are in no file");
    put(&store, "a", "q3");
    store.table(&name()).unwrap().flush().unwrap();
    store.roll_log().unwrap();
    assert!(!segments().contains(&first), "{:?}", segments());
    put(&store, "a", "q4");
    store.close().unwrap();
    drop(store);
    assert_eq!(cells(&Store::open(dir.path()).unwrap(), "a"), 4);
}

#[test]
fn a_cleared_region_has_no_blocks_in_the_cache_and_others_keep_theirs() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path());
    store.table(&name()).unwrap().flush().unwrap();
    cells(&store, "a");
    cells(&store, "z");
    let (before, max) = store.block_cache_bytes();
    let regions = store.table(&name()).unwrap().regions().to_vec();
    let evicted = regions[0].clear_block_cache();
    assert!(evicted.blocks > 0 && evicted.bytes > 0, "{evicted:?}");
    assert_eq!(store.block_cache_bytes(), (before - evicted.bytes, max));
    assert_eq!(regions[0].clear_block_cache().blocks, 0);
    assert!(regions[1].clear_block_cache().blocks > 0);
    assert_eq!(cells(&store, "a"), 2);
}

#[test]
fn nothing_is_merged_while_compactions_are_off_and_requests_are_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path());
    assert!(store.set_compactions(false));
    assert!(!store.set_compactions(false));
    let table = store.table(&name()).unwrap();
    table.flush().unwrap();
    let region = &table.regions()[0];
    region.request_compaction(CompactionKind::Major, None).unwrap();
    assert_eq!(region.compaction_state(), rowhouse_model::CompactionState::None);
    assert_eq!((region.size().files, region.last_major_compaction()), (2, None));
    assert!(!store.set_compactions(true));
    assert_eq!(region.compaction_state(), rowhouse_model::CompactionState::None);
    region.request_compaction(CompactionKind::Major, None).unwrap();
    while region.size().files > 1 {
        std::thread::yield_now();
    }
    assert!(region.last_major_compaction().is_some());
}

#[test]
fn a_table_limits_the_cells_of_puts_appends_and_increments() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let limited = |bytes: &str| {
        let table = TableDescriptor::new(name()).family(FamilyDescriptor::new("f").unwrap());
        table.attribute("hbase.server.keyvalue.maxsize", bytes.to_owned())
    };
    store.create_table(limited("100"), &[]).unwrap();
    let table = || store.table(&name()).unwrap();
    let put = |len: usize| Put::new("a").unwrap().add("f", "q", "v".repeat(len)).unwrap().into();
    // The key and value lengths, the key, and four bytes for the total length.
    let other = 8 + 2 + 1 + 1 + 1 + 1 + 8 + 1 + 4;
    table().mutate(&put(100 - other)).unwrap();
    let error = table().mutate(&put(101 - other)).unwrap_err();
    assert_eq!(
        error.message(),
        "Cell[a/f:q/LATEST_TIMESTAMP/Put/vlen=74/seqid=0] with size 101 exceeds limit of 100 bytes"
    );
    let append = Append::new("a").unwrap().add("f", "q", "x").unwrap();
    let error = table().mutate(&append.into()).unwrap_err();
    assert_eq!(error.message(), "Cell with size 101 exceeds limit of 100 bytes");
    store.alter_table(limited("0")).unwrap();
    table().mutate(&put(20 << 20)).unwrap();
    assert!(store.alter_table(limited("ten")).unwrap_err().message().contains("value=ten"));
}
