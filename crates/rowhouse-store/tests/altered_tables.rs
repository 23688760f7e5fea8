//! A table's own attributes can be declared anew; what the store acts upon cannot.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use rowhouse_model::{
    ErrorKind, FamilyDescriptor, Get, Put, TableDescriptor, TableName, TableState,
};
use rowhouse_store::Store;

fn declared() -> TableDescriptor {
    let family = FamilyDescriptor::new("f").unwrap();
    TableDescriptor::new(TableName::parse("t").unwrap()).family(family)
}

#[test]
fn an_altered_table_keeps_its_rows_and_what_it_was_altered_to() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_table(declared(), &["m".into()]).unwrap();
    let name = declared().name().clone();
    let before = store.table(&name).unwrap();
    before.mutate(&Put::new("z").unwrap().add("f", "q", "v").unwrap().into()).unwrap();

    let altered = |value: &'static str| {
        store.table(&name).unwrap().descriptor().clone().attribute("rowhouse.key", value)
    };
    store.alter_table(altered("1 [id text]")).unwrap();
    store.alter_table(altered("1 [name text]")).unwrap();
    store.alter_table(altered("1 [name text]")).unwrap();
    let check = |store: &Store| {
        let table = store.table(&name).unwrap();
        assert_eq!(table.descriptor().attributes[&b"rowhouse.key"[..]], "1 [name text]");
        assert_eq!(table.regions().len(), 2);
        assert!(!table.get(&Get::new("z").unwrap()).unwrap().is_empty());
    };
    check(&store);
    store.disable_table(&name).unwrap();
    assert_eq!(before.state(), TableState::Disabled, "also for who holds it from before");
    store.enable_table(&name).unwrap();
    drop((before, store));
    let store = Store::open(dir.path()).unwrap();
    check(&store);
    store.close().unwrap();
    check(&Store::open(dir.path()).unwrap());
}

#[test]
fn other_changes_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_table(declared(), &[]).unwrap();
    let current = store.table(declared().name()).unwrap().descriptor().clone();
    let mut configured = current.clone();
    configured.configuration.insert("a".into(), "b".into());
    let mut without = current.clone();
    without.attributes.clear();
    for (descriptor, changed) in [
        (current.clone().family(FamilyDescriptor::new("g").unwrap()), "changed=families"),
        (current.clone().attribute("DURABILITY", "SKIP_WAL"), "changed=DURABILITY"),
        (without, "changed=hbase.store.file-tracker.impl"),
        (configured, "changed=configuration"),
    ] {
        let error = store.alter_table(descriptor).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().ends_with(changed), "{error}");
    }
    assert_eq!(*store.table(declared().name()).unwrap().descriptor(), current);
    let other = TableDescriptor::new(TableName::parse("other").unwrap());
    assert_eq!(store.alter_table(other).unwrap_err().kind(), ErrorKind::TableNotFound);
}
