//! Any change of one row.

use bytes::Bytes;

use crate::{Append, Cell, Delete, Increment, KeyValue, Nonce, Put, Row};

/// How far a write must have come before it is acknowledged. The numbers are HBase's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// What the table declares; in the log before the answer unless it says otherwise.
    #[default]
    UseDefault,
    /// Not in the log at all: lost with a process that is killed, until a flush.
    SkipWal,
    /// In the log some time after the answer.
    AsyncWal,
    /// In the log before the answer: survives the process.
    SyncWal,
    /// On the disk before the answer: survives the machine's power.
    FsyncWal,
}

/// A change of one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Mutation {
    /// New cells.
    Put(Put),
    /// Delete markers.
    Delete(Delete),
    /// Counters.
    Increment(Increment),
    /// Values that grow.
    Append(Append),
}

impl Mutation {
    /// The row it changes.
    pub fn row(&self) -> &Bytes {
        match self {
            Self::Put(put) => put.row(),
            Self::Delete(delete) => delete.row(),
            Self::Increment(increment) => increment.row(),
            Self::Append(append) => append.row(),
        }
    }

    /// How it is made durable.
    pub fn durability(&self) -> Durability {
        match self {
            Self::Put(put) => put.durability,
            Self::Delete(delete) => delete.durability,
            Self::Increment(increment) => increment.durability,
            Self::Append(append) => append.durability,
        }
    }

    /// Its cells as they travel: those of a put, the markers of a delete, what an increment or append
    /// adds.
    pub fn cells(&self) -> &[Cell] {
        match self {
            Self::Put(put) => put.cells(),
            Self::Delete(delete) => delete.cells(),
            Self::Increment(increment) => increment.cells(),
            Self::Append(append) => append.cells(),
        }
    }

    /// How long what it writes lives, in milliseconds, if it says so.
    pub fn ttl_millis(&self) -> Option<i64> {
        match self {
            Self::Put(put) => put.ttl_millis,
            Self::Delete(delete) => delete.ttl_millis,
            Self::Increment(increment) => increment.ttl_millis,
            Self::Append(append) => append.ttl_millis,
        }
    }

    /// What tells a repetition of it from a second one: of an increment or append.
    pub fn nonce(&self) -> Option<Nonce> {
        match self {
            Self::Put(_) | Self::Delete(_) => None,
            Self::Increment(increment) => increment.nonce,
            Self::Append(append) => append.nonce,
        }
    }

    /// The same under this nonce, where a repetition would matter.
    #[must_use]
    pub fn with_nonce(mut self, nonce: Option<Nonce>) -> Self {
        match &mut self {
            Self::Put(_) | Self::Delete(_) => {}
            Self::Increment(increment) => increment.nonce = nonce,
            Self::Append(append) => append.nonce = nonce,
        }
        self
    }

    /// Whether it is an increment or append: what it writes grows from what is there, and comes back.
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

/// What a mutation gives back: the new cells of an increment or append that asked for them, else
/// nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MutationOutcome {
    /// The cells as written.
    pub row: Row,
}

impl MutationOutcome {
    /// What mutations of one row gave back, one behind the other.
    pub fn join(outcomes: &[Self]) -> Self {
        let cells = outcomes.iter().flat_map(|outcome| outcome.row.cells());
        Self { row: Row::new(cells.map(KeyValue::to_cell).collect()) }
    }
}
