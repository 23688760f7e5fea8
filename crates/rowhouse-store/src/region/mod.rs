//! A region: a contiguous range of a table's rows, the unit in which rows are served.

mod split_rows;
mod usage;

pub use usage::{FamilyRequests, RegionRequests, RegionSize};

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;

use rowhouse_model::{
    Bytes, CellHistory, CompactionState, Durability, Error, ErrorKind, FamilyDescriptor, Get,
    RegionInfo, RegionName, Result, Row, RowRange, Scan, TableDescriptor, TableName, check_row,
    equal_bytes, escape,
};

use rowhouse_schema::{IndexOf, IndexSchema, IndexState};

use crate::block_cache::Evicted;
use crate::compact::{self, Pacing};
use crate::compaction_policy::CompactionKind;
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::flush;
use crate::heat::TableHeat;
use crate::layout::file_path;
use crate::manifest::Assignment;
use crate::newest::Current;
use crate::observer::names_observers;
use crate::read::{
    Opening, ReadLimit, ReadPoint, ReadRequest, ReadTrace, RegionCounts, RegionScanner,
    RowSelection, RowVersion, Rows, explain_cell, only_column, read_row, trace_row,
};

/// A region that the store serves.
pub struct Region {
    id: u64,
    info: RegionInfo,
    name: RegionName,
    declared: Current<Declared>,
    engine: Arc<Engine>,
    serving: AtomicBool,
    /// As the manifest has it: the region server's number, and whether it serves the region.
    server: AtomicU32,
    in_service: AtomicBool,
    /// Serializes the operations that replace this region by others or alter the table.
    pub(crate) topology_lock: Mutex<()>,
    /// The regions that replaced this one, by start key: together they hold all its rows.
    moved: OnceLock<Vec<Arc<Region>>>,
    /// Whether another table has replaced the region's table: scanners and read points go on in
    /// this region, and nothing else does.
    superseded: AtomicBool,
    /// The regions that this one replaced.
    came_of: Vec<Weak<Region>>,
    /// Shared with the region's scanners.
    counts: Arc<RegionCounts>,
}

/// The settings from the table's declaration that a region uses.
struct Declared {
    /// Sorted by name.
    families: Vec<Arc<FamilyStore>>,
    /// Durability for mutations that request the table's default.
    durability: Durability,
    read_only: bool,
    /// The index whose entries the table holds.
    index_of: Option<IndexOf>,
    /// Maximum cell size in bytes, if the table sets one.
    cell_bytes_max: Option<usize>,
}

impl Declared {
    fn new(families: Vec<Arc<FamilyStore>>, table: &TableDescriptor) -> Self {
        // A value that is not a number was declared before this setting had an effect: ignore it.
        let cell_bytes_max = table.cell_bytes_max().ok().flatten();
        let cell_bytes_max = cell_bytes_max.map(|bytes| {
            usize::try_from(bytes).ok().filter(|&bytes| bytes > 0).unwrap_or(usize::MAX)
        });
        Self {
            families,
            durability: table.durability(),
            read_only: table.is_read_only(),
            // An attribute that is none was not set by a store.
            index_of: IndexOf::of_table(table).ok().flatten(),
            cell_bytes_max,
        }
    }
}

impl Region {
    pub(crate) fn new(
        id: u64,
        info: RegionInfo,
        families: Vec<Arc<FamilyStore>>,
        table: &TableDescriptor,
        serving: bool,
        engine: Arc<Engine>,
    ) -> Self {
        let name = info.name();
        let region = Self {
            id,
            info,
            name,
            declared: Current::new(Declared::new(families, table)),
            engine,
            serving: AtomicBool::new(serving),
            server: AtomicU32::new(0),
            in_service: AtomicBool::new(true),
            topology_lock: Mutex::default(),
            moved: OnceLock::new(),
            superseded: AtomicBool::new(false),
            came_of: Vec::new(),
            counts: Arc::default(),
        };
        region.keep_steady(table);
        if region.is_in_memory() {
            let is_built = IndexState::of_table(table).is_ok_and(|state| state.is_ready());
            let memory = &region.engine.index_memory;
            region.families().iter().for_each(|family| family.set_in_memory(memory, is_built));
        }
        region
    }

