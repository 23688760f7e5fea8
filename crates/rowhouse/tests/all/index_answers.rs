//! The law for queries by indexes, on disk and in memory: they answer as the same query by the key.
//! Random rows change between random queries.

use std::time::Duration;

use rowhouse::query::{Predicate, Query, QueryRow};
use rowhouse::{
    Columns, Database, Delete, Get, Mutation, Row, Scan, Table, TableSpec, Timestamp, Transaction,
};
use rowhouse_query::{QueryScan, StoreQuery, scan_region};
use rowhouse_store::Store;

use crate::support::{Random, on_both};

const KEYS: [&str; 3] = [
    "[user string][n u8]",
    "[bucket 4 of user][user string][n u8]",
    "[n u8][hash 1 of n][user text]",
];
const COLUMNS: &str = "d:s sender string; d:z size u16; d:m mood enum(good,bad); \
                       f:[tag string] tagged u8; f:!x extra u8; g:[at u8][kind u8] event u8";
const INDEXES: &str = "by_sender [sender]
    by_sender_or_none [sender null first] memory
    large [size desc] covers sender, size where size > 300
    by_both [sender][size] memory covers size
    by_mood_and_size [mood null last][size desc null last] covers mood, extra
    by_tag [tagged.tag] memory
    by_kind [event.kind][size null first]
    by_n [n] memory
    in_buckets [bucket 4 of sender][sender][n desc]
    by_part [sender xxh3 2][user]
    copied [n desc][user] covers *
    in_buckets_of_n [bucket 3 of n][user] covers *";
const TEMPLATED: [&str; 2] = ["by_tag", "by_kind"];

/// Rows that no query but the widest returns: they make reads by the key cost more.
const OTHERS: u64 = 400;

/// Opens an empty database.
async fn seeded(seed: u64) -> (tempfile::TempDir, Database, Random) {
    println!("seed {seed}");
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
    (dir, database, Random::new(seed))
}

async fn table(database: &Database, key: &str) -> Table {
    table_with(database, key, INDEXES).await
}

async fn table_with(database: &Database, key: &str, indexes: &str) -> Table {
    let spec = TableSpec::new("mail").key(key).columns(COLUMNS).indexes(indexes);
    let table = database.create_table(spec.family("d").family("f").family("g")).await.unwrap();
    let puts = (0..OTHERS).map(|nth| -> Mutation {
        let key = [("user", format!("other{nth}").into()), ("n", (nth % 200).into())];
        let row = table.row(&key).set_named("sender", "zz").set_named("size", 7);
        row.set_named("mood", "good").into_put().unwrap().into()
    });
    for outcome in table.batch(puts.collect()).await {
        outcome.unwrap();
    }
    table
}

fn senders() -> [&'static str; 4] {
    ["ann", "an", "eve", "zoë"]
}

