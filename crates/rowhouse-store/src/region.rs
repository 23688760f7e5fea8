//! A region: a run of a table's rows, read and written by whoever names it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;

use rowhouse_model::{
    Bytes, CellHistory, CompactionState, Condition, Durability, Error, ErrorKind, FamilyDescriptor,
    Get, Mutation, MutationOutcome, RegionInfo, RegionName, Result, Row, RowCondition, RowRange,
    Scan, TableDescriptor, TableName, check_row, equal_bytes, escape,
};

use crate::block_cache::Evicted;
use crate::compact::{self, CompactionKind, Hurry};
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::flush;
use crate::newest::Newest;
use crate::read::{
    Opening, ReadPoint, RegionScanner, Rows, explain_cell, only_column, read_row, read_row_as_of,
    read_row_at_once,
};
use crate::store_file;
use crate::write::apply;
use crate::write::wait_mode::{NonBlocking, WaitMode};

/// A region that is served.
pub struct Region {
    id: u64,
    info: RegionInfo,
    name: RegionName,
    declared: Newest<Declared>,
    engine: Arc<Engine>,
    serving: AtomicBool,
    /// Held while others are put in its place, or its table is declared anew.
    pub(crate) moving: Mutex<()>,
    /// Those that were put in its place, by start key: they hold all of its rows.
    moved: OnceLock<Vec<Arc<Region>>>,
    /// Those in whose place it was put.
    came_of: Vec<Weak<Region>>,
    /// Shared with the scanners.
    reads: Arc<ReadCounts>,
    writes: AtomicU64,
}

/// What was read of a region.
#[derive(Debug, Default)]
pub(crate) struct ReadCounts {
    /// Rows that were returned.
    pub(crate) rows: AtomicU64,
    /// Rows that a filter left nothing of, or that had nothing visible.
    pub(crate) filtered: AtomicU64,
}

/// Requests of a region since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionRequests {
    /// Rows read.
    pub reads: u64,
    /// Rows that were read and not returned: a filter left nothing of them.
    pub filtered_reads: u64,
    /// Mutations.
    pub writes: u64,
}

/// What the table is declared to be, as far as a region goes by it.
struct Declared {
    /// By name.
    families: Vec<Arc<FamilyStore>>,
    /// What a mutation gets that asks for the table's default.
    durability: Durability,
    read_only: bool,
    /// How many bytes a cell may have, where the table says.
    cell_bytes_max: Option<usize>,
}

