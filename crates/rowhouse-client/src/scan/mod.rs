//! Scans.
//!
//! `cursor` calls the servers region by region; `join` joins partial rows, and `parts` passes them
//! on if the caller wants parts.

mod cursor;
mod join;
mod parts;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use rowhouse_model::{Error, ErrorKind, Result, Row, Scan, TableName};
use tokio::task::{JoinError, JoinHandle};

use crate::Client;
use crate::locate::TableRegions;
use cursor::Cursor;

/// A scan's rows, in key order or reversed, read on demand: up to 2 MiB of cells, or
/// [`Scan::caching`] rows, at a time.
///
/// The scanner follows regions that move, split or fail: every row is returned once. Each row is
/// complete and consistent; the table may change during the scan. If the scanner is idle for longer
/// than the server's lease (usually a minute), it resumes at the position. Dropping it closes the
/// server's scanner.
///
/// With [`Scan::batch`] rows are returned in parts, each a [`Row`] with the row's key.
pub struct Scanner {
    ready: VecDeque<Row>,
    state: State,
}

enum State {
    Idle(Box<Cursor>),
    /// Kept here and not in the `next` future, so that a caller that drops the future loses no
    /// rows.
    Calling(JoinHandle<Answer>),
    Done,
}

/// The position after a call, and the call's rows.
type Answer = (Box<Cursor>, Result<VecDeque<Row>>);

impl Scanner {
    pub(crate) fn new(client: Client, table: TableName, scan: Scan, query: Option<String>) -> Self {
        // The order in hbase:meta is not the byte order: only the server can decide whether a range
        // is empty.
        let is_empty =
            (scan.range.is_empty() && table != TableName::meta()) || scan.limit == Some(0);
        let state = if is_empty {
            State::Done
        } else {
            State::Idle(Box::new(Cursor::new(client, table, scan, query)))
        };
        Self { ready: VecDeque::new(), state }
    }

    /// Opens a scan over the rows in `hbase:meta` that describe regions in `table`.
    pub(crate) fn over_regions(client: Client, table: &TableName) -> Self {
        let scan = TableRegions::scan(table);
        Self::new(client, TableName::meta(), scan, None)
    }

    /// Returns the next row, or `None` after the last. The method is cancel-safe: a caller that
    /// drops the future and calls again misses no row.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; the last retry's error. The scan
    /// ends with the first error.
    pub async fn next(&mut self) -> Result<Option<Row>> {
        poll_fn(|context| self.poll_row(context)).await
    }

    fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Row>>> {
        loop {
            if let Some(row) = self.ready.pop_front() {
                return Poll::Ready(Ok(Some(row)));
            }
            match &mut self.state {
                State::Done => return Poll::Ready(Ok(None)),
                State::Idle(_) => self.start_call(),
                State::Calling(task) => {
                    let joined = ready!(Pin::new(task).poll(context));
                    self.state = State::Done;
                    self.take_answer(joined)?;
                }
            }
        }
    }

    /// Starts the next call.
    fn start_call(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::Done) {
            State::Idle(mut cursor) => State::Calling(tokio::spawn(async move {
                let rows = cursor.next_rows().await;
                (cursor, rows)
            })),
            other => other,
        };
    }

    fn take_answer(&mut self, joined: Result<Answer, JoinError>) -> Result<()> {
        match joined {
            Ok((cursor, rows)) => {
                self.ready = rows?;
                if !cursor.is_finished() {
                    self.state = State::Idle(cursor);
                }
                Ok(())
            }
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => Err(Error::new(ErrorKind::Connection, format!("scan ended: {error}"))),
        }
    }

    /// Reads all remaining rows into memory.
    ///
    /// # Errors
    /// As [`Scanner::next`].
    pub async fn collect(mut self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        while let Some(row) = self.next().await? {
            rows.push(row);
        }
        Ok(rows)
    }
}

/// The same rows as from [`Scanner::next`], in the same order; dropping the stream's pending `next`
/// loses no row.
impl Stream for Scanner {
    type Item = Result<Row>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_row(context).map(Result::transpose)
    }
}
