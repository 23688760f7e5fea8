//! A server with observers of a program: clients' writes run them on the tables that name them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rowhouse_format::proto;
use rowhouse_format::rpc::Service;
use rowhouse_model::{Columns, Delete, Error, Put, RegionInfo, Result, Row, TableName};
use rowhouse_server::observer::{Additions, Observer, RowChange, Store, TableChange};
use rowhouse_server::{Options, Server, ServerBuilder};

use crate::support::{Client, TestServer, table_name};
use crate::support::{get, mutate};

/// Writes each value to the table `audit` too, and refuses the value `no`.
struct Audit {
    store: Store,
    changes: Arc<AtomicUsize>,
}

impl Observer for Audit {
    fn columns(&self) -> Columns {
        Columns::all()
    }

    fn row_changes(&self, change: &RowChange, additions: &mut Additions) -> Result<()> {
        let value = change.after.value("cf", "q").unwrap_or_default();
        if value == "no" {
            return Err(Error::invalid("the audit refuses the value"));
        }
        let audit = self.store.table(&TableName::parse("audit")?)?;
        additions.mutate(&audit, Put::new(change.row.clone())?.add("cf", "last", value)?);
        Ok(())
    }

    fn table_changes(&self, _: &TableName, _: TableChange) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}

fn with_audit(builder: ServerBuilder, changes: &Arc<AtomicUsize>) -> ServerBuilder {
    let changes = Arc::clone(changes);
    builder.observer("audit", |store| Audit { store: store.clone(), changes })
}

/// Lets a table name observers, or none.
fn name_observers(server: &TestServer, table: &str, names: Option<&str>) {
    let mut master = server.connect(Service::Master);
    let table_names = vec![table_name(table)];
    let message = proto::GetTableDescriptorsRequest { table_names, ..Default::default() };
    let mut schema = master.call(&message).unwrap().table_schema.remove(0);
    schema.attributes.retain(|pair| pair.first != "rowhouse.observers");
    schema.attributes.extend(names.map(|names| proto::BytesBytesPair {
        first: "rowhouse.observers".into(),
        second: format!("1 {names}").into(),
    }));
    let message = proto::ModifyTableRequest {
        table_name: table_name(table),
        table_schema: schema,
        ..Default::default()
    };
    master.call(&message).unwrap();
}

fn put(client: &mut Client, region: &RegionInfo, row: &'static str, value: &'static str) {
    let put = Put::new(row).unwrap().add("cf", "q", value).unwrap();
    mutate(client, region, put).unwrap();
}

fn audited(client: &mut Client, audit: &RegionInfo, row: &str) -> Option<String> {
    let row: Row = get(client, audit, row).unwrap();
    row.value("cf", "last").map(|value| String::from_utf8(value.to_vec()).unwrap())
}

#[test]
fn a_clients_put_writes_the_second_table_of_an_observer_that_the_table_names() {
    let changes = Arc::new(AtomicUsize::new(0));
    let dir = tempfile::tempdir().unwrap();
    let server = TestServer::start_built(dir, |builder| with_audit(builder, &changes));
    let audit = server.create_table("audit", &["cf"], &[]).remove(0);
    let posts = server.create_table("posts", &["cf"], &[]).remove(0);
    let mut client = server.client();
    put(&mut client, &posts, "0", "before");
    assert_eq!(audited(&mut client, &audit, "0"), None, "no table names it");

    name_observers(&server, "posts", Some("audit"));
    let posts = server.regions("posts").remove(0);
    put(&mut client, &posts, "1", "first");
    assert_eq!(audited(&mut client, &audit, "1").as_deref(), Some("first"));
    mutate(&mut client, &posts, Delete::new("1").unwrap()).unwrap();
    assert_eq!(audited(&mut client, &audit, "1").as_deref(), Some(""));
    let no = Put::new("2").unwrap().add("cf", "q", "no").unwrap();
    let refused = mutate(&mut client, &posts, no).unwrap_err().message;
    assert!(refused.contains("the audit refuses the value"), "{refused}");
    assert!(get(&mut client, &posts, "2").unwrap().is_empty());

    // Without the names it sees nothing; a name that the program lacks stops writes.
    name_observers(&server, "posts", None);
    let posts = server.regions("posts").remove(0);
    put(&mut client, &posts, "3", "unseen");
    assert_eq!(audited(&mut client, &audit, "3"), None);
    name_observers(&server, "posts", Some("audit, counts"));
    let posts = server.regions("posts").remove(0);
    let four = Put::new("4").unwrap().add("cf", "q", "four").unwrap();
    let refused = mutate(&mut client, &posts, four.clone()).unwrap_err().message;
    assert!(refused.contains("missing=counts"), "{refused}");
    name_observers(&server, "posts", Some("audit"));

    // It is there after a restart, and a plain server only reads the table.
    let dir = server.stop();
    let server = TestServer::start_built(dir, |builder| with_audit(builder, &changes));
    let posts = server.regions("posts").remove(0);
    let audit = server.regions("audit").remove(0);
    let mut client = server.client();
    mutate(&mut client, &posts, four.clone()).unwrap();
    assert_eq!(audited(&mut client, &audit, "4").as_deref(), Some("four"));
    let before = changes.load(Ordering::Relaxed);
    server.disable_table("posts");
    server.drop_table("posts");
    assert_eq!(changes.load(Ordering::Relaxed), before + 1);
    // A new table with the name begins without.
    let posts = server.create_table("posts", &["cf"], &[]).remove(0);
    put(&mut client, &posts, "5", "five");
    assert_eq!(audited(&mut client, &audit, "5"), None);
    name_observers(&server, "posts", Some("audit"));
    let server = TestServer::start_in(server.stop());
    let posts = server.regions("posts").remove(0);
    let refused = mutate(&mut server.client(), &posts, four).unwrap_err().message;
    assert!(refused.contains("missing=audit"), "{refused}");
}

#[test]
fn observers_have_names_that_tables_can_give_and_only_once() {
    let changes = Arc::new(AtomicUsize::new(0));
    for (names, part) in
        [(&["a b"][..], "a b"), (&[""], "name="), (&["audit", "other", "audit"], "name=audit")]
    {
        let dir = tempfile::tempdir().unwrap();
        let mut builder = Server::builder(Options::new(dir.path()));
        for name in names {
            let changes = Arc::clone(&changes);
            builder = builder.observer(name, |store| Audit { store: store.clone(), changes });
        }
        let refused = crate::support::runtime().block_on(builder.start());
        let refused = refused.map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains(part), "{refused}");
        // Refused before anything is opened.
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
