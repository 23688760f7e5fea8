//! Action batches.
//!
//! Each round groups the remaining actions by region and server. All servers are called in
//! parallel; the calls to one server are sequential. After a retryable failure the failed actions
//! and all later ones for the same server are left for the next round, so a later mutation on a row
//! never overtakes an earlier one.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowhouse_format::convert::multi::{
    Action, ActionResult, IndexedAction, MultiCall, MultiResult, RegionActions,
};
use rowhouse_model::{Error, ErrorKind, Result, TableName};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::Client;
use crate::connection::{Address, CallRequest};
use crate::locate::{Located, RegionTarget};
use crate::retry::{Attempts, Failure, Verdict, from_now, is_repeatable};

/// Maximum actions in one call.
const CALL_ACTIONS_MAX: usize = 1000;
/// Cell bytes at which a call is full.
const CALL_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Bytes counted for an action in addition to the cells.
const ACTION_BYTES: usize = 64;

/// One call's content: the indexes of the actions per region.
type Chunk = Vec<(Arc<Located>, Vec<usize>)>;

/// Action results in one round; an action that was not sent has none.
type Outcomes = Vec<(usize, Result<ActionResult, Failure>)>;

/// Executes all actions; returns one answer for each, in order.
pub(crate) async fn run(
    client: &Client,
    table: &TableName,
    actions: Vec<Action>,
) -> Vec<Result<ActionResult>> {
    let actions = Arc::new(actions);
    let mut answers: Vec<Option<Result<ActionResult>>> = actions.iter().map(|_| None).collect();
    let mut attempts = Attempts::new(client.settings());
    let mut state_checked = false;
    loop {
        let left: Vec<usize> = (0..actions.len()).filter(|&at| answers[at].is_none()).collect();
        if left.is_empty() {
            break;
        }
        let deadline = attempts.deadline();
        let (servers, mut outcomes) = locate(client, table, &actions, left, deadline).await;
        outcomes.extend(send(client, &actions, servers).await);
        let disabled = refusal(client, table, &outcomes, &mut state_checked, attempts.end()).await;
        if outcomes.iter().any(|(_, outcome)| outcome.is_ok()) {
            attempts.progress();
        }
        let mut wait = None;
        for (at, outcome) in outcomes {
            let failure = match outcome {
                Ok(answer) => {
                    answers[at] = Some(Ok(answer));
                    continue;
                }
                Err(failure) => failure,
            };
            if let Some(error) = disabled.as_ref().filter(|_| is_misplaced(&failure)) {
                answers[at] = Some(Err(error.clone()));
                continue;
            }
            match attempts.judge(&failure, repeatable(&actions[at])) {
                Verdict::GiveUp => answers[at] = Some(Err(failure.error)),
                Verdict::Again(pause) => {
                    tracing::debug!(error = %failure.error, action = at, ?pause, "again");
                    wait = wait.max(Some(pause));
                }
            }
        }
        // If all remaining actions were only held back by a failure, the next round starts without
        // a wait.
        if let Some(wait) = wait {
            attempts.sleep(wait).await;
        }
    }
    answers.into_iter().map(|answer| answer.expect("the loop ends when all are answered")).collect()
}

fn repeatable(action: &Action) -> bool {
    match action {
        Action::Get(_) => true,
        // An endpoint's effects are unknown.
        Action::Service(_) => false,
        Action::Mutate(mutation, _) => is_repeatable(mutation),
    }
}

fn is_misplaced(failure: &Failure) -> bool {
    failure.error.kind() == ErrorKind::NotServingRegion
}

/// Returns the error for all actions if one action failed because the table is disabled or does not
/// exist.
async fn refusal(
    client: &Client,
    table: &TableName,
    outcomes: &Outcomes,
    checked: &mut bool,
    end: Instant,
) -> Option<Error> {
    let failures = outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().err());
    let failure = failures.into_iter().find(|failure| is_misplaced(failure))?;
    client.refuse_disabled(table, failure, checked, end).await.err()
}