impl Declared {
    fn new(families: Vec<Arc<FamilyStore>>, table: &TableDescriptor) -> Self {
        // What is no number was declared before it counted.
        let cell_bytes_max = table.cell_bytes_max().ok().flatten();
        let cell_bytes_max = cell_bytes_max.map(|bytes| {
            usize::try_from(bytes).ok().filter(|&bytes| bytes > 0).unwrap_or(usize::MAX)
        });
        Self {
            families,
            durability: table.durability(),
            read_only: table.is_read_only(),
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
        Self {
            id,
            info,
            name,
            declared: Newest::new(Declared::new(families, table)),
            engine,
            serving: AtomicBool::new(serving),
            moving: Mutex::default(),
            moved: OnceLock::new(),
            came_of: Vec::new(),
            reads: Arc::default(),
            writes: AtomicU64::new(0),
        }
    }

    /// The same, in the place of others.
    pub(crate) fn in_place_of(self, others: &[Arc<Self>]) -> Self {
        Self { came_of: others.iter().map(Arc::downgrade).collect(), ..self }
    }

    /// What it is: table, rows, creation time.
    pub fn info(&self) -> &RegionInfo {
        &self.info
    }

    /// Its names.
    pub fn name(&self) -> &RegionName {
        &self.name
    }

    /// Its name and, where the table declares its key, the fields of its ends.
    pub(crate) fn shown(&self) -> String {
        format!("{}{}", self.name, self.shown_range())
    }

    /// What is said of its rows behind its name.
    fn shown_range(&self) -> String {
        let family = self.families().first();
        family.map(|family| family.row_limit().keys.range(&self.info.range)).unwrap_or_default()
    }

    /// A row and, where the table declares its key, its fields.
    pub(crate) fn shown_row(&self, row: &[u8]) -> String {
        let family = self.families().first();
        family.map_or_else(|| escape(row), |family| family.row_limit().keys.row(row))
    }

    /// Rows read and mutations taken since the store was opened.
    pub fn requests(&self) -> RegionRequests {
        RegionRequests {
            reads: self.reads.rows.load(Ordering::Relaxed),
            filtered_reads: self.reads.filtered.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
        }
    }

    /// How far a write must have come that asks for the table's default.
    pub fn durability(&self) -> Durability {
        self.declared.get().durability
    }

    /// How many bytes a cell may have, where the table says.
    pub(crate) fn cell_bytes_max(&self) -> Option<usize> {
        self.declared.get().cell_bytes_max
    }

    /// How much it holds.
    pub fn size(&self) -> RegionSize {
        let mut size = RegionSize::default();
        for family in self.families() {
            let super_version = family.super_version();
            size.stores += 1;
            size.files += super_version.files.len();
            for file in &super_version.files {
                let blocks = file.block_sizes();
                size.file_bytes += file.share_len();
                size.uncompressed_bytes += blocks.uncompressed;
                size.index_bytes += blocks.index;
                size.bloom_bytes += blocks.bloom;
            }
            size.memstore_bytes += family.memstore_bytes();
        }
        size
    }

    /// Reads one row.
    ///
    /// # Errors
    /// `NotServingRegion`, `WrongRegion`, `NoSuchColumnFamily`; `Io` and `Corruption` for this
    /// read alone.
    #[inline]
    pub fn get(&self, get: &Get) -> Result<Row> {
        self.read(get, None)
    }

    /// Reads one row, at this moment unless another is held.
    #[inline]
    pub(crate) fn read(&self, get: &Get, point: Option<&ReadPoint>) -> Result<Row> {
        self.check_get(get, point)?;
        self.count(1, 0);
        read_row(&self.engine, self.families(), get, point)
    }

    /// Reads one row if that does not take long, else some of it in vain.
    #[inline]
    pub(crate) fn read_non_blocking(&self, get: &Get) -> Result<NonBlocking<Row>> {
        self.check_get(get, None)?;
        let read = read_row_at_once(&self.engine, self.families(), get)?;
        if matches!(read, NonBlocking::Done(_)) {
            self.count(1, 0);
        }
        Ok(read)
    }

    #[inline]
    fn check_get(&self, get: &Get, point: Option<&ReadPoint>) -> Result<()> {
        self.check_readable(point)?;
        self.check_row(get.row())?;
        self.check_families(get.columns.families().map(|(family, _)| &family[..]))
    }

    /// Counts rows read and mutations taken.
    pub(crate) fn count(&self, reads: usize, writes: usize) {
        let add = |to: &AtomicU64, count: usize| match count {
            0 => {}
            count => _ = to.fetch_add(count as u64, Ordering::Relaxed),
        };
        add(&self.reads.rows, reads);
        add(&self.writes, writes);
    }

    /// Tells of everything that is stored of the column that `get` names whether the get shows it, and why or
    /// why not. What it calls visible is what the get shows.
    ///
    /// # Errors
    /// As [`Region::get`]; `InvalidRequest` for a get that does not name exactly one column, or has a filter
    /// or a limit.
    pub fn explain_cell(&self, get: &Get) -> Result<CellHistory> {
        self.check_serving()?;
        self.check_row(get.row())?;
        let (family, qualifier) = only_column(get)?;
        explain_cell(&self.engine, self.family(&family)?, get, &qualifier)
    }

    /// Reads the rows of `scan` that lie in this region, in key order, at the moment of the call:
    /// what is written later is not seen.
    ///
    /// # Errors
    /// As [`Region::get`]; `InvalidRequest` and `Unsupported` for a filter that cannot be had.
    pub fn scan(&self, scan: &Scan) -> Result<RegionScanner> {
        self.open_scan(scan, None)
    }

    /// The same as it was at `sequence`, the [`RegionScanner::read_point`] of a scanner that is lost, if that can
    /// still be told: what flushes and merges have dropped since is not there any more. Then, and with 0, at the
    /// moment of the call.
    ///
    /// # Errors
    /// As [`Region::scan`].
    pub fn scan_as_of(&self, scan: &Scan, sequence: u64) -> Result<RegionScanner> {
        let sequence = Some(sequence).filter(|&sequence| sequence > 0);
        self.open_scan_as_of(scan, None, sequence)
    }

    /// Opens a scan, at this moment unless another is held.
    pub(crate) fn open_scan(
        &self,
        scan: &Scan,
        point: Option<&ReadPoint>,
    ) -> Result<RegionScanner> {
        self.open_scan_as_of(scan, point, None)
    }

    fn open_scan_as_of(
        &self,
        scan: &Scan,
        point: Option<&ReadPoint>,
        as_of: Option<u64>,
    ) -> Result<RegionScanner> {
        self.check_readable(point)?;
        self.check_families(scan.columns.families().map(|(family, _)| &family[..]))?;
        self.check_families(scan.family_time_ranges.keys().map(|family| &family[..]))?;
        if scan.raw && !scan.columns.has_whole_families() {
            return Err(Error::invalid("Cannot specify any column for a raw scan"));
        }
        let range = scan.range.intersect(&self.info.range);
        let rows = Rows::Range(&range);
        let opening =
            Opening { engine: &self.engine, families: self.families(), rows, point, as_of };
        let scanner = RegionScanner::open(&opening, scan)?;
        Ok(scanner.counted_by(&self.reads))
    }

    /// Changes one row.
    ///
    /// # Errors
    /// As [`Region::get`]; `InvalidRequest` for a mutation without columns or a counter that is
    /// none, `RegionTooBusy`, `ReadOnly`, `OutcomeUnknown`.
    pub fn mutate(&self, mutation: &Mutation) -> Result<MutationOutcome> {
        self.count(0, 1);
        apply::apply_one(self, mutation, WaitMode::Blocking).map(NonBlocking::done)
    }

    /// Changes one row if `condition` holds for it; `None` if it does not, and nothing is written then.
    /// No other write to the row comes between the two. What is written at a timestamp that a delete covers is
    /// not seen, as after every delete.
    ///
    /// # Errors
    /// As [`Region::mutate`].
    pub fn mutate_if(
        &self,
        condition: &Condition,
        mutation: &Mutation,
    ) -> Result<Option<MutationOutcome>> {
        self.count(1, 1);
        apply::apply_if(self, condition, mutation, WaitMode::Blocking).map(NonBlocking::done)
    }

    /// Changes rows as one, if all conditions hold; `None` if one does not, and nothing is written then.
    /// All of the mutations become visible, and survive a crash, together or not at all; one outcome
    /// for each, in their order. What reads its row among them (an increment, an append, the delete of
    /// a newest version) sees it as it was before all of them, and of two that write one cell the later
    /// stays: HBase's mutateRow, and its MultiRowMutation. The strongest durability counts for all.
    ///
    /// Mutations that carry the nonce of what was taken before are a repetition: nothing is written, and
    /// increments and appends give back what they gave then, as long as that can be read; then what is there.
    ///
    /// # Errors
    /// As [`Region::mutate`], for the first mutation that cannot be done; then nothing was changed.
    pub fn mutate_rows(
        &self,
        conditions: &[RowCondition],
        mutations: &[Mutation],
    ) -> Result<Option<Vec<MutationOutcome>>> {
        self.count(conditions.len(), mutations.len());
        apply::apply_rows(self, conditions, mutations, WaitMode::Blocking).map(NonBlocking::done)
    }

    /// Changes rows, each by itself, in order. Neighbours that need not read share a log record.
    pub fn batch(&self, mutations: &[Mutation]) -> Vec<Result<MutationOutcome>> {
        self.count(0, mutations.len());
        apply::apply(self, mutations, WaitMode::Blocking).done()
    }

    /// Writes what is in memory to files.
    ///
    /// # Errors
    /// `NotServingRegion`; `Io`, after which everything is in memory still.
    pub fn flush(&self) -> Result<()> {
        self.flush_each(None)
    }

    /// The same of one family.
    ///
    /// # Errors
    /// As [`Region::flush`]; `NoSuchColumnFamily`.
    pub fn flush_family(&self, family: &[u8]) -> Result<()> {
        self.flush_each(Some(family))
    }

    fn flush_each(&self, family: Option<&[u8]>) -> Result<()> {
        self.check_serving()?;
        self.check_families(family.into_iter())?;
        let wanted = |have: &&Arc<FamilyStore>| family.is_none_or(|family| have.name() == family);
        let mut families = self.families().iter().filter(wanted);
        families.try_for_each(|family| flush::flush(&self.engine, family))?;
        self.engine.forget_flushed()
    }

    /// Merges files of each family and waits for it. `Minor` does the one merge that is due, if one
    /// is; `Major` merges all files into one, without what nobody can see any more.
    ///
    /// # Errors
    /// `NotServingRegion`; `Io` and `Corruption`, which leave the files as they were.
    pub fn compact(&self, kind: CompactionKind) -> Result<()> {
        self.check_serving()?;
        self.families().iter().try_for_each(|family| {
            let _compacting = family.compacting.write();
            let done = compact::compact(&self.engine, family, Some(kind), Hurry::Waited);
            // What came meanwhile has not been looked at.
            self.engine.compactions.request(family, None);
            done
        })
    }

    /// Has the background merge files of `family`, or of each, before what is merely due, and does
    /// not wait. What becomes of it: [`Region::compaction_state`].
    ///
    /// # Errors
    /// `NotServingRegion`, `NoSuchColumnFamily`.
    pub fn request_compaction(&self, kind: CompactionKind, family: Option<&[u8]>) -> Result<()> {
        self.check_serving()?;
        self.check_families(family.into_iter())?;
        let wanted = |have: &&Arc<FamilyStore>| family.is_none_or(|family| have.name() == family);
        for family in self.families().iter().filter(wanted) {
            self.engine.compactions.request(family, Some(kind));
        }
        Ok(())
    }

    /// Drops the blocks of its files from the block cache.
    pub fn clear_block_cache(&self) -> Evicted {
        let files = self.families().iter().flat_map(|family| family.super_version().files.clone());
        self.engine.files.blocks.evict(&files.map(|file| file.id()).collect())
    }

    /// Where its files are in the data directory: those of the named families, or of all when none is
    /// named.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`.
    pub fn file_paths(&self, families: &[Bytes]) -> Result<Vec<String>> {
        self.check_families(families.iter().map(|name| &name[..]))?;
        let is_wanted =
            |family: &&Arc<FamilyStore>| families.is_empty() || families.contains(family.name());
        let wanted = self.families().iter().filter(is_wanted);
        let files = wanted.flat_map(|family| family.super_version().files.clone());
        Ok(files.map(|file| store_file::path(file.id())).collect())
    }

    /// When the oldest of the files that a major merge wrote was written, in milliseconds; `None`
    /// when there is no such file.
    pub fn last_major_compaction(&self) -> Option<i64> {
        let files = self.families().iter().flat_map(|family| family.super_version().files.clone());
        files.filter(|file| file.is_major()).map(|file| file.created_millis()).min()
    }

    /// What merges run or were asked for.
    pub fn compaction_state(&self) -> CompactionState {
        let kinds = |family: &Arc<FamilyStore>| self.engine.compactions.kinds_of(family);
        let kinds = self.families().iter().flat_map(kinds);
        kinds.fold(CompactionState::None, |state, kind| state.with(kind.into()))
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// By name.
    pub(crate) fn families(&self) -> &[Arc<FamilyStore>] {
        &self.declared.get().families
    }

    /// Has the table's declaration be another: from now on there are these families and no others.
    pub(crate) fn declare(&self, families: Vec<Arc<FamilyStore>>, table: &TableDescriptor) {
        self.declared.replace(Declared::new(families, table));
    }

    pub(crate) fn family(&self, name: &[u8]) -> Result<&FamilyStore> {
        let found = self.families().iter().find(|family| equal_bytes(family.name(), name));
        found.map(|family| &**family).ok_or_else(|| {
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
                    self.shown_row(row),
                    escape(&self.info.range.start),
                    escape(&self.info.range.stop),
                    self.shown_range()
                ),
            ));
        }
        Ok(())
    }

