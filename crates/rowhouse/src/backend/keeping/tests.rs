//! Clients that maintain indexes, on our server, which does not know about them: it sees their
//! declarations under other names.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rowhouse_client::{Client, Settings, Target};
use rowhouse_model::{
    Append, Bytes, CompareOperator, Condition, Delete, DeletedCells, Durability, ErrorKind,
    FamilyDescriptor, Get, Mutation, Put, RowMutations, RowRange, TableDescriptor, TableState,
    Timestamp,
};
use rowhouse_schema::{INDEX_OF_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexState, KEY_ATTRIBUTE};
use rowhouse_server::{Options, Server};
use tempfile::TempDir;
use tokio::sync::{OnceCell, oneshot};
use tokio::task::JoinHandle;

use super::{Maintainer, Step, Times};
use crate::backend::cluster::Cluster;
use crate::backend::{Backend, Side};
use crate::{Database, Table, TableSpec};

/// What tests change.
#[derive(Default)]
pub(super) struct Hooks {
    /// Whether the server must not see index declarations.
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
/// The key for an index table, whose names only such a table may have.
const HIDDEN_KEY: &str = "hidden.key";

impl Hooks {
    pub(super) fn shown(&self, mut table: TableDescriptor) -> TableDescriptor {
        for (shown, hidden) in HIDDEN.iter().filter(|_| self.hides) {
            if let Some(text) = table.attributes.remove(hidden.as_bytes()) {
                table = table.attribute(*shown, text);
            }
        }
        if let Some(key) = table.attributes.remove(HIDDEN_KEY.as_bytes()) {
            table = table.attribute(KEY_ATTRIBUTE, key);
        }
        table
    }

    pub(super) fn hidden(&self, mut table: TableDescriptor) -> TableDescriptor {
        let is_index = table.attributes.contains_key(INDEX_OF_ATTRIBUTE.as_bytes());
        if self.hides
            && is_index
            && let Some(key) = table.attributes.remove(KEY_ATTRIBUTE.as_bytes())
        {
            table = table.attribute(HIDDEN_KEY, key);
        }
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

/// A server, and clients on it that maintain indexes.
struct Scene {
    server: Server,
    _dir: TempDir,
}

/// A client, and the hooks in its writes.
struct Member {
    database: Database,
    maintainer: Maintainer,
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
            zookeeper: Some("127.0.0.1:0".into()),
            ..Options::new(dir.path())
        };
        Self { server: Server::start(options).await.unwrap(), _dir: dir }
    }

