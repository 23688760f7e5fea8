//! Databases that are opened with settings.

use std::path::Path;
use std::time::{Duration, Instant};

use rowhouse::{
    Database, Durability, ErrorKind, Get, Increment, Mutation, Put, Result, RowMutations, Table,
    TableSpec,
};
use rowhouse_server::Server;

use crate::support::loopback;

/// Writes a row with each call that writes, in pairs of calls with the default durability and with
/// the mutation's durability.
async fn write_all(database: &Database, table: &Table) -> Result<()> {
    let put = |row: &str| Put::new(row.to_owned())?.add("f", "q", "v");
    table.put(put("put")?).await?;
    table.insert(put("insert")?).await?;
    table.increment(Increment::new("increment")?.add("f", "q", 1)?).await?;
    table.mutate_row(RowMutations::new("mutate_row")?.with(put("mutate_row")?)?).await?;
    for outcome in table.batch(vec![put("batch")?.into()]).await {
        outcome?;
    }
    match database.commit([(table.clone(), Mutation::from(put("commit")?))]).await {
        Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
        committed => committed.map(|_| ())?,
    }
    let inside = table.clone();
    let transacted = put("transact")?;
    database.transact(move |transaction| transaction.put(&inside, transacted.clone())).await?;
    let mut logged = put("logged")?;
    logged.durability = Durability::SyncWal;
    table.put(logged).await
}

/// Copies an open data directory as it is at one manifest state.
fn copy_data(from: &Path, to: &Path) {
    let manifest = || std::fs::read(from.join("MANIFEST")).unwrap();
    loop {
        let before = manifest();
        copy_dir(from, to);
        if manifest() == before {
            return;
        }
        std::fs::remove_dir_all(to).unwrap();
    }
}

/// Copies a directory that threads may tidy meanwhile: files that vanish are left out.
fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_dir(&entry.path(), &to);
        } else if let Err(error) = std::fs::copy(entry.path(), to) {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
        }
    }
}

/// Opens a database whose writes skip the log, kills it, and returns the rows that are left.
async fn left_of(table_durability: &str) -> Result<Vec<String>> {
    let dir = tempfile::tempdir().unwrap();
    let url = dir.path().join("data").display().to_string();
    let database = Database::builder(&url).durability(Durability::SkipWal).open().await?;
    let spec = TableSpec::new("t").family("f").attribute("DURABILITY", table_durability);
    let table = database.create_table(spec).await?;
    write_all(&database, &table).await?;
    // A copy of the directory is what a killed process leaves.
    let copy = dir.path().join("copy").display().to_string();
    copy_data(Path::new(&url), Path::new(&copy));
    database.close().await?;

    let database = Database::builder(&copy).only_existing().open().await?;
    let table = database.table("t").await?;
    let names =
        ["put", "insert", "increment", "mutate_row", "batch", "commit", "transact", "logged"];
    let mut left = Vec::new();
    for name in names {
        if !table.get(&Get::new(name)?).await?.is_empty() {
            left.push(name.to_owned());
        }
    }
    database.close().await?;
    Ok(left)
}

#[tokio::test]
async fn the_durability_of_mutations_that_name_none_overrides_that_of_the_table() {
    assert_eq!(left_of("SYNC_WAL").await.unwrap(), ["logged"]);
}

#[tokio::test]
async fn the_durability_is_sent_to_a_server() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(loopback(dir.path().join("data"))).await.unwrap();
    let url = format!("hbase://{}", server.address());
    let builder = Database::builder(&url).durability(Durability::SkipWal).user("tester");
    let database = builder.open().await.unwrap();
    let table = database.create_table(TableSpec::new("t").family("f")).await.unwrap();
    write_all(&database, &table).await.unwrap();
    let from = dir.path().join("data").display().to_string();
    let copy = dir.path().join("copy").display().to_string();
    copy_data(Path::new(&from), Path::new(&copy));
    server.stop().await.unwrap();

    let database = rowhouse::open(&copy).await.unwrap();
    let table = database.table("t").await.unwrap();
    let rows = table.scan(rowhouse::Scan::all()).await.unwrap().collect().await.unwrap();
    assert!(rows.is_empty(), "{rows:?}");
    database.close().await.unwrap();
}

#[tokio::test]
async fn settings_reach_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let url = dir.path().join("data").display().to_string();
    let missing = Database::builder(&url).only_existing().open().await.map(|_| ()).unwrap_err();
    assert!(missing.message().contains(&url), "{missing}");
    assert!(!dir.path().join("data").exists());

    // Neither cache nor memory for more than a flush.
    let builder = Database::builder(&url).block_cache_bytes(0).memstore_flush_bytes(16 << 10);
    let builder = builder.mutation_bytes_max(16 << 20).busy_wait(Duration::from_secs(60));
    let database = builder.open().await.unwrap();
    let table = database.create_table(TableSpec::new("t").family("f")).await.unwrap();
    for n in 0..64 {
        let put = Put::new(format!("{n:02}")).unwrap().add("f", "q", [b'v'; 4 << 10]).unwrap();
        table.put(put).await.unwrap();
    }
    let files = async || {
        let loads = database.admin().status().await.unwrap().loads;
        loads[0].regions.iter().map(|region| region.files).sum::<u64>()
    };
    let started = Instant::now();
    while files().await == 0 {
        assert!(started.elapsed() < Duration::from_secs(30), "no memstore was flushed");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(table.get(&Get::new("07").unwrap()).await.unwrap().len(), 1);
    let large = Put::new("large").unwrap().add("f", "q", vec![0; 17 << 20]).unwrap();
    assert_eq!(table.put(large).await.unwrap_err().kind(), ErrorKind::InvalidRequest);
    database.close().await.unwrap();
}

#[tokio::test]
async fn settings_reach_the_client() {
    // Nobody answers on this port: the listener accepts nothing.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("hbase://{}", listener.local_addr().unwrap());
    let started = Instant::now();
    let short = Duration::from_millis(100);
    let builder = Database::builder(&url).call_timeout(short).operation_timeout(short);
    let error = builder.open().await.map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}
