//! Regions that are assigned to region servers or out of service stay so over a restart.

use std::path::Path;
use std::sync::Arc;

use rowhouse_model::{ErrorKind, FamilyDescriptor, Put, TableDescriptor, TableName};
use rowhouse_store::{Assignment, Region, Store, copy_store};

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

/// Returns a store with a table that has the regions up to `m` and from `m`.
fn store(dir: &Path) -> Store {
    let store = Store::open(dir).unwrap();
    let table = TableDescriptor::new(name()).family(FamilyDescriptor::new("f").unwrap());
    store.create_table(table, &["m".into()]).unwrap();
    store
}

fn region(store: &Store, row: &str) -> Arc<Region> {
    Arc::clone(store.table(&name()).unwrap().region_of(row.as_bytes()))
}

fn put(store: &Store, row: &'static str) -> Result<(), ErrorKind> {
    let put = Put::new(row).unwrap().add("f", "q", "v").unwrap();
    region(store, row).mutate(&put.into()).map(drop).map_err(|error| error.kind())
}

fn servers(store: &Store) -> Vec<u32> {
    let table = store.table(&name()).unwrap();
    table.regions().iter().map(|region| region.assignment().server).collect()
}

#[test]
fn a_region_out_of_service_stays_so_until_it_is_assigned() {
    let dir = tempfile::tempdir().unwrap();
    let first = store(dir.path());
    put(&first, "a").unwrap();
    first.unassign_region(&region(&first, "a").name().full).unwrap();
    // Not closed: the edit was on the disk when the call returned.
    drop(first);
    let second = Store::open(dir.path()).unwrap();
    assert_eq!(put(&second, "a"), Err(ErrorKind::NotServingRegion));
    assert!(!region(&second, "a").assignment().in_service);
    put(&second, "z").unwrap();
    // A copy is as the store is.
    let into = tempfile::tempdir().unwrap();
    second.close().unwrap();
    drop(second);
    copy_store(dir.path(), into.path().join("copy"), |_| {}).unwrap();
    let copy = Store::open(into.path().join("copy")).unwrap();
    assert_eq!(put(&copy, "a"), Err(ErrorKind::NotServingRegion));
    let third = Store::open(dir.path()).unwrap();
    third.assign_region(&region(&third, "a").name().full).unwrap();
    put(&third, "a").unwrap();
    drop(third);
    put(&Store::open(dir.path()).unwrap(), "a").unwrap();
}

#[test]
fn a_table_that_is_enabled_has_all_its_regions_in_service() {
    let dir = tempfile::tempdir().unwrap();
    let first = store(dir.path());
    first.unassign_region(&region(&first, "a").name().full).unwrap();
    first.disable_table(&name()).unwrap();
    assert!(!region(&first, "a").assignment().in_service);
    first.enable_table(&name()).unwrap();
    put(&first, "a").unwrap();
    drop(first);
    put(&Store::open(dir.path()).unwrap(), "a").unwrap();
}

#[test]
fn regions_keep_their_server_over_splits_merges_truncation_and_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let first = store(dir.path());
    let full = |row: &str| region(&first, row).name().full.clone();
    assert_eq!(region(&first, "a").assignment(), Assignment::default());
    first.move_region(&full("z"), 3).unwrap();
    first.split_region(&full("z"), Some("p".into())).unwrap();
    assert_eq!(servers(&first), [0, 3, 3]);
    first.merge_regions(&[&full("a"), &full("n")]).unwrap();
    assert_eq!(servers(&first), [0, 3]);
    first.truncate_region(&full("z")).unwrap();
    assert_eq!(servers(&first), [0, 3]);
    put(&first, "z").unwrap();
    drop(first);
    assert_eq!(servers(&Store::open(dir.path()).unwrap()), [0, 3]);
}

#[test]
fn a_change_of_an_assignment_changes_the_version_of_the_catalog() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let full = region(&store, "a").name().full.clone();
    let mut seen = vec![store.catalog_version()];
    store.move_region(&full, 1).unwrap();
    seen.push(store.catalog_version());
    store.unassign_region(&full).unwrap();
    seen.push(store.catalog_version());
    store.assign_region(&full).unwrap();
    seen.push(store.catalog_version());
    seen.dedup();
    assert_eq!(seen.len(), 4);
    // Nothing changes, and no edit is written.
    store.assign_region(&full).unwrap();
    store.move_region(&full, 1).unwrap();
    assert_eq!(store.catalog_version(), seen[3]);
    assert_eq!(store.move_region(b"none", 1).unwrap_err().kind(), ErrorKind::UnknownRegion);
}

#[test]
fn new_regions_go_to_the_servers_in_turn_and_those_of_a_server_that_is_gone_to_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let first = Store::open(dir.path()).unwrap();
    assert_eq!(
        first.set_region_servers(&[], |_| true).unwrap_err().kind(),
        ErrorKind::InvalidRequest
    );
    assert_eq!(first.set_region_servers(&[0, 1, 2], |_| true).unwrap(), 0);
    let table = TableDescriptor::new(name()).family(FamilyDescriptor::new("f").unwrap());
    let splits = ["b", "c", "d", "e", "f"].map(Into::into);
    first.create_table(table, &splits).unwrap();
    assert_eq!(servers(&first), [0, 1, 2, 0, 1, 2]);
    let version = first.catalog_version();
    assert_eq!(first.set_region_servers(&[0, 2], |server| server != 1).unwrap(), 2);
    assert_eq!(servers(&first), [0, 0, 2, 0, 2, 2]);
    assert_ne!(first.catalog_version(), version);
    drop(first);
    let second = Store::open(dir.path()).unwrap();
    assert_eq!(servers(&second), [0, 0, 2, 0, 2, 2]);
    let full = |row: &str| region(&second, row).name().full.clone();
    let unknown = (full("a"), 1);
    let nowhere = ("t,x,1.0123456789abcdef0123456789abcdef.".into(), 1);
    let error = second.move_regions(&[unknown.clone(), nowhere]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownRegion);
    assert_eq!(servers(&second), [0, 0, 2, 0, 2, 2]);
    second.move_regions(&[unknown, (full("f"), 0)]).unwrap();
    assert_eq!(servers(&second), [1, 0, 2, 0, 2, 0]);
}
