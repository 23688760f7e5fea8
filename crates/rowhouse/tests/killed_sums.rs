//! The example `running_sums` as a process that is killed and started again while a writer writes:
//! its sums are right.
//!
//! ```text
//! ROWHOUSE_SUMS_KILLS=100 cargo test -p rowhouse --release --test killed_sums
//! ```

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

#[path = "../examples"]
mod examples {
    #[expect(dead_code, reason = "the example's own run is another test")]
    pub(crate) mod running_sums;
}

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rowhouse::{Delete, Durability, Result, Scan, Table};
use rowhouse_server::Server;

use examples::running_sums::{Sums, orders};
use support::{Random, loopback};

const KILLS: u64 = 10;
const CUSTOMERS: u64 = 5;
const ORDERS: u64 = 30;

/// Set for the process that follows: the server, and the directory of the sums.
const SERVER: &str = "ROWHOUSE_SUMS_SERVER";
const DIRECTORY: &str = "ROWHOUSE_SUMS_DIRECTORY";

#[tokio::test(flavor = "multi_thread")]
async fn sums_of_a_process_that_is_killed_again_and_again_are_right() {
    if let (Ok(server), Ok(directory)) = (std::env::var(SERVER), std::env::var(DIRECTORY)) {
        return follow_until_killed(&server, &directory).await.unwrap();
    }
    let kills = std::env::var("ROWHOUSE_SUMS_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let sums = dir.path().join("sums");
    let server = Server::start(loopback(&data)).await.unwrap();
    let address = format!("hbase://{}", server.address());
    let database = rowhouse::open(&address).await.unwrap();
    let table = database.create_table(orders()).await.unwrap();

    let stopped = Arc::new(AtomicBool::new(false));
    let written = Arc::new(AtomicU64::new(0));
    let writer = write(table.clone(), Arc::clone(&stopped), Arc::clone(&written));
    let writer = tokio::spawn(writer);
    let mut random = Random::new(kills);
    for kill in 0..kills {
        let mut child = follower(&address, &sums);
        // Sometimes before it has opened its database, sometimes in the middle of changes.
        tokio::time::sleep(Duration::from_millis(20 + random.below(600))).await;
        if let Some(status) = child.try_wait().unwrap() {
            panic!("the process ended by itself before kill {kill}: {status}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    stopped.store(true, Ordering::Relaxed);
    writer.await.unwrap().unwrap();
    println!("{kills} kills, {} writes", written.load(Ordering::Relaxed));

    let expected = sums_in(&table).await.unwrap();
    let sums = Sums::open(sums.to_str().unwrap()).await.unwrap();
    for customer in (0..CUSTOMERS).map(name) {
        println!("{customer}: {} before the last run", sums.of(&customer).await.unwrap());
    }
    sums.follow(&table, Duration::from_secs(3)).await.unwrap();
    for customer in (0..CUSTOMERS).map(name) {
        let sum = sums.of(&customer).await.unwrap();
        assert_eq!(sum, expected.get(&customer).copied().unwrap_or(0), "{customer}");
    }
    sums.close().await.unwrap();
    drop((table, database));
    server.stop().await.unwrap();
}

fn name(number: u64) -> String {
    format!("customer{number}")
}

/// Starts this test as a process that follows.
fn follower(address: &str, sums: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sums_of_a_process_that_is_killed_again_and_again_are_right"])
        .env(SERVER, address)
        .env(DIRECTORY, sums)
        .spawn()
        .unwrap()
}

async fn follow_until_killed(address: &str, directory: &str) -> Result<()> {
    let database = rowhouse::open(address).await?;
    let sums = Sums::open(directory).await?;
    sums.follow(&database.table("orders").await?, Duration::from_secs(3600)).await
}

/// Writes, replaces and deletes orders.
async fn write(table: Table, stopped: Arc<AtomicBool>, written: Arc<AtomicU64>) -> Result<()> {
    let mut random = Random::new(47);
    while !stopped.load(Ordering::Relaxed) {
        let customer = name(random.below(CUSTOMERS));
        let n = random.below(ORDERS) as u32;
        let durability = if random.is(1) { Durability::FsyncWal } else { Durability::UseDefault };
        let key = [("customer", customer.as_str().into()), ("n", n.into())];
        if random.is(2) {
            let mut delete = Delete::new(table.key(&key)?)?;
            delete.durability = durability;
            table.delete(delete).await?;
        } else {
            let row = table.row(&key).set_named("amount", random.below(1_000));
            row.durability(durability).put().await?;
        }
        written.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_micros(random.below(3_000))).await;
    }
    Ok(())
}

/// Returns the sums of the amounts in the table.
async fn sums_in(table: &Table) -> Result<BTreeMap<String, i64>> {
    let mut sums = BTreeMap::new();
    for row in table.scan(Scan::all()).await?.collect().await? {
        let key = table.key_schema()?.decode(row.key()).unwrap();
        let customer = key.get("customer").unwrap().as_str().unwrap().to_owned();
        let amount = row.value("o", "a").unwrap();
        *sums.entry(customer).or_default() += i64::from_be_bytes(amount[..].try_into().unwrap());
    }
    Ok(sums)
}