/// Changes a row.
async fn change(table: &Table, random: &mut Random) {
    let (mutation, is_short) = mutation(table, random);
    table.mutate(mutation).await.unwrap();
    if is_short {
        // Timestamps may run ahead of the clock by a few milliseconds.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns a change to a row, most often to some columns, and whether it ends at once.
fn mutation(table: &Table, random: &mut Random) -> (Mutation, bool) {
    let user = random.one_of(&["ann", "bob", "b", "eve"]);
    let key = [("user", user.into()), ("n", random.below(6).into())];
    if random.is(2) {
        let delete = Delete::new(table.key(&key).unwrap()).unwrap();
        let delete = match random.below(3) {
            0 => delete,
            1 => delete.column("d", "s", Timestamp::LATEST).unwrap(),
            _ => delete.family("f", Timestamp::LATEST).unwrap(),
        };
        return (delete.into(), false);
    }
    let mut row = table.row(&key);
    let mut is_empty = true;
    for nth in 0..7 {
        if !random.is(4) && (nth < 6 || !is_empty) {
            continue;
        }
        is_empty = false;
        row = match nth {
            0 => row.set_named("sender", random.one_of(&senders())),
            // A value that does not have the column's type.
            1 if random.is(1) => row.set("d", "z", "many"),
            1 => row.set_named("size", random.below(8) * 100),
            2 => row.set_named("mood", random.one_of(&["good", "bad"])),
            3 | 4 => row.set("f", &format!("{}\0\u{1}", random.one_of(&["a", "b", "c"])), "1"),
            5 => {
                let at = random.below(3) as u8;
                let kind = random.below(4) as u8;
                row.set("g", &String::from_utf8(vec![at, kind]).unwrap(), "2")
            }
            _ => row.set_named("extra", 5),
        };
    }
    let mut put = row.into_put().unwrap();
    // It ends before the next query, or after the test.
    let is_short = random.is(1);
    put.ttl_millis = if is_short { Some(1) } else { random.is(1).then_some(1_000_000) };
    (put.into(), is_short)
}

/// A query that can be run several times.
struct RandomQuery {
    text: String,
    columns: Columns,
    reversed: bool,
}

impl RandomQuery {
    fn random(random: &mut Random) -> Self {
        let size = random.below(8) * 100;
        let conditions = |random: &mut Random| match random.below(16) {
            0 => format!("sender = '{}'", random.one_of(&senders())),
            1 => format!("sender in ('{}', 'eve')", random.one_of(&senders())),
            2 => format!("sender < '{}'", random.one_of(&senders())),
            3 => format!("sender starts with '{}'", random.one_of(&["a", "z", ""])),
            4 => format!("size > {size}"),
            5 => format!("size between 100 and {size}"),
            6 => format!("size = {size}"),
            7 => "mood = 'bad'".to_owned(),
            8 => "mood is null".to_owned(),
            9 => "sender is null".to_owned(),
            10 => "sender is not null".to_owned(),
            11 => format!("user = '{}'", random.one_of(&["ann", "b", "eve"])),
            12 => format!("n = {}", random.below(6)),
            13 => format!("n >= {}", random.below(6)),
            14 => format!("tagged.tag >= '{}'", random.one_of(&["a", "b", "c"])),
            _ => format!("event.kind = {}", random.below(4)),
        };
        let count = 1 + random.below(3);
        let texts: Vec<_> = (0..count).map(|_| conditions(random)).collect();
        let mut columns = Columns::all();
        match random.below(8) {
            0 => columns.add_column("d", "s"),
            1 => columns.add_column("d", "z"),
            2 => {
                columns.add_column("d", "s");
                columns.add_column("d", "z");
            }
            3 => columns.add_family("f"),
            4 => columns.add_family("g"),
            5 => {
                columns.add_column("d", "m");
                columns.add_column("f", "!x");
            }
            _ => {}
        }
        Self { text: texts.join(" and "), columns, reversed: random.is(3) }
    }

    fn of<'t>(&self, table: &'t Table) -> Query<'t> {
        let query = table.query(&self.text).columns(self.columns.clone());
        if self.reversed { query.reversed() } else { query }
    }
}

async fn rows(query: Query<'_>) -> Vec<QueryRow> {
    query.rows().await.unwrap().collect().await.unwrap()
}

/// Reads all pages, with `len` rows each.
async fn pages<'t>(new_query: impl Fn() -> Query<'t>, len: usize) -> Vec<QueryRow> {
    let mut all = Vec::new();
    let mut token = None::<String>;
    loop {
        let query = match &token {
            Some(token) => new_query().after(token),
            None => new_query(),
        };
        let page = query.page(len).await.unwrap();
        all.extend(page.rows);
        token = page.next;
        if token.is_none() {
            return all;
        }
    }
}

#[track_caller]
fn assert_same(actual: &[QueryRow], expected: &[QueryRow], why: &str) {
    let keys = |rows: &[QueryRow]| -> Vec<_> { rows.iter().map(ToString::to_string).collect() };
    assert_eq!(keys(actual), keys(expected), "{why}");
    for (actual, expected) in actual.iter().zip(expected) {
        // Cells that an entry covers have neither sequence number nor tags.
        let cells = |row: &QueryRow| -> Vec<_> {
            let cells = row.row().cells();
            let cells =
                cells.map(|cell| (cell.family(), cell.qualifier(), cell.timestamp(), cell.value()));
            cells.map(|cell| format!("{cell:?}")).collect()
        };
        assert_eq!(cells(actual), cells(expected), "{why}");
        assert_eq!(actual.values().ok(), expected.values().ok(), "{why}");
    }
}