    async fn client(&self, times: Times) -> Member {
        let address = self.server.address();
        let target = Target::parse(&format!("hbase://{address}")).unwrap();
        let client = Client::connect_with(&target, Settings::default()).await.unwrap();
        let mut maintainer = Maintainer::new(client.clone());
        let shared = Arc::get_mut(&mut maintainer.shared).unwrap();
        shared.times = times;
        shared.server_keeps = OnceCell::new_with(Some(false));
        shared.tests.hides = true;
        let cluster = Cluster::of(client, maintainer.clone());
        let side = Side::Cluster(cluster);
        let durability = Durability::UseDefault;
        let backend = Backend { side, url: String::new(), durability, buffers: Mutex::default() };
        Member { database: Database::new(backend), maintainer }
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

    /// Begins a write and lets it run until a step, or to the end if there is none.
    async fn write_until(&self, table: &Table, write: Mutation, step: Option<Step>) -> Stopped {
        let table = table.clone();
        let mut go_on = None;
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
        *self.maintainer.shared.tests.gate.lock().unwrap() =
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

const COLUMNS: &str = "d:a a string; d:b b string; f:[tag text] tagged u8";
const INDEXES: &str = "by_a [a]; ab [b][a null first]; by_tag [tagged.tag]";

fn spec() -> TableSpec {
    TableSpec::new("t").family("d").family("f").key("[id text]").columns(COLUMNS).indexes(INDEXES)
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

/// Checks that queries by the indexes find what they find by the key, for the row `id` if one is
/// given.
async fn check(table: &Table, id: Option<&str>, values: &[String], context: &str) {
    let mut queries = Vec::new();
    let of_row = id.map_or_else(String::new, |id| format!(" and id = '{id}'"));
    for value in values {
        queries.push((format!("a = '{value}'{of_row}"), "by_a"));
        queries.push((format!("b = '{value}'{of_row}"), "ab"));
    }
    for (query, index) in queries {
        let by_index = found(table, &query, Some(index)).await;
        let by_key = found(table, &query, None).await;
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

/// Two writes to one row, which begins with the cells `first`.
#[derive(Clone)]
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
    // Their declaration stays as it is.
    let member = || scene.client(Times { lease: Duration::from_secs(600), ..quick() });
    let one = member().await;
    let two = member().await;
    let reader = member().await;
    one.database.create_table(spec()).await.unwrap();
    let first = one.table("t").await;
    let second = two.table("t").await;
    let table = reader.table("t").await;
    let maintained = reader.maintainer.maintained(table.name()).await.unwrap().unwrap();
    let cases = races().into_iter().enumerate().flat_map(|(number, race)| {
        let steps = STEPS.iter().flat_map(|one| STEPS.iter().map(move |other| (*one, *other)));
        steps.map(move |steps| (number, race.clone(), steps))
    });
    for (number, (at, race, (step, other))) in cases.enumerate() {
        let id = format!("r{number:05}");
        let fates = (number + at) % 4;
        for cells in &race.first {
            first.mutate(put(&id, &values(&id, cells))).await.unwrap();
        }
        let all: Vec<_> = ["1", "2", "3"].iter().map(|it| format!("{it}-{id}")).collect();
        let context = format!("race {at}, steps {step:?} {other:?}, fates {fates}");
        let [a, b] = &race.writes;
        let a = one.write_until(&first, a.of(&id), step).await;
        let b = two.write_until(&second, b.of(&id), other).await;
        check(&table, Some(&id), &all, &context).await;
        let mut left = [(a, fates & 1 == 0), (b, fates & 2 == 0)];
        if number % 2 == 1 {
            left.reverse();
        }
        for (stopped, goes_on) in left {
            if goes_on {
                stopped.go_on().await;
            } else {
                stopped.kill().await;
            }
            check(&table, Some(&id), &all, &context).await;
        }
        // Intents that were left cost readers time.
        reader.maintainer.settle(&maintained).await.unwrap();
        check(&table, Some(&id), &all, &context).await;
    }
    let admin = reader.database.admin();
    for index in ["by_a", "ab", "by_tag"] {
        admin.repair_index("t", index).await.unwrap();
        let report = admin.verify_index("t", index).await.unwrap();
        assert!(report.is_clean(), "{index}: {report:?}");
    }
    assert_eq!(reader.maintainer.unsettled(table.name()).await.unwrap(), Vec::<Bytes>::new());
    scene.server.stop().await.unwrap();
}

#[tokio::test]
async fn every_kind_of_write_leaves_the_entries_that_the_rows_have() {
    let scene = Scene::start().await;
    let one = scene.quick().await;
    let table = one.database.create_table(spec()).await.unwrap();
    let admin = one.database.admin();
    let text = |value: &str| value.to_owned();
    let when = |value: &str| Condition::value("d", "a", CompareOperator::Equal, text(value));
    let delete = |id: &str| Delete::new(key(id)).unwrap();
    let check = async |values: &[&str]| {
        let values: Vec<_> = values.iter().map(|value| (*value).to_owned()).collect();
        check(&table, None, &values, "").await;
        assert_eq!(one.maintainer.unsettled(table.name()).await.unwrap(), Vec::<Bytes>::new());
    };

    let puts = (0..1200).map(|n| {
        put(&format!("m{n:04}"), &[("a", format!("m{}", n % 100)), ("b", format!("n{}", n % 50))])
    });
    for outcome in table.batch(puts.collect()).await {
        outcome.unwrap();
    }
    check(&["m5", "m99", "n6"]).await;
    assert_eq!(found(&table, "a = 'm5'", Some("by_a")).await.len(), 12);

    // Older, equal and later times.
    for (at, value) in [(50, "x"), (40, "y"), (50, "z"), (60, "x"), (60, "z")] {
        let at = Timestamp::from_millis(at).unwrap();
        table.put(Put::new("t").unwrap().add_at("d", "a", at, value).unwrap()).await.unwrap();
        check(&["x", "y", "z"]).await;
    }
    // All kinds of deletes.
    let latest = Timestamp::LATEST;
    let at = Timestamp::from_millis(60).unwrap();
    table.mutate(put("t", &[("b", text("b"))])).await.unwrap();
    for delete in [
        delete("t").version("d", "a", latest),
        delete("t").column("d", "a", at),
        delete("m0005").family_version("d", at),
        delete("m0005").column("d", "b", latest),
        delete("m0105").family("d", latest),
        Ok(delete("m0205")),
    ] {
        table.delete(delete.unwrap()).await.unwrap();
        check(&["x", "y", "z", "b", "m5", "n5"]).await;
    }
    // Conditions that hold and that do not, appends, and several mutations for a row.
    let to = |value: &str| put("m0305", &[("a", text(value))]);
    assert!(table.mutate_if(&when("m5"), to("c1")).await.unwrap().is_some());
    assert!(table.mutate_if(&when("m5"), to("c2")).await.unwrap().is_none());
    check(&["m5", "c1", "c2"]).await;
    let append = Append::new("m0305").unwrap().add("d", "a", "+").unwrap();
    assert_eq!(table.append(append).await.unwrap().value("d", "a").unwrap(), "c1+");
    check(&["c1", "c1+"]).await;
    let several = RowMutations::new("m0305").unwrap();
    let several = several.with(delete("m0305").column("d", "b", latest).unwrap()).unwrap();
    let several = several.with(to("c3")).unwrap();
    table.mutate_row(several).await.unwrap();
    check(&["c1+", "c3", "n4"]).await;
    // Columns as data.
    let tags = |id: &str, tags: &[&str]| {
        let put = Put::new(key(id)).unwrap();
        tags.iter().try_fold(put, |put, tag| put.add("f", tag, [1_u8])).unwrap()
    };
    table.put(tags("m0305", &["red", "blue"])).await.unwrap();
    table.put(tags("m0405", &["red"])).await.unwrap();
    let tagged = async |tag: &str| {
        let query = format!("tagged.tag = '{tag}'");
        let rows = table.query(&query).family("f").using("by_tag").rows().await.unwrap();
        rows.collect().await.unwrap().len()
    };
    assert_eq!((tagged("red").await, tagged("blue").await), (2, 1));
    table.delete(delete("m0305").column("f", "red", latest).unwrap()).await.unwrap();
    assert_eq!((tagged("red").await, tagged("blue").await), (1, 1));
    check(&["c3"]).await;
    for index in ["by_a", "ab", "by_tag"] {
        let report = admin.verify_index("t", index).await.unwrap();
        assert!(report.is_clean(), "{index}: {report:?}");
    }
    one.database.close().await.unwrap();
    scene.server.stop().await.unwrap();
}

#[tokio::test]
async fn a_buffered_family_is_refused_where_each_increment_is_logged() {
    let scene = Scene::start().await;
    let one = scene.quick().await;
    let buffered = FamilyDescriptor::new("n").unwrap().attribute("BUFFERED", "1s");
    let spec = TableSpec::new("hits").family_with(buffered.clone());
    let refused = one.database.create_table(spec).await.map(|_| ()).unwrap_err();
    let message = "Apache HBase logs each increment, BUFFERED has no effect there; a buffer of \
                   counters (`Table::counter_buffer`) gathers them in the client: family=n";
    assert_eq!((refused.kind(), refused.message()), (ErrorKind::Unsupported, message));
    one.database.create_table(TableSpec::new("hits").family("n")).await.unwrap();
    let admin = one.database.admin();
    let alter = move |it: &TableDescriptor| Ok(it.clone().family(buffered.clone()));
    assert_eq!(admin.alter_table("hits", alter).await.unwrap_err().message(), message);
    one.database.close().await.unwrap();
    scene.server.stop().await.unwrap();
}

#[tokio::test]
async fn a_value_of_a_unique_index_has_one_row_when_its_claimant_fails() {
    let scene = Scene::start().await;
    let one = scene.quick().await;
    let two = scene.quick().await;
    let spec = |indexes| {
        let spec = TableSpec::new("u").family("d").key("[id text]");
        spec.columns("d:a a string; d:b b string").indexes(indexes)
    };
    let refused =
        one.database.create_table(spec("ab [a][b] unique")).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    one.database.create_table(spec("one_a [a] unique")).await.unwrap();
    let first = one.table("u").await;
    let second = two.table("u").await;
    let to = |id: &str, value: &str| put(id, &[("a", value.to_owned())]);

    first.mutate(to("r1", "x")).await.unwrap();
    let error = second.mutate(to("r2", "x")).await.unwrap_err();
    assert!(error.message().contains("another row has the value"), "{error}");
    first.mutate(to("r1", "x")).await.unwrap();
    // The value is free once the row has another.
    first.mutate(to("r1", "y")).await.unwrap();
    second.mutate(to("r2", "x")).await.unwrap();
    // The first of two rows in a batch gets it.
    let outcomes = first.batch(vec![to("r3", "z"), to("r4", "z"), to("r5", "w")]).await;
    assert_eq!(outcomes.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    let append = Append::new("r1").unwrap().add("d", "a", "+").unwrap();
    assert_eq!(first.append(append).await.unwrap_err().kind(), ErrorKind::Unsupported);

    for (at, step) in STEPS.iter().enumerate() {
        for survives in [true, false] {
            let value = format!("s{at}{survives}");
            let a = format!("a{at}{survives}");
            let b = "b";
            let b = format!("{b}{at}{survives}");
            let stopped = one.write_until(&first, to(&a, &value), *step).await;
            let refused = second.mutate(to(&b, &value)).await;
            // Before it has claimed the value, another row can have it.
            assert_eq!(refused.is_ok(), *step == Some(Step::Opened), "{step:?}");
            if survives && refused.is_err() {
                stopped.go_on().await;
            } else {
                stopped.kill().await;
            }
            two.database.admin().repair_index("u", "one_a").await.unwrap();
            let _ = second.mutate(to(&b, &value)).await;
            let by_key = found(&second, &format!("a = '{value}'"), None).await;
            assert_eq!(by_key.len(), 1, "{step:?} {survives}");
            assert_eq!(found(&second, &format!("a = '{value}'"), Some("one_a")).await, by_key);
        }
    }
    scene.server.stop().await.unwrap();
}

#[tokio::test]
async fn writes_that_would_change_rows_later_and_tables_of_entries_are_refused() {
    let scene = Scene::start().await;
    let one = scene.quick().await;
    let table = one.database.create_table(spec()).await.unwrap();
    let mut expiring = Put::new("r").unwrap().add("d", "a", "x").unwrap();
    expiring.ttl_millis = Some(1000);
    let error = table.put(expiring).await.unwrap_err();
    assert!(error.message().contains("time to live") && error.message().contains("row=r"));
    // Columns that decide no entry may do as they like.
    let mut other = Put::new("r").unwrap().add("d", "other", "x").unwrap();
    other.ttl_millis = Some(1000);
    table.put(other).await.unwrap();
    let text = TableSpec::new("u").family("d").family("f").key("[id text]").columns(COLUMNS);
    let text = text.indexes("by_a [a]; text search b english");
    let error = one.database.create_table(text).await;
    assert!(error.err().unwrap().message().contains("no full-text indexes: index=text"));
    let error = one.database.admin().alter_indexes("t", "text search b simple").await.unwrap_err();
    assert!(error.message().contains("no full-text indexes: index=text"), "{error}");
    let error = one.database.admin().alter_indexes("t", "by_a [a] memory").await.unwrap_err();
    assert!(error.message().contains("no indexes in memory: index=by_a"), "{error}");
    for name in ["t.by_a", "t.index-intents"] {
        let entries = one.table(name).await;
        let error = entries.put(Put::new("r").unwrap().add("e", "q", "x").unwrap()).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidRequest, "{name}");
    }
    let long = "x".repeat(40_000);
    let error = table.mutate(put("r", &[("a", long)])).await.unwrap_err();
    assert!(error.message().contains("cannot have its entry"), "{error}");
    assert!(!table.exists(&Get::new("r").unwrap().column("d", "a")).await.unwrap());
    scene.server.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_declared_later_is_built_beside_writers_and_after_a_kill() {
    let scene = Scene::start().await;
    let one = scene.quick().await;
    let two = scene.quick().await;
    let plain = TableSpec::new("t").family("d").family("f").key("[id text]").columns(COLUMNS);
    let splits = ["r0300", "r0600"].map(Bytes::from);
    let table = one.database.create_table(plain.splits(splits)).await.unwrap();
    let writer = two.table("t").await;
    let write = |n: u32, round: u32| {
        put(&format!("r{:04}", n % 1000), &[("a", format!("a{}", (n + round) % 50))])
    };
    for outcome in table.batch((0..1000).map(|n| write(n, 0)).collect()).await {
        outcome.unwrap();
    }
    let writes = tokio::spawn(async move {
        for n in 0..600 {
            writer.mutate(write(n * 7, n)).await.unwrap();
        }
    });
    let admin = one.database.admin();
    // Killed while it waits for the other clients.
    let slow = scene.client(Times { margin: Duration::from_secs(60), ..quick() }).await;
    let altered =
        tokio::spawn(async move { slow.database.admin().alter_indexes("t", "by_a [a]").await });
    while one.database.backend().indexes(table.name()).await.unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    altered.abort();
    let refused = table.query("a = 'a1'").using("by_a").rows().await.map(|_| ()).unwrap_err();
    assert!(refused.message().contains("not ready"), "{refused}");
    admin.repair_index("t", "by_a").await.unwrap();
    admin.alter_indexes("t", INDEXES).await.unwrap();
    assert_eq!(admin.index_state("t", "ab").await.unwrap(), IndexState::Ready);
    writes.await.unwrap();
    for index in ["by_a", "ab"] {
        let report = admin.verify_index("t", index).await.unwrap();
        assert!(report.is_clean(), "{report:?}");
    }
    let values: Vec<_> = (0..50).map(|n| format!("a{n}")).collect();
    check(&table, None, &values, "").await;

    // Alterations that change entries, and those that do not.
    admin.alter_indexes("t", "by_a [b]").await.unwrap();
    assert_eq!(found(&table, "b = 'a1'", Some("by_a")).await, Vec::<String>::new());
    assert!(!one.database.table_exists("t.ab").await.unwrap());
    admin.alter_indexes("t", "").await.unwrap();
    for name in ["t.by_a", "t.index-intents"] {
        assert!(!one.database.table_exists(name).await.unwrap(), "{name}");
    }
    scene.server.stop().await.unwrap();
}

#[tokio::test]
async fn a_writer_that_goes_round_the_client_is_found_by_verify_and_mended_by_repair() {
    let scene = Scene::start().await;
    let one = scene.quick().await;
    let table = one.database.create_table(spec()).await.unwrap();
    table.mutate(put("r1", &[("a", "x".into())])).await.unwrap();
    let round = one.maintainer.client.table(table.name());
    for (id, value) in [("r1", "y"), ("r2", "z")] {
        round.mutate(put(id, &[("a", value.into())])).await.unwrap();
    }
    let admin = one.database.admin();
    let report = admin.verify_index("t", "by_a").await.unwrap();
    assert_eq!((report.rows, report.entries, report.missing, report.stale), (2, 1, 2, 1));
    admin.repair_index("t", "by_a").await.unwrap();
    let report = admin.verify_index("t", "by_a").await.unwrap();
    assert_eq!((report.entries, report.missing, report.stale), (2, 0, 0));
    assert_eq!(found(&table, "a = 'y'", Some("by_a")).await, ["r1"]);
    scene.server.stop().await.unwrap();
}

#[tokio::test]
async fn index_tables_go_with_their_base_table() {
    let scene = Scene::start().await;
    let one = scene.quick().await;
    let table = one.database.create_table(spec()).await.unwrap();
    let admin = one.database.admin();
    table.mutate(put("r1", &[("a", "x".into())])).await.unwrap();
    admin.disable_table("t").await.unwrap();
    assert_eq!(admin.table_state("t.by_a").await.unwrap(), TableState::Disabled);
    admin.enable_table("t").await.unwrap();
    assert_eq!(found(&table, "a = 'x'", Some("by_a")).await, ["r1"]);
    admin.disable_table("t").await.unwrap();
    admin.truncate_table("t", false).await.unwrap();
    assert_eq!(found(&table, "a = 'x'", Some("by_a")).await, Vec::<String>::new());
    table.mutate(put("r2", &[("a", "x".into())])).await.unwrap();
    assert_eq!(found(&table, "a = 'x'", Some("by_a")).await, ["r2"]);
    assert_eq!(admin.verify_index("t", "by_a").await.unwrap().entries, 1);
    admin.disable_table("t").await.unwrap();
    admin.drop_table("t").await.unwrap();
    assert_eq!(one.database.tables().await.unwrap(), []);
    // Tables that a killed client has left are taken.
    one.database.create_table(spec()).await.unwrap();
    scene.server.stop().await.unwrap();
}

#[tokio::test]
async fn rows_that_are_being_written_come_in_the_order_of_the_index_and_on_one_page() {
    let scene = Scene::start().await;
    let one = scene.quick().await;
    let two = scene.quick().await;
    let spec = TableSpec::new("t").family("d").key("[id string][n u32]").columns("d:z z u32");
    let spec = spec.indexes("large [z desc]; spread [bucket 4 of id][z]");
    let table = one.database.create_table(spec).await.unwrap();
    let row = |n: u32| {
        let row = table.row(&[("id", format!("i{n:02}").into()), ("n", 0.into())]);
        row.set_named("z", n).into_put().unwrap()
    };
    for n in (0..40).filter(|n| n % 3 != 0) {
        table.put(row(n)).await.unwrap();
    }
    let second = two.table("t").await;
    let mut stopped = Vec::new();
    for n in (0..40).filter(|n| n % 3 == 0) {
        stopped.push(two.write_until(&second, row(n).into(), Some(Step::Written)).await);
    }
    let reader = scene.quick().await;
    let table = reader.table("t").await;
    let zs = |rows: &[crate::query::QueryRow]| -> Vec<u64> {
        rows.iter().map(|row| row.column("z").unwrap().unwrap().as_u64().unwrap()).collect()
    };
    let (up, down): (Vec<u64>, Vec<u64>) = ((0..40).collect(), (0..40).rev().collect());
    for (index, forward, backward) in [("large", &down, &up), ("spread", &up, &down)] {
        let query = || table.query("z >= 0").using(index);
        let rows = async |query: crate::query::Query<'_>| {
            zs(&query.rows().await.unwrap().collect().await.unwrap())
        };
        assert_eq!(rows(query()).await, *forward, "{index}");
        assert_eq!(rows(query().reversed()).await, *backward, "{index}");
        let mut paged = Vec::new();
        let mut token = None::<String>;
        loop {
            let query = match &token {
                None => query(),
                Some(token) => query().after(token),
            };
            let page = query.page(7).await.unwrap();
            paged.extend(zs(&page.rows));
            token = page.next;
            if token.is_none() {
                break;
            }
        }
        assert_eq!(paged, *forward, "{index}");
    }
    for stopped in stopped {
        stopped.kill().await;
    }
    scene.server.stop().await.unwrap();
}

#[tokio::test]
async fn a_row_has_the_entries_that_the_time_to_live_of_a_family_will_give_it() {
    let scene = Scene::start().await;
    let one = scene.quick().await;
    let short = FamilyDescriptor::new("d").unwrap().attribute("TTL", "2");
    let spec = TableSpec::new("t").family_with(short).family("g").key("[id text]");
    let spec = spec.columns("d:a a string; g:b b string").indexes("ab [a null first][b]");
    let table = one.database.create_table(spec).await.unwrap();
    let write = Put::new("r").unwrap().add("d", "a", "x").unwrap().add("g", "b", "y").unwrap();
    table.put(write).await.unwrap();
    assert_eq!(found(&table, "a = 'x' and b = 'y'", Some("ab")).await, ["r"]);
    while table.exists(&Get::new("r").unwrap().column("d", "a")).await.unwrap() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(found(&table, "a is null and b = 'y'", Some("ab")).await, ["r"]);
    scene.server.stop().await.unwrap();
}

#[tokio::test]
async fn entries_are_left_to_a_server_that_keeps_them() {
    let scene = Scene::start().await;
    let address = scene.server.address();
    let database = crate::open(format!("hbase://{address}")).await.unwrap();
    let table = database.create_table(spec()).await.unwrap();
    table.mutate(put("r1", &[("a", "x".into())])).await.unwrap();
    let names: Vec<_> = database.tables().await.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["t", "t.ab", "t.by_a", "t.by_tag"]);
    assert_eq!(found(&table, "a = 'x'", Some("by_a")).await, ["r1"]);
    scene.server.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn deletions_by_a_query_read_keys_and_take_the_entries_along() {
    let scene = Scene::start().await;
    let member = scene.quick().await;
    let table = member.database.create_table(spec()).await.unwrap();
    for nth in 0..50 {
        let id = format!("{nth:02}");
        let parts = [("a", format!("{}", nth % 3)), ("b", id.clone())];
        table.mutate(put(&id, &parts)).await.unwrap();
    }
    let selected = table.query("a = '1'").count().await.unwrap();
    assert_eq!(selected, 17);
    let mut deletion = table.query("a = '1'").delete().batch_rows(4);
    while deletion.step().await.unwrap() {}
    assert_eq!(deletion.deleted(), selected);
    // Here an index that the query names is read.
    assert_eq!(table.query("a = '2'").using("by_a").delete().run().await.unwrap(), 16);
    assert_eq!(found(&table, "id < '99'", None).await.len(), 17);
    check(&table, None, &["0", "1", "2"].map(str::to_owned), "after deletions").await;
    for index in ["by_a", "ab"] {
        let report = member.database.admin().verify_index("t", index).await.unwrap();
        assert_eq!((report.missing, report.stale), (0, 0), "{index}");
    }
    let range = table.delete_rows(RowRange::prefix(b"0"), DeletedCells::Row).run().await.unwrap();
    assert_eq!(range, 4);
    let error = table.query("a = '0'").limit(1).delete().run().await.unwrap_err();
    assert!(error.message().contains("limit"), "{error}");
    scene.server.stop().await.unwrap();
}