    /// Returns the region with this assignment, which does not change whether it is serving.
    pub(crate) fn assigned(self, assignment: Assignment) -> Self {
        self.assign(assignment);
        self
    }

    /// Returns the region with `others` recorded as the regions it replaces.
    pub(crate) fn in_place_of(self, others: &[Arc<Self>]) -> Self {
        Self { came_of: others.iter().map(Arc::downgrade).collect(), ..self }
    }

    /// Returns the region's table, row range and creation time.
    pub fn info(&self) -> &RegionInfo {
        &self.info
    }

    /// Returns the region's full and encoded name.
    pub fn name(&self) -> &RegionName {
        &self.name
    }

    /// Returns the region's assignment, as the manifest has it.
    pub fn assignment(&self) -> Assignment {
        Assignment {
            server: self.server.load(Ordering::Acquire),
            in_service: self.in_service.load(Ordering::Acquire),
        }
    }

    /// Changes the assignment to the one in the manifest.
    pub(crate) fn assign(&self, assignment: Assignment) {
        self.server.store(assignment.server, Ordering::Release);
        self.in_service.store(assignment.in_service, Ordering::Release);
    }

    /// Returns the region's name for messages, with the bounds decoded into key fields if the table
    /// declares a row-key template.
    pub(crate) fn display_name(&self) -> String {
        format!("{}{}", self.name, self.display_range())
    }

    /// Returns the text that follows the name in messages: the bounds decoded into key fields.
    fn display_range(&self) -> String {
        let family = self.families().first();
        family.map(|family| family.row_limit().keys.range(&self.info.range)).unwrap_or_default()
    }

    /// Returns `row` for messages, with the key fields if the table declares a row-key template.
    pub(crate) fn display_row(&self, row: &[u8]) -> String {
        let family = self.families().first();
        family.map_or_else(|| escape(row), |family| family.row_limit().keys.row(row))
    }

    /// Returns the table's heat; `None` if the store keeps none.
    pub(crate) fn heat(&self) -> Option<&Arc<TableHeat>> {
        self.counts.heat()
    }

    /// Returns the region's request counts, which its scanners share.
    pub(crate) fn counts(&self) -> &Arc<RegionCounts> {
        &self.counts
    }

    /// Sets the table's heat, which all regions in the table share.
    pub(crate) fn set_heat(&self, heat: &Arc<TableHeat>) {
        self.counts.set_heat(heat);
    }

    /// Returns true if the region holds the entries of an index in memory, which have no files.
    pub fn is_in_memory(&self) -> bool {
        self.declared.get().index_of.as_ref().is_some_and(|of| of.is_in_memory)
    }

    /// Returns the durability for writes that request the table's default.
    pub fn durability(&self) -> Durability {
        self.declared.get().durability
    }

    /// Returns the maximum cell size in bytes, if the table sets one.
    pub(crate) fn cell_bytes_max(&self) -> Option<usize> {
        self.declared.get().cell_bytes_max
    }

    /// Reads one row.
    ///
    /// # Errors
    /// `NotServingRegion`, `WrongRegion`, `NoSuchColumnFamily`; `Io` and `Corruption`, which fail
    /// only this read.
    #[inline]
    pub fn get(&self, get: &Get) -> Result<Row> {
        self.read_whole(&ReadRequest::new(get))
    }

    /// Reads one row if the cells have at most `bytes_max` bytes; returns `None` if they have more.
    ///
    /// # Errors
    /// As [`Region::get`].
    pub fn get_within(&self, get: &Get, bytes_max: u64) -> Result<Option<Row>> {
        self.read(&ReadRequest { limit: ReadLimit::Bytes(bytes_max), ..ReadRequest::new(get) })
    }

    /// As [`Region::read`], for a request without a limit.
    #[inline]
    pub(crate) fn read_whole(&self, request: &ReadRequest<'_>) -> Result<Row> {
        Ok(self.read(request)?.expect("a read without a limit returns the row"))
    }

