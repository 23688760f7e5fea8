//! Changes of a table, as a stream.

mod row;
mod source;

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use rowhouse_model::{ChangePosition, Error, Result, Row, Timestamp, WholeTableChangeKind};

pub use row::ChangedRow;

use crate::Table;
use crate::backend::Side;
use source::Source;

/// Where a follower of changes begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangesFrom {
    /// With the changes from now on.
    Now,
    /// With a copy of the table, and the changes after it.
    Copy,
    /// After a position, from [`TableChange::position`] or from the text of one.
    Position(ChangePosition),
    /// Where a named follower has saved its position.
    Saved,
}

/// A change of a table.
#[derive(Clone, Debug)]
pub enum TableChange {
    /// A row that a commit changed.
    Row(ChangedRow),
    /// A row of a copy: all its cells, older versions and delete markers too.
    Copied(ChangedRow),
    /// The copy is complete; the changes since it began follow.
    CopyEnded(ChangePosition),
    /// The table changed as a whole: an earlier copy is not right any more, and is to be removed.
    /// Unless the table was dropped, the stream copies it again, so that rows of a copy follow; not
    /// after [`ChangesFrom::Now`] and [`TableChanges::without_copies`]. A drop before or during the
    /// copy ends it, without [`TableChange::CopyEnded`].
    Whole {
        /// What happened.
        kind: WholeTableChangeKind,
        /// When it happened.
        time: Timestamp,
        /// The position after it.
        position: ChangePosition,
    },
}

impl TableChange {
    /// Returns the position after the change: a follower that has taken it up continues there.
    pub fn position(&self) -> &ChangePosition {
        match self {
            Self::Row(row) | Self::Copied(row) => row.position(),
            Self::CopyEnded(position) | Self::Whole { position, .. } => position,
        }
    }
}

/// The changes of a table in commit order, from [`Table::changes`]. [`TableChanges::next`] returns
/// them one by one and waits for more; as a [`Stream`] it never ends, except after an error.
///
/// A change is returned once it survives a power cut: a default put within a second, a synced one
/// at once.
pub struct TableChanges {
    source: Source,
}

impl Table {
    /// Follows the table's changes, on an embedded database or a rowhouse server.
    ///
    /// ```
    /// use rowhouse::changes::{ChangesFrom, TableChange};
    /// use rowhouse::{Durability, TableSpec};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rowhouse::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    /// let spec = TableSpec::new("mail").family("d").key("[user string][n u32]");
    /// let mail = database.create_table(spec).await?;
    /// let mut changes = mail.changes(ChangesFrom::Copy).await?;
    /// let key = [("user", "bob".into()), ("n", 7.into())];
    /// mail.row(&key).set("d", "subject", "hello").durability(Durability::FsyncWal).put().await?;
    /// loop {
    ///     match changes.next().await? {
    ///         TableChange::Copied(row) | TableChange::Row(row) => {
    ///             let user = row.key("user").and_then(|user| user.as_str());
    ///             assert_eq!(user, Some("bob"));
    ///             // Store `row.position()` with the result.
    ///             break;
    ///         }
    ///         TableChange::CopyEnded(_) => {}
    ///         TableChange::Whole { kind, .. } => println!("copied again: {}", kind.word()),
    ///     }
    /// }
    /// # drop(changes);
    /// # database.close().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `PositionLost` if the changes after the position are no longer retained;
    /// `Unsupported` for the table of an index; an error from Apache HBase, which has no such call.
    pub async fn changes(&self, from: ChangesFrom) -> Result<TableChanges> {
        Ok(TableChanges { source: Source::open(self, None, from).await? })
    }

    /// As [`Table::changes`], as a follower that is registered under a name. The log after the
    /// position that it saved last ([`TableChanges::save`]) is retained while it is away, within
    /// the store's limits; [`list_followers`](crate::admin::Admin::list_followers) has its lag.
    ///
    /// ```
    /// use rowhouse::changes::ChangesFrom;
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let mut changes = mail.changes_as("counts", ChangesFrom::Saved).await?;
    /// let change = changes.next().await?;
    /// // After the change was taken up.
    /// changes.save(change.position()).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::changes`]; `InvalidRequest` for an invalid name, the name of a follower of
    /// another table, and [`ChangesFrom::Saved`] for one that has saved no position.
    pub async fn changes_as(&self, follower: &str, from: ChangesFrom) -> Result<TableChanges> {
        Ok(TableChanges { source: Source::open(self, Some(follower.to_owned()), from).await? })
    }

    /// Returns a row of an embedded database as it was before a change, with all versions that are
    /// still there: soon after the change, until the row is flushed or compacted.
    ///
    /// # Errors
    /// `UnknownScanner` if cells that the row had are no longer retained; `Unsupported` through a
    /// server.
    pub async fn row_before(&self, changed: &ChangedRow) -> Result<Row> {
        let change = changed.change().clone();
        match self.backend().side() {
            Side::Embedded(inner) => inner.run(move |store| store.row_before(&change)).await,
            Side::Cluster(_) => Err(Error::unsupported(
                "values before a change are read in the process that has the database open",
            )),
        }
    }
}

impl TableChanges {
    /// Returns the next change, and waits for it. The method is cancel-safe: a caller that drops
    /// the future and calls again misses no change.
    ///
    /// # Errors
    /// `PositionLost` if the changes are no longer retained; `TableNotFound` from a server whose
    /// table was dropped; `Connection`; `Corruption`, `Io`. The next call tries again.
    pub async fn next(&mut self) -> Result<TableChange> {
        std::future::poll_fn(|context| self.source.poll_change(context)).await
    }

    /// Returns the next change if it comes within `wait`.
    ///
    /// # Errors
    /// As [`TableChanges::next`].
    pub async fn next_within(&mut self, wait: Duration) -> Result<Option<TableChange>> {
        match tokio::time::timeout(wait, self.next()).await {
            Ok(change) => change.map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Does not copy the table again when it changes as a whole: the stream returns the change
    /// alone, as one that began with [`ChangesFrom::Now`].
    #[must_use]
    pub fn without_copies(mut self) -> Self {
        self.source.set_copies(false);
        self
    }

    /// Saves a position for a follower with a name: the log before it is not retained for it any
    /// longer. Each call writes to the disk of the store.
    ///
    /// # Errors
    /// `InvalidRequest` for a follower without a name; `PositionLost`; `Io`.
    pub async fn save(&mut self, position: &ChangePosition) -> Result<()> {
        self.source.save(position).await
    }
}

/// The same changes as from [`TableChanges::next`]. After an error the stream goes on.
impl Stream for TableChanges {
    type Item = Result<TableChange>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().source.poll_change(context).map(Some)
    }
}
