//! Everything against a real cluster, Apache HBase or rowhouse, whose address is in
//! `ROWHOUSE_TEST_CLUSTER` (`hbase://HOST:PORT` or `hbase+zk://HOST:PORT/hbase`). Without it these
//! tests say so and pass.
//!
//! Each test makes its own tables and drops them; names end in a random part, so runs do not meet.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod admin;
mod batches;
mod moves;
mod refusals;
mod rows;
mod scans;
mod snapshots;

use std::future::Future;

use rowhouse_client::{Client, Settings, Table, Target};
use rowhouse_model::{Bytes, FamilyDescriptor, Result, Scan, TableDescriptor, TableName};
use uuid::Uuid;

/// Runs `test` with a client of the cluster, if there is one.
fn on_cluster<F: Future<Output = ()>>(test: impl FnOnce(Client) -> F) {
    if std::env::var("ROWHOUSE_TEST_CLUSTER").is_err() {
        eprintln!("skipped: ROWHOUSE_TEST_CLUSTER is not set");
        return;
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { test(connect().await).await });
}

/// A client of its own.
async fn connect() -> Client {
    connect_with(Settings::default()).await.unwrap()
}

async fn connect_with(settings: Settings) -> Result<Client> {
    let url = std::env::var("ROWHOUSE_TEST_CLUSTER").unwrap();
    Client::connect_with(&Target::parse(&url).unwrap(), settings).await
}

fn unique(name: &str) -> String {
    format!("{name}_{}", &Uuid::new_v4().simple().to_string()[..12])
}

/// A table with the family `cf` that keeps three versions, split at `splits`.
async fn create(client: &Client, name: &str, splits: &[&[u8]]) -> Table {
    let name = TableName::parse(&unique(name)).unwrap();
    let family = FamilyDescriptor::new("cf").unwrap().versions(3);
    let descriptor = TableDescriptor::new(name.clone()).family(family);
    let splits: Vec<Bytes> = splits.iter().map(|split| Bytes::copy_from_slice(split)).collect();
    client.admin().create_table(&descriptor, &splits).await.unwrap();
    client.table(&name)
}

/// Whether scans are reversed, as far as the server goes: it may refuse that they are.
async fn directions(table: &Table) -> &'static [bool] {
    let back = Scan { reversed: true, ..Scan::all().limit(1) };
    match table.scan(back).next().await {
        Err(error) if error.message().contains("not supported") => {
            eprintln!("reversed scans skipped: {error}");
            &[false]
        }
        answer => {
            answer.unwrap();
            &[false, true]
        }
    }
}

async fn drop_table(client: &Client, table: &Table) {
    client.admin().disable_table(table.name()).await.unwrap();
    client.admin().delete_table(table.name()).await.unwrap();
}
