//! How does a server run a trigger? HBase's coprocessor that writes a second table on each put: who
//! follows whom goes into `follows`, and an observer in the server writes the fans into `fans`.
//! Clients of any language only put.

use rowhouse::{Columns, Delete, Error, Get, Put, Result, Table, TableSpec};
use rowhouse_server::observer::{Additions, Observer, RowChange, Store};
use rowhouse_server::{Options, Server};

/// Keeps `fans` (a row for each user, a column for each fan) in step with `follows` (a row for each
/// user, a column for each user that they follow).
struct Fans(Store);

impl Observer for Fans {
    fn columns(&self) -> Columns {
        Columns::all()
    }

    fn row_changes(&self, change: &RowChange, additions: &mut Additions) -> Result<()> {
        let fans = self.0.table(&rowhouse::schema::TableName::parse("fans")?)?;
        for cell in change.after.cells() {
            if change.before.cell(b"f", cell.qualifier()).is_none() {
                let put = Put::new(cell.qualifier().to_vec())?;
                additions.mutate(&fans, put.add("f", &change.row, cell.value())?);
            }
        }
        for cell in change.before.cells() {
            if change.after.cell(b"f", cell.qualifier()).is_none() {
                let delete = Delete::new(cell.qualifier().to_vec())?;
                let latest = rowhouse::Timestamp::LATEST;
                additions.mutate(&fans, delete.column("f", &change.row, latest)?);
            }
        }
        Ok(())
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("the temporary directory can be written");
    let mut options = Options::new(dir.path());
    options.listen = "127.0.0.1:0".into();
    options.zookeeper = Some("127.0.0.1:0".into());
    let server = Server::builder(options).observer("fans", |store| Fans(store.clone()));
    let server = server.start().await?;

    // A client over HBase's protocol.
    let database = rowhouse::open(format!("hbase://{}", server.address())).await?;
    let fans = database.create_table(TableSpec::new("fans").family("f")).await?;
    let follows = TableSpec::new("follows").family("f").observers(["fans"]);
    let follows = database.create_table(follows).await?;
    follows.put(Put::new("ann")?.add("f", "bob", "2022")?.add("f", "eve", "2023")?).await?;
    follows.put(Put::new("eve")?.add("f", "bob", "2021")?).await?;
    let unfollow = Delete::new("ann")?.column("f", "eve", rowhouse::Timestamp::LATEST)?;
    follows.delete(unfollow).await?;

    for (user, expected) in [("bob", &["ann", "eve"][..]), ("eve", &[])] {
        let names = fans_of(&fans, user).await?;
        println!("{user} has the fans {names:?}");
        assert_eq!(names, expected);
    }
    database.close().await?;
    server.stop().await
}

async fn fans_of(fans: &Table, user: &'static str) -> Result<Vec<String>> {
    let row = fans.get(&Get::new(user)?).await?;
    let names = row.cells().map(|cell| String::from_utf8(cell.qualifier().to_vec()));
    names.collect::<std::result::Result<_, _>>().map_err(|_| Error::invalid("a name is no text"))
}
