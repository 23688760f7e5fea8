//! The explanation of a column agrees with reads of it.

use std::sync::Arc;

use proptest::prelude::*;
use rowhouse_model::{
    CellKind, CellLocation, CellStatus, Delete, ErrorKind, FamilyDescriptor, Get, Mutation, Put,
    TableDescriptor, TableName, TimeRange, Timestamp,
};
use rowhouse_store::{CompactionKind, CompactionSettings, Settings, Store, Table};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn open(family: FamilyDescriptor) -> (tempfile::TempDir, Store, Arc<Table>) {
    let dir = tempfile::tempdir().unwrap();
    // Only the compactions in a test run: one over all files drops markers, which uncovers cells in
    // memory.
    let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
    let settings = Settings { compaction, ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    let name = TableName::parse("t").unwrap();
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    (dir, store, table)
}

fn mutation(kind: CellKind, qualifier: &'static str, millis: i64) -> Mutation {
    let at = at(millis);
    let delete = Delete::new("r").unwrap();
    match kind {
        CellKind::Put => Put::new("r").unwrap().add_at("f", qualifier, at, "").unwrap().into(),
        CellKind::DeleteVersion => delete.version("f", qualifier, at).unwrap().into(),
        CellKind::DeleteColumn => delete.column("f", qualifier, at).unwrap().into(),
        CellKind::DeleteFamily => delete.family("f", at).unwrap().into(),
        CellKind::DeleteFamilyVersion => delete.family_version("f", at).unwrap().into(),
    }
}

fn get(qualifier: &'static str) -> Get {
    Get::new("r").unwrap().column("f", qualifier).versions(9)
}

#[derive(Clone, Debug)]
enum Step {
    Write(CellKind, &'static str, i64),
    Flush,
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    let kinds = prop::sample::select(vec![
        CellKind::Put,
        CellKind::Put,
        CellKind::Put,
        CellKind::DeleteVersion,
        CellKind::DeleteColumn,
        CellKind::DeleteFamily,
        CellKind::DeleteFamilyVersion,
    ]);
    let qualifiers = prop::sample::select(vec!["", "a", "b"]);
    prop_oneof![
        12 => (kinds, qualifiers, 1i64..6).prop_map(|(kind, qualifier, millis)| {
            Step::Write(kind, qualifier, millis)
        }),
        2 => Just(Step::Flush),
        1 => Just(Step::Compact),
    ]
}

fn family() -> impl Strategy<Value = FamilyDescriptor> {
    let keep = prop::sample::select(vec!["FALSE", "TRUE", "TTL"]);
    (1u32..4, keep, any::<bool>(), any::<bool>()).prop_map(|(versions, keep, newer, expires)| {
        let family = FamilyDescriptor::new("f")
            .unwrap()
            .versions(versions)
            .attribute("KEEP_DELETED_CELLS", keep)
            .attribute("NEW_VERSION_BEHAVIOR", newer.to_string());
        if expires { family.attribute("TTL", "60").attribute("MIN_VERSIONS", "1") } else { family }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn cells_explained_as_visible_are_those_of_a_get(
        family in family(),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let (_dir, _store, table) = open(family);
        for step in steps {
            match step {
                Step::Write(kind, qualifier, millis) => {
                    table.mutate(&mutation(kind, qualifier, millis)).unwrap();
                }
                Step::Flush => table.flush().unwrap(),
                Step::Compact => table.compact(CompactionKind::Major).unwrap(),
            }
        }
        for qualifier in ["", "a", "b", "c"] {
            for versions in [1, 9] {
                for range in [TimeRange::ALL, TimeRange::new(at(2), at(4)).unwrap()] {
                    let get = get(qualifier).versions(versions).time_range(range);
                    let history = table.explain_cell(&get).unwrap();
                    let visible = history.entries.iter();
                    let visible = visible.filter(|entry| entry.fate == CellStatus::Visible);
                    let cells: Vec<_> = visible.map(|entry| entry.cell.clone()).collect();
                    prop_assert_eq!(cells, table.get(&get).unwrap().to_cells());
                }
            }
        }
    }
}

/// Returns the explanation of a column, one line per cell.
fn explain(table: &Table, get: &Get) -> Vec<String> {
    let history = table.explain_cell(get).unwrap();
    let lines = history.entries.iter().map(|entry| {
        let place = match &entry.place {
            CellLocation::Memory => "memory",
            CellLocation::File(path) if path.starts_with("files/") => "file",
            other => panic!("{other:?}"),
        };
        let cell = &entry.cell;
        let fate = &entry.fate;
        format!("{:?}@{}#{} in {place}: {fate}", cell.kind(), cell.timestamp(), cell.sequence())
    });
    lines.collect()
}

#[test]
fn each_cell_is_explained_with_its_place_and_fate() {
    let mut family = FamilyDescriptor::new("f").unwrap().versions(2);
    family.configuration.insert("rowhouse.compaction.minor.drops.versions".into(), "false".into());
    let (_dir, _store, table) = open(family);
    let write = |kind, millis| drop(table.mutate(&mutation(kind, "a", millis)).unwrap());
    for millis in [1, 2, 3, 4, 5, 6] {
        write(CellKind::Put, millis);
    }
    table.flush().unwrap();
    write(CellKind::DeleteVersion, 6);
    write(CellKind::Put, 5);
    write(CellKind::DeleteFamily, 1);
    let expected = [
        "DeleteVersion@6#7 in memory: covers the cells that it names",
        "Put@6#6 in file: deleted by DeleteVersion at 6, sequence 7",
        "Put@5#8 in memory: visible",
        "Put@5#5 in file: overwritten at its timestamp, sequence 8",
        "Put@4#4 in file: visible",
        "Put@3#3 in file: surplus: version 3, shown: 2",
        "Put@2#2 in file: surplus: version 4, shown: 2",
        "DeleteFamily@1#9 in memory: covers the cells that it names",
        "Put@1#1 in file: deleted by DeleteFamily at 1, sequence 9",
    ];
    assert_eq!(explain(&table, &get("a")), expected);
    let range = get("a").time_range(TimeRange::new(at(4), at(5)).unwrap());
    let shown = explain(&table, &range).into_iter().filter(|line| !line.contains("outside"));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            "DeleteVersion@6#7 in memory: covers the cells that it names",
            "Put@6#6 in file: deleted by DeleteVersion at 6, sequence 7",
            "Put@4#4 in file: visible",
            "DeleteFamily@1#9 in memory: covers nothing in the requested time range",
        ]
    );
}

#[test]
fn an_expired_cell_is_explained_with_its_expiry() {
    let family = FamilyDescriptor::new("f").unwrap().attribute("TTL", "60");
    let (_dir, _store, table) = open(family);
    table.mutate(&mutation(CellKind::Put, "a", 5)).unwrap();
    let expected = ["Put@5#1 in memory: expired: the family's TTL ended at 60005"];
    assert_eq!(explain(&table, &get("a")), expected);
}

#[test]
fn more_than_one_column_is_refused() {
    let (_dir, _store, table) = open(FamilyDescriptor::new("f").unwrap());
    let row = || Get::new("r").unwrap();
    for get in [row(), row().family("f"), row().column("f", "a").column("f", "b")] {
        assert_eq!(table.explain_cell(&get).unwrap_err().kind(), ErrorKind::InvalidRequest);
    }
    let unknown = table.explain_cell(&row().column("g", "a")).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NoSuchColumnFamily);
}
