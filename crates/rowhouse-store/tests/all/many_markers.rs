//! Rows full of delete markers, which readers skip in runs. They return the same cells as readers
//! that visit every marker.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use rowhouse_model::{
    CellKind, Delete, FamilyDescriptor, Filter, Get, Put, Row, Scan, TableDescriptor, TableName,
    Timestamp,
};
use rowhouse_store::{CompactionSettings, Settings, Store, Table};

/// Readers skip markers in `passed` in runs. `each` retains deleted cells for reads at earlier
/// times, so readers visit every marker there; reads as of now return the same.
const FAMILIES: [(&str, &str); 2] = [("passed", "FALSE"), ("each", "TRUE")];

#[derive(Clone, Debug)]
enum Step {
    /// A cell in each column in a range.
    Cells {
        row: u8,
        columns: (u8, u8),
        at: i64,
        kind: CellKind,
        /// Markers whose own TTL has expired.
        expired: bool,
    },
    /// Markers in one column, at each timestamp up to one.
    Versions {
        row: u8,
        column: u8,
        up_to: i64,
    },
    Flush,
}

fn cells(row: u8, columns: (u8, u8), at: i64, kind: CellKind) -> Step {
    Step::Cells { row, columns, at, kind, expired: false }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = prop::sample::select(vec![
        CellKind::Put,
        CellKind::DeleteColumn,
        CellKind::DeleteColumn,
        CellKind::DeleteVersion,
    ]);
    let step = prop_oneof![
        8 => (0u8..2, (0u8..60, 1u8..40), 1i64..20, kind, prop::bool::weighted(0.1)).prop_map(
            |(row, (first, count), at, kind, expired)| {
                let columns = (first, first.saturating_add(count));
                Step::Cells { row, columns, at, kind, expired }
            }
        ),
        2 => (0u8..2, 0u8..60, 5i64..20)
            .prop_map(|(row, column, up_to)| Step::Versions { row, column, up_to }),
        2 => Just(Step::Flush),
    ];
    prop::collection::vec(step, 1..30)
}

/// So long that a few columns fill a block.
fn qualifier(column: u8) -> String {
    format!("{column:0160}")
}

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn store(dir: &Path) -> Store {
    let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
    let settings = Settings { compaction, ..Settings::default() };
    Store::builder(dir).settings(settings).open().unwrap()
}

/// Reopens the store as it was closed.
fn open(dir: &Path) -> (Store, Arc<Table>) {
    let store = store(dir);
    let table = store.table(&name()).unwrap();
    (store, table)
}

/// Returns a table after `steps`; cells that they did not flush are in memory.
fn table(dir: &Path, steps: &[Step]) -> (Store, Arc<Table>) {
    let store = store(dir);
    let mut descriptor = TableDescriptor::new(name());
    for (family, keeps) in FAMILIES {
        let family = FamilyDescriptor::new(family).unwrap().versions(3);
        let family = family.attribute("KEEP_DELETED_CELLS", keeps);
        descriptor = descriptor.family(family.attribute("BLOCKSIZE", "1024"));
    }
    store.create_table(descriptor, &[]).unwrap();
    let table = store.table(&name()).unwrap();
    take(&table, steps);
    (store, table)
}

fn take(table: &Table, steps: &[Step]) {
    let write = |row: u8, column: u8, at: i64, kind: CellKind, expired: bool| {
        let at = Timestamp::from_millis(at).unwrap();
        for (family, _) in FAMILIES {
            let mutation = if kind == CellKind::Put {
                let put = Put::new(vec![row]).unwrap();
                put.add_at(family, qualifier(column), at, "").unwrap().into()
            } else {
                let delete = Delete::new(vec![row]).unwrap();
                let mut delete = match kind {
                    CellKind::DeleteColumn => delete.column(family, qualifier(column), at).unwrap(),
                    _ => delete.version(family, qualifier(column), at).unwrap(),
                };
                delete.ttl_millis = expired.then_some(1);
                delete.into()
            };
            table.mutate(&mutation).unwrap();
        }
    };
    for step in steps {
        match *step {
            Step::Cells { row, columns: (first, end), at, kind, expired } => {
                (first..end).for_each(|column| write(row, column, at, kind, expired));
            }
            Step::Versions { row, column, up_to } => {
                (1..=up_to).for_each(|at| write(row, column, at, CellKind::DeleteVersion, false));
            }
            Step::Flush => table.flush().unwrap(),
        }
    }
}

/// Returns each visible cell's row, qualifier and timestamp.
fn seen(rows: &[Row]) -> Vec<(Vec<u8>, Vec<u8>, i64)> {
    let cells = rows.iter().flat_map(Row::to_cells);
    cells
        .map(|cell| (cell.row().to_vec(), cell.qualifier().to_vec(), cell.timestamp().as_millis()))
        .collect()
}

