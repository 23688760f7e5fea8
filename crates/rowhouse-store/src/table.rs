//! A table: a sequence of regions that together cover all row keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use rowhouse_model::{
    Bytes, CellHistory, Error, ErrorKind, Get, HeatReport, Result, Row, RowRange, Scan,
    TableDescriptor, TableName, TableState, compare_bytes,
};

use rowhouse_schema::IndexSchema;

use crate::compaction_policy::CompactionKind;
use crate::read::{
    CallTimer, ReadPoint, ReadRequest, RegionScanner, ScanLimits, Scanned, TableTrace,
};
use crate::region::Region;

/// A table of a store.
pub struct Table {
    id: u64,
    descriptor: TableDescriptor,
    /// The indexes that it declares; an error if a newer version declared them.
    indexes: Result<Option<IndexSchema>>,
    /// By start key; together they cover every row exactly once.
    regions: Vec<Arc<Region>>,
    /// Shared between all versions of a table's catalog entry, so it survives an alteration.
    disabled: Arc<AtomicBool>,
    /// Held while indexes on the table are built or repaired, shared likewise. Taken before the
    /// lock for table changes.
    pub(crate) reindexing: Arc<Mutex<()>>,
    /// For a copy: how many puts went to base table rows that have no copy, because their keys do
    /// not fit the template. Counted before they are committed; shared likewise.
    pub(crate) misfits_written: Arc<AtomicU64>,
}

impl Table {
    pub(crate) fn new(
        id: u64,
        descriptor: TableDescriptor,
        mut regions: Vec<Arc<Region>>,
        state: TableState,
    ) -> Self {
        sort(&mut regions);
        share_heat(&regions, &[]);
        let disabled = Arc::new(AtomicBool::new(state == TableState::Disabled));
        let indexes = IndexSchema::of_table(&descriptor);
        let reindexing = Arc::default();
        let misfits_written = Arc::default();
        Self { id, descriptor, indexes, regions, disabled, reindexing, misfits_written }
    }

    /// Returns the table as the next version of another one with the same id.
    pub(crate) fn succeeding(self, before: &Self) -> Self {
        Self { reindexing: Arc::clone(&before.reindexing), ..self }
    }

    /// Returns the same table with a new declaration.
    pub(crate) fn altered(&self, descriptor: TableDescriptor) -> Self {
        let regions = self.regions.clone();
        let disabled = Arc::clone(&self.disabled);
        let indexes = IndexSchema::of_table(&descriptor);
        let reindexing = Arc::clone(&self.reindexing);
        let misfits_written = Arc::clone(&self.misfits_written);
        Self { id: self.id, descriptor, indexes, regions, disabled, reindexing, misfits_written }
    }

    /// Returns the number of the table in the store. It stays while the table is altered; a table
    /// that is dropped and created again has another one.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the table's name.
    pub fn name(&self) -> &TableName {
        self.descriptor.name()
    }

    /// Returns the table's declaration.
    pub fn descriptor(&self) -> &TableDescriptor {
        &self.descriptor
    }

