//! Scanners of a region: rows of all its families, one after the other.
//!
//! Where a filter has its say the order of things is that of HBase's `RegionScannerImpl`: the row's
//! key, the cells of the families the filter needs, the row as a whole, the cells of the other families.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rowhouse_model::{Bytes, Error, ErrorKind, FilterRun, Result, Row, RowBuilder, RowRange, Scan};

use super::family::{Asked, FamilyReader, FirstCell, Rows, find};
use super::post_filter::PostFilter;
use super::row::{CELLS_BETWEEN_CHECKS, ReadBudget, RowRead};
use super::{At, ReadPoint};
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::region::ReadCounts;

/// How many rows a scanner looks at between two looks at the clock, which would cost as much as a row.
const ROWS_BETWEEN_CHECKS: u32 = 64;

/// A scan of one region, open: it sees what was there when it was opened, as long as it lives. It
/// holds the files and memstores it reads, so merges neither wait for it nor take anything from it;
/// what they free on the disk becomes free with it. [`Settings::scan_age_max`] is how long that may
/// be. When a memstore is flushed it goes on in the file, on its way or by
/// [`RegionScanner::follow_flushes`].
///
/// [`Settings::scan_age_max`]: crate::Settings::scan_age_max
pub struct RegionScanner {
    families: Vec<FamilyReader<'static>>,
    /// Families that are read where the others have let a row through.
    on_demand: Vec<FamilyReader<'static>>,
    filter: Option<Box<FilterRun>>,
    range: RowRange,
    /// There is one row at most.
    single_row: bool,
    reversed: bool,
    /// Everything visible in the columns is wanted.
    is_plain: bool,
    batch: usize,
    rows_left: u64,
    /// The row that is being read.
    row: Vec<u8>,
    /// Where it was left, if it was.
    left_in: Option<FamilyPosition>,
    /// Part of the row was given, if it was left.
    part_given: bool,
    /// Cells of the last row, and bytes copied of them: the next one may well have as many.
    usual: (usize, usize),
    read_point: u64,
    opened: Instant,
    age_max: Duration,
    rows_until_check: u32,
    /// Cells that were judged since the clock was looked at.
    judged: u64,
    /// It met an error, and what it had is let go of.
    failed: bool,
    progress: ScanProgress,
    /// Rows that were given and are not counted yet.
    rows_given: u64,
    /// The filter ended the scan by the key of a row.
    ended_at_key: bool,
    /// Where rows are counted, if they are.
    counter: Option<Arc<ReadCounts>>,
    /// How many filtered rows were counted there.
    filtered_counted: u64,
}

/// A family in the middle of which a row was left.
#[derive(Clone, Copy, Debug, Default)]
struct FamilyPosition {
    on_demand: bool,
    family: usize,
}

/// How much may be read at once.
#[derive(Clone, Copy, Debug)]
pub struct ScanLimits {
    /// Bytes of cells after which a row is left, to be gone on with later; the cell that fills them is
    /// whole, and a block more may come. Rows that a filter must see as a whole are not left.
    pub bytes: u64,
    /// When to give up looking for a row that is asked for. Within a row only where `bytes` are limited: who
    /// takes no parts of rows gets the row.
    pub until: Option<Instant>,
}

impl ScanLimits {
    /// No limits.
    pub const NONE: Self = Self { bytes: u64::MAX, until: None };

    /// Whether rows may be left.
    fn takes_parts(&self) -> bool {
        self.bytes < u64::MAX
    }
}

/// How far a scanner has come, as HBase counts it. Rows that nothing but deletes are left of may be passed
/// uncounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanProgress {
    /// Rows that were looked at to their end. A row whose key ends the scan, by its filter, is not one of them.
    pub rows_scanned: u64,
    /// Rows that had nothing to give, or nothing more, and the row whose key ended the scan.
    pub rows_filtered: u64,
}

/// What a scanner gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Scanned {
    /// A row, or the next part of one.
    Row {
        /// Its cells.
        row: Row,
        /// Whether there may be more of the same row.
        is_partial: bool,
    },
    /// Nothing that is asked for was found in the time there was. The rows before this one were looked
    /// at, and it may be that part of this one was.
    Paused(Bytes),
    /// There are no more rows.
    End,
}

/// What a scanner is opened on.
pub(crate) struct Opening<'a> {
    pub(crate) engine: &'a Arc<Engine>,
    pub(crate) families: &'a [Arc<FamilyStore>],
    pub(crate) rows: Rows<'a>,
    pub(crate) point: Option<&'a ReadPoint>,
    /// The sequence to read at, as long as that can be done, in the place of this moment.
    pub(crate) as_of: Option<u64>,
}

