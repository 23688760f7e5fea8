//! What does it cost to count how often a hot article is read: with an increment for each read, and
//! with sums that are written every 100 ms?

use std::time::{Duration, Instant};

use rowhouse::{CounterSettings, Increment, Result, TableSpec};

/// The reads counted in each way, by several tasks at a time.
const READS: u32 = 8_000;
const READERS: u32 = 8;

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    let articles = database.create_table(TableSpec::new("articles").family("n")).await?;

    let each = articles.clone();
    let one_by_one = rate(move || {
        let articles = each.clone();
        async move {
            let read = Increment::new("one by one")?.add("n", "reads", 1)?;
            articles.increment(read).await.map(|_| ())
        }
    });
    let one_by_one = one_by_one.await?;

    let settings = CounterSettings { interval: Duration::from_millis(100), ..Default::default() };
    let buffer = articles.counter_buffer(settings);
    let reads = buffer.clone();
    let gathered = rate(move || {
        let reads = reads.clone();
        async move { reads.add("gathered", "n", "reads", 1) }
    });
    let gathered = gathered.await?;
    buffer.close().await?;

    println!("an increment each: {one_by_one:.0} reads a second");
    println!("gathered:          {gathered:.0} reads a second, the last 100 ms may be lost");
    for row in ["one by one", "gathered"] {
        assert_eq!(articles.counter(row, "n", "reads").await?, Some(i64::from(READS)));
    }
    database.close().await
}

/// Counts all reads; returns how many were counted in a second.
async fn rate<C: Future<Output = Result<()>> + Send>(
    count: impl Fn() -> C + Clone + Send + 'static,
) -> Result<f64> {
    let started = Instant::now();
    let mut readers = tokio::task::JoinSet::new();
    for _ in 0..READERS {
        let count = count.clone();
        readers.spawn(async move {
            for _ in 0..READS / READERS {
                count().await?;
            }
            Ok::<_, rowhouse::Error>(())
        });
    }
    for done in readers.join_all().await {
        done?;
    }
    Ok(f64::from(READS) / started.elapsed().as_secs_f64())
}
