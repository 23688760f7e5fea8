//! Scans with a query: each returns what the same scan returns from a table that holds only the
//! rows that match, whether it is read by the key or by an index.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use rowhouse_model::{
    Delete, ErrorKind, FamilyDescriptor, Filter, Put, Row, RowRange, Scan, TableDescriptor,
    TableName, TimeRange, Timestamp, escape,
};
use rowhouse_query::{QueryScan, scan_region};
use rowhouse_store::{RegionScanner, ScanLimits, Scanned, Store, Table};

const KEY: &str = "1 [user text]-[n digits 2]";
const COLUMNS: &str = "1 d:s sender string; d:z size u64; e:n note string";
const INDEXES: &str =
    "1 by_sender [sender]; by_size [size desc] covers note, size; noted [note][n]";
const SPLITS: [&str; 2] = ["u10", "u2"];

/// A test row. `None` is a column without a cell.
#[derive(Clone)]
struct Mail {
    user: String,
    n: u8,
    sender: String,
    size: Option<u64>,
    note: Option<&'static str>,
}

/// A query, and which rows match it.
type Question = (&'static str, fn(&Mail) -> bool);

const QUESTIONS: &[Question] = &[
    ("sender = 'eve'", |it| it.sender == "eve"),
    ("sender = 'eve' and n > 5", |it| it.sender == "eve" && it.n > 5),
    ("sender = 'eve' and size < 500", |it| it.sender == "eve" && it.size.is_some_and(|z| z < 500)),
    ("size > 990", |it| it.size.is_some_and(|size| size > 990)),
    ("size > 300", |it| it.size.is_some_and(|size| size > 300)),
    ("size is null", |it| it.size.is_none()),
    ("size is null and user = 'u7'", |it| it.size.is_none() && it.user == "u7"),
    ("note = 'rare'", |it| it.note == Some("rare")),
    ("note in ('rare', 'odd') and n in (1, 2, 7)", |it| {
        it.note.is_some() && [1, 2, 7].contains(&it.n)
    }),
    ("user starts with 'u1'", |it| it.user.starts_with("u1")),
    ("user in ('u3', 'u12', 'u29') and n >= 8", |it| {
        ["u3", "u12", "u29"].contains(&&it.user[..]) && it.n >= 8
    }),
    ("n = 4", |it| it.n == 4),
    ("user = 'nobody'", |_| false),
    ("sender = 'nobody'", |_| false),
];

const FILTERS: &[&str] = &[
    "PageFilter(3)",
    "FirstKeyOnlyFilter()",
    "QualifierFilter(>=, 'binary:s')",
    "SingleColumnValueFilter('d', 's', =, 'binary:eve', true, true)",
    "WHILE RowFilter(!=, 'binary:u15-04')",
    "ColumnPaginationFilter(1, 1)",
];

fn name(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

fn descriptor(table: &str) -> TableDescriptor {
    let family = |name: &'static str| FamilyDescriptor::new(name).unwrap();
    TableDescriptor::new(name(table))
        .family(family("d"))
        .family(family("e").versions(3))
        .attribute("rowhouse.key", KEY)
        .attribute("rowhouse.columns", COLUMNS)
}

fn mails() -> Vec<Mail> {
    let mut mails = Vec::new();
    for number in 0u64..900 {
        let seed = number.wrapping_mul(2_654_435_761) % 1009;
        mails.push(Mail {
            user: format!("u{}", number / 30),
            n: (number % 30) as u8,
            sender: if seed % 80 == 3 { "eve".to_owned() } else { format!("x{}", seed % 7) },
            size: (!seed.is_multiple_of(9)).then_some(seed),
            note: [Some("rare"), Some("odd")].get(seed as usize % 200).copied().flatten(),
        });
    }
    mails
}

fn put(table: &Table, mail: &Mail, at: i64) {
    let at = Timestamp::from_millis(at).unwrap();
    let row = format!("{}-{:02}", mail.user, mail.n);
    let mut put = Put::new(row).unwrap().add_at("d", "s", at, mail.sender.clone()).unwrap();
    if let Some(size) = mail.size {
        put = put.add_at("d", "z", at, size.to_be_bytes()).unwrap();
    }
    if let Some(note) = mail.note {
        put = put.add_at("e", "n", at, note).unwrap();
    }
    table.mutate(&put.add_at("e", "text", at, "text").unwrap().into()).unwrap();
}

fn regions(store: &Store, table: &str) -> Vec<Arc<rowhouse_store::Region>> {
    store.table(&name(table)).unwrap().regions().to_vec()
}

fn ready(store: &Store, table: &str, index: &str) {
    let until = Instant::now() + Duration::from_secs(60);
    while !store.index_state(&name(table), index).unwrap().is_ready() {
        assert!(Instant::now() < until, "index {index} is not built");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Tables with and without indexes, and a table for each element in `questions` that holds only the
/// matching rows. Each row was written twice, some cells are in files, and some rows are deleted.
fn store(dir: &std::path::Path, questions: &[Question]) -> Store {
    let store = Store::open(dir).unwrap();
    let splits = SPLITS.map(Into::into);
    let indexed = descriptor("indexed").attribute("rowhouse.indexes", INDEXES);
    store.create_table(indexed, &splits).unwrap();
    store.create_table(descriptor("plain"), &splits).unwrap();
    let mails = mails();
    let mut tables = vec![(name("indexed"), mails.clone()), (name("plain"), mails.clone())];
    for (nth, (_, matches)) in questions.iter().enumerate() {
        let table = format!("only{nth}");
        store.create_table(descriptor(&table), &splits).unwrap();
        tables.push((name(&table), mails.iter().filter(|mail| matches(mail)).cloned().collect()));
    }
    for (table, mails) in tables {
        let table = store.table(&table).unwrap();
        for mail in &mails {
            put(&table, &Mail { sender: "before".into(), ..mail.clone() }, 1);
        }
        table.flush().unwrap();
        mails.iter().for_each(|mail| put(&table, mail, 2));
        if !table.name().to_string().starts_with("only") {
            // Keys that do not fit, a value that does not, and a deleted row.
            for row in ["no fit", "u5-x"] {
                let put = Put::new(row).unwrap().add("d", "s", "eve").unwrap();
                table.mutate(&put.add("d", "z", "eve").unwrap().into()).unwrap();
            }
            table.mutate(&Put::new("v6-50").unwrap().add("d", "s", "eve").unwrap().into()).unwrap();
            let misfit = Put::new("v5-40").unwrap().add("d", "z", "eve").unwrap();
            table.mutate(&misfit.into()).unwrap();
            table.mutate(&Delete::new("v6-50").unwrap().into()).unwrap();
        }
    }
    for index in ["by_sender", "by_size", "noted"] {
        ready(&store, "indexed", index);
    }
    store
}

fn scan() -> impl Strategy<Value = Scan> {
    let row = || prop_oneof![2 => Just(String::new()), 3 => "u[0-3][0-9]?-[0-3]"];
    let columns =
        prop::sample::subsequence(vec![("d", "s"), ("d", "z"), ("e", ""), ("e", "n")], 0..3);
    let filter = prop::option::weighted(0.4, prop::sample::select(FILTERS.to_vec()));
    (
        (row(), row(), any::<bool>()),
        (columns, filter),
        (prop::option::weighted(0.3, 0u64..20), prop::option::weighted(0.2, 1u32..3)),
        (prop::option::weighted(0.2, 0u32..3), 1u32..3, any::<bool>()),
    )
        .prop_map(|((start, stop, reversed), (columns, filter), (limit, batch), rest)| {
            let (family_limit, versions, has_times) = rest;
            let mut scan = Scan::new(RowRange::new(start, stop)).versions(versions);
            for (family, qualifier) in columns {
                scan = match qualifier {
                    "" => scan.family(family),
                    _ => scan.column(family, qualifier),
                };
            }
            scan.filter = filter.map(|filter| Box::new(Filter::parse(filter).unwrap()));
            (scan.reversed, scan.limit, scan.family_limit) = (reversed, limit, family_limit);
            if scan.filter.is_none() {
                scan.batch = batch;
            }
            if has_times {
                let [from, to] = [0, 1 << 50].map(|at| Timestamp::from_millis(at).unwrap());
                scan.time_range = TimeRange::new(from, to).unwrap();
            }
            scan
        })
}

fn rows(scanner: &mut RegionScanner, bytes: u64) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    loop {
        match scanner.next_part(&ScanLimits { bytes, until: None }).unwrap() {
            Scanned::Row { row, .. } => rows.push(row),
            Scanned::Paused(_) => {}
            Scanned::End => return rows,
        }
        scanner.follow_flushes().unwrap();
    }
}

/// Returns each result's cells.
fn cells(rows: &[Row]) -> Vec<Vec<String>> {
    let text = |cell: rowhouse_model::KeyValue<'_>| {
        let [row, family, qualifier] = [cell.row(), cell.family(), cell.qualifier()].map(escape);
        format!("{row} {family}:{qualifier} {:?} {}", cell.timestamp(), escape(cell.value()))
    };
    rows.iter().map(|row| row.cells().map(text).collect()).collect()
}

#[test]
fn a_scan_with_a_query_is_the_same_scan_of_the_rows_that_match() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), QUESTIONS);
    let cases = Config { cases: 300, failure_persistence: None, ..Config::default() };
    let questions = 0..QUESTIONS.len();
    let result = TestRunner::new(cases).run(&(scan(), questions), |(scan, nth)| {
        let query = QUESTIONS[nth].0;
        let of = |table: &str| regions(&store, table);
        let only = of(&format!("only{nth}"));
        for ((only, indexed), plain) in only.iter().zip(of("indexed")).zip(of("plain")) {
            let expected = cells(&rows(&mut only.scan(&scan).unwrap(), u64::MAX));
            let query_scan =
                QueryScan { query, scan: &scan, limit: scan.limit, as_of: 0, ignores_tags: true };
            for region in [indexed, plain] {
                let scanner = scan_region(&store, None, &region, &query_scan);
                let mut scanner =
                    scanner.map_err(|error| TestCaseError::fail(error.to_string()))?;
                let returned = rows(&mut scanner, u64::MAX);
                prop_assert_eq!(&cells(&returned), &expected, "{} by {}", query, region.name());
            }
        }
        Ok(())
    });
    result.unwrap();
}

