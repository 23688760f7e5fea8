//! When does a starting server answer its first put?
//!
//! `first_put hbase://HOST:PORT` retries a put into table `first_put`, which it creates if
//! necessary, until the put is answered, and prints the time in milliseconds since 1970. Start it
//! together with the server; `compat/measure.sh` subtracts the start time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rowhouse_client::{Client, Settings, Target};
use rowhouse_model::{Error, ErrorKind, FamilyDescriptor, Put, Result, TableDescriptor, TableName};

/// After this time the program gives up.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).ok_or_else(|| Error::invalid("usage: first_put URL"))?;
    let target = Target::parse(&url)?;
    let started = Instant::now();
    loop {
        match put(&target).await {
            Ok(()) => break,
            Err(error) if started.elapsed() > PATIENCE => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    println!("{}", now.as_millis());
    Ok(())
}

async fn put(target: &Target) -> Result<()> {
    let settings = Settings { operation_timeout: Duration::from_secs(2), ..Settings::default() };
    let client = Client::connect_with(target, settings).await?;
    let name = TableName::parse("first_put")?;
    let descriptor = TableDescriptor::new(name.clone()).family(FamilyDescriptor::new("cf")?);
    match client.admin().create_table(&descriptor, &[]).await {
        Err(error) if error.kind() != ErrorKind::TableExists => return Err(error),
        _ => {}
    }
    client.table(&name).mutate(Put::new("row")?.add("cf", "q", "value")?).await?;
    Ok(())
}