    /// Returns the indexes that the table declares, if any.
    ///
    /// # Errors
    /// `Unsupported` for indexes that a newer version declared; `InvalidRequest` for a declaration
    /// that cannot be parsed.
    pub fn indexes(&self) -> Result<Option<&IndexSchema>> {
        self.indexes.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// Returns the same table with the regions `removed` replaced by `added`.
    pub(crate) fn with_regions(&self, removed: &[Arc<Region>], added: &[Arc<Region>]) -> Self {
        let is_left = |region: &&Arc<Region>| !removed.iter().any(|gone| gone.id() == region.id());
        let left = self.regions.iter().filter(is_left);
        let mut regions: Vec<_> = left.chain(added).cloned().collect();
        sort(&mut regions);
        share_heat(&regions, &self.regions);
        let descriptor = self.descriptor.clone();
        let disabled = Arc::clone(&self.disabled);
        let indexes = self.indexes.clone();
        let reindexing = Arc::clone(&self.reindexing);
        let misfits_written = Arc::clone(&self.misfits_written);
        Self { id: self.id, descriptor, indexes, regions, disabled, reindexing, misfits_written }
    }

    /// Returns the table's regions, by start key, as they were when the table was looked up.
    pub fn regions(&self) -> &[Arc<Region>] {
        &self.regions
    }

    /// Returns the table's state: enabled or disabled.
    pub fn state(&self) -> TableState {
        if self.disabled.load(Ordering::Acquire) {
            TableState::Disabled
        } else {
            TableState::Enabled
        }
    }

    /// Returns true if the table was dropped, or replaced by a new one with the same name. Reads on
    /// it may find nothing then.
    pub fn is_dropped(&self) -> bool {
        // While a region is being replaced, the region's families are dropped and it leads nowhere
        // yet.
        let _latch = self.region_of(b"").engine().freeze_latch.read();
        self.region_of(b"").families().iter().any(|family| family.is_dropped())
    }

    /// Returns true if the table was dropped, truncated or restored. A table whose place another
    /// one took at one moment ([`Store::replace_table`](crate::Store::replace_table)) is not gone:
    /// open read points go on in it.
    pub fn is_gone(&self) -> bool {
        self.is_dropped() && !self.region_of(b"").is_superseded()
    }

    pub(crate) fn set_state(&self, state: TableState) {
        self.disabled.store(state == TableState::Disabled, Ordering::Release);
    }

    /// Returns the region that holds `row`.
    pub fn region_of(&self, row: &[u8]) -> &Arc<Region> {
        let starts_before =
            |region: &Arc<Region>| compare_bytes(&region.info().range.start, row).is_le();
        // The first region starts at the empty row, which is at or before every row.
        let place = self.regions.partition_point(starts_before).saturating_sub(1);
        let mut region = &self.regions[place];
        while let Some(moved) = region.moved() {
            let mut moved = moved.iter();
            let holds = |region: &&Arc<Region>| region.info().range.contains(row);
            region = moved.find(holds).expect("what replaces a region has its rows");
        }
        region
    }

    /// Returns the current regions, by start key; a region made by a merge may appear twice.
    pub(crate) fn regions_now(&self) -> Vec<&Arc<Region>> {
        let mut regions = Vec::with_capacity(self.regions.len());
        let mut left: Vec<&Arc<Region>> = self.regions.iter().rev().collect();
        while let Some(region) = left.pop() {
            match region.moved() {
                Some(moved) => left.extend(moved.iter().rev()),
                None => regions.push(region),
            }
        }
        regions
    }

    /// Returns the bytes in the table's files and memstores.
    pub(crate) fn stored_bytes(&self) -> u64 {
        let families = self.regions_now().into_iter().flat_map(|region| region.families());
        families.map(|family| family.file_bytes() + family.memstore_bytes()).sum()
    }

    /// Returns the last region that has rows before `bound`, or the last region if `bound` is
    /// empty.
    fn region_before(&self, bound: &[u8]) -> &Arc<Region> {
        let starts_before = |region: &&Arc<Region>| {
            bound.is_empty() || compare_bytes(&region.info().range.start, bound).is_lt()
        };
        let last = |regions: &'_ [Arc<Region>]| regions.iter().rposition(|it| starts_before(&it));
        let mut regions = &self.regions[..];
        loop {
            let at = last(regions).expect("the first region begins in front of everything");
            match regions[at].moved() {
                Some(moved) => regions = moved,
                None => return &regions[at],
            }
        }
    }

    /// Runs `act` with the region that holds `row`, and retries with the replacement if the region
    /// was replaced meanwhile.
    #[inline]
    pub(crate) fn at<'t, T>(
        &'t self,
        row: &[u8],
        act: impl Fn(&'t Arc<Region>) -> Result<T>,
    ) -> Result<T> {
        loop {
            let region = self.region_of(row);
            match act(region) {
                Err(error)
                    if error.kind() == ErrorKind::NotServingRegion
                        && region.wait_for_replacement() => {}
                done => return done,
            }
        }
    }

    /// As [`Table::at`], to write the row.
    ///
    /// # Errors
    /// `LayoutChanged` as [`Table::check_layout`].
    #[inline]
    pub(crate) fn write_at<'t, T>(
        &'t self,
        row: &[u8],
        act: impl Fn(&'t Arc<Region>) -> Result<T>,
    ) -> Result<T> {
        self.at(row, |region| self.check_layout(region).and_then(|()| act(region)))
    }

    /// Checks that a region to which this table leads still belongs to the table with this name. If
    /// an index was promoted, the rows of this table have become the index's rows; keys in the old
    /// layout must not be written to it. If the table replaced another one, it has another name.
    ///
    /// # Errors
    /// `LayoutChanged`: look up the table again.
    pub(crate) fn check_layout(&self, region: &Region) -> Result<()> {
        if region.info().table == *self.name() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::LayoutChanged,
            format!(
                "the rows of the table are those of another one now, look it up again: table={}, \
                 its rows are now in={}",
                self.name(),
                region.info().table
            ),
        ))
    }

    /// Reads one row.
    ///
    /// # Errors
    /// As [`Region::get`]; `TableNotEnabled`.
    pub fn get(&self, get: &Get) -> Result<Row> {
        self.check_enabled()?;
        self.at(get.row(), |region| region.get(get))
    }

    /// Returns the requests to the table between two times, in milliseconds since 1970, by time and
    /// key range, and the hottest rows at present. It is empty if
    /// [`Settings::heat`](crate::Settings::heat) is off. Columns go back a week, the older the
    /// coarser, also from earlier opens of the store; a crash loses the last ten minutes. The first
    /// call reads them from the disk.
    pub fn heat(&self, from_millis: i64, to_millis: i64) -> HeatReport {
        let region = self.region_of(b"");
        let Some(heat) = region.heat() else { return HeatReport::default() };
        let engine = region.engine();
        engine.heat.report(&*engine.disk, heat, from_millis, to_millis)
    }

    /// Reports for every stored cell in a column why a get shows or hides it.
    ///
    /// # Errors
    /// As [`Region::explain_cell`]; `TableNotEnabled`.
    pub fn explain_cell(&self, get: &Get) -> Result<CellHistory> {
        self.check_enabled()?;
        self.at(get.row(), |region| region.explain_cell(get))
    }

    /// Reads one row as it was at `point`.
    ///
    /// # Errors
    /// As [`Table::get`]; `UnknownScanner` if `point` is too old, `InvalidRequest` if it is older
    /// than the table.
    pub fn get_at(&self, get: &Get, point: &ReadPoint) -> Result<Row> {
        self.check_enabled()?;
        let row = get.row();
        let request = ReadRequest::at_point(get, point);
        self.at(row, |region| region.at_point(point, row).read_whole(&request))
    }

    /// Reads the rows of `scan` in key order, all as they were at `point`.
    ///
    /// # Errors
    /// As [`Table::scan`] and [`Table::get_at`].
    pub fn scan_at(self: &Arc<Self>, scan: Scan, point: &Arc<ReadPoint>) -> Result<TableScanner> {
        self.open_scan(scan, Some(Arc::clone(point)))
    }

    /// Reads the rows of `scan` in key order or, reversed, from the last to the first. Each region
    /// is read at the read point current when the scan reaches it.
    ///
    /// # Errors
    /// As [`Region::scan`]; `TableNotEnabled`.
    pub fn scan(self: &Arc<Self>, scan: Scan) -> Result<TableScanner> {
        self.open_scan(scan, None)
    }

    /// As [`Table::scan`], for the store's own work: the rows do not count as read.
    pub(crate) fn scan_uncounted(self: &Arc<Self>, scan: Scan) -> Result<TableScanner> {
        self.open_counted(scan, None, false)
    }

    fn open_scan(
        self: &Arc<Self>,
        scan: Scan,
        point: Option<Arc<ReadPoint>>,
    ) -> Result<TableScanner> {
        self.open_counted(scan, point, true)
    }

    fn open_counted(
        self: &Arc<Self>,
        scan: Scan,
        point: Option<Arc<ReadPoint>>,
        is_counted: bool,
    ) -> Result<TableScanner> {
        self.check_enabled()?;
        let mut scanner = TableScanner {
            table: Arc::clone(self),
            point,
            rows_left: scan.limit.unwrap_or(u64::MAX),
            left: (!scan.range.is_empty()).then(|| scan.range.clone()),
            scan,
            current: None,
            region_gave_rows: false,
            in_call: false,
            is_counted,
            timer: None,
        };
        let timer = scanner.trace().map(TableTrace::time);
        scanner.open_next()?;
        drop(timer);
        Ok(scanner)
    }

    /// Flushes the memstores of all regions to files.
    pub fn flush(&self) -> Result<()> {
        self.check_enabled()?;
        self.each_region(|region| region.flush())
    }

    /// Flushes one family of all regions.
    ///
    /// # Errors
    /// As [`Region::flush_family`]; `TableNotEnabled`.
    pub fn flush_family(&self, family: &[u8]) -> Result<()> {
        self.check_enabled()?;
        self.each_region(|region| region.flush_family(family))
    }

    /// Compacts each family of each region as [`Region::compact`] does, and waits until that is
    /// done.
    ///
    /// # Errors
    /// As [`Region::compact`]; `TableNotEnabled`.
    pub fn compact(&self, kind: CompactionKind) -> Result<()> {
        self.check_enabled()?;
        self.each_region(|region| region.compact(kind))
    }

    /// Compacts one family of each region as [`Region::compact_family`] does, and waits until that
    /// is done.
    ///
    /// # Errors
    /// As [`Region::compact_family`]; `TableNotEnabled`.
    pub fn compact_family(&self, family: &[u8], kind: CompactionKind) -> Result<()> {
        self.check_enabled()?;
        self.each_region(|region| region.compact_family(family, kind))
    }

    /// Runs `act` with each region in start key order, following splits and merges that happen
    /// meanwhile.
    fn each_region(&self, act: impl Fn(&Region) -> Result<()>) -> Result<()> {
        let mut next = Some(Bytes::new());
        while let Some(start) = next {
            let stop = |region: &Region| region.info().range.stop.clone();
            let stop = self.at(&start, |region| act(region).map(|()| stop(region)))?;
            next = (!stop.is_empty()).then_some(stop);
        }
        Ok(())
    }

    /// Checks that the table is enabled.
    ///
    /// # Errors
    /// `TableNotEnabled`.
    pub fn check_enabled(&self) -> Result<()> {
        match self.state() {
            TableState::Enabled => Ok(()),
            TableState::Disabled => {
                Err(Error::new(ErrorKind::TableNotEnabled, format!("{} is disabled", self.name())))
            }
        }
    }
}

