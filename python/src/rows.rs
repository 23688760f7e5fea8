//! Iterators over rows. Rows are taken from the library in batches, detached from the interpreter.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use futures_core::Stream;
use pyo3::exceptions::PyStopAsyncIteration;
use pyo3::prelude::*;
use rowhouse::query::{QueryRow, QueryRows};
use rowhouse::{Error, Result, Row as StoredRow, Rows as StoredRows};

use crate::errors::{raised, raised_as};
use crate::executor::{Executor, Face, Ready};
use crate::raw::raw_row;
use crate::row::{Names, Row};
use crate::session::OfProcess;

/// How many rows a batch holds, and at how many bytes it ends.
const BATCH_ROWS_MAX: usize = 256;
const BATCH_BYTES_MAX: u64 = 1 << 20;

/// Rows from the library, typed or plain.
pub(crate) enum Source {
    /// The rows of a query that is opened by the first step, with the names of their values.
    Opening(Pin<Box<dyn Future<Output = Result<QueryRows>> + Send>>, Arc<Names>),
    /// The rows of a query, with the names of their values.
    Query(Box<QueryRows>, Arc<Names>),
    /// The rows of a scan.
    Scan(StoredRows),
}

/// A row from a source, with the names of its values if it has a template.
enum Pulled {
    Typed(QueryRow, Arc<Names>),
    Plain(StoredRow),
}

impl Pulled {
    fn byte_len(&self) -> u64 {
        match self {
            Self::Typed(row, _) => row.row().byte_len(),
            Self::Plain(row) => row.byte_len(),
        }
    }

    fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            Self::Typed(row, names) => Ok(Bound::new(py, Row::new(&names, row))?.into_any()),
            Self::Plain(row) => raw_row(py, &row),
        }
    }
}

/// Rows that were read, and how the source ended, if it did.
struct Batch {
    rows: VecDeque<Pulled>,
    end: Option<Result<()>>,
}

impl Source {
    fn poll(&mut self, context: &mut std::task::Context<'_>) -> Poll<Option<Result<Pulled>>> {
        match self {
            // `pull` has opened it.
            Self::Opening(..) => Poll::Ready(None),
            Self::Query(rows, names) => {
                let typed = |row| Pulled::Typed(row, Arc::clone(names));
                Pin::new(&mut **rows).poll_next(context).map(|row| Some(row?.map(typed)))
            }
            Self::Scan(rows) => {
                Pin::new(rows).poll_next(context).map(|row| Some(row?.map(Pulled::Plain)))
            }
        }
    }

    /// Waits for a row, and takes with it those that are ready.
    async fn pull(&mut self) -> Batch {
        let mut batch = Batch { rows: VecDeque::new(), end: None };
        if let Self::Opening(opening, names) = self {
            match opening.await {
                Ok(rows) => *self = Self::Query(Box::new(rows), Arc::clone(names)),
                Err(error) => {
                    batch.end = Some(Err(error));
                    return batch;
                }
            }
        }
        let mut bytes = 0;
        poll_fn(|context| {
            while batch.rows.len() < BATCH_ROWS_MAX && bytes < BATCH_BYTES_MAX {
                match self.poll(context) {
                    Poll::Ready(Some(Ok(row))) => {
                        bytes += row.byte_len();
                        batch.rows.push_back(row);
                    }
                    Poll::Ready(Some(Err(error))) => {
                        batch.end = Some(Err(error));
                        break;
                    }
                    Poll::Ready(None) => {
                        batch.end = Some(Ok(()));
                        break;
                    }
                    Poll::Pending if batch.rows.is_empty() => return Poll::Pending,
                    Poll::Pending => break,
                }
            }
            Poll::Ready(())
        })
        .await;
        batch
    }
}

/// Whether an iterator has more rows than those that are ready.
enum State {
    /// The source has more rows.
    Idle(OfProcess<Source>),
    /// A call has the source and reads a batch.
    Reading,
    /// The read did not reach its end. The library's error, until it is raised; nothing if the read
    /// was interrupted.
    Failed(Option<Error>),
    /// The source has no more rows.
    Ended,
    /// `close` was called.
    Closed,
}

/// The rows that are ready, and the state after them.
struct Reading {
    state: State,
    ready: VecDeque<Pulled>,
}

/// What an iterator does next.
enum Step<'py> {
    Return(Bound<'py, PyAny>),
    End,
    /// Nothing is ready: read a batch.
    Read(Turn),
}

/// Returns the next row or the end, or the turn to read. Rows end only where the read did.
fn step<'py>(py: Python<'py>, shared: &Arc<Mutex<Reading>>) -> PyResult<Step<'py>> {
    let mut reading = lock(shared);
    if let Some(pulled) = reading.ready.pop_front() {
        drop(reading);
        return pulled.into_object(py).map(Step::Return);
    }
    let (state, next) = match std::mem::replace(&mut reading.state, State::Reading) {
        State::Idle(source) => {
            let reading = Arc::clone(shared);
            (State::Reading, Ok(Step::Read(Turn { reading, source: Some(source), batch: None })))
        }
        State::Reading => (State::Reading, Err(Refusal::ReadByAnother)),
        State::Failed(Some(error)) => (State::Failed(None), Err(Refusal::Failed(error))),
        State::Failed(None) => (State::Failed(None), Err(Refusal::Interrupted)),
        State::Ended => (State::Ended, Ok(Step::End)),
        State::Closed => (State::Closed, Ok(Step::End)),
    };
    reading.state = state;
    // No Python code runs while the state is locked.
    drop(reading);
    next.map_err(|refusal| refusal.raised(py))
}