/// Returns how many rows a query on the first region looks at, and how many it returns.
fn looked_at(
    store: &Store,
    table: &str,
    query: &str,
    scan: &Scan,
    limit: Option<u64>,
) -> (u64, usize) {
    let query_scan = QueryScan { query, scan, limit, as_of: 0, ignores_tags: true };
    let mut scanner = scan_region(store, None, &regions(store, table)[2], &query_scan).unwrap();
    let mut rows = 0;
    while scanner.next().unwrap().is_some() {
        rows += 1;
    }
    (scanner.progress().rows_scanned, rows)
}

#[test]
fn an_index_is_read_where_that_reads_less() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), &[]);
    let all = Scan::all();
    let (by_key, rows) = looked_at(&store, "plain", "sender = 'eve'", &all, None);
    assert!(by_key > 400 && rows > 0, "{by_key} {rows}");
    assert_eq!(looked_at(&store, "indexed", "sender = 'eve'", &all, None), (rows as u64, rows));
    // Many rows match, or the first few that do are soon found.
    assert!(looked_at(&store, "indexed", "size > 300", &all, None).0 > 400);
    // Index entries do not record other times.
    let times = TimeRange::new(Timestamp::MIN, Timestamp::from_millis(1 << 50).unwrap()).unwrap();
    for scan in [all.clone().versions(2), all.time_range(times)] {
        assert!(looked_at(&store, "indexed", "sender = 'eve'", &scan, None).0 > 400);
    }
}