    /// Checks that the region takes reads and writes.
    ///
    /// # Errors
    /// `NotServingRegion` while its table is disabled; `ServerNotRunning` once the store is closed.
    pub fn check_serving(&self) -> Result<()> {
        if !self.is_serving() {
            return Err(not_serving(&self.name));
        }
        self.engine.check_open()
    }

    /// Checks that the region can be read now, or at a moment that is held.
    fn check_readable(&self, point: Option<&ReadPoint>) -> Result<()> {
        if point.is_some() { self.check_scanned() } else { self.check_serving() }
    }

    /// Checks that the region can still be read as it was: by a scanner that is open, also where others
    /// have come in its place since.
    ///
    /// # Errors
    /// As [`Region::check_serving`].
    pub fn check_scanned(&self) -> Result<()> {
        match self.check_serving() {
            Err(error) if error.kind() == ErrorKind::NotServingRegion && self.wait_served() => {
                self.engine.check_open()
            }
            said => said,
        }
    }

    /// Whether other regions have come in its place: a split, or a merge.
    pub(crate) fn is_moved(&self) -> bool {
        self.moved.get().is_some()
    }

    /// Those that have come in its place, by start key.
    pub(crate) fn moved(&self) -> Option<&[Arc<Self>]> {
        self.moved.get().map(Vec::as_slice)
    }