/// Why a step returns no row, before the end.
enum Refusal {
    ReadByAnother,
    Interrupted,
    Failed(Error),
}

impl Refusal {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Self::ReadByAnother => raised_as(py, "RetryError", READ_BY_ANOTHER),
            Self::Interrupted => raised_as(py, "ReopenError", INTERRUPTED),
            Self::Failed(error) => raised(py, &error),
        }
    }
}

const READ_BY_ANOTHER: &str = "another thread or task is reading these rows";
const INTERRUPTED: &str =
    "the read was interrupted: query again, or go on from the token of the last page";

/// The right to read a batch, which one call has at a time. Dropping it gives the source back, with
/// the batch; if the read was interrupted, the iterator has failed.
struct Turn {
    reading: Arc<Mutex<Reading>>,
    /// The source; `None` while it is read.
    source: Option<OfProcess<Source>>,
    batch: Option<Batch>,
}

impl Turn {
    async fn read(mut self) -> Self {
        if let Some(mut source) = self.source.take() {
            self.batch = Some(source.get_mut().pull().await);
            self.source = Some(source);
        }
        self
    }

    /// Gives the batch to the iterator and returns its first row, or `None` at the end.
    fn finish<'py>(self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let reading = Arc::clone(&self.reading);
        drop(self);
        match step(py, &reading)? {
            Step::Return(row) => Ok(Some(row)),
            // A batch without rows has an end.
            Step::End | Step::Read(_) => Ok(None),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut reading = lock(&self.reading);
        // After `close`, the source and the batch are dropped.
        if !matches!(reading.state, State::Reading) {
            return;
        }
        let end = match self.batch.take() {
            Some(batch) => {
                reading.ready = batch.rows;
                batch.end
            }
            None => None,
        };
        reading.state = match end {
            None => self.source.take().map_or(State::Failed(None), State::Idle),
            Some(Ok(())) => State::Ended,
            Some(Err(error)) => State::Failed(Some(error)),
        };
    }
}

/// The iterator for both faces. Only one call reads at a time; a second one meanwhile is refused
/// with an error.
#[pyclass(frozen, subclass, name = "_Rows", module = "rowhouse")]
pub(crate) struct RowsBase {
    reading: Arc<Mutex<Reading>>,
    executor: Executor,
}

/// An iterator over rows. Dropping or closing it ends the read.
#[pyclass(frozen, extends = RowsBase, module = "rowhouse")]
pub(crate) struct Rows;

/// An asynchronous iterator over rows. Dropping or closing it ends the read.
#[pyclass(frozen, extends = RowsBase, module = "rowhouse")]
pub(crate) struct AsyncRows;

/// Creates the iterator for a face.
pub(crate) fn rows_object<'py>(
    py: Python<'py>,
    executor: Executor,
    source: Source,
) -> PyResult<Bound<'py, PyAny>> {
    let state = State::Idle(OfProcess::new(source, executor));
    let reading = Reading { state, ready: VecDeque::new() };
    let base = RowsBase { reading: Arc::new(Mutex::new(reading)), executor };
    let base = PyClassInitializer::from(base);
    match executor.face() {
        Face::Blocking => Ok(Bound::new(py, base.add_subclass(Rows))?.into_any()),
        Face::Asyncio => Ok(Bound::new(py, base.add_subclass(AsyncRows))?.into_any()),
    }
}

fn lock(reading: &Mutex<Reading>) -> std::sync::MutexGuard<'_, Reading> {
    reading.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl RowsBase {
    /// Ends the read. A call that waits for a row ends when its read does. The iterator returns no
    /// more rows.
    fn close(&self) {
        let mut reading = lock(&self.reading);
        let state = std::mem::replace(&mut reading.state, State::Closed);
        let ready = std::mem::take(&mut reading.ready);
        drop(reading);
        drop((state, ready));
    }
}

#[pymethods]
impl Rows {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(this: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = this.py();
        let base = this.as_super().get();
        match step(py, &base.reading)? {
            Step::Return(row) => Ok(Some(row)),
            Step::End => Ok(None),
            Step::Read(turn) => {
                let turn = base.executor.wait(py, async { Ok(turn.read().await) })?;
                turn.finish(py)
            }
        }
    }
}

#[pymethods]
impl AsyncRows {
    fn __aiter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __anext__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let base = this.as_super().get();
        let end = || PyStopAsyncIteration::new_err(());
        match step(py, &base.reading)? {
            Step::Return(row) => Ok(Bound::new(py, Ready(row.unbind()))?.into_any()),
            Step::End => Err(end()),
            // The turn ends in the event loop, so that no other call takes the row before.
            Step::Read(turn) => {
                let read = async { Ok(turn.read().await) };
                base.executor.run(py, read, move |py, turn| turn.finish(py)?.ok_or_else(end))
            }
        }
    }
}
