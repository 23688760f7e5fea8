//! Calls that fail on demand, as rowhouse's own client takes them.

use std::time::Duration;

use rowhouse::{Database, ErrorKind, Increment, Put, Row, RowRange, Scan, Table, TableSpec};
use rowhouse_client::{Client, FaultCall, Target};
use rowhouse_model::{FaultCallKind, FaultEffect, FaultRule, TableName};
use rowhouse_server::{Options, Server};

use crate::support::loopback;

struct Served {
    server: Server,
    client: Client,
    database: Database,
    table: Table,
    _dir: tempfile::TempDir,
}

async fn serve() -> Served {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { allow_faults: true, ..loopback(dir.path()) };
    let server = Server::start(options).await.unwrap();
    let url = format!("hbase://{}", server.address());
    let client = Client::connect(&Target::parse(&url).unwrap()).await.unwrap();
    let database = rowhouse::open(&url).await.unwrap();
    let table = database.create_table(TableSpec::new("t").family("f")).await.unwrap();
    Served { server, client, database, table, _dir: dir }
}

impl Served {
    /// Adds a rule about the table that hits once; returns the number.
    async fn add(&self, effect: FaultEffect, call: FaultCallKind) -> u64 {
        let rule = FaultRule {
            table: Some(TableName::parse("t").unwrap()),
            call: Some(call),
            hits_max: Some(1),
            ..FaultRule::new(effect)
        };
        self.client.admin().change_faults(&FaultCall::Add(rule)).await.unwrap()[0].id
    }

    /// Removes a rule; returns the hits.
    async fn remove(&self, id: u64) -> u64 {
        let call = FaultCall::Remove(Some(id));
        self.client.admin().change_faults(&call).await.unwrap()[0].hits
    }
}

async fn rows(table: &Table) -> Vec<Row> {
    let mut scanner = table.scan(Scan::new(RowRange::all())).await.unwrap();
    let mut rows = Vec::new();
    while let Some(row) = scanner.next().await.unwrap() {
        rows.push(row);
    }
    rows
}

fn increment(row: &str) -> Increment {
    Increment::new(row.to_owned()).unwrap().add("f", "q", 1).unwrap()
}

#[tokio::test]
async fn calls_that_are_not_done_are_repeated_and_applied_once() {
    let served = serve().await;
    let time = Duration::from_millis(100);
    for (number, effect) in [
        FaultEffect::RegionTooBusy,
        FaultEffect::CallQueueTooBig,
        FaultEffect::NotServingRegion,
        FaultEffect::RegionMoved,
        FaultEffect::Delay(time),
        FaultEffect::CutBefore,
        FaultEffect::DeadServer(time),
    ]
    .into_iter()
    .enumerate()
    {
        let id = served.add(effect, FaultCallKind::Mutate).await;
        let row = format!("{number}");
        served.table.increment(increment(&row)).await.unwrap();
        assert_eq!(served.remove(id).await, 1, "{effect:?}");
        let rows = rows(&served.table).await;
        assert_eq!(rows.len(), number + 1);
        assert_eq!(rows[number].counter("f", "q").unwrap(), Some(1), "{effect:?}");
    }
    served.database.close().await.unwrap();
    served.server.stop().await.unwrap();
}

#[tokio::test]
async fn a_connection_that_is_cut_after_the_call_has_the_call_done() {
    let served = serve().await;
    let id = served.add(FaultEffect::CutAfter, FaultCallKind::Mutate).await;
    // The client may repeat the call, with the number by which the server knows it.
    let _ = served.table.increment(increment("r")).await;
    assert_eq!(served.remove(id).await, 1);
    assert_eq!(rows(&served.table).await[0].counter("f", "q").unwrap(), Some(1));
    served.server.stop().await.unwrap();
}

#[tokio::test]
async fn a_scan_goes_on_without_its_scanner() {
    let served = serve().await;
    for row in 0..2500 {
        let put = Put::new(format!("{row:04}")).unwrap().add("f", "q", vec![b'v'; 2000]).unwrap();
        served.table.put(put).await.unwrap();
    }
    let id = served.add(FaultEffect::LostScanner, FaultCallKind::Scan).await;
    let rows = rows(&served.table).await;
    assert_eq!(served.remove(id).await, 1);
    let keys: Vec<_> = rows.iter().map(|row| row.key().to_vec()).collect();
    let expected: Vec<_> = (0..2500).map(|row| format!("{row:04}").into_bytes()).collect();
    assert_eq!(keys, expected);
    served.server.stop().await.unwrap();
}

#[tokio::test]
async fn a_rule_about_a_server_that_there_is_not_is_refused() {
    let served = serve().await;
    let rule = FaultRule { server: Some(1), ..FaultRule::new(FaultEffect::CutBefore) };
    let refused = served.client.admin().change_faults(&FaultCall::Add(rule)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidRequest, "{refused}");
    served.server.stop().await.unwrap();
}

#[tokio::test]
async fn a_server_without_permission_has_no_faults() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(loopback(dir.path())).await.unwrap();
    let url = format!("hbase://{}", server.address());
    let client = Client::connect(&Target::parse(&url).unwrap()).await.unwrap();
    let error = client.admin().change_faults(&FaultCall::List).await.unwrap_err();
    assert!(error.message().contains("--allow-faults"), "{error}");
    assert_ne!(error.kind(), ErrorKind::Protocol);
    server.stop().await.unwrap();
}
