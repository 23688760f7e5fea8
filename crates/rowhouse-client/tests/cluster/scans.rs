//! Row ranges.

use std::time::Duration;

use rowhouse_client::Table;
use rowhouse_model::{Mutation, Put, Row, RowRange, Scan};

use crate::{create, directions, drop_table, on_cluster};

const SPLITS: [&[u8]; 4] = [b"\0", b"0250", b"0500", b"a,b"];

fn key(at: usize) -> String {
    format!("{at:04}")
}

async fn fill(table: &Table, value_len: usize) {
    let value = "v".repeat(value_len);
    let put = |at| {
        let put = Put::new(key(at)).unwrap().add("cf", "a", key(at)).unwrap();
        Mutation::from(put.add("cf", "b", &value).unwrap())
    };
    for outcome in table.batch((0..1000).map(put).collect()).await {
        outcome.unwrap();
    }
}

fn keys(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| String::from_utf8(row.key().to_vec()).unwrap()).collect()
}

async fn scanned(table: &Table, scan: Scan) -> Vec<String> {
    keys(&table.scan(scan).collect().await.unwrap())
}

fn expected(range: impl Iterator<Item = usize>) -> Vec<String> {
    range.map(key).collect()
}

async fn check_ranges(table: &Table, caching: Option<u32>, reversed: bool) {
    let all = Scan { caching, reversed, ..Scan::all() };
    let ordered = |mut keys: Vec<String>| {
        if reversed {
            keys.reverse();
        }
        keys
    };
    assert_eq!(scanned(table, all.clone()).await, ordered(expected(0..1000)));
    for (start, stop) in [(240, 510), (250, 500), (249, 250), (250, 251), (0, 1), (3, 3)] {
        let part = Scan { range: RowRange::new(key(start), key(stop)), ..all.clone() };
        assert_eq!(scanned(table, part).await, ordered(expected(start..stop)));
    }
    for limit in [0, 1, 249, 250, 251, 700, 2000] {
        let first = scanned(table, all.clone().limit(limit as u64)).await;
        let expected = ordered(expected(0..1000)).into_iter().take(limit);
        assert_eq!(first, expected.collect::<Vec<_>>());
    }
}

#[test]
fn scans_cross_regions_in_both_directions() {
    on_cluster(|client| async move {
        let table = create(&client, "scan", &SPLITS).await;
        fill(&table, 10).await;
        for &reversed in directions(&table).await {
            for caching in [None, Some(1000), Some(7), Some(1)] {
                check_ranges(&table, caching, reversed).await;
            }
        }
        let one = table.scan(Scan::new(RowRange::row(b"0500")).column("cf", "a"));
        let rows = one.collect().await.unwrap();
        assert_eq!((rows.len(), rows[0].len()), (1, 1));
        assert!(scanned(&table, Scan::new(RowRange::new("b", "a"))).await.is_empty());
        drop_table(&client, &table).await;
    });
}

#[test]
fn rows_that_come_in_parts_come_whole() {
    on_cluster(|client| async move {
        let table = create(&client, "parts", &[b"1"]).await;
        // Rows of 5 MB: each takes several answers.
        for row in ["0", "1", "2"] {
            for part in 0..10 {
                let mut put = Put::new(row).unwrap();
                for at in 0..50 {
                    let qualifier = format!("{part}{at:02}");
                    put = put.add("cf", qualifier, vec![b'x'; 10_000]).unwrap();
                }
                table.mutate(put).await.unwrap();
            }
        }
        for &reversed in directions(&table).await {
            let rows = table.scan(Scan { reversed, ..Scan::all() }).collect().await.unwrap();
            let sizes: Vec<_> = rows.iter().map(|row| row.len()).collect();
            assert_eq!(sizes, [500, 500, 500]);
            let first = if reversed { "2" } else { "0" };
            assert_eq!(rows[0].key(), first.as_bytes());
        }
        drop_table(&client, &table).await;
    });
}

#[test]
fn a_caller_that_stops_waiting_misses_nothing() {
    on_cluster(|client| async move {
        let table = create(&client, "patience", &SPLITS).await;
        fill(&table, 1000).await;
        let mut rows = table.scan(Scan::all().caching(10));
        let mut seen = Vec::new();
        loop {
            match tokio::time::timeout(Duration::from_micros(50), rows.next()).await {
                Err(_) => {}
                Ok(row) => match row.unwrap() {
                    Some(row) => seen.push(row),
                    None => break,
                },
            }
        }
        assert_eq!(keys(&seen), expected(0..1000));
        // Scans dropped halfway leave nothing open that would affect later ones.
        for _ in 0..50 {
            let mut rows = table.scan(Scan::all().caching(3));
            rows.next().await.unwrap();
        }
        drop_table(&client, &table).await;
    });
}
