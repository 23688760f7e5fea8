//! Several changes of one row, made as one.

use bytes::Bytes;

use crate::{Error, Mutation, Result, check_row, escape};

/// Changes of one row that are made together or not at all: HBase's RowMutations.
///
/// What reads the row among them (an increment, an append, the delete of a newest version) sees it
/// as it was before all of them. Of two that write the same cell the later one stays.
#[derive(Clone, Debug, PartialEq)]
pub struct RowMutations {
    row: Bytes,
    mutations: Vec<Mutation>,
}

impl RowMutations {
    /// No change yet; refused when `row` cannot be a row key.
    pub fn new(row: impl Into<Bytes>) -> Result<Self> {
        let row = row.into();
        check_row(&row)?;
        Ok(Self { row, mutations: Vec::new() })
    }

    /// Adds a change of the same row.
    ///
    /// # Errors
    /// `InvalidRequest` for one of another row.
    pub fn with(mut self, mutation: impl Into<Mutation>) -> Result<Self> {
        let mutation = mutation.into();
        if *mutation.row() != self.row {
            return Err(Error::invalid(format!(
                "The row in the recently added Mutation <{}> doesn't match the original one <{}>",
                escape(mutation.row()),
                escape(&self.row)
            )));
        }
        self.mutations.push(mutation);
        Ok(self)
    }

    /// The row they change.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// The changes, in the order they were added.
    pub fn mutations(&self) -> &[Mutation] {
        &self.mutations
    }
}
