//! Table heat: requests by time and key, and the counts for regions and families.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rowhouse_model::{
    Bytes, Condition, Delete, FamilyDescriptor, Filter, Get, HeatBucket, HeatReport, Increment,
    Mutation, Put, RowMutations, RowRange, Scan, TableDescriptor, TableName,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, KEY_ATTRIBUTE};
use rowhouse_store::{
    Clock, FamilyRequests, RegionRequests, Settings, Store, Table, check, copy_store,
};

const MINUTE: i64 = 60_000;

#[derive(Clone)]
struct SetClock(Arc<AtomicI64>);

impl Clock for SetClock {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl SetClock {
    fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_000 * MINUTE)))
    }

    fn add(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn open(dir: &tempfile::TempDir, clock: &SetClock) -> Store {
    Store::builder(dir.path()).with_clock(clock.clone()).open().unwrap()
}

fn created() -> (tempfile::TempDir, SetClock, Store, Arc<Table>) {
    let dir = tempfile::tempdir().unwrap();
    let clock = SetClock::new();
    let store = open(&dir, &clock);
    let family = |name: &'static str| FamilyDescriptor::new(name).unwrap();
    let descriptor = TableDescriptor::new(name()).family(family("f")).family(family("g"));
    store.create_table(descriptor, &[]).unwrap();
    let table = store.table(&name()).unwrap();
    (dir, clock, store, table)
}

fn put(row: &str) -> Put {
    Put::new(row.to_owned()).unwrap().add("f", "q", "value").unwrap()
}

fn get(row: &str) -> Get {
    Get::new(row.to_owned()).unwrap()
}

fn heat(table: &Table) -> HeatReport {
    table.heat(i64::MIN, i64::MAX)
}

/// Returns the sums of all buckets: reads, writes, bytes read, bytes written.
fn sums(report: &HeatReport) -> [u64; 4] {
    let buckets = report.columns.iter().flat_map(|column| &column.buckets);
    let counts = |it: &HeatBucket| [it.reads, it.writes, it.read_bytes, it.written_bytes];
    buckets.map(counts).fold([0; 4], |sum, more| std::array::from_fn(|at| sum[at] + more[at]))
}

/// Returns the same for the table's regions.
fn counts(table: &Table) -> [u64; 4] {
    let requests = table.regions().iter().map(|region| region.requests());
    let counts = |it: RegionRequests| [it.reads, it.writes, it.read_bytes, it.written_bytes];
    requests.map(counts).fold([0; 4], |sum, more| std::array::from_fn(|at| sum[at] + more[at]))
}

fn cell_len(row: &str) -> u64 {
    put(row).cells().iter().map(|cell| cell.as_bytes().len() as u64).sum()
}

#[test]
fn every_kind_of_request_counts_in_the_region_and_in_the_heat_of_its_table() {
    let (_dir, _, store, table) = created();
    let region = &table.regions()[0];
    let len = cell_len("a");
    let mut expected = [0; 4];
    let mut then = |what: &str, more: [u64; 4]| {
        expected = std::array::from_fn(|at| expected[at] + more[at]);
        assert_eq!(counts(&table), expected, "{what}");
        assert_eq!(sums(&heat(&table)), expected, "{what}");
    };
    table.mutate(&put("a").into()).unwrap();
    then("a put", [0, 1, 0, len]);
    table.get(&get("a")).unwrap();
    then("a get", [1, 0, len, 0]);
    table.get(&get("x")).unwrap();
    then("a get of a missing row", [1, 0, 0, 0]);
    let filter = Filter::parse("ValueFilter(=, 'binary:value')").unwrap();
    let mut filtered = get("a");
    filtered.filter = Some(Box::new(filter));
    table.get(&filtered).unwrap();
    then("a get with a filter", [1, 0, len, 0]);
    let outcomes = table.batch(vec![put("b").into(), put("c").into()]);
    assert!(outcomes.iter().all(Result::is_ok));
    then("a batch", [0, 2, 0, 2 * len]);
    table.mutate_if(&Condition::NoRow, &put("d").into()).unwrap();
    then("a conditional put", [1, 1, 0, len]);
    let both = RowMutations::new("a").unwrap().with(put("a")).unwrap().with(put("a")).unwrap();
    table.mutate_row(&both).unwrap();
    then("mutations of a row", [0, 2, 0, 2 * len]);
    store.commit(&[(Arc::clone(&table), put("d").into())]).unwrap();
    then("a commit", [0, 1, 0, len]);
    let scan = |scan: Scan| {
        let mut scanner = table.scan(scan).unwrap();
        std::iter::from_fn(|| scanner.next().unwrap()).count()
    };
    assert_eq!(scan(Scan::all()), 4);
    then("a scan", [4, 0, 4 * len, 0]);
    assert_eq!(scan(Scan::new(RowRange::row(b"b"))), 1);
    then("a scan of a row", [1, 0, len, 0]);
    store
        .transact(|transaction| {
            transaction.get(&table, &get("a"))?;
            transaction.mutate(&table, put("e"))?;
            Ok(())
        })
        .unwrap();
    then("a transaction", [1, 1, len, len]);
    let increment = Increment::new("n").unwrap().add("g", "q", 1).unwrap();
    let increment_len = increment.cells().iter().map(|it| it.as_bytes().len() as u64).sum::<u64>();
    table.mutate(&increment.into()).unwrap();
    then("an increment", [0, 1, 0, increment_len]);
    table.mutate(&Delete::new("a").unwrap().into()).unwrap();
    then("a delete of a row", [0, 1, 0, 0]);

    let [f, g] = region.family_requests().try_into().unwrap();
    let FamilyRequests { family, reads, writes, read_bytes, written_bytes, .. } = f;
    assert_eq!(family, "f");
    assert_eq!([reads, read_bytes], [8, 8 * len]);
    assert_eq!([writes, written_bytes], [8, 8 * len]);
    assert_eq!((&g.family[..], g.reads, g.writes), (&b"g"[..], 0, 1));
    assert_eq!((g.read_bytes, g.written_bytes), (0, increment_len));
    assert!(!heat(&table).is_sampled);
}

#[test]
fn rows_of_several_families_count_in_each() {
    let (_dir, _, _store, table) = created();
    for row in 0..10 {
        let put = put(&format!("r{row}")).add("g", "longer", "another value").unwrap();
        table.mutate(&put.into()).unwrap();
    }
    table.get(&get("r1")).unwrap();
    let mut scanner = table.scan(Scan::all()).unwrap();
    while scanner.next().unwrap().is_some() {}
    drop(scanner);
    let region = &table.regions()[0];
    let all = region.requests();
    let families = region.family_requests();
    assert_eq!(families.iter().map(|it| (it.reads, it.writes)).collect::<Vec<_>>(), [(11, 10); 2]);
    let [read, written] = [all.read_bytes, all.written_bytes];
    assert_eq!(families.iter().map(|it| it.read_bytes).sum::<u64>(), read);
    assert_eq!(families.iter().map(|it| it.written_bytes).sum::<u64>(), written);
    assert!(families[1].written_bytes > families[0].written_bytes);
}

#[test]
fn the_hottest_row_has_a_range_and_a_place_of_its_own() {
    let (_dir, _, _store, table) = created();
    for round in 0..1500 {
        table.mutate(&put(&format!("row{:03}", round * 7 % 500)).into()).unwrap();
        table.get(&get("row123")).unwrap();
    }
    let report = heat(&table);
    let hottest = &report.hot_rows[0];
    assert_eq!(hottest.row, "row123");
    // Within a tenth of a second, so that most requests count for several.
    assert!(report.is_sampled);
    assert!((1200..1800).contains(&hottest.requests_min()), "{hottest:?}");
    let column = report.columns.last().unwrap();
    let place = column.buckets.iter().position(|it| it.start == "row123").unwrap();
    assert_eq!(column.buckets[place + 1].start, &b"row123\0"[..]);
    assert!(column.buckets[place].reads > 1000);
}

#[test]
fn heat_survives_splits_merges_and_reopens_but_not_truncation() {
    let (dir, clock, store, table) = created();
    for row in ["a", "k", "x"] {
        table.mutate(&put(row).into()).unwrap();
    }
    let region = table.regions()[0].name().full.clone();
    store.split_region(&region, Some(Bytes::from("k"))).unwrap();
    let split = store.table(&name()).unwrap();
    assert_eq!(split.regions().len(), 2);
    for row in ["a", "k", "x"] {
        split.mutate(&put(row).into()).unwrap();
    }
    assert_eq!(sums(&heat(&split))[1], 6);
    assert_eq!(heat(&split), heat(&table), "also by the handle from before");
    clock.add(3 * MINUTE);
    split.get(&get("x")).unwrap();
    drop((table, split));
    store.close().unwrap();
    assert!(dir.path().join("heat").exists());

    let store = open(&dir, &clock);
    let table = store.table(&name()).unwrap();
    let report = heat(&table);
    assert_eq!((sums(&report)[0], sums(&report)[1]), (1, 6));
    let starts = report.columns.iter().map(|it| it.start_millis).collect::<Vec<_>>();
    assert_eq!(starts, [1_000 * MINUTE, 1_003 * MINUTE]);
    assert_eq!(table.heat(1_001 * MINUTE, i64::MAX).columns.len(), 1);

    store.disable_table(&name()).unwrap();
    store.truncate_table(&name(), true).unwrap();
    let table = store.table(&name()).unwrap();
    assert!(heat(&table).columns.is_empty());
    store.close().unwrap();
    let store = open(&dir, &clock);
    assert!(heat(&store.table(&name()).unwrap()).columns.is_empty());
}

#[test]
fn the_file_disturbs_no_tool_and_damage_to_it_no_open() {
    let (dir, clock, store, table) = created();
    table.mutate(&put("a").into()).unwrap();
    store.close().unwrap();
    let file = dir.path().join("heat");
    let whole = std::fs::read(&file).unwrap();
    let mut newer = whole.clone();
    newer[8] += 1;
    for bytes in [&whole[..], &whole[..20], b"", &newer] {
        std::fs::write(&file, bytes).unwrap();
        let report = check(dir.path(), |_| {}).unwrap();
        assert!(report.problems.is_empty() && report.strangers.is_empty(), "{report:?}");
        let copy = tempfile::tempdir().unwrap();
        copy_store(dir.path(), copy.path().join("copy"), |_| {}).unwrap();
        let store = open(&dir, &clock);
        let table = store.table(&name()).unwrap();
        let reads = sums(&heat(&table))[1];
        assert_eq!(reads, u64::from(bytes == &whole[..]), "{}", bytes.len());
        store.close().unwrap();
    }
}

#[test]
fn upkeep_of_indexes_reads_nothing_and_entries_count_as_writes_of_their_table() {
    let dir = tempfile::tempdir().unwrap();
    let clock = SetClock::new();
    let store = open(&dir, &clock);
    let mail = TableName::parse("mail").unwrap();
    let descriptor = TableDescriptor::new(mail.clone())
        .family(FamilyDescriptor::new("d").unwrap())
        .attribute(KEY_ATTRIBUTE, "1 [user text]")
        .attribute(COLUMNS_ATTRIBUTE, "1 d:e email text")
        .attribute(INDEXES_ATTRIBUTE, "1 by_email [email] unique");
    store.create_table(descriptor, &[]).unwrap();
    let table = store.table(&mail).unwrap();
    for user in ["ann", "bob"] {
        let put = Put::new(user).unwrap().add("d", "e", format!("{user}@x")).unwrap();
        table.mutate(&Mutation::from(put)).unwrap();
    }
    assert_eq!(counts(&table)[..2], [0, 2]);
    let is_index = |it: &&Arc<Table>| it.name() != &mail;
    let entries = store.tables().iter().find(is_index).cloned().unwrap();
    assert_eq!(counts(&entries)[..2], [0, 2]);
    assert_eq!(sums(&heat(&entries)), counts(&entries));
}

#[test]
fn a_store_without_heat_counts_requests_only() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { heat: false, ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    let family = FamilyDescriptor::new("f").unwrap();
    store.create_table(TableDescriptor::new(name()).family(family), &[]).unwrap();
    let table = store.table(&name()).unwrap();
    table.mutate(&put("a").into()).unwrap();
    table.get(&get("a")).unwrap();
    assert_eq!(counts(&table), [1, 1, 0, 0]);
    assert_eq!(heat(&table), HeatReport::default());
    store.close().unwrap();
    assert!(!dir.path().join("heat").exists());
}