#[test]
fn scans_are_answered_by_the_entries_that_cover_them() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), &[]);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let at = Timestamp::from_millis(now.try_into().unwrap()).unwrap();
    for table in ["indexed", "plain"] {
        let table = store.table(&name(table)).unwrap();
        for mail in mails().iter().filter(|mail| mail.size.is_some_and(|size| size > 1000)) {
            // A value that hides another for a while has a certain entry, the other has not.
            let row = format!("{}-{:02}", mail.user, mail.n);
            let put = Put::new(row).unwrap().add_at("d", "z", at, 993u64.to_be_bytes()).unwrap();
            let mut put = put.add_at("e", "n", at, "hides another").unwrap();
            put.ttl_millis = Some(if mail.n % 2 == 0 { 1 } else { 10_000_000 });
            table.mutate(&put.into()).unwrap();
        }
    }
    std::thread::sleep(Duration::from_millis(20));
    let scan_of = |columns: &[(&'static str, &'static str)], reversed| {
        let scan = Scan { reversed, ..Scan::all() };
        columns.iter().fold(scan, |scan, (family, name)| scan.column(*family, *name))
    };
    let query = "size > 990";
    let columns = [("d", "z"), ("e", "n")];
    let mut read = 0;
    let mut returned = 0;
    for columns in [&columns[..1], &columns[1..], &columns[..]] {
        for (reversed, limit) in [(false, None), (true, None), (false, Some(3)), (true, Some(3))] {
            let scan = Scan { limit, ..scan_of(columns, reversed) };
            let of = |table: &str, bytes| -> (u64, Vec<Row>) {
                let request =
                    QueryScan { query, scan: &scan, limit: None, as_of: 0, ignores_tags: true };
                let mut read = 0;
                let mut all = Vec::new();
                // The first region is so small that the key is cheap.
                for region in &regions(&store, table)[1..] {
                    let mut scanner = scan_region(&store, None, region, &request).unwrap();
                    all.extend(rows(&mut scanner, bytes));
                    read += scanner.progress().rows_scanned;
                }
                (read, all)
            };
            for bytes in [1, 40, u64::MAX] {
                let (rows_read, rows) = of("indexed", bytes);
                let expected = cells(&of("plain", bytes).1);
                assert_eq!(cells(&rows), expected, "{scan:?} bytes={bytes}");
                match bytes {
                    // Only a row that is read is returned in parts.
                    1 => assert!(rows_read as usize * columns.len() >= rows.len()),
                    u64::MAX => {
                        read += rows_read;
                        returned += rows.len() as u64;
                    }
                    _ => {}
                }
            }
        }
    }
    // How many are read depends on the times at which the rows were written.
    assert!(read > 0 && read * 2 < returned, "{read} rows were read, and {returned} returned");

    let looked_at = |scan: &Scan, ignores_tags| {
        let query_scan = QueryScan { query, scan, limit: None, as_of: 0, ignores_tags };
        let region = &regions(&store, "indexed")[2];
        let mut scanner = scan_region(&store, None, region, &query_scan).unwrap();
        let rows = std::iter::from_fn(|| scanner.next().unwrap()).count() as u64;
        assert!(rows > 3);
        (scanner.progress().rows_scanned, rows)
    };
    let covered = scan_of(&columns, false);
    let (read, rows) = looked_at(&covered, true);
    assert!(read < rows, "{read} {rows}");
    let filter = Some(Box::new(Filter::parse("QualifierFilter(>=, 'binary:a')").unwrap()));
    let by_rows = [
        Scan { filter, ..covered.clone() },
        Scan { batch: Some(5), ..covered.clone() },
        Scan { family_limit: Some(5), ..covered.clone() },
        covered.clone().column("d", "s"),
        Scan::all().family("e"),
        Scan::all(),
    ];
    for (scan, ignores_tags) in by_rows.iter().map(|scan| (scan, true)).chain([(&covered, false)]) {
        let (read, rows) = looked_at(scan, ignores_tags);
        assert!(read >= rows, "{scan:?}: {read} {rows}");
    }
}

