//! Several mutations to one row, applied atomically.

use bytes::Bytes;

use crate::{Durability, Error, Mutation, Result, check_row, escape};

/// Mutations to one row that are applied atomically: HBase's RowMutations.
///
/// Mutations that read the row (an increment, an append, a delete for the newest version) see it as
/// it was before all mutations. If two write the same cell, the later one wins.
#[derive(Clone, Debug, PartialEq)]
pub struct RowMutations {
    row: Bytes,
    mutations: Vec<Mutation>,
}

impl RowMutations {
    /// Creates an empty list; returns an error if `row` is not a valid row key.
    pub fn new(row: impl Into<Bytes>) -> Result<Self> {
        let row = row.into();
        check_row(&row)?;
        Ok(Self { row, mutations: Vec::new() })
    }

    /// Adds a mutation to the same row.
    ///
    /// # Errors
    /// `InvalidRequest` for a mutation to another row.
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

    /// Sets the durability for the mutations that name none.
    #[must_use]
    pub fn with_default_durability(mut self, default: Durability) -> Self {
        let mutations = self.mutations.into_iter();
        self.mutations = mutations.map(|one| one.with_default_durability(default)).collect();
        self
    }

    /// Returns the row.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// Returns the mutations in the order in which they were added.
    pub fn mutations(&self) -> &[Mutation] {
        &self.mutations
    }
}
