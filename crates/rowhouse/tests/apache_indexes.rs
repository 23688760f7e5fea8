//! Indexes that clients maintain, against a real cluster whose address is in
//! `ROWHOUSE_TEST_CLUSTER`. Without it these tests print that they are skipped, and pass.
//!
//! Writers are separate processes, and are killed at random moments with SIGKILL.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rowhouse::{Database, Delete, Mutation, Put, Table, TableSpec, Timestamp};

const ROWS: u64 = 100;
const VALUES: u64 = 30;
const KILLS: u64 = 15;
const COLUMNS: &str = "d:a a string; d:b b string; d:u u string";
const INDEXES: &str = "by_a [a]; ba [b][a null first]; one_u [u] unique";

fn cluster() -> Option<String> {
    let url = std::env::var("ROWHOUSE_TEST_CLUSTER").ok();
    if url.is_none() {
        eprintln!("skipped: ROWHOUSE_TEST_CLUSTER is not set");
    }
    url
}

/// The operations end soon, so that an index build begins soon.
async fn connect(url: &str) -> Database {
    Database::builder(url).operation_timeout(Duration::from_secs(30)).open().await.unwrap()
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let now = UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
        Self(now ^ u64::from(std::process::id()) << 32)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }
}

/// A random write to a random row.
fn write(random: &mut Random) -> Mutation {
    let row = format!("r{}", random.below(ROWS));
    let column = ["a", "b", "u"][random.below(3) as usize];
    let value = format!("v{}", random.below(VALUES));
    let latest = Timestamp::LATEST;
    match random.below(10) {
        0 => Delete::new(row).unwrap().into(),
        1 => Delete::new(row).unwrap().column("d", column, latest).unwrap().into(),
        2 => Delete::new(row).unwrap().version("d", "a", latest).unwrap().into(),
        3 => {
            let put = Put::new(row).unwrap().add("d", "a", &value).unwrap();
            put.add("d", "b", &value).unwrap().into()
        }
        _ => Put::new(row).unwrap().add("d", column, &value).unwrap().into(),
    }
}

/// What a writer process does, until it is killed.
#[tokio::test]
async fn writer() {
    let Ok(name) = std::env::var("ROWHOUSE_TEST_WRITES") else { return };
    let table = connect(&cluster().unwrap()).await.table(&name).await.unwrap();
    let mut random = Random::new();
    loop {
        // A unique value may be taken.
        match random.below(4) {
            0 => {
                let batch = (0..5).map(|_| write(&mut random)).collect();
                table.batch(batch).await;
            }
            _ => drop(table.mutate(write(&mut random)).await),
        }
    }
}

fn start_writer(name: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "writer"]).env("ROWHOUSE_TEST_WRITES", name);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

async fn ids(table: &Table, query: &str, index: Option<&str>) -> Vec<String> {
    let query = table.query(query);
    let query = match index {
        Some(index) => query.using(index),
        None => query.using_key(),
    };
    let rows = query.rows().await.unwrap().collect().await.unwrap();
    let mut ids: Vec<_> = rows.iter().map(|row| row.key("id").unwrap().to_string()).collect();
    ids.sort();
    ids
}

/// Checks that queries by the indexes find what they find by the key. Returns the row count.
async fn check(table: &Table, context: &str) -> usize {
    let mut count = 0;
    for value in 0..VALUES {
        for (column, index) in [("a", "by_a"), ("b", "ba"), ("u", "one_u")] {
            let query = format!("{column} = 'v{value}'");
            let by_key = ids(table, &query, None).await;
            assert_eq!(ids(table, &query, Some(index)).await, by_key, "{context}: {query}");
            assert!(column != "u" || by_key.len() < 2, "{context}: {query} {by_key:?}");
            count += by_key.len();
        }
    }
    count
}

fn unique(name: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    format!("{name}_{}", now.as_micros())
}

fn plain(name: &str) -> TableSpec {
    TableSpec::new(name).family("d").key("[id text]").columns(COLUMNS)
}

async fn drop_table(database: &Database, name: &str) {
    database.admin().disable_table(name).await.unwrap();
    database.admin().drop_table(name).await.unwrap();
    let left = database.tables().await.unwrap();
    assert!(left.iter().all(|left| !left.to_string().starts_with(name)), "{left:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_that_are_killed_leave_no_wrong_answer() {
    let Some(url) = cluster() else { return };
    let database = connect(&url).await;
    let name = unique("killed");
    let table = database.create_table(plain(&name).indexes(INDEXES)).await.unwrap();
    let mut random = Random::new();
    let mut rows = 0;
    let mut left = 0;
    for kill in 0..KILLS {
        let mut writers = [start_writer(&name), start_writer(&name)];
        for writer in &mut writers {
            tokio::time::sleep(Duration::from_millis(300 + random.below(700))).await;
            writer.kill().unwrap();
            writer.wait().unwrap();
        }
        // What the killed ones have sent arrives.
        tokio::time::sleep(Duration::from_millis(300)).await;
        rows += check(&table, &format!("kill {kill}")).await;
        let intents = table_of_intents(&database, &name).await;
        left = left.max(intents);
    }
    println!("{rows} rows found, up to {left} intents left");
    assert!(rows > 0);
    for index in ["by_a", "ba", "one_u"] {
        database.admin().repair_index(&name, index).await.unwrap();
        let report = database.admin().verify_index(&name, index).await.unwrap();
        println!("{index}: {report:?}");
        assert_eq!((report.missing, report.stale), (0, 0), "{index}: {report:?}");
    }
    check(&table, "after the repair").await;
    drop_table(&database, &name).await;
}

/// Counts the intents that are open.
async fn table_of_intents(database: &Database, name: &str) -> usize {
    let table = database.table(&format!("{name}.index-intents")).await.unwrap();
    let rows =
        table.scan(rowhouse::Scan::all().family("i")).await.unwrap().collect().await.unwrap();
    let is_open = |row: &rowhouse::Row| row.cells().filter(|cell| !cell.value().is_empty()).count();
    rows.iter().map(is_open).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_is_built_beside_writers() {
    let Some(url) = cluster() else { return };
    let database = connect(&url).await;
    let name = unique("built");
    let table = database.create_table(plain(&name)).await.unwrap();
    let mut writers = [start_writer(&name), start_writer(&name)];
    tokio::time::sleep(Duration::from_secs(2)).await;
    database.admin().alter_indexes(&name, "by_a [a]; ba [b][a null first]").await.unwrap();
    for writer in &mut writers {
        writer.kill().unwrap();
        writer.wait().unwrap();
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    for value in 0..VALUES {
        for (column, index) in [("a", "by_a"), ("b", "ba")] {
            let query = format!("{column} = 'v{value}'");
            let by_key = ids(&table, &query, None).await;
            assert_eq!(ids(&table, &query, Some(index)).await, by_key, "{query}");
        }
    }
    let admin = database.admin();
    admin.disable_table(&name).await.unwrap();
    admin.truncate_table(&name, false).await.unwrap();
    assert_eq!(ids(&table, "a = 'v1'", Some("by_a")).await, Vec::<String>::new());
    let put = Put::new("r1").unwrap().add("d", "a", "v1").unwrap();
    table.put(put).await.unwrap();
    assert_eq!(ids(&table, "a = 'v1'", Some("by_a")).await, ["r1"]);
    drop_table(&database, &name).await;
}