#[test]
fn a_scan_of_covered_rows_pauses_after_the_rows_that_it_has_returned() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), &[]);
    let region = &regions(&store, "indexed")[2];
    for reversed in [false, true] {
        let scan = Scan { reversed, ..Scan::all() }.column("d", "z").column("e", "n");
        let query = "size > 860";
        let query_scan =
            QueryScan { query, scan: &scan, limit: None, as_of: 0, ignores_tags: true };
        let mut scanner = scan_region(&store, None, region, &query_scan).unwrap();
        let over = ScanLimits { until: Some(Instant::now()), ..ScanLimits::NONE };
        let mut last = None;
        let mut pauses = 0;
        loop {
            match scanner.next_part(&over).unwrap() {
                Scanned::Row { row, .. } => last = Some(row.key().to_vec()),
                Scanned::Paused(at) => {
                    let Some(last) = &last else { continue };
                    assert!(if reversed { at <= last } else { at >= last }, "{at:?} {last:?}");
                    pauses += 1;
                }
                Scanned::End => break,
            }
        }
        assert!(pauses > 0);
        assert_eq!(scanner.progress().rows_scanned, 0);
    }
}

#[test]
fn a_scanner_reads_on_at_its_read_point_while_memstores_are_flushed() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path(), &[]);
    let of_both = |query| [(query, false), (query, true)];
    for (query, reversed) in ["sender = 'eve'", "size > 300"].into_iter().flat_map(of_both) {
        let scan = Scan { reversed, ..Scan::all() };
        let query_scan =
            QueryScan { query, scan: &scan, limit: None, as_of: 0, ignores_tags: true };
        let region = &regions(&store, "indexed")[2];
        let expected =
            cells(&rows(&mut scan_region(&store, None, region, &query_scan).unwrap(), u64::MAX));
        let mut scanner = scan_region(&store, None, region, &query_scan).unwrap();
        let first = scanner.next().unwrap().unwrap();
        let table = store.table(&name("indexed")).unwrap();
        for mail in mails() {
            put(&table, &Mail { sender: "late".into(), size: None, ..mail }, 3);
        }
        table.flush().unwrap();
        store.table(&name("indexed.by_sender")).unwrap().flush().unwrap();
        let rest = rows(&mut scanner, 1);
        assert_eq!(
            cells(&[first].into_iter().chain(rest).collect::<Vec<_>>()).concat(),
            expected.concat()
        );
        mails().iter().for_each(|mail| put(&table, mail, 4));
    }
}