    /// Reads one row for a caller. Returns `None` if it exceeds the request's limit, which then
    /// does not count.
    #[inline]
    pub(crate) fn read(&self, request: &ReadRequest<'_>) -> Result<Option<Row>> {
        self.check_get(request.get, request.point())?;
        let trace = request.point().and_then(ReadPoint::trace);
        let read = match trace {
            None => read_row(&self.engine.read_context(), self.families(), request),
            Some(trace) => self.read_traced(request, trace),
        };
        if request.is_counted && !matches!(read, Ok(None)) {
            let row = read.as_ref().ok().and_then(Option::as_ref);
            self.count_read(request.get.row(), Some(&request.get.columns), row);
        }
        read
    }

    #[cold]
    fn read_traced(&self, request: &ReadRequest<'_>, trace: &ReadTrace) -> Result<Option<Row>> {
        trace.region(self.id(), &self.info);
        let table = trace.table(&self.info.table);
        table.count_get();
        let _timer = table.time();
        let read = read_row(&self.engine.read_context(), self.families(), request)?;
        if let Some(row) = &read {
            trace_row(self.families(), request.get, row, trace);
        }
        Ok(read)
    }

    #[inline]
    fn check_get(&self, get: &Get, point: Option<&ReadPoint>) -> Result<()> {
        self.check_readable(point)?;
        self.check_row(get.row())?;
        self.check_families(get.columns.families().map(|(family, _)| &family[..]))
    }

    /// Reports for every stored cell in the column that `get` names whether the get shows it, and
    /// why. The cells it reports as visible are exactly the cells that the get returns.
    ///
    /// # Errors
    /// As [`Region::get`]; `InvalidRequest` for a get that does not name exactly one column, or has
    /// a filter or a limit.
    pub fn explain_cell(&self, get: &Get) -> Result<CellHistory> {
        self.check_serving()?;
        self.check_row(get.row())?;
        let (family, qualifier) = only_column(get)?;
        explain_cell(&self.engine.read_context(), self.family(&family)?, get, &qualifier)
    }

    /// Reads the rows of `scan` that lie in this region, in key order, at this call's read point:
    /// later writes are not visible.
    ///
    /// # Errors
    /// As [`Region::get`]; `InvalidRequest` and `Unsupported` for an invalid or unsupported filter.
    pub fn scan(&self, scan: &Scan) -> Result<RegionScanner> {
        self.open_scan(scan, None)
    }

    /// As [`Region::scan`], for the store's own work: the rows do not count as read.
    pub(crate) fn scan_uncounted(&self, scan: &Scan) -> Result<RegionScanner> {
        self.open_counted_by(None, scan, None, None, None)
    }

    /// Opens a scan at `sequence`, a lost scanner's [`RegionScanner::read_point`], if flushes and
    /// compactions have not dropped cells that were visible there. Otherwise, and for 0, reads at
    /// the current read point.
    ///
    /// # Errors
    /// As [`Region::scan`].
    pub fn scan_as_of(&self, scan: &Scan, sequence: u64) -> Result<RegionScanner> {
        let sequence = Some(sequence).filter(|&sequence| sequence > 0);
        self.open_selected(scan, None, None, sequence)
    }

    /// Opens a scan at `point`, or at the current read point.
    pub(crate) fn open_scan(
        &self,
        scan: &Scan,
        point: Option<&ReadPoint>,
    ) -> Result<RegionScanner> {
        self.open_selected(scan, None, point, None)
    }

    /// As [`Region::scan`], at a read point.
    ///
    /// # Errors
    /// As [`Region::scan`].
    pub fn scan_at(&self, scan: &Scan, point: &ReadPoint) -> Result<RegionScanner> {
        self.open_selected(scan, None, Some(point), None)
    }

