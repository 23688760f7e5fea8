//! Estimates how much table data lies in row ranges, for planners that choose what to read.

use rowhouse_model::{Columns, Result, RowRange};

use crate::region::Region;
use crate::table::Table;

/// If there are more ranges than this, a sample of this size is estimated.
const RANGES_MAX: usize = 200;
/// Memstore cells sampled for all ranges together, within the limits for each range.
const MEMSTORE_CELLS: usize = 2048;
const RANGE_CELLS_MIN: usize = 8;
const RANGE_CELLS_MAX: usize = 64;

/// About how much table data lies in some row ranges: see [`Table::estimate`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RangeEstimate {
    /// Bytes, before compression.
    pub bytes: u64,
    /// Cells.
    pub cells: u64,
}

/// A sum of estimates, not rounded.
#[derive(Clone, Copy, Default)]
struct Amount {
    bytes: f64,
    cells: f64,
}

impl Table {
    /// Estimates how many bytes and cells a scan over `ranges` would read in the families that
    /// `columns` names, from the file indexes and from memstore samples. Data blocks are consulted
    /// only if they are in the block cache. Everything stored counts: all columns in the families,
    /// delete markers, and versions that no read shows.
    ///
    /// For a range with many blocks, or with many cells in memory, the error is usually below a
    /// quarter. Cells in a file count as equally large. A range with several rows within one block
    /// that is not in the cache counts as a quarter of the block. If there are more than 200
    /// ranges, 200 are estimated for all: `ranges` must be in order, and should be similar.
    ///
    /// ```
    /// # use rowhouse_model::{Columns, FamilyDescriptor, Put, RowRange};
    /// # use rowhouse_model::{TableDescriptor, TableName};
    /// # use rowhouse_store::Store;
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::open(dir.path())?;
    /// # let name = TableName::parse("mail")?;
    /// # let family = FamilyDescriptor::new("d")?;
    /// # store.create_table(TableDescriptor::new(name.clone()).family(family), &[])?;
    /// let mail = store.table(&name)?;
    /// for row in ["ann_1", "bob_1", "bob_2"] {
    ///     mail.mutate(&Put::new(row)?.add("d", "subject", "hello")?.into())?;
    /// }
    /// let of_bob = mail.estimate(&[RowRange::prefix(b"bob_")], &Columns::all())?;
    /// assert_eq!(of_bob.cells, 2);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `TableNotEnabled`, `NoSuchColumnFamily`; `Io` and `Corruption` from the file indexes.
    pub fn estimate(&self, ranges: &[RowRange], columns: &Columns) -> Result<RangeEstimate> {
        self.check_enabled()?;
        let mut regions = self.regions_now();
        regions.dedup_by_key(|region| region.id());
        let sampled = ranges.len().min(RANGES_MAX);
        let cells = MEMSTORE_CELLS / sampled.max(1);
        let cells_min = cells.clamp(RANGE_CELLS_MIN, RANGE_CELLS_MAX) as u64;
        let estimate = |range: &RowRange| -> Result<Amount> {
            let first = regions.partition_point(|region| {
                let stop = &region.info().range.stop;
                !stop.is_empty() && *stop <= range.start
            });
            let mut amount = Amount::default();
            for region in regions[first..].iter().take_while(|it| it.info().range.overlaps(range)) {
                amount.add(region.estimate(range, columns, cells_min)?);
            }
            Ok(amount)
        };
        let mut amount = Amount::default();
        for at in 0..sampled {
            amount.add(estimate(&ranges[at * ranges.len() / sampled])?);
        }
        if sampled < ranges.len() {
            let first = &ranges[0];
            let last = &ranges[ranges.len() - 1];
            let factor = ranges.len() as f64 / sampled as f64;
            let all = estimate(&RowRange::new(first.start.clone(), last.stop.clone()))?;
            amount.bytes = (amount.bytes * factor).min(all.bytes);
            amount.cells = (amount.cells * factor).min(all.cells);
        }
        // The casts saturate.
        let bytes = amount.bytes.round() as u64;
        let cells = amount.cells.round() as u64;
        Ok(RangeEstimate { bytes, cells })
    }
}

impl Region {
    /// Estimates the rows in `range` that lie in this region.
    fn estimate(&self, range: &RowRange, columns: &Columns, cells_min: u64) -> Result<Amount> {
        let range = range.intersect(&self.info().range);
        for (family, _) in columns.families() {
            self.family(family)?;
        }
        let mut amount = Amount::default();
        let families = self.families().iter();
        for family in families.filter(|family| columns.selects_family(family.name())) {
            let super_version = family.super_version();
            for memstore in super_version.frozen.iter().chain([&super_version.active]) {
                let (cells, bytes) = memstore.estimate(&range, cells_min);
                amount.add(Amount { bytes: bytes as f64, cells: cells as f64 });
            }
            for file in &super_version.files {
                let share = file.share_in(&range)?;
                let bytes = file.uncompressed_len() as f64;
                let cells = file.meta().cells as f64;
                amount.add(Amount { bytes: share * bytes, cells: share * cells });
            }
        }
        Ok(amount)
    }
}

impl Amount {
    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.cells += other.cells;
    }
}
