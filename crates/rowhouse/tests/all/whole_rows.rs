//! Row changes are atomic for readers: rows whose columns all have the same value are rewritten
//! while gets and scans in both directions read them, whole and in parts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::on_both;
use rowhouse::{
    Append, Bytes, Database, Delete, Get, Put, Result, Row, RowMutations, Scan, Table, TableSpec,
};
use tokio::task::JoinSet;

const ROWS: u64 = 8;
const COLUMNS: usize = 12;
const FAMILIES: [&str; 2] = ["f", "g"];
const WRITERS: u64 = 3;
const ROUNDS: u64 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn no_read_shows_half_a_change_of_a_row() {
    on_both(|database, is_cluster| async move {
        let table = Arc::new(create(&database).await);
        let done = Arc::new(AtomicBool::new(false));
        let mut readers = JoinSet::new();
        for reader in 0..3 {
            let table = Arc::clone(&table);
            let done = Arc::clone(&done);
            readers.spawn(async move {
                let mut seen = 0;
                while !done.load(Ordering::Relaxed) {
                    seen += look(&table, reader).await.unwrap();
                }
                seen
            });
        }
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let table = Arc::clone(&table);
            writers.spawn(async move {
                for round in 0..ROUNDS {
                    for at in 0..ROWS {
                        write(&table, at, writer * ROUNDS + round).await.unwrap();
                    }
                }
            });
        }
        // Stop the readers even if a writer failed.
        let written: Vec<_> = async {
            let mut written = Vec::new();
            while let Some(outcome) = writers.join_next().await {
                written.push(outcome);
                if !is_cluster || written.len() == 1 {
                    database.admin().flush("t").await.unwrap();
                }
            }
            written
        }
        .await;
        done.store(true, Ordering::Relaxed);
        written.into_iter().for_each(|outcome| outcome.unwrap());
        let mut seen = 0;
        while let Some(outcome) = readers.join_next().await {
            seen += outcome.unwrap();
        }
        assert!(seen > 0, "nothing was read meanwhile");
    })
    .await;
}

async fn create(database: &Database) -> Table {
    let spec = TableSpec::new("t").family("f").family("g");
    database.create_table(spec).await.unwrap()
}

fn row(at: u64) -> String {
    format!("row{at}")
}

/// Half the changes are puts, half are atomic mutation lists.
async fn write(table: &Table, at: u64, number: u64) -> Result<()> {
    let value = format!("{number:06}");
    let puts = |columns: std::ops::Range<usize>| {
        let mut put = Put::new(row(at)).unwrap();
        for family in FAMILIES {
            for column in columns.clone() {
                put = put.add(family, format!("q{column:02}"), &value).unwrap();
            }
        }
        put
    };
    if number.is_multiple_of(2) {
        return table.put(puts(0..COLUMNS)).await;
    }
    let mutations = RowMutations::new(row(at))?
        .with(puts(0..COLUMNS / 2))?
        .with(Delete::new(row(at))?.column("f", "x", rowhouse::Timestamp::LATEST)?)?
        .with(Append::new(row(at))?.add("g", "y", "")?)?
        .with(puts(COLUMNS / 2..COLUMNS))?;
    table.mutate_row(mutations).await.map(|_| ())
}

/// Reads all rows in one of several ways; returns the row count.
async fn look(table: &Table, way: u64) -> Result<u64> {
    if way == 0 {
        for at in 0..ROWS {
            check(&[table.get(&Get::new(row(at))?).await?]);
        }
        return Ok(ROWS);
    }
    let mut scan = Scan::all();
    if way == 2 {
        scan = scan.reversed().caching(2);
        scan.batch = Some(5);
    }
    let mut rows = table.scan(scan).await?;
    let mut parts: Vec<Row> = Vec::new();
    let mut seen = 0_u64;
    while let Some(part) = rows.next().await? {
        if parts.first().is_some_and(|first| first.key() != part.key()) {
            check(&std::mem::take(&mut parts));
            seen += 1;
        }
        parts.push(part);
    }
    check(&parts);
    Ok(seen)
}

/// Checks that the row parts contain all columns, with the same value.
fn check(parts: &[Row]) {
    let cells = parts.iter().flat_map(Row::cells).filter(|cell| cell.qualifier() != b"y");
    let values: Vec<Bytes> = cells.map(|cell| cell.value_bytes()).collect();
    let whole = values.is_empty()
        || values.len() == COLUMNS * FAMILIES.len()
            && values.iter().all(|value| *value == values[0]);
    assert!(whole, "half a change: {parts:?}");
}
