//! Request counts that do not fall when regions and tables are replaced: [`Store::requests`].

use std::sync::Arc;

use rowhouse_model::{
    Bytes, FamilyDescriptor, Get, Put, Scan, Snapshot, TableDescriptor, TableName,
};
use rowhouse_schema::{INDEXES_ATTRIBUTE, KEY_ATTRIBUTE, KeySchema};
use rowhouse_store::{Store, StoreRequests, Table};

fn name(text: &str) -> TableName {
    TableName::parse(text).unwrap()
}

fn table(store: &Store, of: &str) -> Arc<Table> {
    store.table(&name(of)).unwrap()
}

fn create(store: &Store, of: &str) {
    let descriptor = TableDescriptor::new(name(of)).family(FamilyDescriptor::new("d").unwrap());
    store.create_table(descriptor, &[]).unwrap();
}

fn put(table: &Table, row: impl Into<Bytes>) {
    let put = Put::new(row).unwrap().add("d", "q", "v").unwrap();
    table.mutate(&put.into()).unwrap();
}

/// Returns a table's reads and writes.
fn of_table(store: &Store, of: &str) -> [u64; 2] {
    let requests = store.requests().tables[&name(of)];
    [requests.reads, requests.writes]
}

/// Fails if a count of a table that is still there, or of all, is lower than before.
fn check_rising(what: &str, before: &StoreRequests, after: &StoreRequests) {
    for (name, was) in &before.tables {
        let Some(now) = after.tables.get(name) else { continue };
        assert!(now.reads >= was.reads && now.writes >= was.writes, "{what}: {name}: {now:?}");
    }
    let was = before.all;
    let now = after.all;
    assert!(now.reads >= was.reads && now.writes >= was.writes, "{what}: {was:?} {now:?}");
}

#[test]
fn requests_count_on_when_regions_and_tables_are_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create(&store, "t");
    let mut expected = 0;
    let mut before = store.requests();
    let mut then = |what: &str, change: &dyn Fn()| {
        for row in ["a", "z"] {
            put(&table(&store, "t"), row);
        }
        expected += 2;
        change();
        let after = store.requests();
        check_rising(what, &before, &after);
        assert_eq!(after.tables[&name("t")].writes, expected, "{what}");
        before = after;
    };
    let region = |at: usize| table(&store, "t").regions()[at].name().full.clone();
    then("writes", &|| ());
    then("a split", &|| store.split_region(&region(0), Some("m".into())).unwrap());
    then("a truncated region", &|| store.truncate_region(&region(0)).unwrap());
    then("a merge", &|| store.merge_regions(&[&region(0), &region(1)]).unwrap());
    then("a snapshot", &|| {
        store.take_snapshot(Snapshot::new("s", name("t")).unwrap()).unwrap();
    });
    then("a restored snapshot", &|| {
        store.disable_table(&name("t")).unwrap();
        store.restore_snapshot("s").unwrap();
        store.enable_table(&name("t")).unwrap();
    });
    then("a truncated table", &|| {
        store.disable_table(&name("t")).unwrap();
        store.truncate_table(&name("t"), true).unwrap();
    });
    then("another table in its place", &|| {
        create(&store, "new");
        put(&table(&store, "new"), "a");
        store.replace_table(&name("t"), &name("new"), |_| Ok(())).unwrap();
    });
    // The table that replaced the other had a write under its own name.
    assert_eq!(store.requests().all.writes, expected + 1);
    store.disable_table(&name("t")).unwrap();
    store.drop_table(&name("t")).unwrap();
    let requests = store.requests();
    assert!(requests.tables.is_empty());
    assert_eq!(requests.all.writes, expected + 1);
    create(&store, "t");
    assert_eq!(of_table(&store, "t"), [0, 0]);
}

#[test]
fn scanners_of_regions_that_are_gone_count() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create(&store, "t");
    for row in 0..1_000 {
        put(&table(&store, "t"), format!("row{row:04}"));
    }
    let before = table(&store, "t");
    let mut scanner = before.scan(Scan::all()).unwrap();
    scanner.next().unwrap();
    let region = before.regions()[0].name().full.clone();
    drop(before);
    store.split_region(&region, Some("row0500".into())).unwrap();
    while scanner.next().unwrap().is_some() {}
    drop(scanner);
    assert_eq!(of_table(&store, "t"), [1_000, 1_000]);
    table(&store, "t").get(&Get::new("row0001").unwrap()).unwrap();
    assert_eq!(of_table(&store, "t"), [1_001, 1_000]);
}

#[test]
fn a_promoted_index_leaves_the_counts_with_the_names() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let descriptor = TableDescriptor::new(name("mail"))
        .family(FamilyDescriptor::new("d").unwrap())
        .attribute(KEY_ATTRIBUTE, "1 [at u32][user string]")
        .attribute(INDEXES_ATTRIBUTE, "1 by_user [user][at] covers *");
    store.create_table(descriptor, &[]).unwrap();
    let mail = table(&store, "mail");
    let schema = KeySchema::of_table(mail.descriptor()).unwrap().unwrap();
    let key = schema.encode(&[("at", 1u32.into()), ("user", "bob".into())]).unwrap();
    put(&mail, key.clone());
    mail.get(&Get::new(key).unwrap()).unwrap();
    let before = store.requests();
    store.promote_index(&name("mail"), "by_user").unwrap();
    let after = store.requests();
    check_rising("a promotion", &before, &after);
    let mail = |requests: &StoreRequests| requests.tables[&name("mail")].reads;
    assert_eq!((mail(&before), mail(&after)), (1, 1));
}