    /// Opens a scan over the selected rows, at `point`, at the sequence `as_of`, or at the current
    /// read point.
    ///
    /// # Errors
    /// As [`Region::scan`].
    pub fn scan_selected(
        &self,
        scan: &Scan,
        selection: RowSelection,
        point: Option<&ReadPoint>,
        as_of: Option<u64>,
    ) -> Result<RegionScanner> {
        self.open_selected(scan, Some(selection), point, as_of)
    }

    /// Returns true if a read point sees all that the region has: it does not if the region has
    /// replaced others since.
    pub fn is_readable_at(&self, point: &ReadPoint) -> bool {
        point.has_seen(self.families())
    }

    fn open_selected(
        &self,
        scan: &Scan,
        selection: Option<RowSelection>,
        point: Option<&ReadPoint>,
        as_of: Option<u64>,
    ) -> Result<RegionScanner> {
        self.open_counted_by(Some(&self.counts), scan, selection, point, as_of)
    }

    fn open_counted_by(
        &self,
        counts: Option<&Arc<RegionCounts>>,
        scan: &Scan,
        selection: Option<RowSelection>,
        point: Option<&ReadPoint>,
        as_of: Option<u64>,
    ) -> Result<RegionScanner> {
        self.check_readable(point)?;
        self.check_families(scan.columns.families().map(|(family, _)| &family[..]))?;
        let conditions = selection.as_ref().and_then(RowSelection::columns).unwrap_or_default();
        self.check_families(conditions.families().map(|(family, _)| &family[..]))?;
        self.check_families(scan.family_time_ranges.keys().map(|family| &family[..]))?;
        if scan.raw && !scan.columns.has_whole_families() {
            return Err(Error::invalid("Cannot specify any column for a raw scan"));
        }
        let mut range = scan.range.intersect(&self.info.range);
        if let Some(selection) = &selection {
            range = range.intersect(selection.hull());
        }
        if let Some(trace) = point.and_then(ReadPoint::trace) {
            trace.table(&self.info.table).count_scan();
            trace.region(self.id(), &self.info);
        }
        let rows = Rows::Range(&range);
        let context = &self.engine.read_context();
        let opening = Opening { context, families: self.families(), rows, point, as_of };
        RegionScanner::open(&opening, scan, selection, counts)
    }

    /// Flushes the memstores of all families to files.
    ///
    /// # Errors
    /// `NotServingRegion`; `Io`, after which the data is still in memory.
    pub fn flush(&self) -> Result<()> {
        self.flush_each(None)
    }

    /// Flushes one family.
    ///
    /// # Errors
    /// As [`Region::flush`]; `NoSuchColumnFamily`.
    pub fn flush_family(&self, family: &[u8]) -> Result<()> {
        self.flush_each(Some(family))
    }

    fn flush_each(&self, family: Option<&[u8]>) -> Result<()> {
        self.check_serving()?;
        self.check_families(family.into_iter())?;
        let is_selected =
            |have: &&Arc<FamilyStore>| family.is_none_or(|family| have.name() == family);
        let mut families = self.families().iter().filter(is_selected);
        families.try_for_each(|family| flush::flush(&self.engine, family))?;
        flush::release_flushed_segments(&self.engine)
    }

    /// Compacts each family and waits until that is done. `Minor` runs the one compaction that is
    /// due, if any; `Major` rewrites all files into one and drops everything that no reader can
    /// see.
    ///
    /// # Errors
    /// `NotServingRegion`; `Io` and `Corruption`, which leave the files as they were.
    pub fn compact(&self, kind: CompactionKind) -> Result<()> {
        self.compact_each(None, kind)
    }

    /// Compacts one family as [`Region::compact`] does.
    ///
    /// # Errors
    /// As [`Region::compact`]; `NoSuchColumnFamily`.
    pub fn compact_family(&self, family: &[u8], kind: CompactionKind) -> Result<()> {
        self.compact_each(Some(family), kind)
    }

