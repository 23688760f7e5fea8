//! Tables that replace others: [`Store::replace_table`].

use std::sync::Arc;

use rowhouse_model::{
    Error, ErrorKind, FamilyDescriptor, Get, Put, Row, Scan, TableDescriptor, TableName,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexState, KEY_ATTRIBUTE};
use rowhouse_store::{Store, Table, TableScanner};

fn name(text: &str) -> TableName {
    TableName::parse(text).unwrap()
}

fn table(store: &Store, of: &str) -> Arc<Table> {
    store.table(&name(of)).unwrap()
}

fn put(table: &Table, row: &str, text: &str) {
    let put = Put::new(row.to_owned()).unwrap().add("d", "b", text).unwrap();
    table.mutate(&put.into()).unwrap();
}

/// Creates a table of two regions, with an index on the texts and a row in each region.
fn create(store: &Store, of: &str, index: &str, text: &str) {
    let descriptor = TableDescriptor::new(name(of))
        .family(FamilyDescriptor::new("d").unwrap())
        .attribute(KEY_ATTRIBUTE, "1 [user text]")
        .attribute(COLUMNS_ATTRIBUTE, "1 d:b body string")
        .attribute(INDEXES_ATTRIBUTE, format!("1 {index}"));
    store.create_table(descriptor, &["m".into()]).unwrap();
    for row in ["a", "z"] {
        put(&table(store, of), row, text);
    }
}

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create(&store, "mail", "by_body [body]; words search body simple", "old");
    create(&store, "mail.new", "by_body [body]", "new");
    (dir, store)
}

fn replace(store: &Store) {
    store.replace_table(&name("mail"), &name("mail.new"), |_| Ok(())).unwrap();
}

fn texts(mut rows: TableScanner) -> Vec<String> {
    let text = |row: Row| String::from_utf8(row.value("d", "b").unwrap().to_vec()).unwrap();
    std::iter::from_fn(|| rows.next().unwrap()).map(text).collect()
}

fn names(store: &Store) -> Vec<String> {
    store.tables().iter().map(|table| table.name().to_string()).collect()
}

#[test]
fn a_table_has_the_rows_and_indexes_of_the_one_that_replaced_it_also_after_a_restart() {
    let (dir, store) = store();
    replace(&store);
    put(&table(&store, "mail"), "c", "new");
    let check = |store: &Store| {
        assert_eq!(names(store), ["mail", "mail.by_body"]);
        assert_eq!(texts(table(store, "mail").scan(Scan::all()).unwrap()), ["new"; 3]);
        let verified = store.verify_index(&name("mail"), "by_body", |_| {}).unwrap();
        assert!(verified.is_clean() && verified.rows == 3, "{verified:?}");
    };
    check(&store);
    store.close().unwrap();
    check(&Store::open(dir.path()).unwrap());
}

#[test]
fn a_table_gets_a_name_that_no_table_has() {
    let (_dir, store) = store();
    store.replace_table(&name("post"), &name("mail.new"), |_| Ok(())).unwrap();
    assert_eq!(names(&store), ["mail", "mail.by_body", "mail.words", "post", "post.by_body"]);
    assert_eq!(texts(table(&store, "post").scan(Scan::all()).unwrap()), ["new"; 2]);
    assert_eq!(texts(table(&store, "mail").scan(Scan::all()).unwrap()), ["old"; 2]);
}

#[test]
fn scanners_and_read_points_go_on_in_the_replaced_table_and_other_reads_are_refused() {
    let (_dir, store) = store();
    let old = table(&store, "mail");
    let handle = table(&store, "mail.new");
    let point = store.read_point();
    let mut scanner = old.scan_at(Scan::all(), &point).unwrap();
    assert!(scanner.next().unwrap().is_some());
    replace(&store);
    assert_eq!(texts(scanner), ["old"]);
    assert_eq!(texts(old.scan_at(Scan::all(), &point).unwrap()), ["old"; 2]);
    let row = old.get_at(&Get::new("z").unwrap(), &point).unwrap();
    assert_eq!(row.value("d", "b").as_deref(), Some(&b"old"[..]));

    let refused = |error: Error| error.kind();
    assert_eq!(refused(old.get(&Get::new("z").unwrap()).unwrap_err()), ErrorKind::NotServingRegion);
    assert_eq!(refused(old.scan(Scan::all()).err().unwrap()), ErrorKind::NotServingRegion);
    let write = || Put::new("z").unwrap().add("d", "b", "x").unwrap().into();
    assert_eq!(refused(old.mutate(&write()).unwrap_err()), ErrorKind::NotServingRegion);
    // Reads with the new table's old name find the rows, writes do not.
    assert_eq!(texts(handle.scan(Scan::all()).unwrap()), ["new"; 2]);
    assert_eq!(refused(handle.mutate(&write()).unwrap_err()), ErrorKind::LayoutChanged);
}

#[test]
fn a_replacement_that_cannot_be_made_leaves_both_tables() {
    let (_dir, store) = store();
    create(&store, "post", "by_body [body]", "post");
    create(&store, "post.words", "by_body [body]", "words");
    let before = names(&store);
    let refused = |name_of: &str, with: &str| {
        store.replace_table(&name(name_of), &name(with), |_| Ok(())).unwrap_err().kind()
    };
    assert_eq!(refused("mail", "none"), ErrorKind::TableNotFound);
    let may_not = |old: &TableDescriptor| {
        assert_eq!(*old.name(), name("mail"));
        Err(Error::new(ErrorKind::Conflict, "it stays"))
    };
    let stays = store.replace_table(&name("mail"), &name("mail.new"), may_not).unwrap_err();
    assert_eq!(stays.kind(), ErrorKind::Conflict);
    assert_eq!(refused("mail", "mail"), ErrorKind::InvalidRequest);
    assert_eq!(refused("mail.words", "post"), ErrorKind::InvalidRequest);
    assert_eq!(refused("post", "mail.words"), ErrorKind::InvalidRequest);
    assert_eq!(refused("none:mail", "post"), ErrorKind::NamespaceNotFound);
    // `post.words` would be the `mail` index under the new name.
    assert_eq!(refused("post", "mail"), ErrorKind::TableExists);
    let off = IndexState::Repairing;
    assert!(
        store.set_search_state(&table(&store, "mail.words"), &IndexState::Ready, &off).unwrap()
    );
    assert_eq!(refused("box", "mail"), ErrorKind::InvalidRequest);
    store.disable_table(&name("post")).unwrap();
    assert_eq!(refused("mail", "post"), ErrorKind::TableNotEnabled);
    assert_eq!(names(&store), before);
    assert_eq!(texts(table(&store, "mail").scan(Scan::all()).unwrap()), ["old"; 2]);
}
