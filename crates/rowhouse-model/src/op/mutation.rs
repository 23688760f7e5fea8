//! Any change of one row.

use bytes::Bytes;

use crate::{Delete, Increment, Put, Row};

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
}

impl Mutation {
    /// The row it changes.
    pub fn row(&self) -> &Bytes {
        match self {
            Self::Put(put) => put.row(),
            Self::Delete(delete) => delete.row(),
            Self::Increment(increment) => increment.row(),
        }
    }

    /// How it is made durable.
    pub fn durability(&self) -> Durability {
        match self {
            Self::Put(put) => put.durability,
            Self::Delete(delete) => delete.durability,
            Self::Increment(increment) => increment.durability,
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

/// What a mutation gives back: the new cells of an increment that asked for them, else nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MutationOutcome {
    /// The cells as written.
    pub row: Row,
}
