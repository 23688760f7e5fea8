//! Library observers, and tables that name theirs.

use std::sync::{Arc, Mutex};

use rowhouse::observer::{Additions, Observer, RowChange, TableChange};
use rowhouse::schema::TableName;
use rowhouse::{Columns, ErrorKind, Get, Increment, Put, Result, Table, TableSpec};

use crate::support::on_both;

/// Counts a table's rows in another one.
struct Counts {
    counts: Table,
    changes: Arc<Mutex<Vec<TableChange>>>,
}

impl Observer for Counts {
    fn name(&self) -> &str {
        "counts"
    }

    fn columns(&self) -> Columns {
        let mut columns = Columns::all();
        columns.add_column("p", "text");
        columns
    }

    fn row_changes(&self, change: &RowChange, additions: &mut Additions<'_>) -> Result<()> {
        assert!(change.after.cells().all(|cell| cell.qualifier() == b"text"));
        let delta = i64::from(!change.after.is_empty()) - i64::from(!change.before.is_empty());
        if delta == 0 {
            return Ok(());
        }
        let before = additions.get(&self.counts, &Get::new("posts")?)?;
        assert!(before.counter("n", "n")?.unwrap_or(0) < 9);
        additions.mutate(&self.counts, Increment::new("posts")?.add("n", "n", delta)?)
    }

    fn table_changes(&self, _: &TableName, change: TableChange) {
        self.changes.lock().unwrap().push(change);
    }
}

fn posts() -> TableSpec {
    TableSpec::new("posts").family("p").observers(["counts"])
}

fn post(id: &str) -> Put {
    Put::new(id.to_owned()).unwrap().add("p", "text", "…").unwrap()
}

#[tokio::test]
async fn a_table_that_names_observers_is_read_everywhere_and_written_where_they_are() {
    on_both(|database, is_server| async move {
        let posts = database.create_table(posts()).await.unwrap();
        let refused = posts.put(post("a")).await.unwrap_err();
        assert!(refused.message().contains("missing=counts"), "{refused}");
        assert!(refused.message().contains("table posts"), "{refused}");
        let mutations = vec![post("a").into(), post("b").into()];
        for outcome in posts.batch(mutations).await {
            assert!(outcome.unwrap_err().message().contains("missing=counts"));
        }
        assert!(posts.get(&Get::new("a").unwrap()).await.unwrap().is_empty());

        let counts = TableSpec::new("counts").family("n");
        let counts = database.create_table(counts).await.unwrap();
        let changes = Arc::new(Mutex::default());
        let observer = Counts { counts: counts.clone(), changes: Arc::clone(&changes) };
        let registered = database.observe("posts", observer).await;
        if is_server {
            assert_eq!(registered.unwrap_err().kind(), ErrorKind::Unsupported);
            return;
        }
        registered.unwrap();
        for id in ["a", "b", "b"] {
            posts.put(post(id)).await.unwrap();
        }
        let delete = rowhouse::Delete::new("a").unwrap();
        let inside = posts.clone();
        let transacted = database.transact(move |transaction| {
            transaction.delete(&inside, delete.clone())?;
            transaction.put(&inside, post("c"))?;
            transaction.put(&inside, post("d"))
        });
        transacted.await.unwrap();
        assert_eq!(counts.counter("posts", "n", "n").await.unwrap(), Some(3));

        database.admin().disable_table("posts").await.unwrap();
        database.admin().truncate_table("posts", true).await.unwrap();
        assert_eq!(*changes.lock().unwrap(), [TableChange::Truncated]);
        database.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn an_observer_cannot_write_to_another_database() {
    struct Other(Table);
    impl Observer for Other {
        fn row_changes(&self, _: &RowChange, additions: &mut Additions<'_>) -> Result<()> {
            let read = additions.get(&self.0, &Get::new("a")?).unwrap_err();
            assert!(read.message().contains("another database"), "{read}");
            additions.mutate(&self.0, post("a"))
        }
    }
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let one = rowhouse::open(dirs[0].path().to_str().unwrap()).await.unwrap();
    let other = rowhouse::open(dirs[1].path().to_str().unwrap()).await.unwrap();
    let table = one.create_table(TableSpec::new("t").family("p")).await.unwrap();
    let far = other.create_table(TableSpec::new("t").family("p")).await.unwrap();
    one.observe("t", Other(far)).await.unwrap();
    let refused = table.put(post("a")).await.unwrap_err();
    assert!(refused.message().contains("another database"), "{refused}");
    one.close().await.unwrap();
    other.close().await.unwrap();
}
