//! How does another program keep sums over a table, right however often it was killed?
//!
//! It applies each change to rows of its own, adds to the sum what that has changed, and notes the
//! position, in one transaction. A change that comes again then adds nothing.

use std::time::Duration;

use rowhouse::changes::{ChangesFrom, TableChange, TableChanges};
use rowhouse::{Database, Delete, Durability, Get, Increment, Put, Result, Row, Table, TableSpec};

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let dirs =
        [(); 2].map(|()| tempfile::tempdir().expect("the temporary directory can be written"));
    let database = rowhouse::open(dirs[0].path().to_string_lossy()).await?;
    let orders = database.create_table(orders()).await?;
    for (customer, n, amount) in [("ann", 1, 10), ("bob", 1, 5), ("ann", 2, 30)] {
        put(&orders, customer, n, amount).await?;
    }
    let sums = Sums::open(&dirs[1].path().to_string_lossy()).await?;
    sums.follow(&orders, Duration::from_secs(1)).await?;
    assert_eq!(sums.of("ann").await?, 40);
    sums.close().await?;

    // While it is away an amount changes, and an order is deleted.
    put(&orders, "ann", 2, 31).await?;
    let mut delete = Delete::new(orders.key(&[("customer", "bob".into()), ("n", 1.into())])?)?;
    delete.durability = Durability::FsyncWal;
    orders.delete(delete).await?;
    let sums = Sums::open(&dirs[1].path().to_string_lossy()).await?;
    sums.follow(&orders, Duration::from_secs(1)).await?;
    assert_eq!((sums.of("ann").await?, sums.of("bob").await?), (41, 0));
    println!("ann has ordered for {}", sums.of("ann").await?);

    // A table that changed as a whole is copied again.
    database.admin().disable_table("orders").await?;
    database.admin().truncate_table("orders", false).await?;
    put(&orders, "bob", 3, 7).await?;
    sums.follow(&orders, Duration::from_secs(1)).await?;
    assert_eq!((sums.of("ann").await?, sums.of("bob").await?), (0, 7));
    sums.close().await?;
    database.close().await
}

/// The table that is followed: an amount for each order.
pub(crate) fn orders() -> TableSpec {
    TableSpec::new("orders").family("o").key("[customer string][n u32]").columns("o:a amount u64")
}

async fn put(orders: &Table, customer: &'static str, n: u32, amount: u64) -> Result<()> {
    let row = orders.row(&[("customer", customer.into()), ("n", n.into())]);
    row.set_named("amount", amount).durability(Durability::FsyncWal).put().await
}

/// The sums by customer, in a database of their own.
pub(crate) struct Sums {
    database: Database,
    /// The orders as far as they are counted.
    counted: Table,
    sums: Table,
    /// The position up to which they are.
    place: Table,
}

impl Sums {
    pub(crate) async fn open(directory: &str) -> Result<Self> {
        let database = rowhouse::open(directory).await?;
        if database.table("place").await.is_err() {
            // In this order: with the last one all are there.
            for table in [orders(), TableSpec::new("sums").family("s")] {
                let _ = database.create_table(table).await;
            }
            database.create_table(TableSpec::new("place").family("p")).await?;
        }
        let counted = database.table("orders").await?;
        let sums = database.table("sums").await?;
        let place = database.table("place").await?;
        Ok(Self { database, counted, sums, place })
    }

    pub(crate) async fn of(&self, customer: &str) -> Result<i64> {
        Ok(self.sums.counter(customer.to_owned(), "s", "sum").await?.unwrap_or(0))
    }

    pub(crate) async fn close(self) -> Result<()> {
        self.database.close().await
    }

    /// Takes changes up until none comes for `wait`.
    pub(crate) async fn follow(&self, orders: &Table, wait: Duration) -> Result<()> {
        let place = self.place.get(&Get::new("orders")?).await?.value("p", "position");
        let from = match place {
            Some(place) => ChangesFrom::Position(String::from_utf8_lossy(&place).parse()?),
            None => ChangesFrom::Copy,
        };
        let mut changes: TableChanges = orders.changes_as("sums", from).await?;
        let mut taken: u32 = 0;
        while let Some(change) = changes.next_within(wait).await? {
            if let TableChange::Whole { .. } = change {
                // Killed before the end of this, it reads this change again.
                self.clear("orders").await?;
                self.clear("sums").await?;
            }
            self.take(&change).await?;
            taken += 1;
            // The log before it is not needed any more.
            if taken.is_multiple_of(100) {
                changes.save(change.position()).await?;
            }
        }
        Ok(())
    }

    /// Removes all rows, and does not leave markers that would hide older cells.
    async fn clear(&self, table: &str) -> Result<()> {
        let _ = self.database.admin().disable_table(table).await;
        self.database.admin().truncate_table(table, false).await
    }

    async fn take(&self, change: &TableChange) -> Result<()> {
        let (counted, sums, place) = (self.counted.clone(), self.sums.clone(), self.place.clone());
        let change = change.clone();
        let taken = self.database.transact(move |transaction| {
            if let TableChange::Row(row) | TableChange::Copied(row) = &change {
                let key = row.key_bytes();
                let get = Get::new(key.clone())?;
                let before = amount(&transaction.get(&counted, &get)?);
                for cell in row.puts() {
                    let put = Put::new(key.clone())?.add_cell(cell.clone())?;
                    transaction.put(&counted, put)?;
                }
                for marker in row.deletes() {
                    let delete = Delete::new(key.clone())?.add_cell(marker.clone())?;
                    transaction.delete(&counted, delete)?;
                }
                let added = amount(&transaction.get(&counted, &get)?) - before;
                let customer = row.key("customer").and_then(|it| it.as_str()).unwrap_or_default();
                let sum = Increment::new(customer.to_owned())?.add("s", "sum", added)?;
                transaction.increment(&sums, sum)?;
            }
            let position = change.position().to_string();
            transaction.put(&place, Put::new("orders")?.add("p", "position", position)?)
        });
        taken.await
    }
}

fn amount(order: &Row) -> i64 {
    let value = order.value("o", "a");
    value.and_then(|value| value[..].try_into().ok()).map_or(0, i64::from_be_bytes)
}
