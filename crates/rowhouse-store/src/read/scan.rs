//! The work of a region scanner: it reads rows over all families of the region.
//!
//! With a filter the evaluation order is the same as in HBase's `RegionScannerImpl`: the row's key,
//! the cells in the families that the filter needs, the row as a whole, the cells in the other
//! families.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rowhouse_filter::FilterRun;
use rowhouse_model::{Bytes, Columns, Error, ErrorKind, Result, Row, RowBuilder, RowRange, Scan};

use super::counts::{RegionCounts, ScanCounts};
use super::family::{FamilyReader, FirstCell, Query, Rows, find};
use super::post_filter::PostFilter;
use super::row::{CELLS_BETWEEN_CHECKS, ReadBudget, RowRead};
use super::select::{RowSelection, RowSelector, Selected};
use super::trace::RegionTrace;
use super::{ReadAt, ReadContext, ReadPoint};
use crate::family::FamilyStore;
use crate::reader_memory::Over;

/// Rows a scanner examines between two clock checks; a check costs about as much as a row.
const ROWS_BETWEEN_CHECKS: u32 = 64;

/// A scan's position in one region, and the sources it holds.
pub(super) struct ScanCursor {
    families: Vec<FamilyReader<'static>>,
    /// Families read only for rows that pass the filter on the other families.
    on_demand: Vec<FamilyReader<'static>>,
    filter: Option<Box<FilterRun>>,
    /// Selects the rows that are read at all.
    selector: Option<Box<RowSelector>>,
    range: RowRange,
    /// The scan covers at most one row.
    single_row: bool,
    reversed: bool,
    /// No filter, limit per family or batch: every visible cell of the columns is returned.
    is_plain: bool,
    batch: usize,
    rows_left: u64,
    /// The current row.
    row: Vec<u8>,
    /// The family in which the current row was suspended, if it was.
    left_in: Option<FamilyPosition>,
    /// A part of the suspended row was returned.
    part_given: bool,
    /// Cell count in the last row and bytes copied for it: capacity estimate for the next row.
    usual: (usize, usize),
    read_point: u64,
    opened: Instant,
    age_max: Duration,
    rows_until_check: u32,
    /// Cells examined since the last clock check.
    judged: u64,
    /// It holds no file blocks, and its readers must not be read.
    rests: bool,
    /// An error occurred, and the families' readers were released.
    failed: bool,
    /// The same, since readers held too much memory.
    ended: Option<Over>,
    progress: ScanProgress,
    /// The filter ended the scan at a row key.
    ended_at_key: bool,
    /// The counts to update, if any.
    counts: Option<ScanCounts>,
    /// The trace to update, if the read point has one.
    trace: Option<Arc<RegionTrace>>,
}

/// Requests that a scanner that is in a call ends.
pub(super) struct EndRequest {
    /// Bytes that readers held then; 0 without a request.
    bytes: AtomicU64,
    bytes_max: AtomicU64,
}

/// No request.
pub(super) static NO_END_REQUEST: EndRequest = EndRequest::new();

impl EndRequest {
    pub(super) const fn new() -> Self {
        Self { bytes: AtomicU64::new(0), bytes_max: AtomicU64::new(0) }
    }

    pub(super) fn set(&self, over: Over) {
        self.bytes_max.store(over.bytes_max, Ordering::Relaxed);
        self.bytes.store(over.bytes, Ordering::Release);
    }

    /// Returns the request made since the last call.
    #[inline]
    pub(super) fn take(&self) -> Option<Over> {
        if self.bytes.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let bytes = self.bytes.swap(0, Ordering::Acquire);
        Some(Over { bytes, bytes_max: self.bytes_max.load(Ordering::Relaxed) })
    }
}

/// The family in which reading a row was suspended.
#[derive(Clone, Copy, Debug, Default)]
struct FamilyPosition {
    on_demand: bool,
    family: usize,
}

/// Limits for one scanner call.
#[derive(Clone, Copy, Debug)]
pub struct ScanLimits {
    /// Cell bytes after which a row is suspended and a later call resumes it. The cell that reaches
    /// the limit is returned whole; above 64 KiB up to a block more may follow. Rows that a filter
    /// must see as a whole are not suspended.
    pub bytes: u64,
    /// When to stop looking for a row to return. Applies within a row only if `bytes` is limited: a
    /// caller that takes no partial rows gets the whole row.
    pub until: Option<Instant>,
}

