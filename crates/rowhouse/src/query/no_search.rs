//! Queries with `matches`, without the feature `search`: they are refused.

use std::convert::Infallible;
use std::task::{Context, Poll};

use rowhouse_model::{Bytes, Error, Result};
use rowhouse_schema::Plan;

use super::rows::RowsOf;
use super::{KeysPage, Page, Query, QueryRow, QueryRows};

/// Rows from a search; there are none.
pub(super) struct SearchRows(Infallible);

fn refused() -> Error {
    Error::unsupported("`matches` needs the feature `search` of the crate rowhouse")
}

impl Query<'_> {
    /// Whether the query has a condition with `matches`.
    pub(super) fn has_matches(&self) -> bool {
        self.asked.as_ref().is_ok_and(|(_, predicate)| predicate.has_matches())
    }

    pub(super) async fn search_rows(self) -> Result<QueryRows> {
        SearchRows::none().map(|none| QueryRows::new(self.table, RowsOf::Search(Box::new(none))))
    }

    pub(super) async fn search_count(self) -> Result<u64> {
        Err(refused())
    }

    pub(super) async fn search_keys(self) -> Result<Vec<Bytes>> {
        Err(refused())
    }

    pub(super) async fn search_keys_page(self, _: usize) -> Result<KeysPage> {
        Err(refused())
    }

    pub(super) async fn search_page(self, _: usize) -> Result<Page> {
        Err(refused())
    }
}

impl SearchRows {
    fn none() -> Result<Self> {
        Err(refused())
    }

    pub(super) fn poll_row(&mut self, _: &mut Context<'_>) -> Poll<Result<Option<QueryRow>>> {
        match self.0 {}
    }

    pub(super) fn plan(&self) -> &Plan {
        match self.0 {}
    }

    pub(super) fn long_words(&self) -> u64 {
        match self.0 {}
    }

    pub(super) fn index(&self) -> &str {
        match self.0 {}
    }
}
