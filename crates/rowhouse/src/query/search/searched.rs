//! Where a search is made: in this process, or on a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rowhouse_client::Table as ServerTable;
use rowhouse_model::{
    Error, ErrorKind, FacetCount, Get, MatchingKey, MatchingRows, Result, Row, SearchPlace,
    SearchRequest, SearchText,
};
use rowhouse_schema::{Direction, Predicate, SearchPlan, TimeZone};
use rowhouse_search::Matches;

use crate::backend::blocking;
use crate::query::{By, Query};
use crate::table::Table;

/// A search, and where it is made.
#[derive(Clone)]
pub(super) enum Searched {
    /// What was found in this process, at one read point.
    Here(Arc<Matches>),
    /// A server makes it, again for each row batch; rows by score come from one view.
    Server(Arc<ServerSearch>),
}

/// A search by server calls.
pub(super) struct ServerSearch {
    table: ServerTable,
    plan: SearchPlan,
    text: SearchText,
    /// As in the last answer.
    long_words: AtomicU64,
}

/// Rows from a search, each with the place after it.
pub(super) struct MatchingBatch {
    pub(super) rows: Vec<(MatchingKey, Row, SearchPlace)>,
    /// Where the next batch begins.
    pub(super) read_to: SearchPlace,
    pub(super) is_end: bool,
}

/// What is read from the rows that a search finds.
#[derive(Clone)]
pub(super) struct Reading {
    pub(super) direction: Direction,
    /// The columns and versions in a row; `None` for keys only.
    pub(super) cells: Option<Get>,
    /// Whether the rows are read to the end by this reader, and not continued by a page token.
    pub(super) ends_view: bool,
}

impl Searched {
    /// Leaves a search to a server.
    ///
    /// # Errors
    /// `Unsupported` for a server without searches, and for times in another zone.
    pub(super) async fn by_server(
        query: &Query<'_>,
        table: ServerTable,
        plan: SearchPlan,
    ) -> Result<Self> {
        if !query.table.backend().answers_queries().await? {
            return Err(Error::unsupported("the server has no full-text search"));
        }
        if query.zone != TimeZone::UTC {
            return Err(Error::unsupported(
                "a server takes times without a zone as UTC: write the zone into the times of the \
                 query",
            ));
        }
        let (_, predicate) = query.asked.as_ref().map_err(Clone::clone)?;
        let index = match &query.by {
            By::Index(name) => Some(name.clone()),
            By::Any | By::Key => None,
        };
        let text = SearchText { query: predicate.to_string(), index };
        let read = match Predicate::parse(&text.query) {
            Ok(read) => query.search_plan_of(&read).await,
            Err(error) => Err(error),
        };
        if !read.is_ok_and(|read| read.selects_as(&plan)) {
            return Err(Error::unsupported(format!(
                "a value of the query means another one in the text that the server reads, so \
                 write times as texts: {}",
                text.query
            )));
        }
        let long_words = AtomicU64::new(0);
        Ok(Self::Server(Arc::new(ServerSearch { table, plan, text, long_words })))
    }

    /// Returns true if an error means that the index has been replaced since the search, as one is
    /// that is built anew because it was damaged. The client repeats calls to a server.
    pub(super) fn is_to_be_made_again(&self, error: &Error) -> bool {
        matches!(self, Self::Here(_)) && error.kind() == ErrorKind::RegionTooBusy
    }

    /// Makes the search again, at the current read point.
    pub(super) async fn again(&self, table: &Table) -> Result<Self> {
        let found = table.backend().find(table.id(), self.plan().clone()).await?;
        Ok(Self::Here(Arc::new(found)))
    }

    pub(super) fn plan(&self) -> &SearchPlan {
        match self {
            Self::Here(found) => found.plan(),
            Self::Server(server) => &server.plan,
        }
    }

    /// Words that are too long to be indexed. A server reports them with the first rows.
    pub(super) fn long_words(&self) -> u64 {
        match self {
            Self::Here(found) => found.long_words(),
            Self::Server(server) => server.long_words.load(Ordering::Relaxed),
        }
    }

    /// Returns the row count.
    pub(super) async fn count(self) -> Result<u64> {
        match self {
            Self::Here(found) => blocking(move || found.count()).await,
            Self::Server(server) => server.table.search_count(server.text.clone()).await,
        }
    }

    /// Returns how many rows have each field value.
    pub(super) async fn facets(self, field: &str, values: usize) -> Result<Vec<FacetCount>> {
        match self {
            Self::Here(found) => {
                let field = field.to_owned();
                blocking(move || found.facets(&field, values)).await
            }
            Self::Server(server) => {
                let values = u32::try_from(values).unwrap_or(u32::MAX);
                server.table.search_facets(server.text.clone(), field, values).await
            }
        }
    }

    /// Reads up to `limit` rows from a place on.
    pub(super) async fn read(
        self,
        place: SearchPlace,
        reading: Arc<Reading>,
        limit: usize,
    ) -> Result<MatchingBatch> {
        match self {
            Self::Here(found) => {
                blocking(move || {
                    let direction = reading.direction;
                    let cells = reading.cells.as_ref();
                    let rows = found.rows(&place, direction, cells, limit)?;
                    Ok(MatchingBatch::of(rows, place, &reading))
                })
                .await
            }
            Self::Server(server) => server.read(place, &reading, limit).await,
        }
    }
}

impl MatchingBatch {
    /// Gives each row the place after it. A row that has no such column is left out.
    fn of(found: MatchingRows, place: SearchPlace, reading: &Reading) -> Self {
        let mut batch = Self { rows: Vec::new(), read_to: place, is_end: found.is_end };
        for (key, cells) in found.rows {
            batch.read_to = batch.read_to.after(&key);
            if reading.cells.is_none() || !cells.is_empty() {
                batch.rows.push((key, cells, batch.read_to.clone()));
            }
        }
        batch
    }
}

impl ServerSearch {
    async fn read(
        &self,
        place: SearchPlace,
        reading: &Reading,
        limit: usize,
    ) -> Result<MatchingBatch> {
        let request = SearchRequest {
            text: self.text.clone(),
            place: place.clone(),
            reversed: reading.direction == Direction::Reverse,
            rows: u32::try_from(limit).unwrap_or(u32::MAX),
            cells: reading.cells.clone(),
            ends_view: reading.ends_view,
        };
        let found = self.table.search(request).await?;
        self.long_words.store(found.long_words, Ordering::Relaxed);
        let place = place.in_view(found.view);
        Ok(MatchingBatch::of(found, place, reading))
    }
}
