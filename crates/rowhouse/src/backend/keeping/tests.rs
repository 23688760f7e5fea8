//! Clients that keep indexes, on a server of ours that does not know of them: it sees their
//! declarations under other names.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rowhouse_client::{Client, Settings, Target};
use rowhouse_model::{Bytes, CellKind, Delete, Durability, ErrorKind, TableDescriptor, Timestamp};
use rowhouse_schema::{INDEXES_ATTRIBUTE, INDEX_OF_ATTRIBUTE};
use rowhouse_server::{Options, Server};
use tempfile::TempDir;
use tokio::sync::{OnceCell, oneshot};
use tokio::task::JoinHandle;

use super::{Keeper, Step, Times};
use crate::backend::cluster::Cluster;
use crate::backend::{Backend, Side};
use crate::{Database, Mutation, Put, Table, TableSpec};

/// What tests change.
#[derive(Default)]
pub(super) struct Hooks {
    /// Whether the server must not see declarations of indexes.
    hides: bool,
    gate: Mutex<Option<Gate>>,
}

/// Stops a write.
struct Gate {
    at: Step,
    reached: oneshot::Sender<()>,
    go_on: oneshot::Receiver<()>,
}

const HIDDEN: [(&str, &str); 2] =
    [(INDEXES_ATTRIBUTE, "hidden.indexes"), (INDEX_OF_ATTRIBUTE, "hidden.index_of")];

impl Hooks {
    pub(super) fn shown(&self, mut table: TableDescriptor) -> TableDescriptor {
        for (shown, hidden) in HIDDEN.iter().filter(|_| self.hides) {
            if let Some(text) = table.attributes.remove(hidden.as_bytes()) {
                table = table.attribute(*shown, text);
            }
        }
        table
    }

    pub(super) fn hidden(&self, mut table: TableDescriptor) -> TableDescriptor {
        for (shown, hidden) in HIDDEN.iter().filter(|_| self.hides) {
            if let Some(text) = table.attributes.remove(shown.as_bytes()) {
                table = table.attribute(*hidden, text);
            }
        }
        table
    }

    pub(super) fn operation_max(&self) -> Option<Duration> {
        self.hides.then_some(Duration::ZERO)
    }

