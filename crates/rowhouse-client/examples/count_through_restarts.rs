//! Does every increment count exactly once if servers are killed and restarted meanwhile?
//!
//!     cargo run --example count_through_restarts -- hbase://localhost:16020 60
//!
//! Increments a counter for the given time in seconds, together with a get, a put and a batch, and
//! then compares the acknowledged increments with the counter.

use std::time::{Duration, Instant};

use rowhouse_client::{Client, Target};
use rowhouse_model::{
    ErrorKind, FamilyDescriptor, Get, Increment, Put, Result, Scan, TableDescriptor, TableName,
};

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| "hbase://localhost:16020".to_owned());
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(30);

    let client = Client::connect(&Target::parse(&url)?).await?;
    let name = TableName::parse("count_through_restarts")?;
    let table = TableDescriptor::new(name.clone()).family(FamilyDescriptor::new("cf")?);
    match client.admin().create_table(&table, &["m".into()]).await {
        Err(error) if error.kind() == ErrorKind::TableExists => {}
        outcome => outcome?,
    }
    let table = client.table(&name);
    let counter = Get::new("counter")?.column("cf", "n");
    let before = table.get(&counter).await?.counter("cf", "n")?.unwrap_or(0);

    let started = Instant::now();
    let mut acknowledged = 0;
    let mut unknown = 0;
    let mut slowest = Duration::ZERO;
    while started.elapsed() < Duration::from_secs(seconds) {
        let called = Instant::now();
        match table.mutate(Increment::new("counter")?.add("cf", "n", 1)?).await {
            Ok(_) => acknowledged += 1,
            Err(error) => {
                unknown += 1;
                println!("{:>6.1} s: {error:?}", started.elapsed().as_secs_f64());
            }
        }
        let puts = ["a", "counter", "z"].map(|row| Put::new(row)?.add("cf", "at", "now"));
        let puts = puts.into_iter().map(|put| Ok(put?.into())).collect::<Result<Vec<_>>>()?;
        for outcome in table.batch(puts).await {
            if let Err(error) = outcome {
                println!("{:>6.1} s: {error:?}", started.elapsed().as_secs_f64());
            }
        }
        slowest = slowest.max(called.elapsed());
    }
    let counted = table.get(&counter).await?.counter("cf", "n")?.unwrap_or(0) - before;
    let rows = table.scan(Scan::all()).collect().await?.len();
    println!("acknowledged={acknowledged} unknown={unknown} counted={counted} rows={rows}");
    println!("slowest={slowest:?}");
    let right = (acknowledged..=acknowledged + unknown).contains(&counted);
    println!("{}", if right { "every increment counted once" } else { "WRONG" });
    Ok(())
}
