//! Scans.
//!
//! `cursor` calls the servers region by region; `join` joins partial rows, and `parts` passes them
//! on if the caller wants parts.

mod cursor;
mod join;
mod parts;

use std::collections::VecDeque;

use rowhouse_model::{Error, ErrorKind, Result, Row, Scan, TableName};
use tokio::task::JoinHandle;

use crate::Client;
use crate::locate::TableRegions;
use cursor::Cursor;

/// The rows of a scan, in key order or reversed, read on demand: up to 2 MiB of cells, or
/// [`Scan::caching`] rows, at a time.
///
/// The scanner follows regions that move, split or fail: every row is returned once. Each row is
/// complete and consistent; the table may change during the scan. If the scanner is idle for longer
/// than the server's lease (usually a minute), it resumes at its position. Dropping it closes the
/// server's scanner.
///
/// With [`Scan::batch`] rows are returned in parts, each a [`Row`] with the row's key.
pub struct Scanner {
    ready: VecDeque<Row>,
    state: State,
}

enum State {
    Idle(Box<Cursor>),
    /// Kept here and not in the future of `next`, so that a caller that drops the future loses no
    /// rows.
    Asking(JoinHandle<(Box<Cursor>, Result<VecDeque<Row>>)>),
    Done,
}

impl Scanner {
    pub(crate) fn new(client: Client, table: TableName, scan: Scan) -> Self {
        // The order of hbase:meta is not the byte order: only the server can decide whether a range
        // is empty.
        let is_empty =
            (scan.range.is_empty() && table != TableName::meta()) || scan.limit == Some(0);
        let state = match is_empty {
            true => State::Done,
            false => State::Idle(Box::new(Cursor::new(client, table, scan))),
        };
        Self { ready: VecDeque::new(), state }
    }

    /// Opens a scan of the rows of `hbase:meta` that describe regions of `table`.
    pub(crate) fn over_regions(client: Client, table: &TableName) -> Self {
        let scan = TableRegions::scan(table);
        Self::new(client, TableName::meta(), scan)
    }

    /// Returns the next row, or `None` after the last. The method is cancel-safe: a caller that
    /// drops the future and calls again misses no row.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; the error of the last retry. The
    /// scan ends with the first error.
    pub async fn next(&mut self) -> Result<Option<Row>> {
        loop {
            if let Some(row) = self.ready.pop_front() {
                return Ok(Some(row));
            }
            match std::mem::replace(&mut self.state, State::Done) {
                State::Done => return Ok(None),
                State::Idle(mut cursor) => {
                    self.state = State::Asking(tokio::spawn(async move {
                        let rows = cursor.next_rows().await;
                        (cursor, rows)
                    }));
                }
                State::Asking(task) => {
                    self.state = State::Asking(task);
                    self.take_answer().await?;
                }
            }
        }
    }

    async fn take_answer(&mut self) -> Result<()> {
        let State::Asking(task) = &mut self.state else { return Ok(()) };
        let joined = task.await;
        self.state = State::Done;
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