impl ScanLimits {
    /// No limits.
    pub const NONE: Self = Self { bytes: u64::MAX, until: None };

    /// Whether partial rows may be returned.
    fn takes_parts(&self) -> bool {
        self.bytes < u64::MAX
    }
}

/// The progress of a scanner, counted as in HBase. Rows in which only deletes are left may be
/// skipped without being counted, and rows that index entries cover are not examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanProgress {
    /// Rows examined to their end, except a row by whose key the filter ended the scan.
    pub rows_scanned: u64,
    /// Rows with no cell, or no further cell, to return, and the row whose key ended the scan.
    pub rows_filtered: u64,
}

/// The result of one scanner call.
#[derive(Clone, Debug, PartialEq)]
pub enum Scanned {
    /// A row, or the next part of one.
    Row {
        /// The cells.
        row: Row,
        /// Whether more cells from the same row may follow.
        is_partial: bool,
    },
    /// The time limit passed before a result was found. All rows before this one were examined, and
    /// possibly part of this one.
    Paused(Bytes),
    /// There are no more rows.
    End,
}

/// The arguments for opening a scanner.
pub(crate) struct Opening<'a> {
    pub(crate) context: &'a ReadContext<'a>,
    pub(crate) families: &'a [Arc<FamilyStore>],
    pub(crate) rows: Rows<'a>,
    pub(crate) point: Option<&'a ReadPoint>,
    /// The sequence to read at instead of at the current read point, if it is still readable.
    pub(crate) as_of: Option<u64>,
}

impl ScanCursor {
    /// Opens a scan over all rows, or over the selected rows.
    pub(super) fn open(
        opening: &Opening<'_>,
        scan: &Scan,
        selection: Option<RowSelection>,
    ) -> Result<Self> {
        let &Opening { context, families, rows, point, mut as_of } = opening;
        let filter = scan.filter.as_deref().map(|filter| FilterRun::new(filter, scan.reversed));
        let filter = filter.transpose()?.map(Box::new);
        if let Some(batch) = scan.batch
            && filter.as_ref().is_some_and(|filter| filter.needs_whole_row())
        {
            return Err(Error::invalid(format!(
                "Cannot set batch on a scan using a filter that returns true for filter.hasFilterRow: batch={batch}"
            )));
        }
        let post_filter = PostFilter::of(scan);
        let query = Query {
            columns: &scan.columns,
            time_range: scan.time_range,
            family_time_ranges: &scan.family_time_ranges,
            versions: scan.versions,
            rows,
            cache_blocks: scan.cache_blocks,
            reversed: scan.reversed,
            raw: scan.raw,
            filtered: filter.is_some(),
            post_filter,
        };
        let conditions = selection.as_ref().and_then(RowSelection::columns);
        let judged = conditions.as_ref().map(|columns| Query {
            columns,
            versions: 1,
            raw: false,
            filtered: false,
            post_filter: PostFilter::of(&Scan { reversed: scan.reversed, ..Scan::all() }),
            ..query
        });
        let (read_point, mut readers, judges) = loop {
            let now = ReadAt::of(context, point);
            let at = as_of.map_or(now, |as_of| ReadAt::Sequence(as_of.min(now.sequence())));
            let readers = open_readers(context, families, &query, at)?;
            let judges = match &judged {
                Some(judged) => open_readers(context, families, judged, at)?,
                None => Some(Vec::new()),
            };
            if let (Some(readers), Some(judges)) = (readers, judges) {
                break (at.sequence(), readers, judges);
            }
            as_of = None;
        };
        let range = match rows {
            Rows::One(row) => RowRange::row(row),
            Rows::Range(range) => range.clone(),
        };
        if scan.reversed {
            let end = Some(&range.stop[..]).filter(|stop| !stop.is_empty());
            readers.iter_mut().try_for_each(|reader| reader.seek_row_before(end))?;
        }
        let (families, on_demand) = match &filter {
            Some(filter) if scan.families_on_demand => {
                readers.into_iter().partition(|reader| filter.needs_family(reader.name()))
            }
            _ => (readers, Vec::new()),
        };
        let selector = selection.map(|it| Box::new(it.into_selector(judges, scan.reversed)));
        let trace = point.and_then(ReadPoint::trace).zip(opening.families.first());
        let trace = trace.and_then(|(trace, family)| trace.find_region(family));
        Ok(Self {
            families,
            on_demand,
            is_plain: filter.is_none() && post_filter.is_open() && scan.batch.is_none(),
            filter,
            selector,
            range,
            single_row: matches!(rows, Rows::One(_)),
            reversed: scan.reversed,
            batch: scan.batch.map_or(usize::MAX, |batch| batch.max(1) as usize),
            rows_left: scan.limit.unwrap_or(u64::MAX),
            row: Vec::new(),
            left_in: None,
            part_given: false,
            usual: (0, 0),
            read_point,
            opened: Instant::now(),
            age_max: context.age_max,
            rows_until_check: 0,
            judged: 0,
            failed: false,
            ended: None,
            rests: false,
            progress: ScanProgress::default(),
            ended_at_key: false,
            counts: None,
            trace,
        })
    }

