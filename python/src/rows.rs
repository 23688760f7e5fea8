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

use crate::errors::OrRaise;
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

/// A row from a source.
enum Pulled {
    Typed(QueryRow),
    Plain(StoredRow),
}

impl Pulled {
    fn byte_len(&self) -> u64 {
        match self {
            Self::Typed(row) => row.row().byte_len(),
            Self::Plain(row) => row.byte_len(),
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
            Self::Query(rows, _) => {
                Pin::new(&mut **rows).poll_next(context).map(|row| Some(row?.map(Pulled::Typed)))
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

/// The state of an iterator.
struct Reading {
    /// The source; `None` after the end, and while a batch is read.
    source: Option<OfProcess<Source>>,
    names: Option<Arc<Names>>,
    ready: VecDeque<Pulled>,
    /// The error after the rows that are ready.
    failed: Option<Error>,
}

impl Reading {
    /// Returns the next row that was read already.
    fn take_ready<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.ready.pop_front() {
            Some(Pulled::Typed(row)) => match &self.names {
                Some(names) => Ok(Some(Bound::new(py, Row::new(names, row))?.into_any())),
                None => Ok(None),
            },
            Some(Pulled::Plain(row)) => raw_row(py, &row).map(Some),
            None => match self.failed.take() {
                Some(error) => Err(error).or_raise(py),
                None => Ok(None),
            },
        }
    }

    fn add(&mut self, source: OfProcess<Source>, batch: Batch) {
        self.ready = batch.rows;
        match batch.end {
            None => self.source = Some(source),
            Some(end) => self.failed = end.err(),
        }
    }
}

/// The iterator for both faces. Only one call reads at a time; a second one meanwhile is refused.
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
    let names = match &source {
        Source::Opening(_, names) | Source::Query(_, names) => Some(Arc::clone(names)),
        Source::Scan(_) => None,
    };
    let source = Some(OfProcess::new(source, executor));
    let reading = Reading { source, names, ready: VecDeque::new(), failed: None };
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
    /// Ends the read. The iterator returns no more rows.
    fn close(&self) {
        let mut reading = lock(&self.reading);
        let source = reading.source.take();
        reading.ready.clear();
        reading.failed = None;
        drop(reading);
        drop(source);
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
        let source = {
            let mut reading = lock(&base.reading);
            if let Some(row) = reading.take_ready(py)? {
                return Ok(Some(row));
            }
            reading.source.take()
        };
        let Some(mut source) = source else { return Ok(None) };
        let pulled = base.executor.wait(py, async {
            let batch = source.get_mut().pull().await;
            Ok((source, batch))
        })?;
        let mut reading = lock(&base.reading);
        reading.add(pulled.0, pulled.1);
        reading.take_ready(py)
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
        let source = {
            let mut reading = lock(&base.reading);
            if let Some(row) = reading.take_ready(py)? {
                return Ok(Bound::new(py, Ready(row.unbind()))?.into_any());
            }
            reading.source.take()
        };
        let Some(mut source) = source else { return Err(end()) };
        let reading = Arc::clone(&base.reading);
        let pulled = async move {
            let batch = source.get_mut().pull().await;
            lock(&reading).add(source, batch);
            Ok(reading)
        };
        base.executor.run(py, pulled, move |py, reading| {
            let row = lock(&reading).take_ready(py)?;
            row.ok_or_else(end)
        })
    }
}