    /// Has `others` be in its place.
    pub(crate) fn set_moved(&self, others: &[Arc<Self>]) {
        let set = self.moved.set(others.to_vec());
        assert!(set.is_ok(), "a region is replaced once");
    }

    /// Waits while others are being put in its place, or its table is declared anew. Whether its rows are served then, here or there.
    pub(crate) fn wait_served(&self) -> bool {
        // Looked at under the lock: the next change may begin as soon as it is free.
        let _moving = self.moving.lock();
        self.is_moved() || self.is_serving()
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.serving.load(Ordering::Acquire)
    }

    /// The region of `row` when `point` was taken: this one, or one in whose place it came.
    pub(crate) fn at_point(self: &Arc<Self>, point: &ReadPoint, row: &[u8]) -> Arc<Self> {
        self.of_point(point, |range| range.contains(row))
    }

    /// The region whose rows `is_wanted` when `point` was taken: this one, or one in whose place it came.
    pub(crate) fn of_point(
        self: &Arc<Self>,
        point: &ReadPoint,
        is_wanted: impl Fn(&RowRange) -> bool,
    ) -> Arc<Self> {
        let mut region = Arc::clone(self);
        while !point.has_seen(&region) {
            let before = region.came_of.iter().filter_map(Weak::upgrade);
            match before.into_iter().find(|before| is_wanted(&before.info.range)) {
                Some(before) => region = before,
                None => break,
            }
        }
        region
    }