/// An open scan of a table.
pub struct TableScanner {
    table: Arc<Table>,
    /// The read point for all regions, if the scan has one.
    point: Option<Arc<ReadPoint>>,
    scan: Scan,
    rows_left: u64,
    /// The rows of the regions not yet opened.
    left: Option<RowRange>,
    current: Option<RegionScanner>,
    /// The current region has returned a row.
    region_gave_rows: bool,
    /// The user has begun a call.
    in_call: bool,
    /// The rows count as read.
    is_counted: bool,
    /// Measures the call that the user has begun, if the read point has a trace.
    timer: Option<CallTimer>,
}

impl TableScanner {
    /// As [`RegionScanner::begin_call`].
    pub fn begin_call(&mut self) {
        if !self.in_call {
            self.timer = self.trace().map(TableTrace::time);
        }
        self.in_call = true;
        if let Some(scanner) = &mut self.current {
            scanner.begin_call();
        }
    }

    /// As [`RegionScanner::end_call`].
    pub fn end_call(&mut self) {
        self.timer = None;
        self.in_call = false;
        if let Some(scanner) = &mut self.current {
            scanner.end_call();
        }
    }

    /// Returns the trace of the table, if the read point has one.
    fn trace(&self) -> Option<Arc<TableTrace>> {
        let trace = self.point.as_ref()?.trace()?;
        Some(trace.table(self.table.name()))
    }

