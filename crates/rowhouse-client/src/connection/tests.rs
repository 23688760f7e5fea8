//! Connections to a server that misbehaves on demand.

use std::time::Duration;

use rowhouse_format::convert::{CellPlacement, get, region::RegionRef, result};
use rowhouse_format::proto;
use rowhouse_format::rpc::Request;
use rowhouse_model::{Get, Row};

use super::*;
use crate::fake::{FakeServer, Reply, cell};
use crate::transport::Transport;

fn connections(call_timeout: Duration) -> Arc<Connections> {
    let settings = Settings { call_timeout, ..Settings::default() };
    Arc::new(Connections::new(Arc::new(settings), Transport::default()))
}

fn row_of(request: &Request) -> Bytes {
    request.message::<proto::GetRequest>().unwrap().get.row
}

/// Answers a get with the requested row.
fn echo(request: &Request) -> Reply {
    let row = Row::new(vec![cell(row_of(request), "q", "v")]);
    let result = Some(result::to_proto(&row, CellPlacement::Block));
    Reply::answer(request, &proto::GetResponse { result }, &row.to_cells())
}

/// Sends a get for a row; returns the row key in the answer.
async fn fetch(
    connections: &Connections,
    address: &Address,
    row: &str,
    limit: Duration,
) -> Result<String, Failure> {
    let message = proto::GetRequest {
        region: RegionRef::encoded("r").to_proto(),
        get: get::to_proto(&Get::new(row.to_owned()).unwrap()),
    };
    let deadline = Instant::now() + limit;
    let request = CallRequest { message, cells: &[], is_meta_call: false, deadline };
    let (answer, mut cells) = connections.call(address, request).await?;
    let read = result::from_proto(answer.result.unwrap(), &mut cells).unwrap();
    Ok(String::from_utf8(read.row.key().to_vec()).unwrap())
}

const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn answers_in_any_order_reach_their_calls() {
    let server = FakeServer::start(|request| {
        let number: u64 = String::from_utf8_lossy(&row_of(request)).parse().unwrap();
        echo(request).after(Duration::from_millis(100 - number))
    })
    .await;
    let connections = connections(LONG);
    let tasks = (0..100).map(|number| {
        let connections = connections.clone();
        let address = server.address.clone();
        tokio::spawn(async move {
            let row = number.to_string();
            assert_eq!(fetch(&connections, &address, &row, LONG).await.unwrap(), row);
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn an_exception_fails_its_call_and_no_other() {
    let server = FakeServer::start(|request| match &row_of(request)[..] {
        b"bad" => Reply::refuse(request, ErrorKind::NoSuchColumnFamily, "no cf"),
        _ => echo(request),
    })
    .await;
    let connections = connections(LONG);
    let (bad, good) = tokio::join!(
        fetch(&connections, &server.address, "bad", LONG),
        fetch(&connections, &server.address, "good", LONG),
    );
    let error = bad.unwrap_err().error;
    assert_eq!((error.kind(), error.message()), (ErrorKind::NoSuchColumnFamily, "no cf"));
    assert_eq!(good.unwrap(), "good");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_connection_that_breaks_fails_all_its_calls_and_is_made_again() {
    let server = FakeServer::start(|request| match &row_of(request)[..] {
        b"break" => Reply::Close,
        b"wait" => Reply::Never,
        _ => echo(request),
    })
    .await;
    let connections = connections(LONG);
    let waiting = {
        let connections = connections.clone();
        let address = server.address.clone();
        tokio::spawn(async move { fetch(&connections, &address, "wait", LONG).await })
    };
    while server.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let breaking = fetch(&connections, &server.address, "break", LONG).await;
    for failure in [breaking.unwrap_err(), waiting.await.unwrap().unwrap_err()] {
        assert_eq!(failure.error.kind(), ErrorKind::Connection, "{}", failure.error);
        assert!(failure.maybe_done);
    }
    assert_eq!(fetch(&connections, &server.address, "again", LONG).await.unwrap(), "again");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn late_answer_does_not_disturb_other_calls() {
    let server = FakeServer::start(|request| match &row_of(request)[..] {
        b"slow" => echo(request).after(Duration::from_millis(150)),
        _ => echo(request),
    })
    .await;
    let connections = connections(LONG);
    let failure = fetch(&connections, &server.address, "slow", Duration::from_millis(50)).await;
    let failure = failure.unwrap_err();
    assert_eq!(failure.error.kind(), ErrorKind::Timeout);
    assert!(failure.maybe_done);
    for at in 0..40 {
        let row = at.to_string();
        assert_eq!(fetch(&connections, &server.address, &row, LONG).await.unwrap(), row);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_silent_connection_is_given_up() {
    let server = FakeServer::start(|request| match &row_of(request)[..] {
        b"silence" => Reply::Never,
        _ => echo(request),
    })
    .await;
    let limit = Duration::from_millis(50);
    let connections = connections(limit);
    assert!(fetch(&connections, &server.address, "silence", limit).await.is_err());
    let connection = connections.to(&server.address, Service::Client);
    let broken = async {
        while !connection.is_broken() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, broken).await.unwrap();
    assert_eq!(fetch(&connections, &server.address, "again", LONG).await.unwrap(), "again");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn call_to_an_absent_server_is_not_executed() {
    let unused = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        Address { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() }
    };
    let failure = fetch(&connections(LONG), &unused, "r", LONG).await.unwrap_err();
    assert_eq!(failure.error.kind(), ErrorKind::Connection);
    assert!(failure.error.message().starts_with("cannot connect"), "{}", failure.error);
    assert!(!failure.maybe_done);

    // A call after the connection ends gets the same reason.
    let connections = connections(LONG);
    let connection = connections.to(&unused, Service::Client);
    while !connection.is_broken() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let failure = connection.call(1, Bytes::new(), Instant::now() + LONG).await.unwrap_err();
    let message = failure.error.message();
    assert!(message.starts_with("cannot connect: Connection refused"), "{message}");
    assert!(message.ends_with(&format!("address={unused}")), "{message}");
}

#[tokio::test]
async fn calls_under_way_are_bounded() {
    let server = FakeServer::start(|_| Reply::Never).await;
    let connections = connections(LONG);
    let calls: Vec<_> = (0..CALLS_MAX)
        .map(|_| {
            let connections = connections.clone();
            let address = server.address.clone();
            tokio::spawn(async move { fetch(&connections, &address, "r", LONG).await })
        })
        .collect();
    while server.requests().len() < CALLS_MAX {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let failure = fetch(&connections, &server.address, "r", Duration::from_millis(50)).await;
    let failure = failure.unwrap_err();
    assert!(!failure.maybe_done);
    assert!(failure.error.message().starts_with("too many pending calls"), "{}", failure.error);
    calls.iter().for_each(|call| call.abort());
}

#[tokio::test]
async fn last_notification_is_written_after_drop() {
    let server = FakeServer::start(echo).await;
    let connections = connections(LONG);
    fetch(&connections, &server.address, "first", LONG).await.unwrap();
    let message = proto::ScanRequest { scanner_id: Some(7), ..Default::default() };
    connections.tell(&server.address, message);
    drop(connections);
    let received = async {
        while server.requests().len() < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(LONG, received).await.unwrap();
}