/// Compares the keys and the row count, which are read without the cells that are not needed.
async fn assert_keys<'t>(
    new_query: impl Fn() -> Query<'t>,
    len: usize,
    rows: &[QueryRow],
    why: &str,
) {
    let expected: Vec<_> = rows.iter().map(|row| row.key_bytes().to_vec()).collect();
    assert_eq!(new_query().keys().await.unwrap(), expected, "{why}, keys");
    assert_eq!(new_query().count().await.unwrap(), expected.len() as u64, "{why}, count");
    let first = new_query().keys_page(len).await.unwrap();
    assert_eq!(first.keys, expected[..len.min(expected.len())], "{why}, a page of keys");
    assert_eq!(first.next.is_some(), expected.len() > len, "{why}, a page of keys");
}

fn sorted(mut rows: Vec<QueryRow>) -> Vec<QueryRow> {
    rows.sort_by(|a, b| a.key_bytes().cmp(b.key_bytes()));
    rows
}

/// Runs a query in every way; returns how many indexes answered it.
async fn compare(table: &Table, query: &RandomQuery, random: &mut Random) -> (usize, bool) {
    let why = format!("{} {:?} reversed={}", query.text, query.columns, query.reversed);
    let expected = rows(query.of(table).using_key()).await;
    let chosen = query.of(table).rows().await.unwrap();
    let is_by_index = chosen.index().is_some();
    assert_same(&chosen.collect().await.unwrap(), &expected, &format!("{why}, as chosen"));

    let len = expected.len() / 6 + 1 + random.below(5) as usize;
    assert_keys(|| query.of(table), len, &expected, &why).await;
    assert_keys(|| query.of(table).using_key(), len, &expected, &format!("{why}, by key")).await;
    let skipped = random.below(4);
    assert_same(&pages(|| query.of(table), len).await, &expected, &format!("{why}, by pages"));
    let part = rows(query.of(table).offset(skipped).limit(len as u64)).await;
    let expected_part = expected.iter().skip(skipped as usize).take(len).cloned();
    assert_same(&part, &expected_part.collect::<Vec<_>>(), &format!("{why}, a part"));

    let mut answering = 0;
    let expected = sorted(expected);
    for index in INDEXES.lines().map(|line| line.trim().split(' ').next().unwrap()) {
        let using = || query.of(table).using(index);
        if let Err(error) = using().explain_access().await {
            assert!(error.message().contains("cannot serve the query"), "{error}");
            continue;
        }
        answering += 1;
        let why = format!("{why}, using {index}");
        let by_index = rows(using()).await;
        assert_same(&sorted(by_index.clone()), &expected, &why);
        if random.is(3) {
            assert_keys(using, len, &by_index, &why).await;
        }
        assert_same(&pages(using, len).await, &by_index, &format!("{why}, by pages"));
        let part = rows(using().offset(skipped).limit(len as u64)).await;
        let part_by_index: Vec<_> =
            by_index.iter().skip(skipped as usize).take(len).cloned().collect();
        assert_same(&part, &part_by_index, &format!("{why}, a part"));
        if !TEMPLATED.contains(&index) && !query.reversed {
            let mut backward = rows(using().reversed()).await;
            backward.reverse();
            assert_same(&backward, &by_index, &format!("{why}, backward"));
        }
    }
    (answering, is_by_index)
}

