//! Rows as streams: the same rows as `next` and `collect`, on both backends, whatever the caller
//! stops waiting for.

use std::time::Duration;

use futures_util::{FutureExt, Stream, StreamExt, TryStreamExt};
use rowhouse::query::QueryRows;
use rowhouse::{Database, ErrorKind, Mutation, Put, Result, Rows, Scan, Table, TableSpec};

use crate::support::on_both;

const ROWS: u32 = 3_000;

/// A table with buckets, and a wide family whose qualifiers contain times.
async fn filled(database: &Database) -> Table {
    let spec = TableSpec::new("t").key("[bucket 4 of n][user string][n u32]");
    let spec = spec.columns("f:[at seconds 4] price u32").family("f").family("d").regions(4);
    let table = database.create_table(spec).await.unwrap();
    let put = |n: u32| {
        let key = [("user", ["alice", "bob"][n as usize % 2].into()), ("n", n.into())];
        let row = table.row(&key).set("d", "q", n.to_string());
        let row = row.set_named_with("price", &[("at", n.into())], n);
        Mutation::from(row.into_put().unwrap())
    };
    for outcome in table.batch((0..ROWS).map(put).collect()).await {
        outcome.unwrap();
    }
    table
}

/// Returns a stream's keys, giving up each wait at once and trying again.
async fn impatiently<T>(
    mut rows: impl Stream<Item = Result<T>> + Unpin,
    key: impl Fn(T) -> Vec<u8>,
) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    loop {
        match rows.next().now_or_never() {
            Some(Some(row)) => keys.push(key(row.unwrap())),
            Some(None) => return keys,
            // The dropped future's waker is not called: only asking again goes on.
            None => tokio::time::sleep(Duration::from_micros(200)).await,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scan_is_a_stream_of_its_rows_also_for_a_caller_that_stops_waiting() {
    on_both(async |database, _| {
        let table = filled(&database).await;
        let scan = async || table.scan(Scan::all().caching(50)).await.unwrap();
        let collected = scan().await.collect().await.unwrap();
        assert_eq!(collected.len(), ROWS as usize);
        let streamed: Vec<_> = scan().await.try_collect().await.unwrap();
        assert_eq!(streamed, collected);
        let expected: Vec<_> = collected.iter().map(|row| row.key().to_vec()).collect();
        assert_eq!(impatiently(scan().await, |row| row.key().to_vec()).await, expected);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_is_a_stream_of_its_rows_also_for_a_caller_that_stops_waiting() {
    on_both(async |database, _| {
        let table = filled(&database).await;
        for (query, rows) in [
            // Merged from all buckets.
            ("user = 'bob'", 1_500),
            // One range after the other.
            ("n in (3, 5, 7, 11, 2999) and user = 'bob'", 5),
            // Two scans for each range.
            ("price.at between 100 and 1099", ROWS as usize),
        ] {
            let run = async || table.query(query).rows().await.unwrap();
            let key = |row: rowhouse::query::QueryRow| row.key_bytes().to_vec();
            let collected: Vec<_> =
                run().await.collect().await.unwrap().into_iter().map(key).collect();
            assert_eq!(collected.len(), rows, "{query}");
            let streamed: Vec<_> = run().await.map_ok(key).try_collect().await.unwrap();
            assert_eq!(streamed, collected, "{query}");
            assert_eq!(impatiently(run().await, key).await, collected, "{query}");
        }
    })
    .await;
}

#[tokio::test]
async fn rows_end_with_the_first_error_and_other_ranges_are_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let builder = Database::builder(dir.path().to_str().unwrap());
    let database = builder.scan_age_max(Duration::from_millis(1)).open().await.unwrap();
    let table = database.create_table(TableSpec::new("t").family("d").key("[user string][n u32]"));
    let table = table.await.unwrap();
    for user in ["alice", "bob"] {
        let put = |n: u32| {
            let key = table.key(&[("user", user.into()), ("n", n.into())]).unwrap();
            Put::new(key).unwrap().add("d", "q", "v").unwrap().into()
        };
        for outcome in table.batch((0..500).map(put).collect()).await {
            outcome.unwrap();
        }
    }
    let mut scan = table.scan(Scan::all()).await.unwrap();
    let mut query = table.query("user in ('alice', 'bob')").rows().await.unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let failed = async |rows: &mut (dyn Stream<Item = Result<()>> + Unpin + Send)| {
        let error = loop {
            match rows.next().await.expect("an old scan does not end without an error") {
                Ok(()) => {}
                Err(error) => break error.kind(),
            }
        };
        (error, rows.next().await.is_none())
    };
    let old = (ErrorKind::UnknownScanner, true);
    assert_eq!(failed(&mut (&mut scan).map_ok(drop)).await, old);
    assert_eq!(failed(&mut (&mut query).map_ok(drop)).await, old);
    assert!(scan.next().await.unwrap().is_none());
    assert!(query.next().await.unwrap().is_none());
    database.close().await.unwrap();
}

#[test]
fn rows_go_to_other_tasks() {
    fn can<T: Stream + Send + Sync + Unpin + 'static>() {}
    can::<Rows>();
    can::<QueryRows>();
}
