//! A table: regions side by side.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rowhouse_model::{
    CellHistory, Condition, Error, ErrorKind, Get, Mutation, MutationOutcome, Result, Row,
    RowCondition, RowMutations, RowRange, Scan, TableDescriptor, TableName, TableState,
    compare_bytes,
};

use crate::compact::CompactionKind;
use crate::read::{ReadPoint, RegionScanner, ScanLimits, Scanned};
use crate::region::Region;

/// A table of a store.
pub struct Table {
    id: u64,
    descriptor: TableDescriptor,
    /// By start key; together they hold every row once.
    regions: Vec<Arc<Region>>,
    /// Shared with the table that this one was before it was altered.
    disabled: Arc<AtomicBool>,
}

impl Table {
    pub(crate) fn new(
        id: u64,
        descriptor: TableDescriptor,
        mut regions: Vec<Arc<Region>>,
        state: TableState,
    ) -> Self {
        regions.sort_by(|a, b| a.info().range.start.cmp(&b.info().range.start));
        let disabled = Arc::new(AtomicBool::new(state == TableState::Disabled));
        Self { id, descriptor, regions, disabled }
    }

    /// The same table, declared anew.
    pub(crate) fn altered(&self, descriptor: TableDescriptor) -> Self {
        let (regions, disabled) = (self.regions.clone(), Arc::clone(&self.disabled));
        Self { id: self.id, descriptor, regions, disabled }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &TableName {
        self.descriptor.name()
    }

    /// How it was declared.
    pub fn descriptor(&self) -> &TableDescriptor {
        &self.descriptor
    }

    /// Its regions, by start key.
    pub fn regions(&self) -> &[Arc<Region>] {
        &self.regions
    }

    /// Whether it takes reads and writes.
    pub fn state(&self) -> TableState {
        if self.disabled.load(Ordering::Acquire) {
            TableState::Disabled
        } else {
            TableState::Enabled
        }
    }

    pub(crate) fn set_state(&self, state: TableState) {
        self.disabled.store(state == TableState::Disabled, Ordering::Release);
    }

    /// The region that holds `row`.
    pub fn region_of(&self, row: &[u8]) -> &Arc<Region> {
        &self.regions[self.place_of(row)]
    }

    fn place_of(&self, row: &[u8]) -> usize {
        let starts_before =
            |region: &Arc<Region>| compare_bytes(&region.info().range.start, row).is_le();
        // The first region starts at the empty row, which is at or before every row.
        self.regions.partition_point(starts_before).saturating_sub(1)
    }

    /// Reads one row.
    ///
    /// # Errors
    /// As [`Region::get`]; `TableNotEnabled`.
    pub fn get(&self, get: &Get) -> Result<Row> {
        self.check_enabled()?;
        self.region_of(get.row()).get(get)
    }

    /// Tells why a get shows what it shows of a column.
    ///
    /// # Errors
    /// As [`Region::explain_cell`]; `TableNotEnabled`.
    pub fn explain_cell(&self, get: &Get) -> Result<CellHistory> {
        self.check_enabled()?;
        self.region_of(get.row()).explain_cell(get)
    }

    /// Reads one row as it was at `point`.
    ///
    /// # Errors
    /// As [`Table::get`]; `UnknownScanner` for a point that is too old, `InvalidRequest` for one that
    /// is older than the table.
    pub fn get_at(&self, get: &Get, point: &ReadPoint) -> Result<Row> {
        self.check_enabled()?;
        self.region_of(get.row()).read(get, Some(point))
    }

    /// Reads the rows of `scan` in key order, all as they were at `point`.
    ///
    /// # Errors
    /// As [`Table::scan`] and [`Table::get_at`].
    pub fn scan_at(self: &Arc<Self>, scan: Scan, point: &Arc<ReadPoint>) -> Result<TableScanner> {
        self.open_scan(scan, Some(Arc::clone(point)))
    }

    /// Reads the rows of `scan` in key order or, reversed, from the last to the first, each region at the moment it is reached.
    ///
    /// # Errors
    /// As [`Region::scan`]; `TableNotEnabled`.
    pub fn scan(self: &Arc<Self>, scan: Scan) -> Result<TableScanner> {
        self.open_scan(scan, None)
    }

    fn open_scan(
        self: &Arc<Self>,
        scan: Scan,
        point: Option<Arc<ReadPoint>>,
    ) -> Result<TableScanner> {
        self.check_enabled()?;
        let mut scanner = TableScanner {
            table: Arc::clone(self),
            point,
            rows_left: scan.limit.unwrap_or(u64::MAX),
            regions_left: 0..self.regions.len(),
            scan,
            current: None,
            region_gave_rows: false,
        };
        scanner.open_next()?;
        Ok(scanner)
    }

    /// Changes one row.
    ///
    /// # Errors
    /// As [`Region::mutate`]; `TableNotEnabled`.
    pub fn mutate(&self, mutation: &Mutation) -> Result<MutationOutcome> {
        self.check_enabled()?;
        self.region_of(mutation.row()).mutate(mutation)
    }

    /// Changes one row if `condition` holds for it; `None` if it does not.
    ///
    /// # Errors
    /// As [`Region::mutate_if`]; `TableNotEnabled`.
    pub fn mutate_if(
        &self,
        condition: &Condition,
        mutation: &Mutation,
    ) -> Result<Option<MutationOutcome>> {
        self.check_enabled()?;
        self.region_of(mutation.row()).mutate_if(condition, mutation)
    }

    /// Changes one row in several ways as one: HBase's mutateRow. Gives back the new cells of the
    /// increments and appends among them, in their order.
    ///
    /// # Errors
    /// As [`Region::mutate_rows`]; `TableNotEnabled`.
    pub fn mutate_row(&self, mutations: &RowMutations) -> Result<MutationOutcome> {
        let outcome = self.mutate_row_where(&[], mutations)?;
        Ok(outcome.expect("what is asked for nothing is applied"))
    }

    /// As [`Table::mutate_row`], if `condition` holds for the row; `None` if it does not.
    ///
    /// # Errors
    /// As [`Region::mutate_rows`]; `TableNotEnabled`.
    pub fn mutate_row_if(
        &self,
        condition: &Condition,
        mutations: &RowMutations,
    ) -> Result<Option<MutationOutcome>> {
        let (row, condition) = (mutations.row().clone(), condition.clone());
        self.mutate_row_where(&[RowCondition { row, condition }], mutations)
    }

    fn mutate_row_where(
        &self,
        conditions: &[RowCondition],
        mutations: &RowMutations,
    ) -> Result<Option<MutationOutcome>> {
        self.check_enabled()?;
        let region = self.region_of(mutations.row());
        let outcomes = region.mutate_rows(conditions, mutations.mutations())?;
        Ok(outcomes.map(|outcomes| MutationOutcome::join(&outcomes)))
    }

    /// Changes rows, each by itself. The order is kept between mutations of one region, so also
    /// between those of one row.
    pub fn batch(&self, mutations: Vec<Mutation>) -> Vec<Result<MutationOutcome>> {
        if let Err(error) = self.check_enabled() {
            let refused = || Err(Error::new(error.kind(), error.message()));
            return mutations.iter().map(|_| refused()).collect();
        }
        if let [region] = &self.regions[..] {
            return region.batch(&mutations);
        }
        let mut outcomes: Vec<Option<Result<MutationOutcome>>> = Vec::new();
        outcomes.resize_with(mutations.len(), || None);
        let mut by_region: Vec<(Vec<usize>, Vec<Mutation>)> = Vec::new();
        by_region.resize_with(self.regions.len(), Default::default);
        for (at, mutation) in mutations.into_iter().enumerate() {
            let row = mutation.row();
            let (places, mutations) = &mut by_region[self.place_of(row)];
            places.push(at);
            mutations.push(mutation);
        }
        for (region, (places, mutations)) in self.regions.iter().zip(by_region) {
            for (at, outcome) in places.into_iter().zip(region.batch(&mutations)) {
                outcomes[at] = Some(outcome);
            }
        }
        outcomes.into_iter().map(|outcome| outcome.expect("every mutation has a region")).collect()
    }

    /// Writes what is in memory to files.
    pub fn flush(&self) -> Result<()> {
        self.check_enabled()?;
        self.regions.iter().try_for_each(|region| region.flush())
    }

    /// Merges files of each family in each region, as [`Region::compact`] does, and waits for it.
    ///
    /// # Errors
    /// As [`Region::compact`]; `TableNotEnabled`.
    pub fn compact(&self, kind: CompactionKind) -> Result<()> {
        self.check_enabled()?;
        self.regions.iter().try_for_each(|region| region.compact(kind))
    }

    pub(crate) fn check_enabled(&self) -> Result<()> {
        match self.state() {
            TableState::Enabled => Ok(()),
            TableState::Disabled => {
                Err(Error::new(ErrorKind::TableNotEnabled, format!("{} is disabled", self.name())))
            }
        }
    }
}

/// A scan of a table, open.
pub struct TableScanner {
    table: Arc<Table>,
    /// The moment it reads at, if it is one for all regions.
    point: Option<Arc<ReadPoint>>,
    scan: Scan,
    rows_left: u64,
    regions_left: Range<usize>,
    current: Option<RegionScanner>,
    /// The region being read has given a row.
    region_gave_rows: bool,
}

impl TableScanner {
    /// The next row, or the next part of it where the scan has a batch; `None` behind the last.
    ///
    /// # Errors
    /// As [`RegionScanner::next`].
    #[expect(clippy::should_implement_trait, reason = "mirrors RegionScanner")]
    pub fn next(&mut self) -> Result<Option<Row>> {
        while self.rows_left > 0 {
            let Some(scanner) = &mut self.current else { return Ok(None) };
            if let Scanned::Row { row, is_partial } = scanner.next_part(&ScanLimits::NONE)? {
                self.rows_left -= u64::from(!is_partial);
                self.region_gave_rows = true;
                return Ok(Some(row));
            }
            // As HBase has it: a filter that lets nothing more through ends the scan of all regions
            // where it comes to that without a row, and that of its region where there were some.
            if !self.region_gave_rows && scanner.is_filter_done() {
                self.current = None;
                return Ok(None);
            }
            self.open_next()?;
        }
        Ok(None)
    }

    fn open_next(&mut self) -> Result<()> {
        self.current = None;
        self.region_gave_rows = false;
        while let Some(at) = match self.scan.reversed {
            true => self.regions_left.next_back(),
            false => self.regions_left.next(),
        } {
            let region = &self.table.regions[at];
            let range: &RowRange = &region.info().range;
            if range.overlaps(&self.scan.range) {
                self.current = Some(region.open_scan(&self.scan, self.point.as_deref())?);
                return Ok(());
            }
        }
        Ok(())
    }
}
