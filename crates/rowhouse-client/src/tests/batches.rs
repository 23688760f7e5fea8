//! Row batches.

use std::collections::HashSet;
use std::sync::Mutex;

use rowhouse_format::convert::CellPlacement;
use rowhouse_format::convert::multi::{
    Action, ActionResult, IndexedAction, IndexedResult, MultiCall, MultiResult, RegionResult,
};
use rowhouse_format::proto;
use rowhouse_format::rpc::{Method, Request};
use rowhouse_model::{Error, ErrorKind, Get, Mutation, Put, Row, TableState};

use crate::connection::lock;
use crate::fake::{FakeCluster, Reply, cell};

fn call(request: &Request) -> MultiCall {
    let message = request.message::<proto::MultiRequest>().unwrap();
    MultiCall::from_proto(message, &mut request.cells(None)).unwrap()
}

fn row_of(action: &IndexedAction) -> String {
    let row = match action.action.as_ref().unwrap() {
        Action::Get(get) => get.row(),
        Action::Service(call) => &call.row,
        Action::Mutate(mutation, _) => mutation.row(),
    };
    String::from_utf8(row.to_vec()).unwrap()
}

/// Returns a call's rows, region by region.
fn rows(request: &Request) -> String {
    let region = |region: rowhouse_format::convert::multi::RegionActions| {
        region.actions.unwrap().iter().map(row_of).collect::<Vec<_>>().join(" ")
    };
    call(request).regions.into_iter().map(region).collect::<Vec<_>>().join(" | ")
}

/// Answers a Multi: mutations succeed and gets find their row, unless `fail` returns an error. A
/// region's results are in reverse order, which the protocol permits.
fn answer(
    request: &Request,
    fail: impl Fn(&str) -> Option<ErrorKind>,
    fail_region: impl Fn(&str) -> Option<ErrorKind>,
) -> Reply {
    let mut answer = MultiResult::default();
    for region in call(request).regions {
        let actions = region.actions.unwrap();
        if let Some(kind) = fail_region(&row_of(&actions[0])) {
            answer.regions.push(Err(Error::new(kind, "region")));
            continue;
        }
        let one = |action: &IndexedAction| {
            let row = row_of(action);
            let answer = match (fail(&row), action.action.as_ref().unwrap()) {
                (Some(kind), _) => Err(Error::new(kind, row)),
                (None, Action::Get(_)) => {
                    Ok(ActionResult::Row(Row::new(vec![cell(&row, "q", &row)])))
                }
                (None, Action::Mutate(..) | Action::Service(_)) => Ok(ActionResult::Done),
            };
            IndexedResult { index: action.index, answer }
        };
        answer.regions.push(Ok(RegionResult::each(actions.iter().rev().map(one).collect())));
    }
    let cells: Vec<_> = answer.cells().map(|cell| cell.to_cell()).collect();
    Reply::answer(request, &answer.to_proto(CellPlacement::Block), &cells)
}

fn put(row: &str) -> Mutation {
    Put::new(row.to_owned()).unwrap().add("cf", "q", "v").unwrap().into()
}

fn gets(rows: &str) -> Vec<Get> {
    rows.split(' ').map(|row| Get::new(row.to_owned()).unwrap()).collect()
}

#[tokio::test]
async fn only_failed_actions_are_retried() {
    // Each row that starts with x fails the first time; `bad` always fails.
    let failed = Mutex::new(HashSet::new());
    let handler = move |request: &Request| {
        let fail = |row: &str| match row {
            "bad" => Some(ErrorKind::NoSuchColumnFamily),
            _ if row.starts_with('x') && lock(&failed).insert(row.to_owned()) => {
                Some(ErrorKind::RegionTooBusy)
            }
            _ => None,
        };
        answer(request, fail, |_| None)
    };
    let cluster = FakeCluster::start(&["m"], TableState::Enabled, handler).await;
    let answers = cluster.table.get_many(gets("z x1 a bad x2 b")).await;
    let answers: Vec<_> = answers
        .into_iter()
        .map(|answer| match answer {
            Ok(row) => String::from_utf8(row.key().to_vec()).unwrap(),
            Err(error) => format!("{error:?}"),
        })
        .collect();
    assert_eq!(answers, ["z", "x1", "a", "NoSuchColumnFamily: bad", "x2", "b"]);
    let sent: Vec<_> = cluster.requests(Method::Multi).iter().map(rows).collect();
    assert_eq!(sent, ["a bad b | z x1 x2", "x1 x2"]);
}

#[tokio::test]
async fn a_region_that_moved_fails_its_actions_only() {
    let moved = Mutex::new(true);
    let handler = move |request: &Request| {
        let fail_region = |row: &str| {
            let moved = row == "z" && std::mem::take(&mut *lock(&moved));
            moved.then_some(ErrorKind::NotServingRegion)
        };
        answer(request, |_| None, fail_region)
    };
    let cluster = FakeCluster::start(&["m"], TableState::Enabled, handler).await;
    let puts = ["a", "z", "z", "b"].map(put).to_vec();
    for outcome in cluster.table.batch(puts).await {
        outcome.unwrap();
    }
    let sent: Vec<_> = cluster.requests(Method::Multi).iter().map(rows).collect();
    assert_eq!(sent, ["a b | z z", "z z"]);
}

#[tokio::test]
async fn a_call_that_is_lost_is_made_again_and_the_rest_waits_for_it() {
    let lost = Mutex::new(true);
    let handler = move |request: &Request| {
        if std::mem::take(&mut *lock(&lost)) {
            Reply::Close
        } else {
            answer(request, |_| None, |_| None)
        }
    };
    let cluster = FakeCluster::start(&[], TableState::Enabled, handler).await;
    // More than one call can hold.
    let puts = (0..2500).map(|at| put(&format!("{:04}", at % 1250))).collect();
    for outcome in cluster.table.batch(puts).await {
        outcome.unwrap();
    }
    let firsts: Vec<_> = cluster
        .requests(Method::Multi)
        .iter()
        .map(|request| (rows(request)[..4].to_owned(), rows(request).len().div_ceil(5)))
        .collect();
    let call = |row: &str, count| (row.to_owned(), count);
    assert_eq!(
        firsts,
        [call("0000", 1000), call("0000", 1000), call("1000", 1000), call("0750", 500)]
    );
}

#[tokio::test]
async fn a_disabled_table_fails_all_actions_at_once() {
    let handler =
        |request: &Request| answer(request, |_| None, |_| Some(ErrorKind::NotServingRegion));
    let cluster = FakeCluster::start(&["m"], TableState::Disabled, handler).await;
    for answer in cluster.table.get_many(gets("a z b")).await {
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::TableNotEnabled);
    }
    assert_eq!(cluster.requests(Method::Multi).len(), 1);
}