/// Finds every action's region. Actions whose region cannot be found have failed.
async fn locate(
    client: &Client,
    table: &TableName,
    actions: &[Action],
    left: Vec<usize>,
    deadline: Instant,
) -> (BTreeMap<Address, Chunk>, Outcomes) {
    // Within a round all actions on a row go to the same region, even if regions change meanwhile.
    let mut grouping = Grouping::default();
    let mut outcomes = Outcomes::new();
    let mut blind: Option<Failure> = None;
    for at in left {
        let row = row_of(&actions[at]);
        if grouping.add(row, at) {
            continue;
        }
        if let Some(failure) = &blind {
            outcomes.push((at, Err(failure.clone())));
            continue;
        }
        match client.locator().locate(table, RegionTarget::Row(row), deadline).await {
            Ok(located) => grouping.add_region(located, at),
            Err(failure) => {
                // An unassigned region says nothing about the others; any other lookup failure
                // applies to all.
                blind = Some(failure.clone()).filter(|failure| !is_misplaced(failure));
                outcomes.push((at, Err(failure)));
            }
        }
    }
    (grouping.by_server(), outcomes)
}

fn row_of(action: &Action) -> &[u8] {
    match action {
        Action::Get(get) => get.row(),
        Action::Service(call) => &call.row,
        Action::Mutate(mutation, _) => mutation.row(),
    }
}

/// Actions by region, indexed by the region's start key.
#[derive(Default)]
struct Grouping {
    regions: BTreeMap<Vec<u8>, (Arc<Located>, Vec<usize>)>,
}

impl Grouping {
    /// Adds an action to the region that holds the action's row; returns true if that region is
    /// known.
    fn add(&mut self, row: &[u8], at: usize) -> bool {
        let in_front = self
            .regions
            .range_mut::<[u8], _>((std::ops::Bound::Unbounded, std::ops::Bound::Included(row)));
        match in_front.last() {
            Some((_, (located, numbers))) if located.region.range.contains(row) => {
                numbers.push(at);
                true
            }
            _ => false,
        }
    }

    fn add_region(&mut self, located: Arc<Located>, at: usize) {
        let start = located.region.range.start.to_vec();
        self.regions.entry(start).or_insert_with(|| (located, Vec::new())).1.push(at);
    }

    fn by_server(self) -> BTreeMap<Address, Chunk> {
        let mut servers = BTreeMap::<Address, Chunk>::new();
        for (located, numbers) in self.regions.into_values() {
            servers.entry(located.server.clone()).or_default().push((located, numbers));
        }
        servers
    }
}

/// Splits a server's actions into calls with limited size, in order.
fn chunks(server_actions: Chunk, bytes_of: impl Fn(usize) -> usize) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut chunk = Chunk::new();
    let mut count = 0;
    let mut bytes = 0;
    for (located, numbers) in server_actions {
        let mut here = Vec::new();
        for at in numbers {
            if count == CALL_ACTIONS_MAX || bytes >= CALL_BYTES_MAX {
                if !here.is_empty() {
                    chunk.push((located.clone(), std::mem::take(&mut here)));
                }
                chunks.push(std::mem::take(&mut chunk));
                (count, bytes) = (0, 0);
            }
            here.push(at);
            count += 1;
            bytes += bytes_of(at);
        }
        if !here.is_empty() {
            chunk.push((located, here));
        }
    }
    if !chunk.is_empty() {
        chunks.push(chunk);
    }
    chunks
}

fn bytes_of(action: &Action) -> usize {
    let cells = match action {
        Action::Get(_) | Action::Service(_) => 0,
        Action::Mutate(mutation, _) => {
            mutation.cells().iter().map(|cell| cell.as_bytes().len()).sum()
        }
    };
    ACTION_BYTES + cells
}

/// Calls all servers in parallel.
async fn send(
    client: &Client,
    actions: &Arc<Vec<Action>>,
    servers: BTreeMap<Address, Chunk>,
) -> Outcomes {
    let mut tasks = JoinSet::new();
    for (server, server_actions) in servers {
        let client = client.clone();
        let actions = actions.clone();
        tasks.spawn(async move { send_to(&client, &actions, &server, server_actions).await });
    }
    let mut outcomes = Outcomes::new();
    while let Some(joined) = tasks.join_next().await {
        match joined {
            Ok(answered) => outcomes.extend(answered),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // Only a runtime shutdown cancels tasks, and it cancels this one too.
            Err(_) => {}
        }
    }
    outcomes
}

