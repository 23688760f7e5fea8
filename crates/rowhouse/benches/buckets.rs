//! Measures what merging buckets costs: the same rows in the same order, with and without 16
//! buckets.
//!
//! `cargo bench -p rowhouse --bench buckets`

use std::time::{Duration, Instant};

use rowhouse::query::Predicate;
use rowhouse::{Database, Mutation, Result, RowRange, Scan, Table, TableSpec};

/// All rows fit in one memstore, so each table has one file and merging files is not measured.
const USERS: u32 = 15_000;
const ROWS_A_USER: u32 = 10;
const ROUNDS: usize = 15;

#[tokio::main]
async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let plain = load(&database, "plain", "[user string][n u32]").await?;
    let buckets = load(&database, "buckets", "[bucket 16 of user][user string][n u32]").await?;
    let mut turns: [Vec<Took>; 3] = Default::default();
    for _ in 0..ROUNDS {
        turns[0].push(Took::by(scan(&plain)).await?);
        turns[1].push(Took::by(query(&plain)).await?);
        turns[2].push(Took::by(query(&buckets)).await?);
    }
    let rows = USERS * ROWS_A_USER;
    println!(
        "{rows} rows of one cell of 100 bytes, flushed; ns a row, of {ROUNDS} rounds the least, the median, the most\n"
    );
    println!("{:30} {:>17} {:>17}", "", "wall clock", "CPU of all threads");
    let median_of_query = median(&turns[1], |took| took.wall);
    for (what, turns) in ["plain scan", "query", "query over 16 buckets, merged"].iter().zip(&turns)
    {
        let nanos = |of: fn(&Took) -> Duration| {
            let mut all: Vec<_> =
                turns.iter().map(|it| of(it).as_nanos() / u128::from(rows)).collect();
            all.sort_unstable();
            format!("{:>5} {:>5} {:>5}", all[0], all[ROUNDS / 2], all[ROUNDS - 1])
        };
        println!(
            "{what:30} {} {}, {:.2} of the query's speed by the medians of the clock",
            nanos(|took| took.wall),
            nanos(|took| took.cpu),
            median_of_query.div_duration_f64(median(turns, |took| took.wall))
        );
    }
    database.close().await
}

/// How long one pass takes.
struct Took {
    wall: Duration,
    /// CPU time for all threads, including threads that read ahead.
    cpu: Duration,
}

impl Took {
    async fn by(turn: impl Future<Output = Result<()>>) -> Result<Self> {
        let (begun, before) = (Instant::now(), cpu_time());
        turn.await?;
        Ok(Self { wall: begun.elapsed(), cpu: cpu_time().saturating_sub(before) })
    }
}

fn median(turns: &[Took], of: impl Fn(&Took) -> Duration) -> Duration {
    let mut all: Vec<_> = turns.iter().map(of).collect();
    all.sort_unstable();
    all[all.len() / 2]
}

/// Returns the CPU time used by this process's threads on Linux, and zero on other systems. Threads
/// that have ended are not counted; the threads that read ahead live longer than one pass.
fn cpu_time() -> Duration {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    let used = |thread: std::fs::DirEntry| -> Option<u64> {
        let counted = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        counted.split(' ').next()?.parse().ok()
    };
    Duration::from_nanos(threads.filter_map(|thread| used(thread.ok()?)).sum())
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
    database.admin().flush(name).await?;
    Ok(table)
}

/// Reads raw rows, without the template.
async fn scan(table: &Table) -> Result<()> {
    let mut rows = table.scan(Scan::new(RowRange::all())).await?;
    let mut count = 0;
    while rows.next().await?.is_some() {
        count += 1;
    }
    assert_eq!(count, USERS * ROWS_A_USER);
    Ok(())
}

/// Reads rows with their keys decoded, by user and number.
async fn query(table: &Table) -> Result<()> {
    let mut rows = table.query_where(Predicate::all()).rows().await?;
    let mut count = 0;
    while let Some(row) = rows.next().await? {
        assert!(row.key("n").is_some());
        count += 1;
    }
    assert_eq!(count, USERS * ROWS_A_USER);
    Ok(())
}
