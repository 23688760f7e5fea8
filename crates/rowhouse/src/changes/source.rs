//! Where changes come from: the store in the process, or a server.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use rowhouse_client::{ReadChanges, ReadFrom};
use rowhouse_model::{
    Bytes, Change, ChangePosition, Error, ErrorKind, Result, TableName, WholeTableChange,
    WholeTableChangeKind,
};
use rowhouse_store::{Changes, ChangesFrom as StoreFrom, Store};

use super::{ChangedRow, ChangesFrom, TableChange};
use crate::Table;
use crate::backend::{Side, blocking};

/// How long one step waits for a change.
const STEP: Duration = Duration::from_millis(500);

/// How long the next step waits after one that could not wait.
const PAUSE: Duration = Duration::from_millis(200);

/// The changes of a table, with the declarations that decode them.
pub(super) struct Source {
    table: Table,
    follower: Option<String>,
    /// Whether the table is copied again when it has changed as a whole.
    copies: bool,
    /// What has arrived and was not returned.
    arrived: VecDeque<Change>,
    /// `None` while a step runs.
    reader: Option<Reader>,
    step: Option<Step>,
}

/// A step: the reader comes back with the changes that it has read.
type Step = Pin<Box<dyn Future<Output = (Reader, Result<VecDeque<Change>>)> + Send>>;

#[expect(clippy::large_enum_variant, reason = "a stream has one")]
enum Reader {
    Embedded(EmbeddedReader),
    Server(ServerReader),
}

/// A reader of the store in the process.
struct EmbeddedReader {
    store: Store,
    table: TableName,
    changes: Changes,
    /// A change of the table after which it has to be copied.
    to_copy: Option<WholeTableChange>,
}

/// A reader through a server, which does not hold anything between two calls.
#[derive(Clone)]
struct ServerReader {
    table: rowhouse_client::Table,
    from: ReadFrom,
    follower: Option<String>,
    to_copy: Option<WholeTableChange>,
}

impl Source {
    pub(super) async fn open(
        table: &Table,
        follower: Option<String>,
        from: ChangesFrom,
    ) -> Result<Self> {
        let copies = from != ChangesFrom::Now;
        let reader = match table.backend().side() {
            Side::Embedded(inner) => {
                let name = table.name().clone();
                let follower = follower.clone();
                let open = move |store: &Store| {
                    let changes = open_in(store, &name, follower.as_deref(), from)?;
                    let store = store.clone();
                    Ok::<_, Error>(EmbeddedReader { store, table: name, changes, to_copy: None })
                };
                Reader::Embedded(inner.run(open).await?)
            }
            Side::Cluster(inner) => {
                let from = match from {
                    ChangesFrom::Now => ReadFrom::Now,
                    ChangesFrom::Copy => ReadFrom::Copy,
                    ChangesFrom::Position(position) => ReadFrom::Position(position),
                    ChangesFrom::Saved => ReadFrom::Saved,
                };
                let table = inner.table(table.name());
                let mut reader =
                    ServerReader { table, from, follower: follower.clone(), to_copy: None };
                if reader.from != ReadFrom::Copy {
                    // An error shows now, and `now` is this moment.
                    let (_, position) = reader.call(Duration::ZERO, Some(0)).await?;
                    reader.from = ReadFrom::Position(position);
                }
                Reader::Server(reader)
            }
        };
        let table = table.clone();
        let arrived = VecDeque::new();
        Ok(Self { table, follower, copies, arrived, reader: Some(reader), step: None })
    }

    pub(super) fn set_copies(&mut self, copies: bool) {
        self.copies = copies;
    }

    pub(super) fn poll_change(&mut self, context: &mut Context<'_>) -> Poll<Result<TableChange>> {
        loop {
            if let Some(change) = self.arrived.pop_front() {
                return Poll::Ready(Ok(self.shown(change)));
            }
            if let Some(reader) = self.reader.take() {
                let copies = self.copies;
                self.step = Some(match reader {
                    Reader::Embedded(reader) => Box::pin(blocking(move || reader.step(copies))),
                    Reader::Server(reader) => Box::pin(reader.step(copies)),
                });
            }
            let step = self.step.as_mut().expect("a step runs while there is no reader");
            let (reader, read) = ready!(step.as_mut().poll(context));
            self.step = None;
            self.reader = Some(reader);
            self.arrived = match read {
                Ok(arrived) => arrived,
                Err(error) => return Poll::Ready(Err(error)),
            };
        }
    }

    fn shown(&self, change: Change) -> TableChange {
        let row =
            |row| ChangedRow::new(row, self.table.key_schema().ok(), self.table.declared_columns());
        match change {
            Change::Row(changed) => TableChange::Row(row(changed)),
            Change::Copied(copied) => TableChange::Copied(row(copied)),
            Change::CopyEnded(position) => TableChange::CopyEnded(position),
            Change::Table(WholeTableChange { kind, time, position, .. }) => {
                TableChange::Whole { kind, time, position }
            }
        }
    }

    pub(super) async fn save(&self, position: &ChangePosition) -> Result<()> {
        let follower = self
            .follower
            .clone()
            .ok_or_else(|| Error::invalid("a follower without a name saves its position itself"))?;
        let position = position.clone();
        let name = self.table.name().clone();
        match self.table.backend().side() {
            Side::Embedded(inner) => {
                let save = move |store: &Store| store.save_follower(&follower, &name, &position);
                inner.run(save).await
            }
            Side::Cluster(inner) => {
                let from = ReadFrom::Position(position);
                let follower = Some(follower);
                let request = ReadChanges { from, follower, wait_millis: 0, limit: Some(0) };
                inner.table(&name).read_changes(&request).await.map(|_| ())
            }
        }
    }
}