#[test]
fn cells_covered_by_a_marker_are_hidden_over_many_blocks_of_other_markers() {
    let put = cells(0, (39, 40), 0, CellKind::Put);
    let versions = Step::Versions { row: 0, column: 39, up_to: 900 };
    // The last of these is skipped with the others before the versions begin.
    let column = cells(0, (0, 40), 1000, CellKind::DeleteColumn);
    let seen_of = |steps: &[Step]| {
        let dir = tempfile::tempdir().unwrap();
        let (_store, table) = table(dir.path(), steps);
        FAMILIES.map(|(family, _)| {
            let get = Get::new(vec![0]).unwrap().family(family);
            seen(&[table.get(&get).unwrap()]).len()
        })
    };
    for in_memory in [false, true] {
        let mut steps = vec![put.clone(), versions.clone()];
        let counts = |steps: &[Step]| {
            if in_memory { seen_of(steps) } else { seen_of(&[steps, &[Step::Flush]].concat()) }
        };
        assert_eq!(counts(&steps), [1, 1]);
        steps.push(column.clone());
        assert_eq!(counts(&steps), [0, 0]);
    }
}

#[test]
fn markers_after_a_run_that_ends_its_row_are_checked() {
    let markers = |row, columns| cells(row, columns, 1, CellKind::DeleteColumn);
    // The puts are in a file that begins with their row, so it is not open yet where the row before
    // ends.
    let puts = cells(1, (16, 19), 1, CellKind::Put);
    let steps = [markers(0, (0, 19)), markers(1, (18, 54)), Step::Flush, puts, Step::Flush];
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = table(dir.path(), &steps);
    // Later readers know where the run ends.
    for reversed in [false, true, false] {
        let scan = Scan::all().family("passed");
        let mut scanner = table.scan(if reversed { scan.reversed() } else { scan }).unwrap();
        let rows: Vec<Row> = std::iter::from_fn(|| scanner.next().unwrap()).collect();
        let columns = seen(&rows).into_iter().map(|(_, qualifier, _)| qualifier);
        assert!(columns.eq([16, 17].map(|column| qualifier(column).into_bytes())), "{reversed}");
    }
}

#[test]
fn a_marker_covers_though_another_of_its_timestamp_has_expired() {
    let dir = tempfile::tempdir().unwrap();
    let at = |millis| Timestamp::from_millis(millis).unwrap();
    let family = "passed";
    let others = cells(0, (0, 20), 1, CellKind::DeleteColumn);
    let (_store, table) = table(dir.path(), &[others]);
    let put = Put::new(vec![0]).unwrap().add_at(family, "z", at(6), "").unwrap();
    let delete = || Delete::new(vec![0]).unwrap().version(family, "z", at(6)).unwrap();
    let mut expired = delete();
    expired.ttl_millis = Some(1);
    for mutation in [put.into(), expired.into(), delete().into()] {
        table.mutate(&mutation).unwrap();
    }
    for in_memory in [true, false, false] {
        if !in_memory {
            table.flush().unwrap();
        }
        let get = Get::new(vec![0]).unwrap().family(family);
        assert!(table.get(&get).unwrap().is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(40), ..ProptestConfig::default() })]

    #[test]
    fn reads_that_pass_markers_equal_reads_that_check_each(
        steps in steps(),
        between in any::<prop::sample::Index>(),
        column in 0u8..100,
        reopened in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        // Later reads reuse the runs found by earlier ones, unless the store is closed in between.
        let (before, after) = steps.split_at(between.index(steps.len()));
        let (mut store, mut table) = table(dir.path(), before);
        for (at, versions) in [1, 3, 1, 3].into_iter().enumerate() {
            if at == 2 {
                take(&table, after);
                if reopened {
                    store.close().unwrap();
                    (store, table) = open(dir.path());
                }
            }
            let scan = |scan: Scan| {
                let mut scanner = table.scan(scan).unwrap();
                seen(&std::iter::from_fn(|| scanner.next().unwrap()).collect::<Vec<_>>())
            };
            let get = |get: Get| seen(&[table.get(&get).unwrap()]);
            let [passed, each] = FAMILIES.map(|(family, _)| {
                let all = || Scan::all().family(family).versions(versions);
                let filter = Filter::parse("ColumnPrefixFilter('0')").unwrap();
                let named = Get::new(vec![0]).unwrap().column(family, qualifier(column));
                [
                    scan(all()),
                    scan(all().reversed()),
                    scan(all().filter(filter)),
                    get(Get::new(vec![1]).unwrap().family(family).versions(versions)),
                    get(named.versions(versions)),
                ]
            });
            prop_assert_eq!(passed, each);
        }
    }
}
