//! Mutations to one row.

use bytes::Bytes;

use crate::{Append, Cell, Delete, Increment, KeyValue, Nonce, Put, Row};

/// The durability a write must reach before it is acknowledged. The numbers are HBase's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The table's durability; `SyncWal` if the table declares none.
    #[default]
    UseDefault,
    /// Not written to the log: lost if the process is killed before a flush.
    SkipWal,
    /// Written to the log some time after the acknowledgement.
    AsyncWal,
    /// Written to the log before the acknowledgement: survives a process crash.
    SyncWal,
    /// Synced to disk before the acknowledgement: survives a power failure.
    FsyncWal,
}

impl Durability {
    /// Returns `other` instead of [`Durability::UseDefault`], and any other durability unchanged.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self == Self::UseDefault { other } else { self }
    }
}

/// A mutation to one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Mutation {
    /// New cells.
    Put(Put),
    /// Delete markers.
    Delete(Delete),
    /// Amounts to add to counters.
    Increment(Increment),
    /// Bytes to append to values.
    Append(Append),
}

impl Mutation {
    /// Returns the row.
    pub fn row(&self) -> &Bytes {
        match self {
            Self::Put(put) => put.row(),
            Self::Delete(delete) => delete.row(),
            Self::Increment(increment) => increment.row(),
            Self::Append(append) => append.row(),
        }
    }

    /// Returns the durability.
    pub fn durability(&self) -> Durability {
        match self {
            Self::Put(put) => put.durability,
            Self::Delete(delete) => delete.durability,
            Self::Increment(increment) => increment.durability,
            Self::Append(append) => append.durability,
        }
    }

    /// Sets the durability, if the mutation names none.
    #[must_use]
    pub fn with_default_durability(mut self, default: Durability) -> Self {
        let durability = match &mut self {
            Self::Put(put) => &mut put.durability,
            Self::Delete(delete) => &mut delete.durability,
            Self::Increment(increment) => &mut increment.durability,
            Self::Append(append) => &mut append.durability,
        };
        *durability = durability.or(default);
        self
    }

    /// Returns the cells in the form in which they are sent: new cells in a put, markers in a
    /// delete, amounts or bytes in an increment or append.
    pub fn cells(&self) -> &[Cell] {
        match self {
            Self::Put(put) => put.cells(),
            Self::Delete(delete) => delete.cells(),
            Self::Increment(increment) => increment.cells(),
            Self::Append(append) => append.cells(),
        }
    }

    /// Returns the TTL for the written cells in milliseconds, if set.
    pub fn ttl_millis(&self) -> Option<i64> {
        match self {
            Self::Put(put) => put.ttl_millis,
            Self::Delete(delete) => delete.ttl_millis,
            Self::Increment(increment) => increment.ttl_millis,
            Self::Append(append) => append.ttl_millis,
        }
    }

    /// Returns the nonce in an increment or append.
    pub fn nonce(&self) -> Option<Nonce> {
        match self {
            Self::Put(_) | Self::Delete(_) => None,
            Self::Increment(increment) => increment.nonce,
            Self::Append(append) => append.nonce,
        }
    }

    /// Sets the nonce in an increment or append; puts and deletes are idempotent and have none.
    #[must_use]
    pub fn with_nonce(mut self, nonce: Option<Nonce>) -> Self {
        match &mut self {
            Self::Put(_) | Self::Delete(_) => {}
            Self::Increment(increment) => increment.nonce = nonce,
            Self::Append(append) => append.nonce = nonce,
        }
        self
    }

    /// Returns true if this is an increment or append, which reads the current value and can return
    /// the new one.
    pub fn is_read_modify_write(&self) -> bool {
        match self {
            Self::Put(_) | Self::Delete(_) => false,
            Self::Increment(_) | Self::Append(_) => true,
        }
    }
}

impl From<Put> for Mutation {
    fn from(put: Put) -> Self {
        Self::Put(put)
    }
}

impl From<Delete> for Mutation {
    fn from(delete: Delete) -> Self {
        Self::Delete(delete)
    }
}

impl From<Increment> for Mutation {
    fn from(increment: Increment) -> Self {
        Self::Increment(increment)
    }
}

impl From<Append> for Mutation {
    fn from(append: Append) -> Self {
        Self::Append(append)
    }
}

/// A mutation's result: the new cells from an increment or append that requested them, otherwise
/// empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MutationOutcome {
    /// The cells as written.
    pub row: Row,
}

impl MutationOutcome {
    /// Concatenates the results from mutations to one row.
    pub fn join(outcomes: &[Self]) -> Self {
        let cells = outcomes.iter().flat_map(|outcome| outcome.row.cells());
        Self { row: Row::new(cells.map(KeyValue::to_cell).collect()) }
    }
}
