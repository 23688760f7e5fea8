//! HBase's own requests return the same results from a directory and through a server.

use std::time::Duration;

use rowhouse::admin::{Namespace, TableState};
use rowhouse::{
    Database, Delete, Durability, ErrorKind, Get, Increment, Mutation, Put, Result, RowRange, Scan,
    TableSpec, Timestamp,
};
use rowhouse_server::Server;

use crate::support::loopback;

/// Runs `check` on a new embedded database, then on one accessed through a server.
async fn on_both<F: Future<Output = Result<()>>>(check: impl Fn(Database) -> F) -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(format!("file:{}", dir.path().display())).await?;
    check(database.clone()).await?;
    database.close().await?;

    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(loopback(dir.path())).await?;
    check(rowhouse::open(format!("hbase://{}", server.address())).await?).await?;
    server.stop().await
}

#[tokio::test]
async fn tables_and_namespaces() -> Result<()> {
    on_both(async |database| {
        database.admin().create_namespace(Namespace::new("shop")?).await?;
        let spec = TableSpec::new("shop:orders").family("cf").attribute("mine", "yes");
        database.create_table(spec).await?;
        assert_eq!(database.tables().await?[0].to_string(), "shop:orders");
        assert!(database.table_exists("shop:orders").await?);
        assert!(!database.table_exists("orders").await?);
        let descriptor = database.admin().describe("shop:orders").await?;
        assert_eq!(descriptor.attributes[&b"mine"[..]], "yes");
        assert_eq!(descriptor.families().len(), 1);

        let kind = |result: Result<()>| result.unwrap_err().kind();
        let again = TableSpec::new("shop:orders").family("cf");
        assert_eq!(kind(database.create_table(again).await.map(|_| ())), ErrorKind::TableExists);
        assert_eq!(kind(database.table("no").await.map(|_| ())), ErrorKind::TableNotFound);
        assert_eq!(
            kind(database.admin().drop_namespace("shop").await),
            ErrorKind::NamespaceConstraint
        );
        assert_eq!(
            kind(database.admin().drop_table("shop:orders").await),
            ErrorKind::TableNotDisabled
        );
        database.admin().disable_table("shop:orders").await?;
        assert_eq!(database.admin().table_state("shop:orders").await?, TableState::Disabled);
        assert_eq!(
            kind(database.admin().disable_table("shop:orders").await),
            ErrorKind::TableNotEnabled
        );
        database.admin().drop_table("shop:orders").await?;
        database.admin().drop_namespace("shop").await?;
        let names = database.admin().namespaces().await?;
        let names: Vec<_> = names.iter().map(|namespace| namespace.name()).collect();
        assert_eq!(names, ["default", "hbase"]);
        assert_eq!(database.admin().cluster_id().await?.len(), 36);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn rows_come_change_and_go() -> Result<()> {
    on_both(async |database| {
        let table = database.create_table(TableSpec::new("t").family("cf").splits(["m"])).await?;
        let mut put = Put::new("a")?.add("cf", "q", "1")?.add("cf", "r", "2")?;
        put.durability = Durability::FsyncWal;
        table.put(put).await?;
        let row = table.get(&Get::new("a")?).await?;
        assert_eq!(row.value("cf", "q").as_deref(), Some(&b"1"[..]));
        let delete = Delete::new("a")?.column("cf", "q", Timestamp::LATEST)?;
        table.delete(delete).await?;
        assert_eq!(table.get(&Get::new("a")?).await?.len(), 1);

        let row = table.increment(Increment::new("z")?.add("cf", "n", 5)?).await?;
        assert_eq!(row.counter("cf", "n")?, Some(5));
        assert_eq!(table.counter("z", "cf", "n").await?, Some(5));
        assert_eq!(table.counter("z", "cf", "none").await?, None);

        let outcomes = table
            .batch(vec![
                Put::new("b")?.add("cf", "q", "3")?.into(),
                Put::new("x")?.add("nofam", "q", "3")?.into(),
                Increment::new("z")?.add("cf", "n", -7)?.into(),
            ])
            .await;
        assert!(outcomes[0].is_ok());
        assert_eq!(outcomes[1].as_ref().unwrap_err().kind(), ErrorKind::NoSuchColumnFamily);
        assert_eq!(outcomes[2].as_ref().unwrap().row.counter("cf", "n")?, Some(-2));

        let rows = table.scan(Scan::new(RowRange::new("a", "z")).limit(9)).await?.collect().await?;
        let keys: Vec<&[u8]> = rows.iter().map(|row| row.key()).collect();
        assert_eq!(keys, [b"a", b"b"]);

        database.admin().disable_table("t").await?;
        let error = table.get(&Get::new("a")?).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TableNotEnabled);
        let put = Put::new("b")?.add("cf", "q", "3")?;
        let outcomes = table.batch(vec![put.clone().into(), put.into()]).await;
        assert!(outcomes.iter().all(|outcome| {
            outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::TableNotEnabled)
        }));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_caller_that_stops_waiting_misses_no_row() -> Result<()> {
    on_both(async |database| {
        let table = database.create_table(TableSpec::new("t").family("cf").splits(["5"])).await?;
        let puts: Result<Vec<Mutation>> = (0..5000)
            .map(|nth| Ok(Put::new(format!("{nth:04}"))?.add("cf", "q", "v")?.into()))
            .collect();
        for outcome in table.batch(puts?).await {
            outcome?;
        }
        let mut rows = table.scan(Scan::all().caching(50)).await?;
        let mut keys = Vec::new();
        loop {
            match tokio::time::timeout(Duration::ZERO, rows.next()).await {
                Ok(row) => match row? {
                    Some(row) => keys.push(row.key().to_vec()),
                    None => break,
                },
                // Almost no batch is ready on the first attempt.
                Err(_) => tokio::time::sleep(Duration::from_micros(100)).await,
            }
        }
        let expected: Vec<_> = (0..5000).map(|nth| format!("{nth:04}").into_bytes()).collect();
        assert_eq!(keys, expected);
        Ok(())
    })
    .await
}