    fn compact_each(&self, family: Option<&[u8]>, kind: CompactionKind) -> Result<()> {
        self.check_serving()?;
        self.check_families(family.into_iter())?;
        let is_selected =
            |have: &&Arc<FamilyStore>| family.is_none_or(|family| have.name() == family);
        self.families().iter().filter(is_selected).try_for_each(|family| {
            let _compacting = family.compacting.write();
            let done = compact::compact(&self.engine, family, Some(kind), Pacing::Waited);
            // Files that were added meanwhile have not been considered.
            self.engine.compactions.request(family, None);
            done
        })
    }

    /// Queues a background compaction of `family`, or of every family, before the compactions that
    /// the policy has queued, and returns without waiting. [`Region::compaction_state`] reports the
    /// progress.
    ///
    /// # Errors
    /// `NotServingRegion`, `NoSuchColumnFamily`.
    pub fn request_compaction(&self, kind: CompactionKind, family: Option<&[u8]>) -> Result<()> {
        self.check_serving()?;
        self.check_families(family.into_iter())?;
        let is_selected =
            |have: &&Arc<FamilyStore>| family.is_none_or(|family| have.name() == family);
        for family in self.families().iter().filter(is_selected) {
            self.engine.compactions.request(family, Some(kind));
        }
        Ok(())
    }

    /// Evicts the region's file blocks from the block cache.
    pub fn clear_block_cache(&self) -> Evicted {
        let files = self.families().iter().flat_map(|family| family.super_version().files.clone());
        self.engine.files.blocks.evict(&files.map(|file| file.id()).collect())
    }

    /// Returns the paths of the region's files in the data directory: of the named families, or of
    /// all families if none is named.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`.
    pub fn file_paths(&self, families: &[Bytes]) -> Result<Vec<String>> {
        self.check_families(families.iter().map(|name| &name[..]))?;
        let is_selected =
            |family: &&Arc<FamilyStore>| families.is_empty() || families.contains(family.name());
        let selected = self.families().iter().filter(is_selected);
        let files = selected.flat_map(|family| family.super_version().files.clone());
        Ok(files.map(|file| file_path(file.id())).collect())
    }

    /// Returns the creation time, in milliseconds, of the oldest file that a major compaction
    /// wrote; `None` if there is no such file.
    pub fn last_major_compaction(&self) -> Option<i64> {
        let files = self.families().iter().flat_map(|family| family.super_version().files.clone());
        files.filter(|file| file.is_major()).map(|file| file.created_millis()).min()
    }

    /// Returns the compaction kinds that run or are requested.
    pub fn compaction_state(&self) -> CompactionState {
        let kinds_of = |family: &Arc<FamilyStore>| self.engine.compactions.kinds_of(family);
        let kinds = self.families().iter().flat_map(kinds_of);
        kinds.fold(CompactionState::None, |state, kind| state.with(kind.into()))
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Returns the families, sorted by name.
    pub(crate) fn families(&self) -> &[Arc<FamilyStore>] {
        &self.declared.get().families
    }

    /// Replaces the table's declaration: from now on the region has exactly these families.
    pub(crate) fn declare(&self, families: Vec<Arc<FamilyStore>>, table: &TableDescriptor) {
        self.declared.replace(Declared::new(families, table));
        self.keep_steady(table);
        if !keeps_markers(table) {
            self.families().iter().for_each(|family| family.set_keeps_markers(false));
        }
    }

    /// Declares for each family whether flushes and compactions leave unchanged what the family's
    /// rows show. The caller must not hold the freeze latch, except where new families only become
    /// steady.
    pub(crate) fn set_steady(&self, is_steady: impl Fn(&FamilyStore) -> bool) {
        self.families().iter().for_each(|family| family.set_steady(is_steady(family)));
    }

    /// Makes the families in an observed table steady, and the families that decide index entries:
    /// a region that replaces others, and a new family, must be steady before they serve. Families
    /// in a table with a copy, and in a copy, also keep their markers.
    pub(crate) fn keep_steady(&self, table: &TableDescriptor) {
        if keeps_markers(table) {
            // In this order: only steady families keep markers.
            self.set_steady(|_| true);
            self.families().iter().for_each(|family| family.set_keeps_markers(true));
        }
        if names_observers(table) || self.engine.observers.observe(&self.info.table) {
            self.set_steady(|_| true);
        } else if let Ok(Some(indexes)) = IndexSchema::of_table(table) {
            self.set_steady(|it| it.is_steady() || indexes.are_decided_by(it.name()));
        }
    }

    pub(crate) fn family(&self, name: &[u8]) -> Result<&FamilyStore> {
        let family = self.families().iter().find(|family| equal_bytes(family.name(), name));
        family.map(|family| &**family).ok_or_else(|| {
            Error::new(
                ErrorKind::NoSuchColumnFamily,
                format!(
                    "Column family {} does not exist in region {} in table '{}'{}",
                    escape(name),
                    self.name,
                    self.info.table,
                    self.families()
                        .iter()
                        .map(|have| describe(have.descriptor()))
                        .collect::<String>()
                ),
            )
        })
    }

    fn check_families<'a>(&self, mut names: impl Iterator<Item = &'a [u8]>) -> Result<()> {
        names.try_for_each(|name| self.family(name).map(|_| ()))
    }

