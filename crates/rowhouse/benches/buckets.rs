//! What merging buckets costs: the same rows read in the same order, with and without 16 buckets.
//!
//! `cargo bench -p rowhouse --bench buckets`

use std::time::{Duration, Instant};

use rowhouse::{Database, Mutation, Predicate, Result, RowRange, Scan, Table, TableSpec};

const USERS: u32 = 20_000;
const ROWS_A_USER: u32 = 10;
const ROUNDS: usize = 7;

#[tokio::main]
async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let plain = load(&database, "plain", "[user string][n u32]").await?;
    let buckets = load(&database, "buckets", "[bucket 16 of user][user string][n u32]").await?;
    let mut best = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        let took = [scan(&plain).await?, query(&plain).await?, query(&buckets).await?];
        for (best, took) in best.iter_mut().zip(took) {
            *best = took.min(*best);
        }
    }
    let rows = USERS * ROWS_A_USER;
    println!("{rows} rows of one cell of 100 bytes, flushed; fastest of {ROUNDS} rounds\n");
    for (what, took) in ["plain scan", "query", "query over 16 buckets, merged"].iter().zip(best) {
        let nanos = took.as_nanos() / u128::from(rows);
        println!(
            "{what:30} {nanos:>5} ns a row, {:.2} of the query's speed",
            best[1].div_duration_f64(took)
        );
    }
    database.close().await
}

async fn load(database: &Database, name: &str, key: &str) -> Result<Table> {
    let table = database.create_table(TableSpec::new(name).family("d").key(key)).await?;
    for user in 0..USERS {
        let mut puts: Vec<Mutation> = Vec::new();
        for n in 0..ROWS_A_USER {
            let key = [("user", format!("user{user:06}").into()), ("n", n.into())];
            puts.push(table.row(&key).set("d", "q", [7; 100]).into_put()?.into());
        }
        for outcome in table.batch(puts).await {
            outcome?;
        }
    }
    database.flush(name).await?;
    Ok(table)
}

/// Reads bytes, without the template.
async fn scan(table: &Table) -> Result<Duration> {
    let begun = Instant::now();
    let mut rows = table.scan(Scan::new(RowRange::all())).await?;
    let mut count = 0;
    while rows.next().await?.is_some() {
        count += 1;
    }
    assert_eq!(count, USERS * ROWS_A_USER);
    Ok(begun.elapsed())
}

/// Reads rows with their keys decoded, by user and number.
async fn query(table: &Table) -> Result<Duration> {
    let begun = Instant::now();
    let mut rows = table.query_where(Predicate::all()).rows().await?;
    let mut count = 0;
    while let Some(row) = rows.next().await? {
        assert!(row.key("n").is_some());
        count += 1;
    }
    assert_eq!(count, USERS * ROWS_A_USER);
    Ok(begun.elapsed())
}
