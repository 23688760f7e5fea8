//! Counters that are gathered in memory.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rowhouse_model::{Bytes, Error, ErrorKind, Increment, Mutation, Result};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::backend::WriteBuffer;
use crate::table::Table;

/// When a [`CounterBuffer`] writes.
///
/// ```
/// use std::time::Duration;
///
/// use rowhouse::CounterSettings;
///
/// let settings = CounterSettings { interval: Duration::from_millis(200), ..Default::default() };
/// assert_eq!(settings.adds_max, 10_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSettings {
    /// The longest time for which an add stays in memory; the default is one second.
    pub interval: Duration,
    /// The add count after which the buffer writes at once, and the most distinct counters that it
    /// holds while writes fail; at least 1, the default is 10,000.
    pub adds_max: u64,
}

impl Default for CounterSettings {
    fn default() -> Self {
        Self { interval: Duration::from_secs(1), adds_max: 10_000 }
    }
}

/// Gathers adds to counters in a table in memory, and writes each counter's sum in one increment,
/// every second or after a number of adds ([`CounterSettings`]). Made by [`Table::counter_buffer`];
/// a clone is another handle to the same buffer.
///
/// A crash of the process loses the adds that are not yet written: at most the adds from one
/// interval and from the write under way, and no more than about twice `adds_max`. Table reads do
/// not see them. [`CounterBuffer::flush`] writes them; so do [`CounterBuffer::close`],
/// [`Database::close`] and dropping the last handle.
///
/// On rowhouse, increments of a family that is declared `BUFFERED` cost little without this buffer,
/// and reads see them at once. If a buffer
/// writes to such a family, a crash may lose the family's period besides the interval.
///
/// An add is written once or not at all. If a write is refused because the table is disabled or the
/// server busy, the adds stay in the buffer and are written later. If it fails otherwise, perhaps
/// after it was done, the adds are not repeated, and [`CounterBuffer::flush`] reports it. The adds
/// to one row are written together.
///
/// ```
/// use rowhouse::{CounterSettings, TableSpec};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> rowhouse::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
/// let articles = database.create_table(TableSpec::new("articles").family("n")).await?;
/// let reads = articles.counter_buffer(CounterSettings::default());
/// for _ in 0..1000 {
///     reads.add("a-hot-article", "n", "reads", 1)?;
/// }
/// reads.flush().await?;
/// assert_eq!(articles.counter("a-hot-article", "n", "reads").await?, Some(1000));
/// # database.close().await
/// # }
/// ```
///
/// [`Database::close`]: crate::Database::close
#[derive(Clone)]
pub struct CounterBuffer {
    handles: Arc<Handles>,
}

/// Dropped with the last handle.
struct Handles(Arc<Inner>);

/// A buffer. The task that writes holds it too.
pub(crate) struct Inner {
    table: Table,
    settings: CounterSettings,
    pending: Mutex<Pending>,
    /// Wakes the task: the first add came, or enough adds came, or the buffer is closed.
    changed: Notify,
    /// Held by a write: the next one waits until it ends.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Pending {
    sums: Sums,
    /// How many counters `sums` has.
    counters: u64,
    /// How many adds came since the last write.
    adds: u64,
    is_closed: bool,
    /// Why the last write left adds in the buffer.
    refused: Option<Error>,
    /// The first failure that lost adds and was not reported yet.
    lost: Option<Error>,
}

/// By row, the sums for the columns.
type Sums = BTreeMap<Bytes, BTreeMap<(Bytes, Bytes), i64>>;

impl CounterBuffer {
    pub(crate) fn new(table: Table, settings: CounterSettings) -> Self {
        let settings = CounterSettings { adds_max: settings.adds_max.max(1), ..settings };
        let pending = Mutex::default();
        let changed = Notify::new();
        let inner =
            Arc::new(Inner { table, settings, pending, changed, writing: Default::default() });
        let buffer: Weak<Inner> = Arc::downgrade(&inner);
        inner.table.backend().add_buffer(buffer);
        tokio::spawn(Arc::clone(&inner).write_on());
        Self { handles: Arc::new(Handles(inner)) }
    }

    /// Adds to a counter, in memory. It does not wait.
    ///
    /// ```
    /// # use rowhouse::{CounterBuffer, Result};
    /// # fn example(visits: &CounterBuffer) -> Result<()> {
    /// visits.add("home", "n", "visits", 1)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `ServerNotRunning` after [`CounterBuffer::close`]. The last write's error, if it failed and
    /// the buffer is full.
    pub fn add(
        &self,
        row: impl Into<Bytes>,
        family: &str,
        qualifier: &str,
        amount: i64,
    ) -> Result<()> {
        let inner = &self.handles.0;
        let row = row.into();
        let column = (family.to_owned().into(), qualifier.to_owned().into());
        let mut pending = inner.pending();
        if pending.is_closed {
            let message = "the buffer of counters is closed";
            return Err(Error::new(ErrorKind::ServerNotRunning, message));
        }
        let is_new = pending.sums.get(&row).is_none_or(|columns| !columns.contains_key(&column));
        if is_new {
            Increment::new(row.clone())?.add(family, qualifier, amount)?;
            let is_full = pending.counters >= inner.settings.adds_max;
            if let Some(error) = pending.refused.as_ref().filter(|_| is_full) {
                return Err(error.clone());
            }
        }
        pending.add(row, column, amount);
        pending.adds += 1;
        if pending.adds == 1 || pending.adds == inner.settings.adds_max {
            inner.changed.notify_one();
        }
        Ok(())
    }