    pub(crate) fn check_row(&self, row: &[u8]) -> Result<()> {
        check_row(row)?;
        if !self.info.range.contains(row) {
            return Err(Error::new(
                ErrorKind::WrongRegion,
                format!(
                    "Requested row out of range for region {}: row='{}', startKey='{}', endKey='{}'{}",
                    self.name,
                    self.display_row(row),
                    escape(&self.info.range.start),
                    escape(&self.info.range.stop),
                    self.display_range()
                ),
            ));
        }
        Ok(())
    }

    /// Checks that the region takes reads and writes.
    ///
    /// # Errors
    /// `NotServingRegion` while the table is disabled or after the region was replaced;
    /// `ServerNotRunning` once the store is closed.
    pub fn check_serving(&self) -> Result<()> {
        if !self.is_serving() {
            return Err(not_serving(&self.name));
        }
        self.engine.check_open()
    }

    /// Returns the error for a region that is not served.
    pub fn not_serving(&self) -> Error {
        not_serving(&self.name)
    }

    /// Checks that the region can be read at the current read point, or at `point`.
    fn check_readable(&self, point: Option<&ReadPoint>) -> Result<()> {
        if point.is_some() { self.check_scannable() } else { self.check_serving() }
    }

    /// Checks that an open scanner may continue to read the region, which it may even after other
    /// regions have replaced it, or another table has replaced the region's table.
    ///
    /// # Errors
    /// As [`Region::check_serving`].
    pub fn check_scannable(&self) -> Result<()> {
        match self.check_serving() {
            Err(error)
                if error.kind() == ErrorKind::NotServingRegion
                    && (self.wait_for_replacement() || self.is_superseded()) =>
            {
                self.engine.check_open()
            }
            result => result,
        }
    }

    /// Whether a split or merge has replaced this region by others.
    pub(crate) fn is_replaced(&self) -> bool {
        self.moved.get().is_some()
    }

    /// Returns the regions that replaced this one, by start key.
    pub(crate) fn moved(&self) -> Option<&[Arc<Self>]> {
        self.moved.get().map(Vec::as_slice)
    }

    /// Records the regions that replace this one.
    pub(crate) fn set_replaced(&self, others: &[Arc<Self>]) {
        let set = self.moved.set(others.to_vec());
        assert!(set.is_ok(), "a region is replaced once");
    }

    /// Returns true if another table has taken the table's place.
    pub(crate) fn is_superseded(&self) -> bool {
        self.superseded.load(Ordering::Acquire)
    }

    /// Records that another table takes the table's place, or has failed to. The caller holds the
    /// topology lock.
    pub(crate) fn set_superseded(&self, is_superseded: bool) {
        self.superseded.store(is_superseded, Ordering::Release);
    }

    /// Waits until no operation replaces the region or alters the table. Returns true if the rows
    /// are then served, by this region or by the replacements.
    pub(crate) fn wait_for_replacement(&self) -> bool {
        // Read both under the lock: once it is free the next operation may begin.
        let _moving = self.topology_lock.lock();
        self.is_replaced() || self.is_serving()
    }