    /// Checks that the region takes writes.
    ///
    /// # Errors
    /// `InvalidRequest` while its table is declared READONLY.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.declared.get().read_only {
            return Err(Error::invalid(format!("region is read only: region={}", self.shown())));
        }
        Ok(())
    }

    /// Begins or ends serving; when it returns no commit is under way under the old word.
    pub(crate) fn serve(&self, serving: bool) {
        let _latch = self.engine.freeze_latch.write();
        self.serving.store(serving, Ordering::Release);
    }

    /// Reads a row that lies here as it was at `sequence` or, where flushes or merges have dropped
    /// what was to be seen then, as it is now; without counting it.
    pub(crate) fn read_row_as_of(&self, get: &Get, sequence: u64) -> Result<Row> {
        match read_row_as_of(&self.engine, self.families(), get, sequence)? {
            Some(row) => Ok(row),
            None => self.read_row(get),
        }
    }

    /// Reads a row that lies here, without counting it.
    pub(crate) fn read_row(&self, get: &Get) -> Result<Row> {
        read_row(&self.engine, self.families(), get, None)
    }
}

/// How much a region holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionSize {
    /// Families.
    pub stores: usize,
    /// HFiles.
    pub files: usize,
    /// Bytes of HFiles.
    pub file_bytes: u64,
    /// Bytes of HFiles before compression, of those that were read since the store was opened; of the
    /// others as they are on disk.
    pub uncompressed_bytes: u64,
    /// Bytes of the indexes of HFiles that were read since the store was opened.
    pub index_bytes: u64,
    /// Bytes of the blooms of HFiles that were read since the store was opened.
    pub bloom_bytes: u64,
    /// Bytes of memstores.
    pub memstore_bytes: u64,
}

/// The error for a region that is not here.
pub(crate) fn not_serving(name: &RegionName) -> Error {
    Error::new(ErrorKind::NotServingRegion, format!("{name} is not online"))
}

/// The error for a table that is not there.
pub(crate) fn table_not_found(name: &TableName) -> Error {
    Error::new(ErrorKind::TableNotFound, name.to_string())
}

fn describe(family: &FamilyDescriptor) -> String {
    format!(", {{NAME => '{}'}}", escape(family.name()))
}