/// Sends the calls to one server sequentially and stops at the first failure to be retried.
async fn send_to(
    client: &Client,
    actions: &[Action],
    server: &Address,
    server_actions: Chunk,
) -> Outcomes {
    let settings = client.settings();
    let mut outcomes = Outcomes::new();
    for chunk in chunks(server_actions, |at| bytes_of(&actions[at])) {
        let deadline = from_now(settings.call_timeout.min(settings.operation_timeout));
        let answers = send_chunk(client, actions, server, &chunk, deadline).await;
        let failures = answers.iter().filter_map(|(_, outcome)| outcome.as_ref().err());
        let failed = failures.into_iter().any(|failure| !failure.is_final(settings));
        outcomes.extend(answers);
        if failed {
            break;
        }
    }
    outcomes
}

async fn send_chunk(
    client: &Client,
    actions: &[Action],
    server: &Address,
    chunk: &Chunk,
    deadline: Instant,
) -> Outcomes {
    let outcomes = match call_server(client, actions, server, chunk, deadline).await {
        Ok(answer) => outcomes_of(chunk, answer),
        Err(failure) => chunk
            .iter()
            .flat_map(|(_, numbers)| numbers)
            .map(|&at| (at, Err(failure.clone())))
            .collect(),
    };
    for (located, numbers) in chunk {
        let of_region = outcomes.iter().filter(|(at, _)| numbers.binary_search(at).is_ok());
        for failure in of_region.filter_map(|(_, outcome)| outcome.as_ref().err()) {
            client.locator().forget(located, failure);
        }
    }
    outcomes
}

async fn call_server(
    client: &Client,
    actions: &[Action],
    server: &Address,
    chunk: &Chunk,
    deadline: Instant,
) -> Result<MultiResult, Failure> {
    let (message, cells) = call_of(actions, chunk).to_proto().map_err(Failure::before)?;
    let is_meta_call = chunk.iter().any(|(located, _)| located.is_meta());
    let request = CallRequest { message, cells: &cells, is_meta_call, deadline };
    let (message, mut cells) = client.connections().call(server, request).await?;
    MultiResult::from_proto(message, &mut cells).map_err(Failure::unknown)
}

fn call_of(actions: &[Action], chunk: &Chunk) -> MultiCall {
    let region = |(located, numbers): &(Arc<Located>, Vec<usize>)| {
        let number =
            |&at: &usize| IndexedAction { index: at as u32, action: Ok(actions[at].clone()) };
        RegionActions {
            region: located.as_region_ref(),
            atomic: false,
            condition: None,
            actions: Ok(numbers.iter().map(number).collect()),
        }
    };
    MultiCall { regions: chunk.iter().map(region).collect() }
}

/// Assigns answers to actions. An action without an answer has failed.
fn outcomes_of(chunk: &Chunk, answer: MultiResult) -> Outcomes {
    let mut outcomes = Outcomes::new();
    let mut regions = answer.regions.into_iter();
    for (located, numbers) in chunk {
        let missing = |at: usize| {
            let message =
                format!("no response to an action: server={}, action={at}", located.server);
            (at, Err(Failure::unknown(Error::new(ErrorKind::Protocol, message))))
        };
        match regions.next() {
            None => outcomes.extend(numbers.iter().map(|&at| missing(at))),
            Some(Err(error)) => {
                let failure = Failure::answered(error);
                outcomes.extend(numbers.iter().map(|&at| (at, Err(failure.clone()))));
            }
            Some(Ok(region)) => {
                let answers = region.answers.into_iter();
                let mut by_number: BTreeMap<usize, _> =
                    answers.map(|one| (one.index as usize, one.answer)).collect();
                outcomes.extend(numbers.iter().map(|&at| match by_number.remove(&at) {
                    Some(answer) => (at, answer.map_err(Failure::answered)),
                    None => missing(at),
                }));
            }
        }
    }
    outcomes
}

#[cfg(test)]
mod tests {
    use rowhouse_format::convert::multi::{IndexedResult, RegionResult};
    use rowhouse_model::{Get, Put, RegionInfo, RowRange};

    use super::*;