    /// Returns the next row, or the next part if the scan has a batch; `None` after the last.
    ///
    /// # Errors
    /// As [`RegionScanner::next`].
    #[expect(clippy::should_implement_trait, reason = "mirrors RegionScanner")]
    pub fn next(&mut self) -> Result<Option<Row>> {
        while self.rows_left > 0 {
            let Some(scanner) = &mut self.current else { return Ok(None) };
            let scanned = scanner.next_part(&ScanLimits::NONE)?;
            if self.scan.limit.is_some() {
                // The region scanner may find that a row has ended only while it looks for the
                // next.
                self.rows_left = scanner.rows_left();
            }
            if let Scanned::Row { row, .. } = scanned {
                self.region_gave_rows = true;
                return Ok(Some(row));
            }
            // As in HBase: a filter that lets nothing more through ends the whole scan if the
            // current region has returned no row, and otherwise only the scan of that region.
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
        let Some(left) = self.left.take() else { return Ok(()) };
        let Self { table, scan, point, rows_left, is_counted, .. } = self;
        let rows_left = *rows_left;
        let is_counted = *is_counted;
        let edge = if scan.reversed { &left.stop } else { &left.start };
        let (scanner, opened) = loop {
            let region =
                if scan.reversed { table.region_before(edge) } else { table.region_of(edge) };
            let region = match point {
                Some(point) if scan.reversed => {
                    region.of_point(point, |range| reaches_up_to(range, edge))
                }
                Some(point) => region.at_point(point, edge),
                None => Arc::clone(region),
            };
            let range = region.info().range.intersect(&left);
            let limit = scan.limit.map(|_| rows_left);
            let scan = Scan { range: range.clone(), limit, ..scan.clone() };
            let opened = if is_counted {
                region.open_scan(&scan, point.as_deref())
            } else {
                // Such scans have no read point.
                region.scan_uncounted(&scan)
            };
            match opened {
                Ok(scanner) => break (scanner, range),
                Err(error)
                    if error.kind() == ErrorKind::NotServingRegion
                        && region.wait_for_replacement() => {}
                Err(error) => return Err(error),
            }
        };
        self.left = rest(left, &opened, self.scan.reversed);
        self.current = Some(scanner);
        if self.in_call {
            self.begin_call();
        }
        Ok(())
    }
}

/// Whether `range` contains the last rows before `bound`, or the last rows at all if it is empty.
fn reaches_up_to(range: &RowRange, bound: &[u8]) -> bool {
    let reaches = range.stop.is_empty() || (!bound.is_empty() && *bound <= range.stop[..]);
    reaches && (bound.is_empty() || range.start[..] < *bound)
}

/// Returns the part of `range` that remains after `opened`, which lies at either end.
fn rest(range: RowRange, opened: &RowRange, reversed: bool) -> Option<RowRange> {
    let edge = if reversed { &opened.start } else { &opened.stop };
    if edge.is_empty() {
        return None;
    }
    let rest = if reversed {
        RowRange { stop: edge.clone(), ..range }
    } else {
        RowRange { start: edge.clone(), ..range }
    };
    (!rest.is_empty()).then_some(rest)
}

/// Gives a table's regions one heat: the one its regions had so far, or a new one. An index in
/// memory has none, because heat is stored with keys.
fn share_heat(regions: &[Arc<Region>], before: &[Arc<Region>]) {
    let Some(first) = regions.first() else { return };
    if first.families().iter().any(|family| family.in_memory().is_some()) {
        return;
    }
    let heat = before.iter().chain(regions).find_map(|region| region.heat()).cloned();
    if let Some(heat) = heat.or_else(|| first.engine().heat.new_table()) {
        regions.iter().for_each(|region| region.set_heat(&heat));
    }
}

fn sort(regions: &mut [Arc<Region>]) {
    regions.sort_by(|a, b| a.info().range.start.cmp(&b.info().range.start));
}