/// Runs a query within a transaction in every way, also for a part of the rows; returns how many
/// indexes answered it.
fn compare_within(
    transaction: &mut Transaction<'_>,
    table: &Table,
    query: &RandomQuery,
    random: &mut Random,
) -> (Vec<QueryRow>, usize) {
    let why = format!("{} {:?} reversed={}", query.text, query.columns, query.reversed);
    let expected = transaction.query(query.of(table).using_key()).unwrap();
    let chosen = transaction.query(query.of(table)).unwrap();
    assert_same(&chosen, &expected, &format!("{why}, as chosen in a transaction"));
    let skipped = random.below(4);
    let len = random.below(5);
    let part = transaction.query(query.of(table).offset(skipped).limit(len)).unwrap();
    let expected_part = expected.iter().skip(skipped as usize).take(len as usize).cloned();
    assert_same(&part, &expected_part.collect::<Vec<_>>(), &format!("{why}, a part within"));
    let mut answering = 0;
    for index in INDEXES.lines().map(|line| line.trim().split(' ').next().unwrap()) {
        let using = || query.of(table).using(index);
        let by_index = match transaction.query(using()) {
            Err(error) if error.message().contains("cannot serve the query") => continue,
            result => result.unwrap(),
        };
        answering += 1;
        let why = format!("{why}, using {index} in a transaction");
        assert_same(&sorted(by_index.clone()), &sorted(expected.clone()), &why);
        let part = transaction.query(using().offset(skipped).limit(len)).unwrap();
        let part_by_index = by_index.iter().skip(skipped as usize).take(len as usize).cloned();
        assert_same(&part, &part_by_index.collect::<Vec<_>>(), &format!("{why}, a part"));
        if !TEMPLATED.contains(&index) && !query.reversed {
            let mut backward = transaction.query(using().reversed()).unwrap();
            backward.reverse();
            assert_same(&backward, &by_index, &format!("{why}, backward"));
        }
    }
    (expected, answering)
}

