//! A get for one column's newest version, which leaves out older files, returns the same as a scan
//! of the row, which reads all files.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use rowhouse_model::{
    CellKind, Delete, FamilyDescriptor, Get, Mutation, Put, Row, RowRange, Scan, TableDescriptor,
    TableName, Timestamp,
};
use rowhouse_store::{
    CompactionKind, CompactionSettings, ReadPoint, ReadTrace, Settings, Store, Table,
};

use crate::histories::SetClock;

const QUALIFIERS: [&str; 3] = ["", "a", "b"];
const NOW_MILLIS: i64 = 10_000;
/// The TTL in families that have one.
const TTL_MILLIS: i64 = 1_000;

#[derive(Clone, Debug)]
enum Step {
    /// At a time before or after the last write's.
    Write {
        kind: CellKind,
        qualifier: &'static str,
        millis_later: i64,
        ttl_millis: Option<i64>,
    },
    Flush,
    Compact(CompactionKind),
    /// Keeps the current read point, for the reads after all later steps.
    ReadPoint,
}

fn step() -> impl Strategy<Value = Step> {
    let kinds = prop_oneof![
        8 => Just(CellKind::Put),
        1 => Just(CellKind::DeleteVersion),
        1 => Just(CellKind::DeleteColumn),
        1 => Just(CellKind::DeleteFamily),
        1 => Just(CellKind::DeleteFamilyVersion),
    ];
    let qualifiers = prop::sample::select(QUALIFIERS.to_vec());
    let ttls = prop::option::weighted(0.1, 1i64..60);
    prop_oneof![
        12 => (kinds, qualifiers, -4i64..8, ttls).prop_map(
            |(kind, qualifier, millis_later, ttl_millis)| Step::Write {
                kind, qualifier, millis_later, ttl_millis
            }
        ),
        6 => Just(Step::Flush),
        2 => Just(Step::ReadPoint),
        1 => Just(Step::Compact(CompactionKind::Minor)),
        1 => Just(Step::Compact(CompactionKind::Major)),
    ]
}

fn family() -> impl Strategy<Value = FamilyDescriptor> {
    let keep = prop::sample::select(vec!["FALSE", "TRUE", "TTL"]);
    let bloom = prop::sample::select(vec!["ROW", "ROWCOL", "NONE"]);
    let expires = prop::option::of(0u32..2);
    (1u32..3, keep, bloom, prop::bool::weighted(0.2), expires).prop_map(
        |(versions, keep, bloom, by_sequence, expires)| {
            let family = FamilyDescriptor::new("f")
                .unwrap()
                .versions(versions)
                .attribute("BLOOMFILTER", bloom)
                .attribute("KEEP_DELETED_CELLS", keep)
                .attribute("NEW_VERSION_BEHAVIOR", by_sequence.to_string());
            match expires {
                Some(least) => family
                    .attribute("TTL", (TTL_MILLIS / 1_000).to_string())
                    .attribute("MIN_VERSIONS", least.to_string()),
                None => family,
            }
        },
    )
}

fn open(dir: &std::path::Path, clock: &SetClock, family: FamilyDescriptor) -> (Store, Arc<Table>) {
    let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
    let settings = Settings { compaction, ..Settings::default() };
    let store = Store::builder(dir).settings(settings).with_clock(clock.clone()).open().unwrap();
    let name = TableName::parse("t").unwrap();
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    (store, table)
}

fn mutation(
    kind: CellKind,
    qualifier: &'static str,
    millis: i64,
    ttl_millis: Option<i64>,
) -> Mutation {
    let at = Timestamp::from_millis(millis).unwrap();
    let delete = Delete::new("r").unwrap();
    let mut delete = match kind {
        CellKind::Put => {
            let value = millis.to_string();
            let mut put = Put::new("r").unwrap().add_at("f", qualifier, at, value).unwrap();
            put.ttl_millis = ttl_millis;
            return put.into();
        }
        CellKind::DeleteVersion => delete.version("f", qualifier, at).unwrap(),
        CellKind::DeleteColumn => delete.column("f", qualifier, at).unwrap(),
        CellKind::DeleteFamily => delete.family("f", at).unwrap(),
        CellKind::DeleteFamilyVersion => delete.family_version("f", at).unwrap(),
    };
    delete.ttl_millis = ttl_millis;
    delete.into()
}

