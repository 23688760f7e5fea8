//! Threads change rows concurrently. The results must be consistent with a sequential order in
//! which each change takes effect between the call and the return. The order is found with the
//! search algorithm of Wing, Gong and Lowe.
//!
//! ```text
//! ROWHOUSE_LINEARIZABLE_SECONDS=600 cargo test -p rowhouse --release --test linearizable
//! ```
//!
//! `ROWHOUSE_ELLE_HISTORY=FILE` writes the histories of lists for another checker, Elle.

#![expect(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod account;
mod bank;
mod door;
mod lists;

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use account::{Account, Did, OneByOne};
use door::{Door, Ticks};
use lists::ListDid;
use rowhouse_model::{FamilyDescriptor, TableDescriptor, TableName};
use rowhouse_server::{Options, Server};
use rowhouse_store::Store;
use todc_utils::linearizability::WGLChecker;
use todc_utils::{Action, History, Specification};
use tokio::runtime::Handle;

const THREADS: usize = 4;
const ROWS: u64 = 2;
/// Changes per thread in a round. The search becomes slow with much concurrency.
const CHANGES: u64 = 40;
/// Few values, so that conditions on them sometimes hold.
const TEXTS: [&str; 3] = ["a", "b", "c"];

#[test]
fn rows_of_the_store_change_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let builder = Store::builder(dir.path()).with_clock(Ticks::default());
    let store = builder.open().unwrap();
    let name = TableName::parse("t").unwrap();
    let mut descriptor = TableDescriptor::new(name.clone());
    for family in ["f", "g"] {
        descriptor = descriptor.family(FamilyDescriptor::new(family).unwrap());
    }
    store.create_table(descriptor, &[]).unwrap();
    let table = store.table(&name).unwrap();
    let doors: Vec<Door> = (0..THREADS).map(|_| Door::Store(Arc::clone(&table))).collect();
    rounds(&doors, |round| {
        // Rows are read from memstores, from files and from both.
        match round % 4 {
            1 => table.flush().unwrap(),
            3 => table.compact(rowhouse_store::CompactionKind::Major).unwrap(),
            _ => {}
        }
    });
}

#[test]
fn rows_of_a_server_change_one_by_one_for_all_its_clients() {
    through_a_server(|tables, runtime| {
        let doors: Vec<Door> =
            tables.iter().map(|table| Door::Client(table.clone(), runtime.clone())).collect();
        rounds(&doors, |_| {});
    });
}

#[test]
fn lists_of_a_server_grow_one_by_one_for_all_its_clients() {
    through_a_server(|tables, runtime| {
        as_long_as_there_is_time(|round| {
            let row = |at: usize| format!("list-{round}-{at}");
            let events = Mutex::new(Vec::new());
            thread::scope(|scope| {
                for (thread, table) in tables.iter().enumerate() {
                    let events = &events;
                    scope.spawn(move || {
                        let mut random = Random(round * 1000 + thread as u64);
                        for change in 0..CHANGES {
                            let at = random.below(ROWS) as usize;
                            let number = thread as u64 * CHANGES + change;
                            let request = match random.below(3) {
                                0 => ListDid::Read { list: Vec::new() },
                                _ => ListDid::Append { number, list: Vec::new() },
                            };
                            let call = Action::Call(request.clone());
                            events.lock().unwrap().push((row(at), thread, call));
                            let did = lists::make(table, runtime, &row(at), request);
                            events.lock().unwrap().push((row(at), thread, Action::Response(did)));
                        }
                    });
                }
            });
            let events = events.into_inner().unwrap();
            lists::write(&events);
            for at in 0..ROWS as usize {
                let on_row = events.iter().filter(|event| event.0 == row(at));
                let on_row = on_row.map(|(_, thread, action)| (*thread, action.clone()));
                check::<lists::InOrder>(round, on_row.collect());
            }
        });
    });
}

/// Passes a table of a server to `run`, opened by a client for each thread.
fn through_a_server(run: impl FnOnce(&[rowhouse::Table], &Handle)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        listen: "127.0.0.1:0".into(),
        zookeeper: Some("127.0.0.1:0".into()),
        ..Options::new(dir.path())
    };
    let server = runtime.block_on(Server::start(options)).unwrap();
    let open = || async {
        let database = rowhouse::open(format!("hbase://{}", server.address())).await.unwrap();
        let spec = rowhouse::TableSpec::new("t").family("f").family("g");
        if database.table_exists("t").await.unwrap() {
            database.table("t").await.unwrap()
        } else {
            database.create_table(spec).await.unwrap()
        }
    };
    let tables: Vec<_> = (0..THREADS).map(|_| runtime.block_on(open())).collect();
    run(&tables, runtime.handle());
    runtime.block_on(server.stop()).unwrap();
}