/// Returns the keys that each index answers, in index order.
async fn in_order(table: &Table, query: &RandomQuery) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for index in INDEXES.lines().map(|line| line.trim().split(' ').next().unwrap()) {
        let rows = match query.of(table).using(index).rows().await {
            Ok(rows) => rows.collect().await.unwrap(),
            Err(_) => continue,
        };
        all.push(rows.iter().map(ToString::to_string).collect());
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_in_transactions_answer_as_by_the_key_and_as_after_the_commit() {
    for seed in 0..histories() {
        let (_dir, database, mut random) = seeded(seed).await;
        let table = table(&database, KEYS[random.below(3) as usize]).await;
        let mut answered = 0;
        for _ in 0..8 {
            for _ in 0..random.below(8) {
                change(&table, &mut random).await;
            }
            let seed = random.below(u64::MAX);
            let inside = table.clone();
            let (query, within, ordered, answering) = database
                .transact(move |transaction| {
                    let mut random = Random::new(seed);
                    let mut is_short = false;
                    for _ in 0..random.below(8) {
                        let (mutation, ends) = mutation(&inside, &mut random);
                        transaction.mutate(&inside, mutation)?;
                        is_short |= ends;
                    }
                    if is_short {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    let query = RandomQuery::random(&mut random);
                    let (within, answering) =
                        compare_within(transaction, &inside, &query, &mut random);
                    let mut ordered = Vec::new();
                    for index in INDEXES.lines() {
                        let index = index.trim().split(' ').next().unwrap();
                        let Ok(rows) = transaction.query(query.of(&inside).using(index)) else {
                            continue;
                        };
                        ordered.push(rows.iter().map(ToString::to_string).collect::<Vec<_>>());
                    }
                    Ok((query, within, ordered, answering))
                })
                .await
                .unwrap();
            answered += answering;
            let keys = |rows: &[QueryRow]| rows.iter().map(ToString::to_string).collect::<Vec<_>>();
            let after = rows(query.of(&table).using_key()).await;
            assert_eq!(keys(&within), keys(&after), "{}", query.text);
            assert_eq!(ordered, in_order(&table, &query).await, "{}", query.text);
        }
        assert!(answered > 0);
        database.close().await.unwrap();
    }
}

/// Returns how many queries were answered by an index that they do not name.
async fn history(database: Database, seed: u64, rounds: usize) -> usize {
    let mut random = Random::new(seed);
    let table = table(&database, KEYS[random.below(3) as usize]).await;
    let mut answered = 0;
    let mut chosen = 0;
    for _ in 0..rounds {
        for _ in 0..random.below(12) {
            change(&table, &mut random).await;
        }
        if random.is(2) {
            database.admin().flush("mail").await.unwrap();
        }
        let query = RandomQuery::random(&mut random);
        let (answering, is_by_index) = compare(&table, &query, &mut random).await;
        answered += answering;
        chosen += usize::from(is_by_index);
    }
    assert!(answered > 0);
    assert!(!table.exists(&Get::new("none").unwrap()).await.unwrap());
    chosen
}

/// How many histories run; `INDEX_ANSWERS` sets another.
fn histories() -> u64 {
    std::env::var("INDEX_ANSWERS").map_or(4, |histories| histories.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_by_indexes_answer_as_by_the_key() {
    let mut chosen = 0;
    for seed in 0..histories() {
        let dir = tempfile::tempdir().unwrap();
        let database = rowhouse::open(dir.path().to_str().unwrap()).await.unwrap();
        println!("seed {seed}");
        chosen += history(database.clone(), seed, 16).await;
        database.close().await.unwrap();
    }
    let least = 3 * histories() as usize;
    assert!(chosen >= least, "indexes were chosen unasked only {chosen} times");
}

/// A query that the library has answered.
struct Answered {
    text: String,
    limit: u64,
    access: String,
    rows: Vec<QueryRow>,
}

/// Compares the answers from a server's pages and from scans with a query with the library's
/// answers.
fn compare_with_store(store: &Store, answered: &Answered) {
    let Answered { text, limit, access, rows } = answered;
    let table = rowhouse::schema::TableName::parse("mail").unwrap();
    let query = StoreQuery::new(store, &table, text).unwrap().limit(*limit);
    assert_eq!(query.access().unwrap().to_string(), *access, "{text}");
    let mut keys = query.keys().unwrap();
    let keys: Vec<_> = std::iter::from_fn(|| keys.next().unwrap()).collect();
    let expected: Vec<_> = rows.iter().map(|row| row.key_bytes().to_vec()).collect();
    assert_eq!(keys, expected, "{text}");
    // A scan has no row limit, and conditions on qualifiers are filters.
    if rows.len() as u64 == *limit || text.contains('.') {
        return;
    }
    for reversed in [false, true] {
        let scan = Scan { reversed, ..Scan::all() };
        let query_scan =
            QueryScan { query: text, scan: &scan, limit: None, as_of: 0, ignores_tags: true };
        let mut scanned = Vec::new();
        let regions = store.table(&table).unwrap();
        for region in regions.regions() {
            let mut scanner = scan_region(store, None, region, &query_scan).unwrap();
            scanned.extend(std::iter::from_fn(|| scanner.next().unwrap()));
        }
        let mut expected: Vec<_> = rows.iter().map(|row| row.row().clone()).collect();
        expected.sort_by(|a, b| a.key().cmp(b.key()));
        if reversed {
            expected.reverse();
        }
        assert_eq!(scanned, expected, "{text}, reversed={reversed}");
    }
}

/// Compares scans of columns that some index covers with the rows by the key. Returns how many rows
/// they returned without reading them.
fn compare_covered(store: &Store, text: &str, columns: &Columns, rows: &[QueryRow]) -> u64 {
    let table = store.table(&rowhouse::schema::TableName::parse("mail").unwrap()).unwrap();
    // Cells that an entry covers have neither sequence number nor tags.
    let cells = |rows: &[Row]| -> Vec<_> {
        let cells = rows.iter().flat_map(|row| row.cells());
        let cells = cells.map(|cell| {
            (cell.row(), cell.family(), cell.qualifier(), cell.timestamp(), cell.value())
        });
        cells.map(|cell| format!("{cell:?}")).collect()
    };
    let mut not_read = 0;
    for reversed in [false, true] {
        let scan = Scan { columns: columns.clone(), reversed, ..Scan::all() };
        let query_scan =
            QueryScan { query: text, scan: &scan, limit: None, as_of: 0, ignores_tags: true };
        let mut scanned = Vec::new();
        let mut read = 0;
        for region in table.regions() {
            let mut scanner = scan_region(store, None, region, &query_scan).unwrap();
            scanned.extend(std::iter::from_fn(|| scanner.next().unwrap()));
            read += scanner.progress().rows_scanned;
        }
        let mut expected: Vec<_> = rows.iter().map(|row| row.row().clone()).collect();
        expected.sort_by(|a, b| a.key().cmp(b.key()));
        if reversed {
            expected.reverse();
        }
        assert_eq!(cells(&scanned), cells(&expected), "{text} {columns:?}, reversed={reversed}");
        not_read += (scanned.len() as u64).saturating_sub(read);
    }
    not_read
}

/// Returns columns that the entries of an index hold.
fn covered_columns(random: &mut Random) -> Columns {
    let mut columns = Columns::all();
    let covered = random.one_of(&["d:s", "d:z", "d:s d:z", "d:m", "d:m f:!x"]);
    for (family, qualifier) in covered.split(' ').filter_map(|name| name.split_once(':')) {
        columns.add_column(family, qualifier);
    }
    columns
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_scans_of_a_server_answer_queries_as_the_library_does() {
    let mut not_read = 0;
    for seed in 0..histories() {
        let (dir, database, mut random) = seeded(seed).await;
        // An index in memory is built anew after an open, so estimates of its entries differ.
        let indexes = INDEXES.replace(" memory", "");
        let table = table_with(&database, KEYS[random.below(3) as usize], &indexes).await;
        for _ in 0..40 {
            change(&table, &mut random).await;
        }
        // Both estimates are for the same files.
        database.admin().flush("mail").await.unwrap();
        for index in INDEXES.lines().map(|line| line.trim().split(' ').next().unwrap()) {
            database.admin().flush(&format!("mail.{index}")).await.unwrap();
        }
        let mut all = Vec::new();
        for _ in 0..40 {
            let text = RandomQuery::random(&mut random).text;
            let limit = if random.is(4) { 1 + random.below(20) } else { u64::MAX };
            let new_query = || match limit {
                u64::MAX => table.query(&text),
                limit => table.query(&text).limit(limit),
            };
            let access = new_query().explain_access().await.unwrap().to_string();
            let rows = rows(new_query()).await;
            all.push(Answered { text, limit, access, rows });
        }
        let mut covered = Vec::new();
        for Answered { text, .. } in all.iter().filter(|it| !it.text.contains('.')) {
            for _ in 0..3 {
                let columns = covered_columns(&mut random);
                let by_key = rows(table.query(text).columns(columns.clone()).using_key()).await;
                covered.push((text, columns, by_key));
            }
        }
        database.close().await.unwrap();
        let store = Store::open(dir.path()).unwrap();
        // First, since estimates depend on the blocks in the cache.
        all.iter().for_each(|answered| compare_with_store(&store, answered));
        for (text, columns, by_key) in &covered {
            not_read += compare_covered(&store, text, columns, by_key);
        }
        let by_index = all.iter().filter(|it| it.access.starts_with("access: by index")).count();
        assert!(by_index > 3, "only {by_index} queries are read by an index");
    }
    assert!(not_read > 5 * histories(), "only {not_read} rows of scans came from entries");
}

#[tokio::test]
async fn queries_that_name_an_index_answer_as_by_the_key_on_a_server_too() {
    on_both(|database, _| async move {
        history(database, 7, 20).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_for_a_time_means_the_same_through_a_server_and_in_the_process() {
    on_both(async |database, _| {
        let spec = TableSpec::new("event").family("d").key("[at millis][n u8]");
        let spec = spec.columns("d:s sender string").indexes("by_sender [sender]");
        let events = database.create_table(spec).await.unwrap();
        // 2022 and 20221224 are dates as texts.
        for (at, n) in [(2_021u64, 1u8), (2_022, 2), (20_221_224, 3)] {
            let row = events.row(&[("at", at.into()), ("n", n.into())]);
            events.put(row.set_named("sender", "eve").into_put().unwrap()).await.unwrap();
        }
        let after = async |at: u64| {
            let predicate = Predicate::all().ge("at", at).eq("sender", "eve");
            events.query_where(predicate).count().await.unwrap()
        };
        assert_eq!((after(2_021).await, after(2_022).await, after(20_221_224).await), (3, 2, 1));
        database.close().await.unwrap();
    })
    .await;
}