    /// Returns true if the region's table was dropped, or replaced by another with the same name.
    pub(crate) fn is_of_dropped_table(&self) -> bool {
        self.families().iter().any(|family| family.is_dropped())
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.serving.load(Ordering::Acquire)
    }

    /// Returns the region that held `row` when `point` was taken: this one or one that it replaced.
    pub(crate) fn at_point(self: &Arc<Self>, point: &ReadPoint, row: &[u8]) -> Arc<Self> {
        self.of_point(point, |range| range.contains(row))
    }

    /// Returns the region that satisfied `matches` by row range when `point` was taken: this one
    /// or one that it replaced.
    pub(crate) fn of_point(
        self: &Arc<Self>,
        point: &ReadPoint,
        matches: impl Fn(&RowRange) -> bool,
    ) -> Arc<Self> {
        let mut region = Arc::clone(self);
        while !point.has_seen(region.families()) {
            let before = region.came_of.iter().filter_map(Weak::upgrade);
            match before.into_iter().find(|before| matches(&before.info.range)) {
                Some(before) => region = before,
                None => break,
            }
        }
        region
    }

    /// Checks that callers may write the table.
    ///
    /// # Errors
    /// `InvalidRequest` while the table is declared READONLY, and for an index table.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if let Some(of) = &self.declared.get().index_of {
            return Err(index_table(&self.info.table, of));
        }
        if self.declared.get().read_only {
            return Err(Error::invalid(format!(
                "region is read only: region={}",
                self.display_name()
            )));
        }
        Ok(())
    }

    /// Stops serving a region that no one else knows yet.
    pub(crate) fn begin_closed(&self) {
        self.serving.store(false, Ordering::Release);
    }

    /// Starts or stops serving. On return no commit that saw the old state is still in progress.
    pub(crate) fn serve(&self, serving: bool) {
        serve_all(&self.engine, [self], serving);
    }

    /// Reads a row in this region for a write that has locked it: the read is not checked and does
    /// not count. A version from which flushes or compactions have dropped cells is read as the
    /// current one.
    pub(crate) fn read_row(&self, get: &Get, at: RowVersion<'_>) -> Result<Row> {
        let request = ReadRequest { at, is_counted: false, ..ReadRequest::new(get) };
        match read_row(&self.engine.read_context(), self.families(), &request)? {
            Some(row) => Ok(row),
            None => self.read_row(get, RowVersion::Current),
        }
    }
}

/// Makes regions start or stop serving at one moment for whoever holds the freeze latch. On return
/// no commit that saw the old state is still in progress.
pub(crate) fn serve_all<'r>(
    engine: &Engine,
    regions: impl IntoIterator<Item = &'r Region>,
    serving: bool,
) {
    let _latch = engine.freeze_latch.write();
    regions.into_iter().for_each(|region| region.serving.store(serving, Ordering::Release));
}

/// Whether the delete markers in a table stay: it has a copy, or is one.
fn keeps_markers(table: &TableDescriptor) -> bool {
    let is_copy = IndexOf::of_table(table).ok().flatten().is_some_and(|of| of.is_copy);
    is_copy || IndexSchema::of_table(table).ok().flatten().is_some_and(|it| it.have_copy())
}

/// Returns the error for a region that this store does not serve.
pub(crate) fn not_serving(name: &RegionName) -> Error {
    Error::new(ErrorKind::NotServingRegion, format!("{name} is not online"))
}

/// Returns the error for a change to an index table.
pub(crate) fn index_table(name: &TableName, of: &IndexOf) -> Error {
    Error::invalid(format!(
        "table {name} holds the entries of index {of}: they change with the rows of {}, and the \
         table with its declaration",
        of.table
    ))
}

/// Returns the error for a table that does not exist.
pub(crate) fn table_not_found(name: &TableName) -> Error {
    Error::new(ErrorKind::TableNotFound, name.to_string())
}

fn describe(family: &FamilyDescriptor) -> String {
    format!(", {{NAME => '{}'}}", escape(family.name()))
}
