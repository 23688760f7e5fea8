//! Tests against a real cluster, Apache HBase or rowhouse, whose address is in
//! `ROWHOUSE_TEST_CLUSTER` (`hbase://HOST:PORT` or `hbase+zk://HOST:PORT/hbase`). Without it these
//! tests print that they are skipped, and pass.
//!
//! Each test creates its own tables and drops them; names have a random suffix, so runs do not
//! conflict.

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

/// Runs `test` with a client for the cluster, if one is configured.
fn on_cluster<F: Future<Output = ()>>(test: impl FnOnce(Client) -> F) {
    if std::env::var("ROWHOUSE_TEST_CLUSTER").is_err() {
        eprintln!("skipped: ROWHOUSE_TEST_CLUSTER is not set");
        return;
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { test(connect().await).await });
}

/// Creates a new client.
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

/// Creates a table with the family `cf` that keeps three versions, split at `splits`.
async fn create(client: &Client, name: &str, splits: &[&[u8]]) -> Table {
    let name = TableName::parse(&unique(name)).unwrap();
    let family = FamilyDescriptor::new("cf").unwrap().versions(3);
    let descriptor = TableDescriptor::new(name.clone()).family(family);
    let splits: Vec<Bytes> = splits.iter().map(|split| Bytes::copy_from_slice(split)).collect();
    client.admin().create_table(&descriptor, &splits).await.unwrap();
    client.table(&name)
}

/// Returns the scan directions that the server supports: it may refuse reversed scans.
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
