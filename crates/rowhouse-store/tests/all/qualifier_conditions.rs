//! Reads by conditions on qualifier fields return what a plain row read shows, whatever delete
//! markers the family has.

use std::sync::Arc;

use proptest::prelude::*;
use rowhouse_model::{
    Cell, Columns, Delete, FamilyDescriptor, Get, Put, Row, Scan, TableDescriptor, TableName,
    Timestamp,
};
use rowhouse_schema::{ColumnSchema, KeySchema, Plan, PlanPart, Predicate, TimeZone};
use rowhouse_store::{
    CompactionKind, CompactionSettings, ScanLimits, Scanned, Settings, Store, Table,
};

const KEY: &str = "[user text]";
/// A template that every qualifier may fit, and templates with their own literals.
const TAGGED: &str = "f:[tag text] tagged u8";
const NUMBERED: &str = "f:~[n u8][tag text] numbered u8; f:a[n digits 2] filler u8; f:b one u8";
const ROWS: [&str; 3] = ["a", "b", "c"];
/// The empty qualifier, qualifiers for both templates, and the one that is declared.
const QUALIFIERS: [&[u8]; 10] =
    [b"", b"", b"\0", b"a", b"ab", b"b", b"c", b"zz", b"~\x01x", b"~\x03x"];
const QUERIES: [(&str, &str); 10] = [
    (TAGGED, "tagged.tag = 'ab'"),
    (TAGGED, "tagged.tag >= 'ab'"),
    (TAGGED, "tagged.tag in ('a', 'ab', 'c')"),
    (TAGGED, "tagged.tag starts with 'a'"),
    (TAGGED, "tagged.tag < 'b'"),
    (TAGGED, "tagged.tag > 'zz'"),
    (NUMBERED, "numbered.n = 3"),
    (NUMBERED, "numbered.n > 1"),
    (NUMBERED, "numbered.n > 1 and filler.n in (3, 4, 30)"),
    (NUMBERED, "filler.n between 20 and 30"),
];
/// Qualifiers of a row that is wide enough to be sought in.
const FILLERS: u8 = 40;

#[derive(Clone, Debug)]
enum Step {
    Put(usize, usize, i64),
    Wide(usize, i64),
    DeleteRow(usize),
    DeleteFamily(usize, i64),
    DeleteFamilyVersion(usize, i64),
    DeleteColumn(usize, usize, i64),
    DeleteVersion(usize, usize, Option<i64>),
    Flush,
    Compact(CompactionKind),
}

fn step() -> impl Strategy<Value = Step> {
    let row = || 0..ROWS.len();
    let qualifier = || 0..QUALIFIERS.len();
    let at = || 1i64..6;
    prop_oneof![
        12 => (row(), qualifier(), at()).prop_map(|(row, of, at)| Step::Put(row, of, at)),
        2 => (row(), at()).prop_map(|(row, at)| Step::Wide(row, at)),
        2 => row().prop_map(Step::DeleteRow),
        3 => (row(), at()).prop_map(|(row, at)| Step::DeleteFamily(row, at)),
        3 => (row(), at()).prop_map(|(row, at)| Step::DeleteFamilyVersion(row, at)),
        2 => (row(), qualifier(), at()).prop_map(|(row, of, at)| Step::DeleteColumn(row, of, at)),
        2 => (row(), qualifier(), prop::option::of(at()))
            .prop_map(|(row, of, at)| Step::DeleteVersion(row, of, at)),
        2 => Just(Step::Flush),
        1 => Just(Step::Compact(CompactionKind::Minor)),
        1 => Just(Step::Compact(CompactionKind::Major)),
    ]
}

fn millis(at: i64) -> Timestamp {
    Timestamp::from_millis(at).unwrap()
}

fn apply(table: &Table, step: &Step) {
    let delete = |row: usize| Delete::new(ROWS[row]).unwrap();
    let mutation = match *step {
        Step::Put(row, of, at) => {
            let put = Put::new(ROWS[row]).unwrap();
            put.add_at("f", QUALIFIERS[of], millis(at), vec![at as u8]).unwrap().into()
        }
        Step::Wide(row, at) => {
            let mut put = Put::new(ROWS[row]).unwrap();
            for nth in 0..FILLERS {
                put = put.add_at("f", format!("a{nth:02}"), millis(at), vec![nth]).unwrap();
            }
            put.into()
        }
        Step::DeleteRow(row) => delete(row).into(),
        Step::DeleteFamily(row, at) => delete(row).family("f", millis(at)).unwrap().into(),
        Step::DeleteFamilyVersion(row, at) => {
            delete(row).family_version("f", millis(at)).unwrap().into()
        }
        Step::DeleteColumn(row, of, at) => {
            delete(row).column("f", QUALIFIERS[of], millis(at)).unwrap().into()
        }
        Step::DeleteVersion(row, of, at) => {
            let at = at.map_or(Timestamp::LATEST, millis);
            delete(row).version("f", QUALIFIERS[of], at).unwrap().into()
        }
        Step::Flush => return table.flush().unwrap(),
        Step::Compact(kind) => return table.compact(kind).unwrap(),
    };
    table.mutate(&mutation).unwrap();
}