    /// Writes all adds that were made before this call.
    ///
    /// ```
    /// # async fn example(visits: rowhouse::CounterBuffer) -> rowhouse::Result<()> {
    /// visits.flush().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// The error with which this write, or an earlier one in the background, has lost adds to some
    /// counters, with the count; otherwise the error with which this write was refused, after which
    /// the adds are still in the buffer.
    pub async fn flush(&self) -> Result<()> {
        self.handles.0.clone().flush().await
    }

    /// Refuses further adds and writes those that were made.
    ///
    /// ```
    /// # async fn example(visits: rowhouse::CounterBuffer) -> rowhouse::Result<()> {
    /// visits.close().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`CounterBuffer::flush`].
    pub async fn close(&self) -> Result<()> {
        self.handles.0.clone().close().await
    }
}

impl WriteBuffer for Inner {
    fn close(self: Arc<Self>) -> Pin<Box<dyn Future<Output = Result<()>> + Send>> {
        self.end();
        Box::pin(async move { self.flush().await })
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Inner {
    /// Writes after each interval with adds, until the buffer is closed.
    async fn write_on(self: Arc<Self>) {
        loop {
            let (is_empty, is_closed) = {
                let pending = self.pending();
                (pending.adds == 0, pending.is_closed)
            };
            match (is_empty, is_closed) {
                (_, true) => return self.write().await,
                (true, false) => self.changed.notified().await,
                (false, false) => {
                    let full = async {
                        while !self.is_due() {
                            self.changed.notified().await;
                        }
                    };
                    tokio::select! {
                        () = sleep(self.settings.interval) => {}
                        () = full => {}
                    }
                    self.write().await;
                    if self.pending().refused.is_some() {
                        sleep(self.settings.interval).await;
                    }
                }
            }
        }
    }

    /// Whether to write before an interval ends.
    fn is_due(&self) -> bool {
        let pending = self.pending();
        pending.adds >= self.settings.adds_max || pending.is_closed
    }

    /// Writes the adds on a separate task: they are not lost if the caller drops the future.
    pub(crate) async fn flush(self: Arc<Self>) -> Result<()> {
        let writing = Arc::clone(&self);
        let write: JoinHandle<()> = tokio::spawn(async move { writing.write().await });
        write.await.map_err(|_| {
            Error::new(
                ErrorKind::ServerNotRunning,
                "the runtime that writes counters was shut down",
            )
        })?;
        let mut pending = self.pending();
        let error = pending.lost.take().or_else(|| pending.refused.clone());
        error.map_or(Ok(()), Err)
    }

    /// Closes the buffer. The task writes what is left.
    pub(crate) fn end(&self) {
        self.pending().is_closed = true;
        self.changed.notify_one();
    }

    /// Writes the sums for all counters. Errors are noted.
    async fn write(&self) {
        let _writing = self.writing.lock().await;
        let sums = {
            let mut pending = self.pending();
            (pending.adds, pending.counters) = (0, 0);
            std::mem::take(&mut pending.sums)
        };
        let increments = sums.iter().map(|(row, columns)| {
            let mut increment = columns.iter().try_fold(
                Increment::new(row.clone())?,
                |increment, ((family, qualifier), sum)| increment.add(family, qualifier, *sum),
            )?;
            increment.return_results = false;
            Ok(Mutation::from(increment))
        });
        let outcomes = match increments.collect::<Result<Vec<_>>>() {
            Ok(increments) => self.table.batch(increments).await,
            Err(error) => vec![Err(error); sums.len()],
        };
        let mut pending = self.pending();
        pending.refused = None;
        let mut lost = (0, None);
        for ((row, columns), outcome) in sums.into_iter().zip(outcomes) {
            let Err(error) = outcome else { continue };
            if is_refused(&error) {
                columns.into_iter().for_each(|(column, sum)| pending.add(row.clone(), column, sum));
                // The task tries again after an interval.
                pending.adds = pending.adds.max(1);
                pending.refused.get_or_insert(error);
            } else {
                lost.0 += columns.len();
                lost.1.get_or_insert(error);
            }
        }
        if let (counters, Some(error)) = lost {
            let context = format_args!("the adds to some counters are lost: {counters}");
            pending.lost.get_or_insert(error.with_context(context));
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        // No code panics while holding the lock, so a poisoned lock is still consistent.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    fn add(&mut self, row: Bytes, column: (Bytes, Bytes), amount: i64) {
        match self.sums.entry(row).or_default().entry(column) {
            // As the store adds.
            Entry::Occupied(mut sum) => *sum.get_mut() = sum.get().wrapping_add(amount),
            Entry::Vacant(sum) => {
                sum.insert(amount);
                self.counters += 1;
            }
        }
    }
}

/// Whether a write was certainly not done, and may be later.
fn is_refused(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::RegionTooBusy
            | ErrorKind::NotServingRegion
            | ErrorKind::WrongRegion
            | ErrorKind::TableNotEnabled
            | ErrorKind::QuotaExceeded
            | ErrorKind::AccessDenied
            | ErrorKind::ReadOnly
    )
}

impl Table {
    /// Returns a buffer that gathers adds to counters in the table in memory and writes their sums
    /// every second: for counters that change often, if a crash may lose the last second. See
    /// [`CounterBuffer`].
    ///
    /// ```
    /// use rowhouse::CounterSettings;
    ///
    /// # async fn example(articles: rowhouse::Table) -> rowhouse::Result<()> {
    /// let reads = articles.counter_buffer(CounterSettings::default());
    /// reads.add("article-7", "n", "reads", 1)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn counter_buffer(&self, settings: CounterSettings) -> CounterBuffer {
        CounterBuffer::new(self.clone(), settings)
    }
}
