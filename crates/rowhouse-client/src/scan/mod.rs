//! Scans.
//!
//! `cursor` asks the servers, region after region; `join` makes whole rows of what comes in parts, and
//! `parts` passes parts on where they are wanted.

mod cursor;
mod join;
mod parts;

use std::collections::VecDeque;

use rowhouse_model::{Error, ErrorKind, Result, Row, Scan, TableName};
use tokio::task::JoinHandle;

use crate::Client;
use crate::locate::TableRegions;
use cursor::Cursor;

/// The rows of a scan, in key order (or from the last to the first), read as they are asked for:
/// up to 2 MiB of cells, or [`Scan::caching`] rows, at a time.
///
/// Regions that move, split or fail on the way are followed: every row comes once. Each row is
/// whole and consistent; the table as a whole may change while it is read. A scanner that is left
/// alone for longer than the server keeps it (a minute, as a rule) goes on where it was. Dropping
/// it closes what is open on the server.
///
/// With [`Scan::batch`] rows come in parts, each a [`Row`] with the key of its row.
pub struct Scanner {
    ready: VecDeque<Row>,
    state: State,
}

enum State {
    Idle(Box<Cursor>),
    /// Kept here, not on the stack of `next`: a caller that stops waiting loses no rows.
    Asking(JoinHandle<(Box<Cursor>, Result<VecDeque<Row>>)>),
    Done,
}

impl Scanner {
    pub(crate) fn new(client: Client, table: TableName, scan: Scan) -> Self {
        // The order of hbase:meta is not that of bytes: only the server knows what is empty.
        let is_empty =
            (scan.range.is_empty() && table != TableName::meta()) || scan.limit == Some(0);
        let state = match is_empty {
            true => State::Done,
            false => State::Idle(Box::new(Cursor::new(client, table, scan))),
        };
        Self { ready: VecDeque::new(), state }
    }

    /// The rows of `hbase:meta` that are about regions of `table`.
    pub(crate) fn over_regions(client: Client, table: &TableName) -> Self {
        let scan = TableRegions::scan(table);
        Self::new(client, TableName::meta(), scan)
    }

    /// The next row; `None` behind the last. A caller that stops waiting and asks again later
    /// misses no row.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; what is left when repeating did
    /// not help. The scan ends there.
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

    /// All rows that are left, in memory.
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
