//! The rows of a scan.

use std::sync::Arc;

use rowhouse_client::Scanner;
use rowhouse_model::{Result, Row, Scan};

use crate::backend::{EmbeddedRows, ReadAhead, TableReadPoint};

/// The rows of a scan, in key order, read on demand.
///
/// Dropping it ends the scan.
pub struct Rows {
    source: Source,
}

/// The source of the rows.
pub(crate) enum Source {
    Embedded(EmbeddedRows),
    Cluster(Scanner),
}

impl Rows {
    pub(crate) fn new(source: Source) -> Self {
        Self { source }
    }

    /// Opens a scan at a read point of its table.
    pub(crate) async fn at(
        read_point: &TableReadPoint,
        scan: Scan,
        ahead: &Arc<ReadAhead>,
    ) -> Result<Self> {
        Ok(Self::new(Source::Embedded(read_point.scan(scan, ahead).await?)))
    }

    /// Returns the next row, or `None` after the last. The method is cancel-safe: a caller that
    /// drops the future and calls again misses no row.
    ///
    /// # Errors
    /// The errors of the backend; the scan ends with the first.
    pub async fn next(&mut self) -> Result<Option<Row>> {
        match &mut self.source {
            Source::Embedded(rows) => rows.next().await,
            Source::Cluster(rows) => rows.next().await,
        }
    }

    /// Returns the next row if it is already in memory; otherwise `None`.
    #[inline]
    pub(crate) fn next_ready(&mut self) -> Option<Row> {
        match &mut self.source {
            Source::Embedded(rows) => rows.next_ready(),
            Source::Cluster(_) => None,
        }
    }

    /// Reads all remaining rows into memory.
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
