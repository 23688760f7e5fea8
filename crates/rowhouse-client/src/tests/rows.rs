//! Single-row calls.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rowhouse_format::convert::multi::{MultiResult, RegionResult};
use rowhouse_format::convert::{CellPlacement, mutate, result};
use rowhouse_format::proto;
use rowhouse_format::rpc::{Method, Request};
use rowhouse_model::{
    Append, Condition, Delete, ErrorKind, Get, Increment, Put, Row, RowMutations, TableState,
    Timestamp,
};

use crate::fake::{FakeCluster, Reply, cell};

fn one_row(request: &Request) -> Reply {
    let row = Row::new(vec![cell("r", "q", "v")]);
    let result = Some(result::to_proto(&row, CellPlacement::Block));
    Reply::answer(request, &proto::GetResponse { result }, &row.to_cells())
}

fn done(request: &Request) -> Reply {
    Reply::answer(request, &mutate::done(), &[])
}

/// Reacts with `first` to the first call and with `then` to later ones.
fn once(
    first: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    then: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    let calls = AtomicUsize::new(0);
    move |request| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => first(request),
        _ => then(request),
    }
}

fn get() -> Get {
    Get::new("r").unwrap()
}

fn nonces(cluster: &FakeCluster) -> Vec<(Option<u64>, Option<u64>)> {
    let nonce = |request: Request| {
        let message = request.message::<proto::MutateRequest>().unwrap();
        (message.nonce_group, message.mutation.nonce)
    };
    cluster.requests(Method::Mutate).into_iter().map(nonce).collect()
}

#[tokio::test]
async fn an_increment_whose_answer_is_lost_is_repeated_under_its_nonce() {
    let handler = once(|_| Reply::Close, done);
    let cluster = FakeCluster::start(&[], TableState::Enabled, handler).await;
    let increment = || Increment::new("r").unwrap().add("cf", "n", 1).unwrap();
    cluster.table.mutate(increment()).await.unwrap();
    cluster.table.mutate(increment()).await.unwrap();
    let nonces = nonces(&cluster);
    assert_eq!(nonces.len(), 3);
    assert!(nonces[0].0.is_some() && nonces[0].1.is_some());
    assert_eq!(nonces[0], nonces[1]);
    assert_eq!(nonces[0].0, nonces[2].0);
    assert_ne!(nonces[0].1, nonces[2].1);
}

#[tokio::test]
async fn a_put_whose_answer_does_not_come_is_repeated() {
    let cluster = FakeCluster::start(&[], TableState::Enabled, once(|_| Reply::Never, done)).await;
    let put = Put::new("r").unwrap().add("cf", "q", "v").unwrap();
    cluster.table.mutate(put).await.unwrap();
    assert_eq!(nonces(&cluster), [(None, None), (None, None)]);
}

#[tokio::test]
async fn deleting_the_newest_version_is_repeated_only_when_it_was_not_done() {
    let newest = || Delete::new("r").unwrap().version("cf", "q", Timestamp::LATEST).unwrap();
    let lost = FakeCluster::start(&[], TableState::Enabled, once(|_| Reply::Close, done)).await;
    let error = lost.table.mutate(newest()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection);
    assert_eq!(lost.requests(Method::Mutate).len(), 1);

    let busy = |request: &Request| Reply::refuse(request, ErrorKind::RegionTooBusy, "busy");
    let busy = FakeCluster::start(&[], TableState::Enabled, once(busy, done)).await;
    busy.table.mutate(newest()).await.unwrap();
    assert_eq!(busy.requests(Method::Mutate).len(), 2);
}

#[tokio::test]
async fn a_region_that_moved_is_looked_up_again() {
    let moved = |request: &Request| Reply::refuse(request, ErrorKind::NotServingRegion, "moved");
    let cluster = FakeCluster::start(&[], TableState::Enabled, once(moved, one_row)).await;
    assert_eq!(cluster.table.get(&get()).await.unwrap().len(), 1);
    cluster.table.get(&get()).await.unwrap();
    assert_eq!(cluster.lookups(), 2);
}

#[tokio::test]
async fn concurrent_lookups_of_a_table_are_merged() {
    let cluster = FakeCluster::start(&["m"], TableState::Enabled, one_row).await;
    let tasks = (0..50).map(|_| {
        let table = cluster.table.clone();
        tokio::spawn(async move { table.get(&get()).await.unwrap() })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(cluster.lookups(), 1);
}

#[tokio::test]
async fn region_of_a_disabled_table_is_not_retried() {
    let refuse = |request: &Request| Reply::refuse(request, ErrorKind::NotServingRegion, "t,,");
    let cluster = FakeCluster::start(&[], TableState::Disabled, refuse).await;
    let error = cluster.table.get(&get()).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::TableNotEnabled, "t is disabled."));
    assert_eq!(cluster.requests(Method::Get).len(), 1);
}

