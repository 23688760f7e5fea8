//! The rest of a query by an index that cannot be read: the rows by the key, at the same read
//! point.

use std::task::{Context, Poll, ready};

use rowhouse_model::{Result, Scan};
use rowhouse_schema::{Direction, KeySchema, Plan};

use crate::plan_rows::{KeyQuery, PlanRows};
use crate::projection::Projection;
use crate::row::MatchingRow;
use crate::source::{ReadFrom, Reading, Source};

/// What reads a query's rows by the key.
pub(crate) struct KeyInstead<S> {
    pub(crate) source: S,
    pub(crate) key: KeySchema,
    pub(crate) projection: Projection,
    pub(crate) direction: Direction,
}

/// A query's rows by the key, from a row on.
pub(crate) enum KeyRows<S: Source> {
    Opening(Reading<PlanRows<S>>),
    Open(Box<PlanRows<S>>),
}

impl<S: Source> KeyInstead<S> {
    /// Opens up to `limit` plan rows by the key, after a row or from the first one on.
    ///
    /// # Errors
    /// As for page tokens; none is reached.
    pub(crate) fn open(self, plan: &Plan, after: Option<&[u8]>, limit: u64) -> Result<KeyRows<S>> {
        let Self { source, key, projection: Projection { columns, keys_only }, direction } = self;
        let plan = match after {
            None => plan.clone(),
            Some(row) => plan.resume(&plan.page_token(row, direction)?, direction)?,
        };
        let reversed = direction == Direction::Reverse;
        let scan = Scan { columns, reversed, ..Scan::all() };
        Ok(KeyRows::Opening(Box::pin(async move {
            let query = KeyQuery { key, plan, scan, keys_only, limit, with_misfits: false };
            PlanRows::open(source, ReadFrom::Rows, query).await
        })))
    }
}

impl<S: Source> KeyRows<S> {
    pub(crate) fn poll_row(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<MatchingRow>>> {
        loop {
            match self {
                Self::Open(rows) => return rows.poll_row(context),
                Self::Opening(opening) => {
                    *self = Self::Open(Box::new(ready!(opening.as_mut().poll(context))?));
                }
            }
        }
    }

    /// How many rows are omitted because a value does not fit the column type.
    pub(crate) fn unreadable(&self) -> u64 {
        match self {
            Self::Open(rows) => rows.unreadable(),
            Self::Opening(_) => 0,
        }
    }
}
