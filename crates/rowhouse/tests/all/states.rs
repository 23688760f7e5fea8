//! Named states of all tables, through a server.

use rowhouse::{Database, ErrorKind, Get, Put, TableSpec};
use rowhouse_client::{Client, StateCall, Target};
use rowhouse_model::TableName;
use rowhouse_server::{Options, Server};

use crate::support::loopback;

async fn fill(database: &Database, table: &str, rows: &[&'static str]) {
    let table = match database.table(table).await {
        Ok(table) => table,
        Err(_) => database.create_table(TableSpec::new(table).family("f")).await.unwrap(),
    };
    for row in rows {
        table.put(Put::new(*row).unwrap().add("f", "q", "v").unwrap()).await.unwrap();
    }
}

async fn has(database: &Database, table: &str, row: &'static str) -> bool {
    let table = database.table(table).await.unwrap();
    !table.get(&Get::new(row).unwrap()).await.unwrap().is_empty()
}

async fn names(client: &Client) -> (Vec<String>, Vec<String>) {
    let tables = client.admin().tables().await.unwrap();
    let namespaces = client.admin().namespaces().await.unwrap();
    (
        tables.iter().map(ToString::to_string).collect(),
        namespaces.iter().map(|it| it.name().to_owned()).collect(),
    )
}

#[tokio::test]
async fn a_state_has_the_tables_and_rows_of_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { allow_reset: true, ..loopback(dir.path()) };
    let server = Server::start(options).await.unwrap();
    let url = format!("hbase://{}", server.address());
    let database = rowhouse::open(&url).await.unwrap();
    let client = Client::connect(&Target::parse(&url).unwrap()).await.unwrap();
    let change = async |call: StateCall| client.admin().change_state(&call).await;
    let save = |name: &str| StateCall::Save { name: name.to_owned() };
    let restore = |name: &str| StateCall::Restore { name: name.to_owned() };

    // A state has tables.
    let error = change(save("empty")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);

    client.admin().create_namespace(&rowhouse::admin::Namespace::new("ns").unwrap()).await.unwrap();
    fill(&database, "ns:a", &["1"]).await;
    fill(&database, "b", &["1"]).await;
    change(save("golden")).await.unwrap();
    assert_eq!(change(save("golden")).await.unwrap_err().kind(), ErrorKind::SnapshotExists);

    fill(&database, "ns:a", &["2"]).await;
    fill(&database, "c", &["1"]).await;
    client.admin().disable_table(&TableName::parse("b").unwrap()).await.unwrap();
    client.admin().delete_table(&TableName::parse("b").unwrap()).await.unwrap();
    change(restore("golden")).await.unwrap();
    let standard = || vec!["default".to_owned(), "hbase".to_owned()];
    let with_ns = [standard(), vec!["ns".to_owned()]].concat();
    assert_eq!(names(&client).await, (vec!["b".to_owned(), "ns:a".to_owned()], with_ns));
    assert!(has(&database, "ns:a", "1").await && has(&database, "b", "1").await);
    assert!(!has(&database, "ns:a", "2").await);

    // An unknown state changes nothing, and a reset leaves states.
    assert_eq!(change(restore("silver")).await.unwrap_err().kind(), ErrorKind::SnapshotNotFound);
    assert!(has(&database, "b", "1").await);
    change(StateCall::Reset).await.unwrap();
    assert_eq!(names(&client).await, (vec![], standard()));
    change(restore("golden")).await.unwrap();
    assert!(has(&database, "b", "1").await);
    change(StateCall::Delete { name: "golden".to_owned() }).await.unwrap();
    assert_eq!(change(restore("golden")).await.unwrap_err().kind(), ErrorKind::SnapshotNotFound);
    assert!(has(&database, "b", "1").await);
    server.stop().await.unwrap();
}
