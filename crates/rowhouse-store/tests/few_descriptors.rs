//! Loads many files in a process that may have few open. The limit applies to the process, so this
//! test has its own binary.

use rowhouse_model::{Bytes, FamilyDescriptor, Put, Scan, TableDescriptor, TableName};
use rowhouse_store::{ExportedCells, Store, files_to_load};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const FILES: usize = 100;
const DESCRIPTORS: u64 = 60;

#[test]
fn a_load_takes_more_files_than_may_be_open() {
    let [from, to, out] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let name = TableName::parse("t").unwrap();
    let table = TableDescriptor::new(name.clone()).family(FamilyDescriptor::new("f").unwrap());
    let rows: Vec<String> = (0..FILES).map(|number| format!("row{number:04}")).collect();
    let source = Store::open(from.path()).unwrap();
    // A file for each region.
    let starts: Vec<Bytes> = rows.iter().skip(1).map(|row| Bytes::from(row.clone())).collect();
    source.create_table(table.clone(), &starts).unwrap();
    for row in &rows {
        let put = Put::new(row.clone()).unwrap().add("f", "q", "v").unwrap();
        source.table(&name).unwrap().mutate(&put.into()).unwrap();
    }
    source.export_hfiles(&name, out.path(), ExportedCells::Retained, |_| {}).unwrap();
    drop(source);
    let limit = Rlimit { current: Some(DESCRIPTORS), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).unwrap();
    let store = Store::open(to.path()).unwrap();
    store.create_table(table, &[]).unwrap();
    let files = files_to_load(out.path()).unwrap();
    assert_eq!(files.len(), FILES);
    store.bulk_load(&name, &files, |_| {}).unwrap();
    let mut scanner = store.table(&name).unwrap().scan(Scan::all()).unwrap();
    let mut there = Vec::new();
    while let Some(row) = scanner.next().unwrap() {
        there.push(String::from_utf8(row.key().to_vec()).unwrap());
    }
    assert_eq!(there, rows);
}
