//! A mutation or a batch may hold the same cell twice. HBase keeps the last one.

use rowhouse_model::{
    FamilyDescriptor, Get, Put, RowRange, Scan, TableDescriptor, TableName, Timestamp,
};
use rowhouse_store::Store;

/// Returns the whole table as `row=value`.
fn read(store: &Store) -> String {
    let table = store.table(&TableName::parse("t").unwrap()).unwrap();
    let mut scanner = table.scan(Scan { versions: 9, ..Scan::new(RowRange::all()) }).unwrap();
    let mut seen = Vec::new();
    while let Some(row) = scanner.next().unwrap() {
        for cell in row.cells() {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            seen.push(format!("{}={}", text(cell.row()), text(cell.value())));
        }
        let get = Get::new(row.key().to_vec()).unwrap().versions(9);
        assert_eq!(table.get(&get).unwrap(), row);
    }
    seen.join(" ")
}

#[test]
fn the_later_value_stays_in_memory_in_files_and_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let name = TableName::parse("t").unwrap();
    let family = FamilyDescriptor::new("f").unwrap().versions(9);
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    let at = Timestamp::from_millis(5).unwrap();
    let put = |row: &'static str, values: &[&'static str]| {
        let put = Put::new(row).unwrap();
        let put = values.iter().try_fold(put, |put, value| put.add_at("f", "q", at, *value));
        put.unwrap().into()
    };
    table.mutate(&put("a", &["1", "2", "3"])).unwrap();
    for outcome in table.batch(vec![put("b", &["1"]), put("c", &["1"]), put("b", &["2"])]) {
        outcome.unwrap();
    }
    let want = "a=3 b=2 c=1";
    assert_eq!(read(&store), want);
    drop((table, store));

    let store = Store::open(dir.path()).unwrap();
    assert_eq!(read(&store), want, "from the log");
    let table = store.table(&name).unwrap();
    table.flush().unwrap();
    assert_eq!(read(&store), want, "from a file");
    table.compact(rowhouse_store::CompactionKind::Major).unwrap();
    assert_eq!(read(&store), want, "from a merged file");
}
