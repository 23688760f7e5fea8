//! Whether the rows that a table has fit a template.

use std::collections::BTreeSet;
use std::fmt;

use rowhouse_model::{Bytes, Result, RowRange, Scan, escape};
use rowhouse_schema::{KeyMismatch, KeySchema};

use crate::table::Table;

/// Rows that are looked at from the beginning of a table.
const HEAD_ROWS: u64 = 500;
/// Rows that are looked at from each further place.
const PLACE_ROWS: u64 = 4;
/// Regions at whose beginning rows are looked at.
const REGIONS_MAX: usize = 256;

/// How rows of a table fit a template, as far as they were looked at.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Fit {
    /// Rows that were looked at.
    pub rows: u64,
    /// Those of them whose keys do not fit.
    pub misfits: u64,
    /// The first key that does not fit, and why.
    pub first_misfit: Option<(Bytes, KeyMismatch)>,
}

impl Fit {
    /// Looks at the first 500 rows, and at 4 from the beginning of each region and from each first byte
    /// that keys have: of a table of up to 500 rows at all of them.
    pub(crate) async fn of(table: &Table, schema: &KeySchema) -> Result<Self> {
        let mut fit = Self::default();
        let Some(mut last) = fit.look(table, schema, Bytes::new(), HEAD_ROWS).await? else {
            return Ok(fit);
        };
        if fit.rows < HEAD_ROWS {
            return Ok(fit);
        }
        for place in places(table).await? {
            if place <= last {
                continue;
            }
            // Where there is no row, there is none at a later place.
            let Some(seen) = fit.look(table, schema, place, PLACE_ROWS).await? else { break };
            last = seen;
        }
        Ok(fit)
    }

    /// Looks at rows from `start` on; the last of them.
    async fn look(
        &mut self,
        table: &Table,
        schema: &KeySchema,
        start: Bytes,
        rows: u64,
    ) -> Result<Option<Bytes>> {
        let mut scan = Scan::new(RowRange::new(start, Bytes::new()));
        scan.limit = Some(rows);
        let mut found = table.scan(scan).await?;
        let mut last = None;
        while let Some(row) = found.next().await? {
            self.rows += 1;
            let key = Bytes::copy_from_slice(row.key());
            if let Err(misfit) = schema.decode(&key) {
                self.misfits += 1;
                self.first_misfit.get_or_insert((key.clone(), misfit));
            }
            last = Some(key);
        }
        Ok(last)
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.first_misfit {
            None => write!(f, "all rows that were looked at fit: rows={}", self.rows),
            Some((key, misfit)) => write!(
                f,
                "{} of {} rows that were looked at do not fit, the first is {}: {misfit}",
                self.misfits,
                self.rows,
                escape(key)
            ),
        }
    }
}

/// Where regions begin, and every single byte, in order.
async fn places(table: &Table) -> Result<BTreeSet<Bytes>> {
    let regions = table.regions().await?;
    let step = regions.len().div_ceil(REGIONS_MAX).max(1);
    let starts = regions.into_iter().step_by(step).map(|region| region.range.start);
    Ok(starts.chain((0..=u8::MAX).map(|byte| Bytes::copy_from_slice(&[byte]))).collect())
}
