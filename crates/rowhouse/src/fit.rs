//! Checks whether a table's existing rows fit a template.

use std::collections::BTreeSet;
use std::fmt;

use rowhouse_model::{Bytes, Result, RowRange, Scan, escape};
use rowhouse_schema::{KeyMismatch, KeySchema};

use crate::table::Table;

/// Rows checked from the table start.
const HEAD_ROWS: u64 = 500;
/// Rows checked from each further position.
const SAMPLE_ROWS: u64 = 4;
/// The most regions whose first rows are checked.
const REGIONS_MAX: usize = 256;

/// The result from checking a sample of a table's rows against a template.
///
/// ```
/// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
/// let fit = database.admin().alter_key("blog", "[user text]_[post decimal]").await?;
/// println!("{fit}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Fit {
    /// How many rows were checked.
    pub rows: u64,
    /// How many rows have keys that do not fit.
    pub misfits: u64,
    /// The first key that does not fit, with the reason.
    pub first_misfit: Option<(Bytes, KeyMismatch)>,
}

impl Fit {
    /// Checks the first 500 rows, and 4 rows from each region's start and from each possible first
    /// byte. In a table with up to 500 rows that is every row.
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
            // A position without rows after it has none at later positions either.
            let Some(seen) = fit.look(table, schema, place, SAMPLE_ROWS).await? else { break };
            last = seen;
        }
        Ok(fit)
    }

    /// Checks rows from `start` on and returns the last row.
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
            None => write!(f, "all checked rows fit: rows={}", self.rows),
            Some((key, misfit)) => write!(
                f,
                "{} of {} checked rows do not fit, the first is {}: {misfit}",
                self.misfits,
                self.rows,
                escape(key)
            ),
        }
    }
}

/// Returns the region start rows and all single bytes, in order.
async fn places(table: &Table) -> Result<BTreeSet<Bytes>> {
    let regions = table.regions().await?;
    let step = regions.len().div_ceil(REGIONS_MAX).max(1);
    let starts = regions.into_iter().step_by(step).map(|region| region.range.start);
    Ok(starts.chain((0..=u8::MAX).map(|byte| Bytes::copy_from_slice(&[byte]))).collect())
}