#[test]
fn a_query_that_is_wrong_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_table(descriptor("t"), &[]).unwrap();
    let family = FamilyDescriptor::new("d").unwrap();
    store.create_table(TableDescriptor::new(name("bare")).family(family), &[]).unwrap();
    let refused = |table: &str, query: &str| {
        let scan = Scan::all();
        let query_scan =
            QueryScan { query, scan: &scan, limit: None, as_of: 0, ignores_tags: true };
        let error =
            scan_region(&store, None, &regions(&store, table)[0], &query_scan).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        error.to_string()
    };
    assert!(refused("t", "sendr = 'eve'").contains("did you mean `sender`?"));
    assert!(refused("t", "sender = ").contains("sender ="));
    assert!(
        refused("bare", "user = 'eve'").contains("table bare has none: attribute=rowhouse.key")
    );
}

#[test]
fn words_are_not_searched_without_a_search_and_other_queries_of_the_table_are_answered() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let indexes = "1 text search sender english";
    let table = descriptor("t").attribute("rowhouse.indexes", indexes);
    store.create_table(table, &[]).unwrap();
    let table = store.table(&name("t")).unwrap();
    put(&table, &mails()[0], 1);
    let scan = Scan::all();
    let query = QueryScan {
        query: "sender matches 'eve'",
        scan: &scan,
        limit: None,
        as_of: 0,
        ignores_tags: true,
    };
    let error = scan_region(&store, None, &table.regions()[0], &query).err().unwrap();
    let why = "`matches` needs a program that is built with the feature `search`";
    assert!(error.kind() == ErrorKind::Unsupported && error.message().contains(why), "{error}");
    let query = QueryScan { query: "n >= 0", ..query };
    let mut rows = scan_region(&store, None, &table.regions()[0], &query).unwrap();
    assert!(rows.next().unwrap().is_some());
}
