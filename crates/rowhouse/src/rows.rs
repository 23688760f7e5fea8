//! The rows of a scan.

use std::sync::Arc;

use rowhouse_client::Scanner;
use rowhouse_model::{Result, Row, Scan};

use crate::backend::{EmbeddedRows, ReadAhead, TableReadPoint};

/// The rows of a scan, in key order, read as they are asked for.
///
/// Dropping it ends the scan.
pub struct Rows {
    source: Source,
}

/// Where they come from.
pub(crate) enum Source {
    Embedded(EmbeddedRows),
    Cluster(Scanner),
}

impl Rows {
    pub(crate) fn new(source: Source) -> Self {
        Self { source }
    }

    /// The rows of a scan as they were at a moment of its table.
    pub(crate) async fn at(
        moment: &TableReadPoint,
        scan: Scan,
        ahead: &Arc<ReadAhead>,
    ) -> Result<Self> {
        Ok(Self::new(Source::Embedded(moment.scan(scan, ahead).await?)))
    }

    /// The next row; `None` behind the last. A caller that stops waiting and asks again later
    /// misses no row.
    ///
    /// # Errors
    /// Whatever the backend answers while it reads; the scan ends there.
    pub async fn next(&mut self) -> Result<Option<Row>> {
        match &mut self.source {
            Source::Embedded(rows) => rows.next().await,
            Source::Cluster(rows) => rows.next().await,
        }
    }

    /// The next row, if it was read already and waits for nothing; nothing otherwise.
    #[inline]
    pub(crate) fn next_ready(&mut self) -> Option<Row> {
        match &mut self.source {
            Source::Embedded(rows) => rows.next_ready(),
            Source::Cluster(_) => None,
        }
    }

    /// All rows that are left, in memory.
    ///
    /// # Errors
    /// As [`Rows::next`].
    pub async fn collect(mut self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        while let Some(row) = self.next().await? {
            rows.push(row);
        }
        Ok(rows)
    }
}