impl RegionScanner {
    /// Opens a scan.
    pub(crate) fn open(opening: &Opening<'_>, scan: &Scan) -> Result<Self> {
        let &Opening { engine, families, rows, point, mut as_of } = opening;
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
        let asked = Asked {
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
        let (read_point, mut readers) = loop {
            let now = At::of(engine, point);
            let at = as_of.map_or(now, |as_of| At::Sequence(as_of.min(now.sequence())));
            if let Some(readers) = open_readers(engine, families, &asked, at)? {
                break (at.sequence(), readers);
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
        Ok(Self {
            families,
            on_demand,
            is_plain: filter.is_none() && post_filter.is_open() && scan.batch.is_none(),
            filter,
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
            age_max: engine.settings.scan_age_max,
            rows_until_check: 0,
            judged: 0,
            failed: false,
            progress: ScanProgress::default(),
            rows_given: 0,
            ended_at_key: false,
            counter: None,
            filtered_counted: 0,
        })
    }

    /// The same, with the rows that it gives counted: when it looks at the clock, and when it is closed.
    pub(crate) fn counted_by(mut self, counter: &Arc<ReadCounts>) -> Self {
        self.counter = Some(Arc::clone(counter));
        self
    }

    fn count_rows(&mut self) {
        let Some(counter) = &self.counter else { return };
        let rows = std::mem::take(&mut self.rows_given);
        let filtered = self.progress.rows_filtered - self.filtered_counted;
        self.filtered_counted += filtered;
        if rows > 0 {
            counter.rows.fetch_add(rows, Ordering::Relaxed);
        }
        if filtered > 0 {
            counter.filtered.fetch_add(filtered, Ordering::Relaxed);
        }
    }

    /// The next row that has anything to show, or the next part of it where the scan has a batch;
    /// `None` behind the last.
    ///
    /// # Errors
    /// `Io` and `Corruption`; `UnknownScanner` when it has been open for too long, and after any error:
    /// it does not come to an end that is none.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not borrow later")]
    pub fn next(&mut self) -> Result<Option<Row>> {
        match self.next_part(&ScanLimits::NONE)? {
            Scanned::Row { row, .. } => Ok(Some(row)),
            Scanned::Paused(_) | Scanned::End => Ok(None),
        }
    }

    /// The same, as far as the limits allow: what a server answers a call with.
    ///
    /// # Errors
    /// As [`RegionScanner::next`].
    pub fn next_part(&mut self, limits: &ScanLimits) -> Result<Scanned> {
        if self.failed {
            let message = "the scanner has failed before, begin another";
            return Err(Error::new(ErrorKind::UnknownScanner, message));
        }
        let next = self.read_next(limits);
        self.fail_if(next.is_err());
        next
    }

    fn fail_if(&mut self, failed: bool) {
        if failed {
            self.failed = true;
            // The files and memstores.
            self.families.clear();
            self.on_demand.clear();
        }
    }

    /// Lets go of memory that was flushed to files since it was opened. It does so on its way; this is for
    /// scanners that wait to be asked for more, which would keep it meanwhile. Gives the bytes that it
    /// keeps all the same: it may see what a flush has dropped that had begun before the first time, and
    /// one that goes backward keeps them up to the end of its row.
    ///
    /// # Errors
    /// `Io` and `Corruption`.
    pub fn follow_flushes(&mut self) -> Result<u64> {
        let between_rows = self.left_in.is_none();
        let mut families = self.families.iter_mut().chain(&mut self.on_demand);
        let retention = families.try_fold(0, |retention, family| {
            family.follow_flushes(between_rows)?;
            Ok(retention + family.flushed_bytes())
        });
        self.fail_if(retention.is_err());
        retention
    }

    fn read_next(&mut self, limits: &ScanLimits) -> Result<Scanned> {
        if self.rows_left == 0 {
            return Ok(Scanned::End);
        }
        loop {
            let timed_out = self.check_time(limits)?;
            if self.left_in.is_none() && (self.is_filter_done() || !self.find_row()) {
                return Ok(Scanned::End);
            }
            // What passes of a row may come so seldom that every part is one cell.
            if timed_out && (self.left_in.is_none() || limits.takes_parts()) {
                return Ok(self.pause());
            }
            let mut cells = RowBuilder::with_capacity(self.usual.0, self.usual.1);
            let read = match self.is_plain {
                true => self.read_plain_row(limits, &mut cells)?,
                false => self.read_row(limits, &mut cells)?,
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
            // The last part may have nothing to show.
            if !is_partial && std::mem::take(&mut self.part_given) {
                self.rows_left -= 1;
                self.rows_given += 1;
            }
            if !cells.is_empty() {
                self.usual = (cells.len(), cells.copied_len());
                return Ok(Scanned::Row { row: cells.finish(), is_partial });
            }
            if is_partial {
                return Ok(self.pause());
            }
            if self.rows_left == 0 {
                return Ok(Scanned::End);
            }
        }
    }

    fn pause(&self) -> Scanned {
        Scanned::Paused(Bytes::copy_from_slice(&self.row))
    }

    /// How much of a row may be read within the limits.
    fn budget(&self, limits: &ScanLimits) -> ReadBudget {
        ReadBudget {
            cells: self.batch,
            bytes: limits.bytes.max(1),
            until: limits.until.filter(|_| limits.takes_parts()),
            judged: self.judged,
            ..ReadBudget::WHOLE
        }
    }

    /// The row, or more of it, where everything visible is wanted.
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

    /// The row, or more of it, as far as it passes; no cells when it does not.
    fn read_row(&mut self, limits: &ScanLimits, cells: &mut RowBuilder) -> Result<RowRead> {
        let whole = self.filter.as_ref().is_some_and(|filter| filter.needs_whole_row());
        let mut budget = match whole {
            true => ReadBudget { judged: self.judged, ..ReadBudget::WHOLE },
            false => self.budget(limits),
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
                // What was not looked at of it is, by a filter that may take note of it.
                self.pass_row()?;
                *cells = RowBuilder::default();
                return Ok(RowRead::Whole);
            }
            if self.on_demand.is_empty() {
                return Ok(RowRead::Whole);
            }
            for family in &mut self.on_demand {
                match self.reversed {
                    true => family.go_back_to(&self.row)?,
                    false => family.seek_row(&self.row)?,
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

    /// Reads the families from `place` on that are read as it is.
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

    /// Whether the filter lets the row through as a whole.
    fn lets_row_through(&mut self, whole: bool, cells: &mut RowBuilder) -> bool {
        if cells.is_empty() {
            // Of a row that was left the first part was let through.
            return self.part_given;
        }
        let Some(filter) = &mut self.filter else { return true };
        if whole {
            cells.retain(|cell| filter.keeps(cell));
            // Nobody asks about a row of which nothing is left; families on demand may have more.
            if cells.is_empty() {
                return true;
            }
        }
        !filter.filters_row()
    }

    /// Passes what is left of the row in the families that were not left behind it, as the filter says.
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

    /// Behind a row.
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
    pub fn may_have_more(&mut self) -> bool {
        self.rows_left > 0
            && (self.left_in.is_some() || (!self.is_filter_done() && self.find_row()))
    }

    /// Whether a filter has said that nothing more comes, here or in any other region.
    pub fn is_filter_done(&mut self) -> bool {
        self.filter.as_mut().is_some_and(|filter| filter.is_done())
    }

    /// How many rows it may still give.
    pub(crate) fn rows_left(&self) -> u64 {
        self.rows_left
    }

    /// How far it has come.
    pub fn progress(&self) -> ScanProgress {
        self.progress
    }

    /// The sequence it reads at.
    pub fn read_point(&self) -> u64 {
        self.read_point
    }

    /// Whether the time there is to read is over; an error when it is for good.
    fn check_time(&mut self, limits: &ScanLimits) -> Result<bool> {
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
                    "the scanner has been open for too long, begin another: age={age:?}, max={:?}",
                    self.age_max
                ),
            ));
        }
        (self.rows_until_check, self.judged) = (ROWS_BETWEEN_CHECKS, 0);
        // Most scans have come to their end by now.
        if !self.row.is_empty() {
            self.follow_flushes()?;
        }
        Ok(limits.until.is_some_and(|until| Instant::now() >= until))
    }

    /// Finds the row where the next family stands; false behind the last.
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

impl Drop for RegionScanner {
    fn drop(&mut self) {
        self.count_rows();
    }
}

/// Readers of the families that are asked for; `None` when the moment is too old by now.
fn open_readers(
    engine: &Arc<Engine>,
    families: &[Arc<FamilyStore>],
    asked: &Asked<'_>,
    at: At<'_>,
) -> Result<Option<Vec<FamilyReader<'static>>>> {
    if let Rows::Range(range) = asked.rows
        && range.is_empty()
    {
        return Ok(Some(Vec::new()));
    }
    let mut readers = Vec::with_capacity(families.len());
    for family in families.iter().filter(|family| asked.columns.has_family(family.name())) {
        match find(family, asked, at)? {
            FirstCell::Merge(merge) => {
                readers.push(FamilyReader::new(engine, family, asked, merge).into_owned());
            }
            FirstCell::Nothing => {}
            FirstCell::TooOld => return Ok(None),
        }
    }
    Ok(Some(readers))
}