    fn located(start: &'static str, stop: &'static str, port: u16) -> Arc<Located> {
        let table = TableName::meta();
        let region = RegionInfo::new(table, RowRange::new(start, stop), 5);
        let server = Address { host: "h".into(), port };
        Arc::new(Located { name: region.name().full, region, server })
    }

    /// Formats a call, for example `b: 0 2 | m: 1` for actions in the regions with start keys b and
    /// m.
    fn print(chunk: &Chunk) -> String {
        let region = |(located, numbers): &(Arc<Located>, Vec<usize>)| {
            let numbers: Vec<_> = numbers.iter().map(usize::to_string).collect();
            let start = String::from_utf8_lossy(&located.region.range.start).into_owned();
            format!("{start}: {}", numbers.join(" "))
        };
        chunk.iter().map(region).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn actions_are_grouped_by_region_and_server_in_their_order() {
        let regions = [located("", "b", 1), located("b", "m", 2), located("m", "", 1)];
        let mut grouping = Grouping::default();
        for (at, row) in ["z", "c", "", "m", "b", "a", "c", "lz"].iter().enumerate() {
            let row = row.as_bytes();
            if !grouping.add(row, at) {
                let region = regions.iter().find(|one| one.region.range.contains(row)).unwrap();
                grouping.add_region(region.clone(), at);
            }
        }
        let servers = grouping.by_server();
        let printed: Vec<_> = servers
            .iter()
            .map(|(server, server_actions)| format!("{server}  {}", print(server_actions)))
            .collect();
        assert_eq!(printed, ["h:1  : 2 5 | m: 0 3", "h:2  b: 1 4 6 7"]);
    }

    #[test]
    fn rows_after_a_regions_end_are_not_sent_to_it() {
        let mut grouping = Grouping::default();
        grouping.add_region(located("a", "b", 1), 0);
        assert!(grouping.add(b"a\xff", 1));
        assert!(!grouping.add(b"b", 2));
        assert!(!grouping.add(b"", 3));
    }

    #[test]
    fn calls_are_cut_by_size_and_number_and_keep_the_order() {
        let server_actions =
            || vec![(located("", "b", 1), vec![0, 3]), (located("b", "", 1), vec![1, 2])];
        let cut = |bytes: usize| {
            chunks(server_actions(), |_| bytes).iter().map(print).collect::<Vec<_>>().join(" // ")
        };
        assert_eq!(cut(1), ": 0 3 | b: 1 2");
        assert_eq!(cut(CALL_BYTES_MAX), ": 0 // : 3 // b: 1 // b: 2");
        assert_eq!(cut(CALL_BYTES_MAX / 3 + 1), ": 0 3 | b: 1 // b: 2");
        let many = vec![(located("", "", 1), (0..2 * CALL_ACTIONS_MAX + 1).collect())];
        let sizes: Vec<_> = chunks(many, |_| 1).iter().map(|chunk| chunk[0].1.len()).collect();
        assert_eq!(sizes, [CALL_ACTIONS_MAX, CALL_ACTIONS_MAX, 1]);
        assert!(chunks(Vec::new(), |_| 1).is_empty());
    }

    #[test]
    fn an_action_without_an_answer_has_failed() {
        let chunk = vec![(located("", "b", 1), vec![0, 2]), (located("b", "", 1), vec![1])];
        let numbered = |index| IndexedResult { index, answer: Ok(ActionResult::Done) };
        // An answer for an action that was not sent, and none for the second region.
        let answer =
            MultiResult { regions: vec![Ok(RegionResult::each(vec![numbered(2), numbered(9)]))] };
        let outcomes = outcomes_of(&chunk, answer);
        let done: Vec<_> = outcomes.iter().map(|(at, outcome)| (*at, outcome.is_ok())).collect();
        assert_eq!(done, [(0, false), (2, true), (1, false)]);
    }

    #[test]
    fn size_of_a_call_grows_with_its_cells() {
        let get = Action::Get(Get::new("r").unwrap());
        let put = |value: &[u8]| {
            let put = Put::new("r").unwrap().add("cf", "q", value).unwrap();
            Action::Mutate(put.into(), None)
        };
        assert_eq!(bytes_of(&get), ACTION_BYTES);
        assert_eq!(bytes_of(&put(&[0; 1000])) - bytes_of(&put(b"")), 1000);
    }
}
