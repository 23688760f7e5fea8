//! Deletes what a scan returns from one region, as in HBase's BulkDeleteEndpoint. A row is deleted
//! as the scan saw it, whatever was written to it since.

use std::collections::BTreeSet;

use bytes::Bytes;
use rowhouse_format::convert::endpoint::BulkDeleteKind;
use rowhouse_format::convert::scan::OpenScan;
use rowhouse_format::proto::BulkDeleteResponse;
use rowhouse_model::{Delete, DeleteRows, Filter, Mutation, Result, Row, Timestamp};
use rowhouse_store::{Region, RegionScanner};

/// Marker bytes at which a batch ends, whatever the request says.
const BATCH_BYTES_MAX: usize = 256 << 10;

/// Returns the scan for a delete: of a row, the first cell is enough.
pub(super) fn scan_for(kind: BulkDeleteKind, mut scan: OpenScan) -> OpenScan {
    if kind == BulkDeleteKind::Row && scan.scan.filter.is_none() {
        scan.scan.filter = Some(Box::new(Filter::FirstKeyOnly));
    }
    scan
}

/// Deletes the rows of a scan in batches.
///
/// # Errors
/// The first of a batch: the batches before it stay deleted, as in HBase.
pub(super) fn run(
    region: &Region,
    rows: &mut RegionScanner,
    kind: BulkDeleteKind,
    timestamp: Option<Timestamp>,
    batch_rows: u32,
) -> Result<BulkDeleteResponse> {
    let batch_rows = batch_rows.min(DeleteRows::BATCH_ROWS_MAX) as usize;
    let mut answer = BulkDeleteResponse {
        versions_deleted: (kind == BulkDeleteKind::Version).then_some(0),
        ..Default::default()
    };
    loop {
        let mut batch: Vec<Mutation> = Vec::new();
        let mut bytes = 0;
        let mut versions = 0;
        while batch.len() < batch_rows && bytes < BATCH_BYTES_MAX {
            let Some(row) = rows.next()? else { break };
            let delete = delete_of(&row, kind, timestamp)?;
            versions += delete.cells().len() as u64;
            bytes += row.key().len();
            bytes += delete.cells().iter().map(|cell| cell.as_bytes().len()).sum::<usize>();
            batch.push(delete.into());
        }
        if batch.is_empty() {
            return Ok(answer);
        }
        region.batch(&batch).into_iter().try_for_each(|outcome| outcome.map(|_| ()))?;
        answer.rows_deleted += batch.len() as u64;
        if let Some(deleted) = &mut answer.versions_deleted {
            *deleted += versions;
        }
    }
}

fn delete_of(row: &Row, kind: BulkDeleteKind, timestamp: Option<Timestamp>) -> Result<Delete> {
    let at = timestamp.unwrap_or(Timestamp::LATEST);
    let mut delete = Delete::new(Bytes::copy_from_slice(row.key()))?;
    // Columns that already have a marker.
    let mut marked: BTreeSet<(&[u8], &[u8])> = BTreeSet::new();
    for cell in row.cells() {
        let family = cell.family();
        let qualifier = cell.qualifier();
        delete = match kind {
            BulkDeleteKind::Row => break,
            BulkDeleteKind::Family if marked.insert((family, b"")) => delete.family(family, at)?,
            BulkDeleteKind::Column if marked.insert((family, qualifier)) => {
                delete.column(family, qualifier, at)?
            }
            BulkDeleteKind::Version if timestamp.is_none() => {
                delete.version(family, qualifier, cell.timestamp())?
            }
            BulkDeleteKind::Version if marked.insert((family, qualifier)) => {
                delete.version(family, qualifier, at)?
            }
            BulkDeleteKind::Family | BulkDeleteKind::Column | BulkDeleteKind::Version => continue,
        };
    }
    if kind == BulkDeleteKind::Row {
        delete.timestamp = at;
    }
    Ok(delete)
}