fn scan_of(qualifier: &'static str) -> Scan {
    Scan::new(RowRange::row(b"r")).column("f", qualifier)
}

/// Reads the column by a scan, which merges all memstores and files.
fn scanned(table: &Arc<Table>, qualifier: &'static str) -> Row {
    table.scan(scan_of(qualifier)).unwrap().next().unwrap().unwrap_or_default()
}

fn scanned_at(table: &Arc<Table>, qualifier: &'static str, point: &Arc<ReadPoint>) -> Row {
    table.scan_at(scan_of(qualifier), point).unwrap().next().unwrap().unwrap_or_default()
}

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.min(64), ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_get_of_one_column_equals_a_read_of_all_files_in_random_histories(
        family in family(),
        steps in prop::collection::vec(step(), 1..60),
        millis_after in 0i64..120,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let now = Arc::new(AtomicI64::new(NOW_MILLIS));
        let (store, table) = open(dir.path(), &SetClock(Arc::clone(&now)), family);
        // The first writes expire during the history.
        let mut millis = NOW_MILLIS - TTL_MILLIS;
        let mut points = Vec::new();
        for step in steps {
            match step {
                Step::Write { kind, qualifier, millis_later, ttl_millis } => {
                    millis += millis_later;
                    table.mutate(&mutation(kind, qualifier, millis, ttl_millis)).unwrap();
                }
                Step::Flush => table.flush().unwrap(),
                Step::Compact(kind) => table.compact(kind).unwrap(),
                Step::ReadPoint => points.push(Arc::new(store.read_point())),
            }
            for qualifier in QUALIFIERS {
                let get = Get::new("r").unwrap().column("f", qualifier);
                prop_assert_eq!(table.get(&get).unwrap(), scanned(&table, qualifier));
                for point in &points {
                    let scanned = scanned_at(&table, qualifier, point);
                    prop_assert_eq!(table.get_at(&get, point).unwrap(), scanned);
                }
            }
            now.fetch_add(1, Ordering::Relaxed);
        }
        now.fetch_add(millis_after, Ordering::Relaxed);
        let trace = Arc::<ReadTrace>::default();
        let point = Arc::new(store.read_point().traced(&trace));
        for qualifier in QUALIFIERS {
            let get = Get::new("r").unwrap().column("f", qualifier);
            prop_assert_eq!(table.get(&get).unwrap(), scanned(&table, qualifier));
            prop_assert_eq!(table.get_at(&get, &point).unwrap(), scanned(&table, qualifier));
        }
    }
}

#[test]
fn a_get_at_a_point_before_the_delete_of_its_row_finds_the_column_among_others() {
    let dir = tempfile::tempdir().unwrap();
    let clock = SetClock(Arc::new(AtomicI64::new(NOW_MILLIS)));
    let (store, table) = open(dir.path(), &clock, FamilyDescriptor::new("f").unwrap());
    let put = |qualifier, millis| {
        table.mutate(&mutation(CellKind::Put, qualifier, millis, None)).unwrap();
    };
    put("a", 1);
    put("b", 1);
    table.flush().unwrap();
    put("a", 2);
    put("b", 2);
    let point = Arc::new(store.read_point());
    table.mutate(&mutation(CellKind::DeleteFamily, "", 3, None)).unwrap();
    let get = Get::new("r").unwrap().column("f", "b");
    assert_eq!(table.get_at(&get, &point).unwrap().value(b"f", b"b").as_deref(), Some(&b"2"[..]));
    assert!(table.get(&get).unwrap().is_empty());
}