    /// Makes the scanner add the rows it returns from `families` to `counts`, at each clock check
    /// and when it is dropped.
    pub(super) fn counted_by<'f>(
        mut self,
        counts: &Arc<RegionCounts>,
        columns: &Columns,
        families: impl Iterator<Item = &'f Arc<FamilyStore>>,
    ) -> Self {
        self.counts = Some(ScanCounts::new(counts, columns, families));
        self
    }

    fn count_rows(&mut self) {
        if let Some(counts) = &mut self.counts {
            counts.flush(self.progress.rows_filtered);
        }
    }

    /// Returns the next row that has visible cells.
    pub(super) fn next(&mut self) -> Result<Option<Row>> {
        match self.next_part(&ScanLimits::NONE, &NO_END_REQUEST)? {
            Scanned::Row { row, .. } => Ok(Some(row)),
            Scanned::Paused(_) | Scanned::End => Ok(None),
        }
    }

    /// Returns the next row, or the next part of one, within limits.
    pub(super) fn next_part(
        &mut self,
        limits: &ScanLimits,
        end_request: &EndRequest,
    ) -> Result<Scanned> {
        if let Some(over) = self.ended.filter(|_| self.rows_left > 0) {
            return Err(over.error(ErrorKind::ScannerReset, "the scanner"));
        }
        if self.failed {
            let message = "the scanner has failed, open another";
            return Err(Error::new(ErrorKind::UnknownScanner, message));
        }
        let next = self.wake().and_then(|()| self.read_next(limits, end_request));
        self.fail_if(next.is_err());
        next
    }

    /// Releases the file blocks that it holds, at the price of searching for its place in each file
    /// when it goes on.
    pub(super) fn rest(&mut self) {
        self.rests = true;
        self.readers().for_each(FamilyReader::rest);
    }

    /// Returns to the place in the files, if it rests.
    fn wake(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.rests) {
            return Ok(());
        }
        self.readers().try_for_each(FamilyReader::wake)
    }

    fn readers(&mut self) -> impl Iterator<Item = &mut FamilyReader<'static>> {
        let judges = self.selector.iter_mut().flat_map(|selector| &mut selector.columns);
        self.families.iter_mut().chain(&mut self.on_demand).chain(judges)
    }

    fn fail_if(&mut self, failed: bool) {
        if failed {
            self.failed = true;
            self.release();
        }
    }

    /// Releases the files and memstores.
    fn release(&mut self) {
        self.families.clear();
        self.on_demand.clear();
        self.selector = None;
    }

    /// Whether it reads from memory.
    pub(super) fn holds_memstores(&self) -> bool {
        let judges = self.selector.iter().flat_map(|selector| &selector.columns);
        self.families.iter().chain(&self.on_demand).chain(judges).any(FamilyReader::holds_memstores)
    }

    /// Continues in files between two calls. With `over`, it ends if it cannot.
    pub(super) fn release_memory(&mut self, over: Option<Over>) {
        match self.follow_flushes() {
            Ok(0) => {}
            Ok(_) => self.end(over),
            Err(error) => tracing::warn!(%error, "an idle scanner cannot continue in files"),
        }
    }

    fn end(&mut self, over: Option<Over>) {
        if over.is_some() {
            self.ended = over;
            self.release();
        }
    }

    /// Releases memstores that were flushed since the scanner was opened. Returns the bytes it
    /// still keeps.
    pub(super) fn follow_flushes(&mut self) -> Result<u64> {
        let rests = self.rests;
        if rests && !self.readers().any(|family| family.holds_flushed()) {
            return Ok(0);
        }
        let between_rows = self.left_in.is_none();
        let held_bytes = self.wake().and_then(|()| {
            self.readers().try_fold(0, |bytes, family| {
                family.follow_flushes(between_rows)?;
                Ok(bytes + family.held_bytes())
            })
        });
        self.fail_if(held_bytes.is_err());
        if rests {
            self.rest();
        }
        held_bytes
    }

    fn read_next(&mut self, limits: &ScanLimits, end_request: &EndRequest) -> Result<Scanned> {
        if self.rows_left == 0 {
            return Ok(Scanned::End);
        }
        loop {
            let timed_out = self.check_time(limits, end_request)?;
            if self.left_in.is_none() && (self.is_filter_done() || !self.find_row()) {
                return Ok(Scanned::End);
            }
            // Matching cells may be so rare in a row that every part would be one cell.
            if timed_out && (self.left_in.is_none() || limits.takes_parts()) {
                return Ok(self.pause());
            }
            if self.selector.is_some() && self.left_in.is_none() {
                match self.select_row(limits)? {
                    Selected::Take => {}
                    Selected::Covered { cells, .. } if !cells.is_empty() => {
                        self.count_row();
                        let bytes = cells.byte_len();
                        return Ok(self.scanned(cells, bytes, false));
                    }
                    _ => continue,
                }
            }
            let mut cells = RowBuilder::with_capacity(self.usual.0, self.usual.1);
            let read = if self.is_plain {
                self.read_plain_row(limits, &mut cells)?
            } else {
                self.read_row(limits, &mut cells)?
            };
            if let Some(filter) = &mut self.filter {
                filter.check()?;
            }
            if read == RowRead::Whole {
                self.left_in = None;
                self.leave_row()?;
            }
            let is_partial = read == RowRead::Part;
            if !is_partial {
                self.progress.rows_scanned += u64::from(!self.ended_at_key);
                self.progress.rows_filtered += u64::from(cells.is_empty());
            }
            self.part_given |= !cells.is_empty();
            // A row's last part may be empty.
            if !is_partial && std::mem::take(&mut self.part_given) {
                self.count_row();
            }
            if !cells.is_empty() {
                self.usual = (cells.len(), cells.copied_len());
                let bytes = cells.byte_len();
                return Ok(self.scanned(cells.finish(), bytes, is_partial));
            }
            if is_partial {
                return Ok(self.pause());
            }
            if self.rows_left == 0 {
                return Ok(Scanned::End);
            }
        }
    }

    /// Counts a row that is returned.
    fn count_row(&mut self) {
        self.rows_left -= 1;
        if let Some(counts) = &mut self.counts {
            counts.add_row();
        }
        if let Some(trace) = &self.trace {
            trace.add_row_returned();
        }
    }

    /// Counts cells, and returns them.
    fn scanned(&mut self, row: Row, bytes: u64, is_partial: bool) -> Scanned {
        if let Some(counts) = &mut self.counts {
            counts.add_cells(&self.row, &row, bytes);
        }
        if let Some(trace) = &self.trace {
            trace.add_cells_returned(&row);
        }
        Scanned::Row { row, is_partial }
    }

    /// Decides about the row. Moves past it if the query does not select it, and past those that
    /// follow if the query selects none of them. A covered row becomes the current one.
    fn select_row(&mut self, limits: &ScanLimits) -> Result<Selected> {
        let Self { families, selector: Some(selector), row, reversed, judged, .. } = self else {
            return Ok(Selected::Take);
        };
        let selected = selector.select(row, limits.bytes, judged)?;
        match &selected {
            Selected::Take => {}
            Selected::Covered { key, .. } => {
                row.clear();
                row.extend_from_slice(key);
            }
            Selected::End => families.clear(),
            Selected::Seek(to) if *reversed => {
                for family in families.iter_mut().filter(|it| it.row().is_some_and(|row| row >= to))
                {
                    family.seek_row_before(Some(to))?;
                }
            }
            Selected::Seek(to) => {
                for family in families.iter_mut().filter(|it| it.row().is_some_and(|row| row < to))
                {
                    family.seek_row(to)?;
                }
            }
            Selected::Pass => {
                self.progress.rows_scanned += 1;
                self.progress.rows_filtered += 1;
                if *reversed {
                    families.iter_mut().try_for_each(|family| family.go_back(row))?;
                } else {
                    let next = [&row[..], &[0]].concat();
                    for family in families.iter_mut().filter(|it| it.row() == Some(row)) {
                        family.seek_row(&next)?;
                    }
                }
            }
        }
        Ok(selected)
    }

    fn pause(&self) -> Scanned {
        let row = &self.row[..];
        let row = self.selector.as_ref().map_or(row, |selector| selector.position(row));
        Scanned::Paused(Bytes::copy_from_slice(row))
    }

    /// Returns how much may be read from a row within the limits.
    fn budget(&self, limits: &ScanLimits) -> ReadBudget {
        ReadBudget {
            cells: self.batch,
            bytes: limits.bytes.max(1),
            until: limits.until.filter(|_| limits.takes_parts()),
            judged: self.judged,
            ..ReadBudget::WHOLE
        }
    }

    /// Reads the row, or the next part, in a scan that returns every visible cell.
    fn read_plain_row(&mut self, limits: &ScanLimits, cells: &mut RowBuilder) -> Result<RowRead> {
        let mut budget = self.budget(limits);
        let first = self.left_in.take().map_or(0, |place| place.family);
        for (at, family) in self.families.iter_mut().enumerate().skip(first) {
            let read = family.read_row(&self.row, &mut budget, cells)?;
            self.judged = budget.judged;
            if read == RowRead::Part {
                self.left_in = Some(FamilyPosition { on_demand: false, family: at });
                return Ok(RowRead::Part);
            }
        }
        Ok(RowRead::Whole)
    }

    /// Reads the row, or the next part, through the filter; leaves no cells if the row does not
    /// pass.
    fn read_row(&mut self, limits: &ScanLimits, cells: &mut RowBuilder) -> Result<RowRead> {
        let whole = self.filter.as_ref().is_some_and(|filter| filter.needs_whole_row());
        let mut budget = if whole {
            ReadBudget { judged: self.judged, ..ReadBudget::WHOLE }
        } else {
            self.budget(limits)
        };
        let place = self.left_in.take();
        if place.is_none()
            && self.filter.as_mut().is_some_and(|filter| filter.filters_row_key(&self.row))
        {
            self.ended_at_key = self.is_filter_done();
            self.pass_row()?;
            return Ok(RowRead::Whole);
        }
        let place = place.unwrap_or_default();
        if !place.on_demand {
            if self.read_families(place, &mut budget, cells)? == RowRead::Part {
                return Ok(RowRead::Part);
            }
            if !self.lets_row_through(whole, cells) {
                // Read the rest of the row as well: the filter may depend on having seen it.
                self.pass_row()?;
                *cells = RowBuilder::default();
                return Ok(RowRead::Whole);
            }
            if self.on_demand.is_empty() {
                return Ok(RowRead::Whole);
            }
            for family in &mut self.on_demand {
                if self.reversed {
                    family.go_back_to(&self.row)?;
                } else {
                    family.seek_row(&self.row)?;
                }
            }
        }
        let on_demand = FamilyPosition {
            on_demand: true,
            family: if place.on_demand { place.family } else { 0 },
        };
        let read = self.read_families(on_demand, &mut budget, cells)?;
        cells.sort();
        Ok(read)
    }

    /// Reads the row from the families at and after `place` in the group.
    fn read_families(
        &mut self,
        place: FamilyPosition,
        budget: &mut ReadBudget,
        cells: &mut RowBuilder,
    ) -> Result<RowRead> {
        let Self { families, on_demand, filter, row, judged, .. } = self;
        let families = if place.on_demand { on_demand } else { families };
        for (at, family) in families.iter_mut().enumerate().skip(place.family) {
            let read = family.read_filtered_row(row, filter.as_deref_mut(), budget, cells)?;
            *judged = budget.judged;
            if read == RowRead::Part {
                self.left_in = Some(FamilyPosition { family: at, ..place });
                return Ok(RowRead::Part);
            }
        }
        Ok(RowRead::Whole)
    }

    /// Whether the filter accepts the row as a whole.
    fn lets_row_through(&mut self, whole: bool, cells: &mut RowBuilder) -> bool {
        if cells.is_empty() {
            // The suspended row's first part has already passed.
            return self.part_given;
        }
        let Some(filter) = &mut self.filter else { return true };
        if whole {
            cells.retain(|cell| filter.keeps(cell));
            // HBase does not ask the filter about a row without cells; on-demand families may have
            // more.
            if cells.is_empty() {
                return true;
            }
        }
        !filter.filters_row()
    }

    /// Reads past the rest of the current row in all families still in it, as the filter directs.
    fn pass_row(&mut self) -> Result<()> {
        let Self { families, filter, row, judged, .. } = self;
        let mut budget = ReadBudget { judged: *judged, ..ReadBudget::WHOLE };
        let mut nothing = RowBuilder::default();
        for family in families {
            if family.row() == Some(row) {
                family.read_filtered_row(row, filter.as_deref_mut(), &mut budget, &mut nothing)?;
            }
        }
        *judged = budget.judged;
        Ok(())
    }

    /// Finishes a row.
    fn leave_row(&mut self) -> Result<()> {
        if let Some(filter) = &mut self.filter {
            filter.reset();
        }
        if self.single_row {
            self.families.clear();
        }
        if self.reversed {
            self.families.iter_mut().try_for_each(|family| family.go_back(&self.row))?;
        }
        Ok(())
    }

    /// Whether there may be more rows; `false` is certain.
    pub(super) fn may_have_more(&mut self) -> bool {
        self.rows_left > 0
            && (self.ended.is_some()
                || self.rests
                || self.left_in.is_some()
                || (!self.is_filter_done() && self.find_row()))
    }

    /// Whether the filter has ended the scan, in this region and all others.
    pub(super) fn is_filter_done(&mut self) -> bool {
        self.filter.as_mut().is_some_and(|filter| filter.is_done())
    }

    /// Returns how many rows the scan's limit still allows.
    pub(super) fn rows_left(&self) -> u64 {
        self.rows_left
    }

    /// Returns the scan's progress.
    pub(super) fn progress(&self) -> ScanProgress {
        self.progress
    }

    /// Returns the sequence it reads at.
    pub(super) fn read_point(&self) -> u64 {
        self.read_point
    }

    /// Returns true if the call's time limit has passed.
    ///
    /// # Errors
    /// `UnknownScanner` once the scanner is too old.
    fn check_time(&mut self, limits: &ScanLimits, end_request: &EndRequest) -> Result<bool> {
        if self.rows_until_check > 0 && self.judged < CELLS_BETWEEN_CHECKS {
            self.rows_until_check -= 1;
            return Ok(false);
        }
        self.count_rows();
        let age = self.opened.elapsed();
        if age > self.age_max {
            return Err(Error::new(
                ErrorKind::UnknownScanner,
                format!(
                    "the scanner has been open for too long, open another: age={age:?}, max={:?}",
                    self.age_max
                ),
            ));
        }
        (self.rows_until_check, self.judged) = (ROWS_BETWEEN_CHECKS, 0);
        // Most scans have ended by now.
        if !self.row.is_empty() {
            let held_bytes = self.follow_flushes()?;
            if let Some(over) = end_request.take()
                && held_bytes > 0
            {
                self.end(Some(over));
                return Err(over.error(ErrorKind::ScannerReset, "the scanner"));
            }
        }
        Ok(limits.until.is_some_and(|until| Instant::now() >= until))
    }

    /// Moves `row` to the earliest family's next row; returns `false` after the last.
    fn find_row(&mut self) -> bool {
        let Self { families, range, row, reversed, .. } = self;
        let rows = families.iter().filter_map(FamilyReader::row);
        let Some(next) = (if *reversed { rows.max() } else { rows.min() }) else { return false };
        row.clear();
        row.extend_from_slice(next);
        if *reversed {
            row[..] >= range.start[..]
        } else {
            range.stop.is_empty() || row[..] < range.stop[..]
        }
    }
}

impl Drop for ScanCursor {
    fn drop(&mut self) {
        self.count_rows();
        if let Some(trace) = &self.trace {
            trace.add_rows_read(self.progress.rows_scanned);
        }
    }
}

/// Opens readers for the requested families; returns `None` if the read point is no longer
/// readable.
fn open_readers(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    query: &Query<'_>,
    at: ReadAt<'_>,
) -> Result<Option<Vec<FamilyReader<'static>>>> {
    if let Rows::Range(range) = query.rows
        && range.is_empty()
    {
        return Ok(Some(Vec::new()));
    }
    let mut readers = Vec::with_capacity(families.len());
    for family in families.iter().filter(|family| query.columns.selects_family(family.name())) {
        match find(family, query, at)? {
            FirstCell::Merge(merge) => {
                readers
                    .push(FamilyReader::new(context.timestamps, family, query, merge).into_owned());
            }
            FirstCell::Nothing => {}
            FirstCell::TooOld => return Ok(None),
        }
    }
    Ok(Some(readers))
}