/// Returns a table whose family has these attributes.
fn open(dir: &std::path::Path, family: FamilyDescriptor) -> (Store, Arc<Table>) {
    // A compaction between two reads may change what they show.
    let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
    let settings = Settings { compaction, ..Settings::default() };
    let store = Store::builder(dir).settings(settings).open().unwrap();
    let name = TableName::parse("t").unwrap();
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    (store, table)
}

fn families() -> impl Strategy<Value = FamilyDescriptor> {
    let family = |attributes: &'static [(&'static str, &'static str)]| {
        let family = FamilyDescriptor::new("f").unwrap().versions(2).attribute("BLOCKSIZE", "1024");
        attributes.iter().fold(family, |family, (name, value)| family.attribute(*name, *value))
    };
    prop_oneof![
        3 => Just(family(&[])),
        1 => Just(family(&[("VERSIONS", "1")])),
        1 => Just(family(&[("BLOOMFILTER", "ROWCOL")])),
        1 => Just(family(&[("KEEP_DELETED_CELLS", "TRUE")])),
        1 => Just(family(&[("NEW_VERSION_BEHAVIOR", "true")])),
        1 => Just(family(&[("DATA_BLOCK_ENCODING", "ROW_INDEX_V1")])),
    ]
}

fn plan((columns, query): (&str, &str)) -> Plan {
    let key = KeySchema::parse(KEY).unwrap();
    let columns = ColumnSchema::parse(columns).unwrap();
    let predicate = Predicate::parse(query).unwrap();
    key.plan_with_columns(&columns, &predicate, &TimeZone::UTC).unwrap()
}

fn columns(of: &[Option<&'static str>]) -> Columns {
    let mut columns = Columns::all();
    for qualifier in of {
        match qualifier {
            Some(qualifier) => columns.add_column("f", *qualifier),
            None => columns.add_family("f"),
        }
    }
    columns
}

/// Returns the cells that a query shows from rows that were read.
fn shown(plan: &Plan, columns: &Columns, rows: &[Row]) -> Vec<Cell> {
    let cells = rows.iter().flat_map(Row::to_cells);
    cells.filter(|cell| plan.shows(columns, cell.family(), cell.qualifier())).collect()
}

/// Reads all rows; each one cell at a time if `in_parts`.
fn scan(table: &Table, scan: &Scan, in_parts: bool) -> Vec<Row> {
    let limits = ScanLimits { bytes: if in_parts { 1 } else { u64::MAX }, ..ScanLimits::NONE };
    let mut scanner = table.regions()[0].scan(scan).unwrap();
    let mut rows = Vec::new();
    while let Scanned::Row { row, .. } = scanner.next_part(&limits).unwrap() {
        rows.push(row);
    }
    rows
}

/// Returns the plan parts that read the family.
fn parts_of_family(plan: &Plan, selection: &Columns) -> Vec<PlanPart> {
    let parts = plan.parts(selection).into_iter();
    parts.filter(|part| part.columns.selects_family(b"f")).collect()
}

/// Reads by a plan in every way, and compares what it shows with a plain read.
fn check(
    table: &Table,
    plan: &Plan,
    selection: &Columns,
    versions: u32,
) -> Result<(), TestCaseError> {
    let parts = parts_of_family(plan, selection);
    for reversed in [false, true] {
        let mut plain = Scan { versions, reversed, ..Scan::all() };
        plain.columns.add_family("f");
        let expected = shown(plan, selection, &scan(table, &plain, false));
        for in_parts in [false, true] {
            let mut read = Vec::new();
            for PlanPart { columns, filter } in parts.clone() {
                let filter = filter.map(Box::new);
                let filtered = Scan { versions, reversed, columns, filter, ..Scan::all() };
                read.extend(shown(plan, selection, &scan(table, &filtered, in_parts)));
            }
            prop_assert_eq!(&read, &expected, "reversed={}, in parts={}", reversed, in_parts);
        }
    }
    for row in ROWS {
        let get = Get::new(row).unwrap().versions(versions).family("f");
        let expected = shown(plan, selection, &[table.get(&get).unwrap()]);
        let mut read = Vec::new();
        for PlanPart { columns, filter } in parts.clone() {
            let mut get = Get::new(row).unwrap().versions(versions);
            get.columns = columns;
            get.filter = filter.map(Box::new);
            read.extend(shown(plan, selection, &[table.get(&get).unwrap()]));
        }
        prop_assert_eq!(read, expected, "get of {}", row);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn conditions_on_qualifiers_return_the_cells_of_a_plain_read(
        family in families(),
        steps in prop::collection::vec(step(), 1..40),
        versions in 1u32..4,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (_store, table) = open(dir.path(), family);
        for step in &steps {
            apply(&table, step);
        }
        for query in QUERIES {
            let plan = plan(query);
            for names in [&[][..], &[None], &[Some("b")], &[Some(""), Some("b")]] {
                check(&table, &plan, &columns(names), versions)?;
            }
        }
    }
}