#[tokio::test]
async fn repeated_failure_returns_the_last_error_in_time() {
    let refuse = |request: &Request| Reply::refuse(request, ErrorKind::RegionTooBusy, "full");
    let cluster = FakeCluster::start(&[], TableState::Enabled, refuse).await;
    let started = Instant::now();
    let error = cluster.table.get(&get()).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::RegionTooBusy, "full"));
    assert_eq!(cluster.requests(Method::Get).len(), 16);
    assert!(started.elapsed() < Duration::from_secs(20));
}

fn grow() -> Append {
    Append::new("r").unwrap().add("cf", "q", "v").unwrap()
}

fn both() -> RowMutations {
    let put = Put::new("r").unwrap().add("cf", "p", "v").unwrap();
    RowMutations::new("r").unwrap().with(put).unwrap().with(grow()).unwrap()
}

/// Answers a Multi with one region's answer.
fn answer_region(request: &Request, answer: rowhouse_model::Result<RegionResult>) -> Reply {
    let answer = MultiResult { regions: vec![answer] };
    let cells: Vec<_> = answer.cells().map(|cell| cell.to_cell()).collect();
    Reply::answer(request, &answer.to_proto(CellPlacement::Block), &cells)
}

fn all_done(request: &Request) -> Reply {
    let row = Row::new(vec![cell("r", "q", "v")]);
    answer_region(request, Ok(RegionResult::all(true, 2, Some(row))))
}

#[tokio::test]
async fn an_append_whose_answer_is_lost_is_repeated_under_its_nonce() {
    let handler = once(|_| Reply::Close, done);
    let cluster = FakeCluster::start(&[], TableState::Enabled, handler).await;
    cluster.table.mutate(grow()).await.unwrap();
    let nonces = nonces(&cluster);
    assert!(nonces[0].1.is_some());
    assert_eq!(nonces, [nonces[0]; 2]);
}

#[tokio::test]
async fn changes_of_a_row_that_are_one_are_repeated_as_one_under_one_nonce() {
    let moved = |request: &Request| {
        let moved = rowhouse_model::Error::new(ErrorKind::NotServingRegion, "moved");
        answer_region(request, Err(moved))
    };
    let cluster = FakeCluster::start(&[], TableState::Enabled, once(moved, all_done)).await;
    assert_eq!(cluster.table.mutate_row(&both()).await.unwrap().row.len(), 1);
    assert_eq!(cluster.lookups(), 2, "the region is looked up again");
    let requests: Vec<_> = cluster
        .requests(Method::Multi)
        .iter()
        .map(|request| request.message::<proto::MultiRequest>().unwrap())
        .collect();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], requests[1]);
    let region = &requests[0].region_action[0];
    assert_eq!(region.atomic, Some(true));
    let nonces = region.action.iter().map(|one| one.mutation.as_ref().unwrap().nonce);
    let nonces: Vec<_> = nonces.collect();
    assert!(nonces[0].is_none() && nonces[1].is_some());
}

#[tokio::test]
async fn conditional_mutation_is_retried_only_if_not_executed() {
    let condition = Condition::no_value("cf", "q");
    let put = || Put::new("r").unwrap().add("cf", "q", "v").unwrap();
    let lost = FakeCluster::start(&[], TableState::Enabled, once(|_| Reply::Close, done)).await;
    let error = lost.table.mutate_if(&condition, put()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection);
    assert_eq!(lost.requests(Method::Mutate).len(), 1);

    let lost = FakeCluster::start(&[], TableState::Enabled, once(|_| Reply::Close, all_done)).await;
    let error = lost.table.mutate_row_if(&condition, &both()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection);
    assert_eq!(lost.requests(Method::Multi).len(), 1);

    let busy = |request: &Request| Reply::refuse(request, ErrorKind::RegionTooBusy, "busy");
    let busy = FakeCluster::start(&[], TableState::Enabled, once(busy, done)).await;
    assert!(busy.table.mutate_if(&condition, put()).await.unwrap().is_some());

    let never = FakeCluster::start(&[], TableState::Enabled, done).await;
    let error = never.table.mutate_if(&Condition::NoRow, put()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(never.requests(Method::Mutate).is_empty());
}

#[tokio::test]
async fn a_condition_that_does_not_hold_is_no_error() {
    let not_done = |request: &Request| Reply::answer(request, &mutate::not_done(), &[]);
    let cluster = FakeCluster::start(&[], TableState::Enabled, not_done).await;
    let condition = Condition::no_value("cf", "q");
    assert!(cluster.table.mutate_if(&condition, grow()).await.unwrap().is_none());
    let not_done =
        |request: &Request| answer_region(request, Ok(RegionResult::all(false, 2, None)));
    let cluster = FakeCluster::start(&[], TableState::Enabled, not_done).await;
    assert!(cluster.table.mutate_row_if(&condition, &both()).await.unwrap().is_none());
}
