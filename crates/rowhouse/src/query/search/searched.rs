//! Where a search is made: in this process, or on a server.

use std::sync::Arc;

use rowhouse_model::{Bytes, Columns, Error, Filter, Result, Row, Scan};
use rowhouse_schema::{SearchPlan, TimeZone};
use rowhouse_search::Found;

use super::SearchOrder;
use crate::backend::no_search;
use crate::query::Query;
use crate::table::Table;

/// A search, and where it is made.
pub(super) enum Searched {
    /// What was found in this process, at one read point.
    Here(Arc<Found>),
    /// A server makes it, again for each batch of rows.
    Server(Box<ServerSearch>),
}

/// A search by scans that carry the query, which returns rows in the order of their keys.
pub(super) struct ServerSearch {
    table: Table,
    plan: SearchPlan,
    query: String,
}

impl Searched {
    /// Leaves a search to the server.
    ///
    /// # Errors
    /// `Unsupported` for what such a scan does not have, and for a server without searches.
    pub(super) async fn by_server(query: &Query<'_>, plan: SearchPlan) -> Result<Self> {
        if !query.table.backend().answers_queries().await? {
            return Err(Error::unsupported("the server has no full-text search"));
        }
        if query.search_order != SearchOrder::Key {
            return Err(no_search());
        }
        if query.zone != TimeZone::UTC {
            return Err(Error::unsupported(
                "a server takes times without a zone as UTC: write the zone into the times of the \
                 query",
            ));
        }
        let (_, predicate) = query.asked.as_ref().map_err(Clone::clone)?;
        let (table, query) = (query.table.clone(), predicate.to_string());
        Ok(Self::Server(Box::new(ServerSearch { table, plan, query })))
    }

    pub(super) fn plan(&self) -> &SearchPlan {
        match self {
            Self::Here(found) => found.plan(),
            Self::Server(server) => &server.plan,
        }
    }

    /// Words that are too long to be indexed; 0 if a server searches, which does not tell.
    pub(super) fn long_words(&self) -> u64 {
        match self {
            Self::Here(found) => found.long_words(),
            Self::Server(_) => 0,
        }
    }

    /// Returns what was found in this process.
    pub(super) fn here(&self) -> Result<&Arc<Found>> {
        match self {
            Self::Here(found) => Ok(found),
            Self::Server(_) => Err(Error::unsupported("a server keeps no view of a search")),
        }
    }
}

impl ServerSearch {
    /// Reads up to `rows` rows after a row, as of now.
    pub(super) async fn rows(
        &self,
        mut scan: Scan,
        after: Option<&Bytes>,
        rows: usize,
    ) -> Result<Vec<Row>> {
        let ranges = self.plan.key_ranges();
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
            return Ok(Vec::new());
        };
        (scan.range.start, scan.range.stop) = (first.start.clone(), last.stop.clone());
        match (after, scan.reversed) {
            (Some(after), true) => scan.range.stop = after.clone(),
            (Some(after), false) => scan.range.start = [after, &b"\0"[..]].concat().into(),
            (None, _) => {}
        }
        scan.limit = Some(rows as u64);
        let backend = self.table.backend();
        backend.scan_matching(self.table.name(), scan, &self.query)?.collect().await
    }

    /// Reads the keys of up to `rows` rows after a row, as of now.
    pub(super) async fn keys(
        &self,
        reversed: bool,
        after: Option<&Bytes>,
        rows: usize,
    ) -> Result<Vec<Bytes>> {
        let mut scan = Scan::all();
        scan.reversed = reversed;
        scan.columns = Columns::all();
        scan.filter = Some(Box::new(Filter::FirstKeyOnly));
        let found = self.rows(scan, after, rows).await?;
        Ok(found.iter().map(|row| Bytes::copy_from_slice(row.key())).collect())
    }
}