/// Opens the changes of a table in a store, as a follower with a name if there is one.
fn open_in(
    store: &Store,
    table: &TableName,
    follower: Option<&str>,
    from: ChangesFrom,
) -> Result<Changes> {
    let from = match from {
        ChangesFrom::Now => Some(StoreFrom::Now),
        ChangesFrom::Copy => Some(StoreFrom::Copy),
        ChangesFrom::Position(position) => Some(StoreFrom::Position(position)),
        ChangesFrom::Saved => None,
    };
    store.follow(table, follower, from.as_ref())
}

/// Returns true if the table has to be copied after a change.
fn is_to_copy(change: &WholeTableChange) -> bool {
    change.kind != WholeTableChangeKind::Dropped
}

/// Returns true if a table cannot be copied yet: it is disabled, as for a restore.
fn is_disabled(error: &Error) -> bool {
    error.kind() == ErrorKind::TableNotEnabled
}

/// Returns true if there is no table to copy. The log says why, after the change that asked for the
/// copy: the table was dropped.
fn is_gone(error: &Error) -> bool {
    error.kind() == ErrorKind::TableNotFound
}

impl EmbeddedReader {
    /// Waits for a change, up to a step. Runs on a thread that may block.
    fn step(mut self, copies: bool) -> (Reader, Result<VecDeque<Change>>) {
        let read = self.read(copies);
        (Reader::Embedded(self), read)
    }

    fn read(&mut self, copies: bool) -> Result<VecDeque<Change>> {
        if let Some(change) = &self.to_copy {
            // A follower that stops before the copy has begun must read the change again.
            let change = match self.changes.copy_again() {
                Ok(()) => {
                    let position = self.changes.position();
                    WholeTableChange { position, ..change.clone() }
                }
                Err(error) if is_gone(&error) => change.clone(),
                Err(error) if is_disabled(&error) => {
                    std::thread::sleep(PAUSE);
                    return Ok(VecDeque::new());
                }
                Err(error) => return Err(error),
            };
            self.to_copy = None;
            return Ok([Change::Table(change)].into());
        }
        match self.next()? {
            Some(Change::Table(change)) if copies && is_to_copy(&change) => {
                self.to_copy = Some(change);
                Ok(VecDeque::new())
            }
            change => Ok(change.into_iter().collect()),
        }
    }

    /// Returns the next change. If the table is dropped during a copy, the copy ends early, and the
    /// changes since it began follow.
    fn next(&mut self) -> Result<Option<Change>> {
        match self.changes.next(STEP) {
            Err(error) if is_gone(&error) && self.changes.position().copied.is_some() => {
                let from = StoreFrom::Position(self.changes.position().after_copy());
                // The old reader retains the log until the new one is open.
                self.changes = self.store.table_changes(&self.table, &from)?;
                self.changes.next(STEP)
            }
            next => next,
        }
    }
}

impl ServerReader {
    async fn step(mut self, copies: bool) -> (Reader, Result<VecDeque<Change>>) {
        let read = self.read(copies).await;
        (Reader::Server(self), read)
    }

    async fn call(
        &self,
        wait: Duration,
        limit: Option<u32>,
    ) -> Result<(Vec<Change>, ChangePosition)> {
        let follower = self.follower.clone();
        let wait_millis = wait.as_millis() as u64;
        let request = ReadChanges { from: self.from.clone(), follower, wait_millis, limit };
        self.table.read_changes(&request).await
    }

    async fn read(&mut self, copies: bool) -> Result<VecDeque<Change>> {
        let began = Instant::now();
        let called = match &self.to_copy {
            None => self.call(STEP * 4, None).await,
            Some(_) => {
                let copy = Self { from: ReadFrom::Copy, to_copy: None, ..self.clone() };
                match copy.call(Duration::ZERO, None).await {
                    Err(error) if is_gone(&error) => {
                        // The next call says so, or reads on if there is a table again.
                        let change = self.to_copy.take().map(Change::Table);
                        return Ok(change.into_iter().collect());
                    }
                    Err(error) if is_disabled(&error) => {
                        tokio::time::sleep(PAUSE).await;
                        return Ok(VecDeque::new());
                    }
                    called => called,
                }
            }
        };
        let (changes, position) = called?;
        let mut changes = VecDeque::from(changes);
        let to_copy = self.to_copy.take();
        self.to_copy = match changes.pop_back() {
            // A follower that stops before the copy has begun must read the change again.
            Some(Change::Table(change)) if copies && is_to_copy(&change) => Some(change),
            last => {
                changes.extend(last);
                None
            }
        };
        if let Some(change) = to_copy {
            let first = changes.front().map_or(&position, Change::position);
            let position = first.after_copy().in_copy(Bytes::new());
            changes.push_front(Change::Table(WholeTableChange { position, ..change }));
        }
        self.from = ReadFrom::Position(position);
        if changes.is_empty() && self.to_copy.is_none() && began.elapsed() < PAUSE {
            tokio::time::sleep(PAUSE).await;
        }
        Ok(changes)
    }
}