#[test]
fn transactions_over_several_rows_are_made_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::builder(dir.path()).with_clock(Ticks::default()).open().unwrap();
    let name = TableName::parse("t").unwrap();
    let family = FamilyDescriptor::new("f").unwrap();
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    as_long_as_there_is_time(|round| {
        let events = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let events = &events;
                let store = &store;
                let table = &table;
                scope.spawn(move || {
                    let mut random = Random(round * 1000 + thread as u64);
                    for _ in 0..CHANGES / 2 {
                        let request = random.transaction();
                        events.lock().unwrap().push((thread, Action::Call(request.clone())));
                        let did = bank::make(store, table, round, &request);
                        events.lock().unwrap().push((thread, Action::Response(did)));
                    }
                });
            }
            if round % 3 == 2 {
                table.flush().unwrap();
            }
        });
        check::<bank::OneByOne>(round, events.into_inner().unwrap());
    });
}

/// The checker detects a violation.
#[test]
fn a_lost_update_fits_no_order() {
    let increment = |number| Did::Increment { by: 1, number };
    let history = |second| {
        History::from_actions(vec![
            (0, Action::Call(increment(1))),
            (1, Action::Call(increment(second))),
            (0, Action::Response(increment(1))),
            (1, Action::Response(increment(second))),
        ])
    };
    assert!(WGLChecker::<OneByOne>::is_linearizable(history(2)));
    assert!(!WGLChecker::<OneByOne>::is_linearizable(history(1)));
}

/// Runs a few rounds, or as many as the configured time permits.
fn as_long_as_there_is_time(run: impl Fn(u64)) {
    let seconds = std::env::var("ROWHOUSE_LINEARIZABLE_SECONDS").ok();
    let until = seconds.map(|text| Instant::now() + Duration::from_secs(text.parse().unwrap()));
    for round in 0.. {
        if until.map_or(round == 5, |until| Instant::now() >= until) {
            println!("{round} rounds");
            return;
        }
        run(round);
    }
}

/// Changes rows concurrently through all doors; each round uses new rows.
fn rounds(doors: &[Door], between: impl Fn(u64)) {
    as_long_as_there_is_time(|round| {
        // The calls and returns for each row's operations, with their threads, in order.
        let events: Vec<Mutex<Events<Did>>> = (0..ROWS).map(|_| Mutex::default()).collect();
        thread::scope(|scope| {
            for (thread, door) in doors.iter().enumerate() {
                let events = &events;
                scope.spawn(move || {
                    let mut random = Random(round * 1000 + thread as u64);
                    for _ in 0..CHANGES {
                        let at = random.below(ROWS) as usize;
                        let row = format!("{round}-{at}");
                        let request = random.change(door.has_own_times());
                        events[at].lock().unwrap().push((thread, Action::Call(request.clone())));
                        let did = door.make(&row, request);
                        events[at].lock().unwrap().push((thread, Action::Response(did)));
                    }
                });
            }
            between(round);
        });
        for events in events {
            check::<OneByOne>(round, events.into_inner().unwrap());
        }
    });
}

/// Calls and returns with their threads.
type Events<T> = Vec<(usize, Action<T>)>;

fn check<S: Specification<Operation: Clone + std::fmt::Debug>>(
    round: u64,
    events: Events<S::Operation>,
) {
    let fits = WGLChecker::<S>::is_linearizable(History::from_actions(events.clone()));
    assert!(fits, "no order fits round {round}: {}", show(&events));
}

fn show<T: std::fmt::Debug>(events: &[(usize, Action<T>)]) -> String {
    let lines = events.iter().map(|(thread, action)| format!("\n{thread} {action:?}"));
    lines.collect()
}

/// A pseudo-random sequence, determined by the seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn text(&mut self) -> String {
        TEXTS[self.below(TEXTS.len() as u64) as usize].into()
    }

    fn transaction(&mut self) -> bank::Did {
        let mut row = || self.below(bank::ROWS as u64) as usize;
        let from = row();
        let to = row();
        match self.below(6) {
            0 => bank::Did::Look { by_scan: false, seen: [0; bank::ROWS] },
            1 => bank::Did::Look { by_scan: true, seen: [0; bank::ROWS] },
            2 => bank::Did::Get { row: from, seen: 0 },
            3 => bank::Did::Put { row: from, balance: self.below(9) as i64 },
            _ => {
                let by = self.below(5) as i64;
                let least = self.below(12) as i64;
                bank::Did::Move { from, to, by, least, done: false }
            }
        }
    }

    fn change(&mut self, has_own_times: bool) -> Did {
        let by = self.below(9) as i64 + 1;
        let expected = |random: &mut Self| Some(random.text()).filter(|_| random.below(4) > 0);
        // With timestamps shared by several writes, a delete hides a put in the same millisecond,
        // and an increment is ahead of the clock. This matches HBase and is not tested here.
        match self.below(if has_own_times { 9 } else { 7 }) {
            0 | 1 => Did::Get(Account::default()),
            2 => Did::Put(self.text()),
            3 => Did::Increment { by, number: 0 },
            4 => Did::Append { more: self.text(), note: String::new() },
            5 => Did::CheckAndPut { expected: expected(self), text: self.text(), done: false },
            6 => Did::CheckAndMutate {
                expected: expected(self),
                text: self.text(),
                by,
                number: None,
            },
            7 => Did::PutAll(self.text(), by, self.text()),
            _ => Did::Delete,
        }
    }
}
