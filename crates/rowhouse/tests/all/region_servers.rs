//! Clients while region servers end and start, and regions move, split and merge.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rowhouse::{Database, Increment, Put, RowRange, Scan, Table, TableSpec};
use rowhouse_client::{Client, RegionServerCall, RegionServerChange, Target};
use rowhouse_server::{Options, Server};

use crate::support::loopback;

const SERVERS: u32 = 4;
const WRITERS: u64 = 3;
const COUNTERS: u64 = 4;
const ROUNDS: u64 = 60;

fn row(number: u64, writer: u64) -> String {
    // A writer's rows are in all regions.
    format!("{:02x}-{writer}-{number:06}", number.wrapping_mul(0x9E37_79B9) as u8)
}

/// Puts rows and counts until it is stopped; returns the increment count.
async fn write(table: Table, writer: u64, written: Arc<AtomicU64>, stop: Arc<AtomicBool>) -> u64 {
    let mut number = 0;
    while !stop.load(Ordering::Acquire) {
        let put = Put::new(row(number, writer)).unwrap();
        table.put(put.add("f", "n", number.to_string()).unwrap()).await.unwrap();
        let counter = format!("{:02x}-counter", number % COUNTERS * 0x40);
        let increment = Increment::new(counter).unwrap().add("f", "c", 1).unwrap();
        table.increment(increment).await.unwrap();
        number += 1;
        written.store(number, Ordering::Release);
    }
    number
}

/// Returns all rows in the table, which must come in order and once.
async fn read(table: &Table) -> BTreeMap<String, Option<i64>> {
    let mut rows = table.scan(Scan::new(RowRange::all())).await.unwrap();
    let mut read = BTreeMap::new();
    let mut last = Vec::new();
    while let Some(row) = rows.next().await.unwrap() {
        assert!(row.key() > &last[..], "{:?} after {last:?}", row.key());
        last = row.key().to_vec();
        let key = String::from_utf8(last.clone()).unwrap();
        read.insert(key, row.counter("f", "c").unwrap());
    }
    read
}

struct Disturbance {
    client: Client,
    database: Database,
    ended: Vec<u32>,
    random: u64,
}

impl Disturbance {
    fn below(&mut self, bound: u64) -> u64 {
        // A linear congruential generator: the same disturbances in each run.
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % bound
    }

    async fn change(&self, number: u32, change: RegionServerChange) {
        let call = RegionServerCall { number, change };
        self.client.admin().change_region_server(call).await.unwrap();
    }

    async fn disturb(&mut self) {
        let database = self.database.clone();
        let table = database.table("t").await.unwrap();
        let admin = database.admin();
        let regions = table.regions().await.unwrap();
        let at = self.below(regions.len() as u64) as usize;
        match self.below(8) {
            0..=2 if (self.ended.len() as u32) < SERVERS - 1 => {
                let live = (0..SERVERS).filter(|number| !self.ended.contains(number));
                let live: Vec<_> = live.collect();
                let number = live[self.below(live.len() as u64) as usize];
                let kinds = [RegionServerChange::Stop, RegionServerChange::Kill];
                let kind = kinds[self.below(2) as usize];
                self.change(number, kind).await;
                self.ended.push(number);
            }
            0..=3 => {
                if let Some(number) = self.ended.pop() {
                    self.change(number, RegionServerChange::Start).await;
                }
            }
            4 | 5 => admin.move_region(&regions[at]).await.unwrap(),
            // A region may have too few rows, or a neighbour may have gone meanwhile.
            6 => drop(admin.split_region(&regions[at], None).await),
            _ if at + 1 < regions.len() => drop(admin.merge_regions(&regions[at..at + 2]).await),
            _ => drop(admin.balance(false).await.unwrap()),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn nothing_is_lost_or_doubled_while_region_servers_end_and_regions_move() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { region_servers: SERVERS, ..loopback(dir.path()) };
    let server = Server::start(options).await.unwrap();
    let url = format!("hbase://{}", server.address());
    let database = rowhouse::open(&url).await.unwrap();
    let splits = ["20", "40", "60", "80", "a0", "c0", "e0"];
    let spec = TableSpec::new("t").family("f").splits(splits);
    let table = database.create_table(spec).await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let written: Vec<_> = (0..WRITERS).map(|_| Arc::new(AtomicU64::new(0))).collect();
    let writers: Vec<_> = (0..)
        .zip(&written)
        .map(|(writer, written)| {
            let written = Arc::clone(written);
            let stop = Arc::clone(&stop);
            tokio::spawn(write(table.clone(), writer, written, stop))
        })
        .collect();
    let reader = tokio::spawn({
        let table = table.clone();
        let stop = Arc::clone(&stop);
        let written = written.clone();
        async move {
            let mut scans = 0;
            while !stop.load(Ordering::Acquire) {
                let before: Vec<_> = written.iter().map(|it| it.load(Ordering::Acquire)).collect();
                let rows = read(&table).await;
                for (writer, &count) in (0..).zip(&before) {
                    for number in 0..count {
                        let row = row(number, writer);
                        assert!(rows.contains_key(&row), "{row} is missing");
                    }
                }
                scans += 1;
            }
            scans
        }
    });
    let client = Client::connect(&Target::parse(&url).unwrap()).await.unwrap();
    let ended = Vec::new();
    let mut disturbance = Disturbance { client, database: database.clone(), ended, random: 7 };
    for _ in 0..ROUNDS {
        let start = written[0].load(Ordering::Acquire);
        disturbance.disturb().await;
        // The writers go on between two disturbances.
        while written[0].load(Ordering::Acquire) < start + 2 && !writers[0].is_finished() {
            tokio::task::yield_now().await;
        }
    }
    stop.store(true, Ordering::Release);
    let mut increments = 0;
    for writer in writers {
        increments += writer.await.unwrap();
    }
    assert!(reader.await.unwrap() > 0);
    let rows = read(&table).await;
    assert_eq!(rows.values().flatten().sum::<i64>(), increments as i64);
    let counters = rows.values().flatten().count() as u64;
    assert_eq!(rows.len() as u64 - counters, increments);
    database.close().await.unwrap();
    server.stop().await.unwrap();
}