    pub(super) async fn reach(&self, step: Step) {
        let gate = {
            let mut gate = self.gate.lock().unwrap();
            gate.take_if(|gate| gate.at == step)
        };
        if let Some(gate) = gate {
            gate.reached.send(()).unwrap();
            // Without a sender the write ends here.
            if gate.go_on.await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

/// A server, and clients of it that keep indexes.
struct Scene {
    server: Server,
    _dir: TempDir,
}

/// A client, and the hooks of its writes.
struct Member {
    database: Database,
    keeper: Keeper,
}

/// A write that waits between two steps.
struct Stopped {
    task: JoinHandle<()>,
    go_on: Option<oneshot::Sender<()>>,
}

impl Scene {
    async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = Options {
            listen: "127.0.0.1:0".into(),
            zookeeper: "127.0.0.1:0".into(),
            ..Options::new(dir.path())
        };
        Self { server: Server::start(options).await.unwrap(), _dir: dir }
    }

    async fn client(&self, times: Times) -> Member {
        let address = self.server.address();
        let target = Target::parse(&format!("hbase://{address}")).unwrap();
        let client = Client::connect_with(&target, Settings::default()).await.unwrap();
        let mut keeper = Keeper::new(client.clone());
        let shared = Arc::get_mut(&mut keeper.shared).unwrap();
        shared.times = times;
        shared.server_keeps = OnceCell::new_with(Some(false));
        shared.tests.hides = true;
        let cluster = Cluster::of(client, keeper.clone());
        let backend = Backend { side: Side::Cluster(cluster), durability: Durability::UseDefault };
        Member { database: Database::new(backend), keeper }
    }

    async fn quick(&self) -> Member {
        self.client(quick()).await
    }
}

fn quick() -> Times {
    Times {
        lease: Duration::from_millis(200),
        margin: Duration::from_millis(50),
        grace: Duration::ZERO,
        ..Times::default()
    }
}

impl Member {
    async fn table(&self, name: &str) -> Table {
        self.database.table(name).await.unwrap()
    }

    /// Begins a write and lets it run until a step, or to its end if there is none.
    async fn write_until(&self, table: &Table, write: Mutation, step: Option<Step>) -> Stopped {
        let (table, mut go_on) = (table.clone(), None);
        let task = {
            let write = write.clone();
            async move { drop(table.mutate(write).await.unwrap()) }
        };
        let Some(at) = step else {
            task.await;
            return Stopped { task: tokio::spawn(async {}), go_on };
        };
        let (reached, is_reached) = oneshot::channel();
        let (go, receiver) = oneshot::channel();
        *self.keeper.shared.tests.gate.lock().unwrap() =
            Some(Gate { at, reached, go_on: receiver });
        go_on = Some(go);
        let task = tokio::spawn(task);
        is_reached.await.unwrap();
        Stopped { task, go_on }
    }
}

impl Stopped {
    async fn go_on(mut self) {
        if let Some(go_on) = self.go_on.take() {
            go_on.send(()).unwrap();
        }
        self.task.await.unwrap();
    }

    async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

const STEPS: [Option<Step>; 7] = [
    Some(Step::Opened),
    Some(Step::Read),
    Some(Step::Written),
    Some(Step::ReadAgain),
    Some(Step::Added),
    Some(Step::Removed),
    None,
];

const COLUMNS: &str = "d:a a string; d:b b string; f:[tag string] tagged u8";
const INDEXES: &str = "by_a [a]; ab [a null first][b]; by_tag [tagged.tag]";

fn spec() -> TableSpec {
    TableSpec::new("t").family("d").family("f").key("[id string]").columns(COLUMNS).indexes(INDEXES)
}

/// The rows that a query finds.
async fn found(table: &Table, query: &str, index: Option<&str>) -> Vec<String> {
    let query = table.query(query);
    let query = match index {
        Some(index) => query.using(index),
        None => query.using_key(),
    };
    let rows: Vec<_> = query.rows().await.unwrap().collect().await.unwrap();
    let mut ids: Vec<_> = rows.iter().map(|row| row.key("id").unwrap().to_string()).collect();
    ids.sort();
    ids
}

/// Checks that queries by the indexes find what they find by the key.
async fn check(table: &Table, values: &[String], context: &str) {
    let mut queries = Vec::new();
    for value in values {
        queries.push((format!("a = '{value}'"), "by_a"));
        queries.push((format!("b = '{value}'"), "ab"));
    }
    for (query, index) in queries {
        let (by_index, by_key) =
            (found(table, &query, Some(index)).await, found(table, &query, None).await);
        assert_eq!(by_index, by_key, "{query} {context}");
    }
}

fn key(id: &str) -> Bytes {
    Bytes::copy_from_slice(id.as_bytes())
}

fn put(id: &str, cells: &[(&str, String)]) -> Mutation {
    let put = Put::new(key(id)).unwrap();
    let put = cells.iter().try_fold(put, |put, (column, value)| put.add("d", column, value));
    put.unwrap().into()
}

/// Two writes of one row, which begins with the cells `first`.
struct Race {
    first: Vec<Vec<(&'static str, &'static str)>>,
    writes: [Change; 2],
}

#[derive(Clone)]
enum Change {
    Put(Vec<(&'static str, &'static str)>),
    DeleteRow,
    DeleteNewest(&'static str),
}

impl Change {
    fn of(&self, id: &str) -> Mutation {
        match self {
            Self::Put(cells) => put(id, &values(id, cells)),
            Self::DeleteRow => Delete::new(key(id)).unwrap().into(),
            Self::DeleteNewest(column) => {
                let delete = Delete::new(key(id)).unwrap();
                delete.version("d", column, Timestamp::LATEST).unwrap().into()
            }
        }
    }
}

fn values(id: &str, cells: &[(&'static str, &'static str)]) -> Vec<(&'static str, String)> {
    cells.iter().map(|(column, value)| (*column, format!("{value}-{id}"))).collect()
}

fn races() -> Vec<Race> {
    let both = || vec![vec![("a", "1"), ("b", "1")]];
    let put = |cells: &[(&'static str, &'static str)]| Change::Put(cells.to_vec());
    vec![
        Race { first: both(), writes: [put(&[("a", "2")]), put(&[("b", "2")])] },
        Race { first: both(), writes: [put(&[("a", "2")]), put(&[("a", "1")])] },
        Race { first: vec![], writes: [put(&[("a", "1")]), put(&[("b", "1")])] },
        Race { first: both(), writes: [Change::DeleteRow, put(&[("a", "1"), ("b", "2")])] },
        Race {
            first: vec![vec![("a", "3"), ("b", "1")], vec![("a", "1")]],
            writes: [Change::DeleteNewest("a"), put(&[("b", "2")])],
        },
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_writers_that_stop_or_die_between_any_two_steps_leave_no_wrong_answer() {
    let scene = Scene::start().await;
    let (one, two, reader) = (scene.quick().await, scene.quick().await, scene.quick().await);
    one.database.create_table(spec()).await.unwrap();
    let (first, second) = (one.table("t").await, two.table("t").await);
    let table = reader.table("t").await;
    let mut number = 0;
    for (race, at) in races().iter().zip(0..) {
        for (x, step) in STEPS.iter().enumerate() {
            for (y, other) in STEPS.iter().enumerate() {
                for fates in 0..4 {
                    number += 1;
                    let id = format!("r{number:05}");
                    for cells in &race.first {
                        first.mutate(put(&id, &values(&id, cells))).await.unwrap();
                    }
                    let all: Vec<_> = ["1", "2", "3"].iter().map(|it| format!("{it}-{id}")).collect();
                    let context = format!("race {at}, steps {step:?} {other:?}, fates {fates}");
                    let [a, b] = &race.writes;
                    let a = one.write_until(&first, a.of(&id), *step).await;
                    let b = two.write_until(&second, b.of(&id), *other).await;
                    check(&table, &all, &context).await;
                    let mut left = [(a, fates & 1 == 0), (b, fates & 2 == 0)];
                    if (x + y) % 2 == 1 {
                        left.reverse();
                    }
                    for (stopped, goes_on) in left {
                        match goes_on {
                            true => stopped.go_on().await,
                            false => stopped.kill().await,
                        }
                        check(&table, &all, &context).await;
                    }
                    if number % 50 == 0 {
                        // Intents that were left cost readers time.
                        reader.database.admin().repair_index("t", "by_a").await.unwrap();
                    }
                }
            }
        }
    }
    let admin = reader.database.admin();
    for index in ["by_a", "ab", "by_tag"] {
        admin.repair_index("t", index).await.unwrap();
        let report = admin.verify_index("t", index).await.unwrap();
        assert!(report.is_clean(), "{index}: {report:?}");
    }
    assert_eq!(reader.keeper.unsettled(table.name()).await.unwrap(), Vec::<Bytes>::new());
    assert!(matches!(CellKind::Put, CellKind::Put));
    let _ = ErrorKind::Io;
    scene.server.stop().await.unwrap();
}
