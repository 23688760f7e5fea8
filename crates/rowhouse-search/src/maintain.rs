//! Builds an index, writes changed rows to segments, merges segments, and deletes segments that are
//! not used any more.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_model::{
    Bytes, Cell, CellKind, Columns, Error, Filter, Result, RowRange, Scan, TableName, Timestamp,
};
use rowhouse_schema::{IndexState, QUEUE_FAMILY, SEGMENT_FAMILY};
use rowhouse_store::{CompactionKind, SearchRead, Store};
use tantivy::{Index, IndexReader, ReloadPolicy, Searcher};

use crate::list::{ListedSegment, SegmentList};
use crate::memory::{BUILDER_BYTES_MAX, PendingRow, SMALL_DOCS};
use crate::merge::{LargeMerge, MergeInput, MergeLimits, due};
use crate::rows::document_of;
use crate::segment::{
    Layout, OpenSegment, PartCache, RECORD_BYTES_MAX, SegmentBuilder, SegmentFiles, Stop, cells_of,
    failed, guarded, removal_of, removals_of,
};
use crate::view::{OpenSegments, TableSegment};

/// The most queue entries that become one segment.
const ROWS_AT_ONCE: u64 = 50_000;

/// The most rows that a build reads at one read point.
const BUILT_AT_ONCE: usize = 200_000;

/// How many queue entries are removed before the queue is compacted. Searches read past their
/// delete markers until then.
const REMOVED_MAX: u64 = 2_000;

/// The time after which a large merge that failed is tried again.
pub(crate) const MERGE_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// An index that is in use.
pub(crate) struct LiveIndex {
    pub(crate) open: Mutex<OpenSegments>,
    /// Held by the segment writer.
    working: Mutex<Work>,
    /// For queries that need one; the index is empty.
    pub(crate) searcher: Searcher,
    limits: MergeLimits,
}

impl LiveIndex {
    pub(crate) fn new(layout: Layout, parts: Arc<PartCache>, limits: MergeLimits) -> Result<Self> {
        let empty = Index::create_in_ram(layout.schema.clone());
        let reader = empty.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader: IndexReader = reader.map_err(|error| failed(&error))?;
        Ok(Self {
            open: Mutex::new(OpenSegments::new(layout, parts)),
            working: Mutex::default(),
            searcher: reader.searcher(),
            limits,
        })
    }
}

/// What the segment writer knows.
#[derive(Default)]
struct Work {
    /// Segments that are in the list no more, and whose parts are not deleted yet.
    retired: Vec<Retired>,
    /// Whether segments that no list names were looked for.
    is_swept: bool,
    /// How many queue entries are removed since the queue was last compacted.
    removed: u64,
    /// The large merge that is planned or runs.
    large: Option<Merging>,
    /// The time before which no large merge is planned.
    large_not_before: Option<Instant>,
}

/// A segment whose parts are deleted when no search reads it.
struct Retired {
    number: u64,
    /// The names of the files.
    files: Vec<String>,
    segment: Weak<OpenSegment>,
}

/// A large merge that is planned or runs.
struct Merging {
    number: u64,
    inputs: Vec<u64>,
    stop: Stop,
}

/// What some work leaves.
pub(crate) struct Worked {
    /// True if no changed row waits.
    pub(crate) is_done: bool,
    /// A merge to run, and to [`finish`].
    pub(crate) large: Option<LargeMerge>,
}

impl Worked {
    const DONE: Self = Self { is_done: true, large: None };
    const MORE: Self = Self { is_done: false, large: None };
}

impl Retired {
    fn new(listed: &ListedSegment, segment: &Arc<OpenSegment>) -> Self {
        let number = listed.id.number;
        Self { number, files: listed.file_names(), segment: Arc::downgrade(segment) }
    }

    fn is_unused(&self) -> bool {
        self.segment.strong_count() == 0
    }
}

/// Does some work on an index. `may_plan` says that a large merge may be planned, which is run
/// then: no other is planned before it is finished.
///
/// # Errors
/// `Corruption` for a segment; errors as for reads and writes.
pub(crate) fn work(
    store: &Store,
    table: &TableName,
    index: &str,
    live: &LiveIndex,
    may_plan: bool,
) -> Result<Worked> {
    let mut work = live.working.lock();
    let read = store.search_read(table, index)?;
    match &read.state {
        IndexState::Off(_) => return Ok(Worked::DONE),
        IndexState::Repairing => {
            let building = IndexState::Building { next_row: Bytes::new() };
            store.set_search_state(&read.entries, &IndexState::Repairing, &building)?;
            return Ok(Worked::MORE);
        }
        IndexState::Building { next_row } => {
            let next_row = next_row.clone();
            let is_built = Maintainer { store, live, work: &mut work }.build(&read, next_row)?;
            if !is_built {
                return Ok(Worked::MORE);
            }
        }
        IndexState::Ready => {}
        state => return Err(Error::unsupported(format!("an index of a newer version: {state}"))),
    }
    let mut maintainer = Maintainer { store, live, work: &mut work };
    let is_done = maintainer.write_queued(table, index)?;
    maintainer.merge_due(table, index, false)?;
    maintainer.tidy(table, index)?;
    // Last: an error after it would leave a merge that is planned and never run.
    let large = if may_plan { maintainer.merge_due(table, index, true)? } else { None };
    Ok(Worked { is_done, large })
}

/// Ends a large merge: the merged segment takes the inputs' place in the list, unless the index has
/// other segments by now. Documents that became outdated meanwhile need nothing: rows of newer
/// segments outdate them, as in the inputs.
///
/// # Errors
/// The merge's error, unless it was ended early or the table is gone; errors as for reads and
/// writes.
pub(crate) fn finish(
    store: &Store,
    live: &LiveIndex,
    merge: LargeMerge,
    merged: Result<ListedSegment>,
) -> Result<()> {
    // Searches go on meanwhile.
    let opened =
        merged.and_then(|listed| Ok((guarded(|| open_merged(live, &merge, &listed))?, listed)));
    let mut work = live.working.lock();
    let mut maintainer = Maintainer { store, live, work: &mut work };
    let listed = opened.and_then(|(open, listed)| maintainer.list_merged(&merge, open, listed));
    live.open.lock().expect_no_merged();
    maintainer.work.large = None;
    if !matches!(listed, Ok(true)) {
        // The next work deletes the parts that are in the table.
        maintainer.work.is_swept = false;
    }
    let Err(error) = listed else { return Ok(()) };
    if merge.stop.is_stopped() || merge.entries.is_dropped() {
        return Ok(());
    }
    maintainer.work.large_not_before = Some(Instant::now() + MERGE_AGAIN_AFTER);
    Err(error)
}

/// Gives up a large merge.
pub(crate) fn abandon(live: &LiveIndex) {
    let mut work = live.working.lock();
    work.large = None;
    work.is_swept = false;
}

/// Opens a merged segment, and notes which of its documents newer segments outdate.
fn open_merged(
    live: &LiveIndex,
    merge: &LargeMerge,
    listed: &ListedSegment,
) -> Result<TableSegment> {
    let (layout, parts, newer) = {
        let open = live.open.lock();
        let last = merge.inputs.last().map_or(0, |input| input.segment.number);
        (open.layout().clone(), Arc::clone(open.parts()), open.newer_than(last))
    };
    let entries = &merge.entries;
    let long_words = listed.long_words;
    let segment = OpenSegment::in_table(entries, &listed.id, long_words, &layout, &parts)?;
    let mut segment = TableSegment::new(segment);
    for newer in newer {
        segment.know(&newer)?;
    }
    Ok(segment)
}

struct Maintainer<'k> {
    store: &'k Store,
    live: &'k LiveIndex,
    work: &'k mut Work,
}

impl Maintainer<'_> {
    /// Builds a part of an index, from a row on. Returns true if the whole index is built.
    fn build(&mut self, read: &SearchRead, mut next_row: Bytes) -> Result<bool> {
        let mut list = SegmentList::read(read)?;
        if next_row.is_empty() {
            if let Some(large) = &self.work.large {
                large.stop.stop();
            }
            let mut open = self.live.open.lock();
            // Answers that were returned before still read them.
            let closed = open.list().segments.iter().zip(open.in_table());
            let closed = closed.map(|(listed, (segment, _))| Retired::new(listed, segment));
            self.work.retired.extend(closed);
            open.clear();
            self.work.is_swept = false;
            if !list.segments.is_empty() {
                list.segments.clear();
                self.write_list(read, &mut list, Vec::new())?;
            }
        }
        // Rows that changed since are in the queue.
        let read = self.store.search_read(read.table.name(), read.index.name())?;
        let before = read.state.clone();
        if !matches!(before, IndexState::Building { .. }) {
            return Ok(false);
        }
        let layout = self.live.open.lock().layout().clone();
        let is_last = match build_segment(&read, &layout, &mut next_row, self.store.now_millis())? {
            (Some(files), is_last) => {
                self.add_segment(&read, &mut list, files, Vec::new())?;
                is_last
            }
            (None, is_last) => is_last,
        };
        let state = if is_last { IndexState::Ready } else { IndexState::Building { next_row } };
        let is_noted = self.store.set_search_state(&read.entries, &before, &state)?;
        Ok(is_last && is_noted)
    }

    /// Writes a segment for the rows in the queue and for the rows whose documents are not certain
    /// any more. Returns true if none is left.
    fn write_queued(&mut self, table: &TableName, index: &str) -> Result<bool> {
        let now = self.store.now_millis();
        let (read, mut pending, mut list, layout, analysed) = {
            let mut open = self.live.open.lock();
            let read = self.store.search_read(table, index)?;
            open.follow(&read)?;
            let mut pending = open.pending(&read, now, ROWS_AT_ONCE)?;
            // Many rows may expire at one time.
            pending.truncate(ROWS_AT_ONCE as usize);
            if pending.is_empty() {
                return Ok(true);
            }
            let analysed = if open.memory().missing(&pending, now) <= SMALL_DOCS {
                Some(open.merged(&read, &pending, now)?)
            } else {
                None
            };
            (read, pending, open.list().clone(), open.layout().clone(), analysed)
        };
        let is_last = (pending.len() as u64) < ROWS_AT_ONCE;
        let (files, done) = match analysed {
            Some(files) => (files, pending.len()),
            // Searches go on meanwhile.
            None => segment_of(&read, &layout, &pending, now)?,
        };
        let is_last = is_last && done == pending.len();
        pending.truncate(done);
        let mut removed = Vec::with_capacity(pending.len());
        for row in &pending {
            removed.extend(removal_from_queue(row)?);
        }
        self.work.removed += removed.len() as u64;
        self.add_segment(&read, &mut list, files, removed)?;
        Ok(is_last)
    }

    /// Writes a segment, and names it in the list in one record with other cells.
    fn add_segment(
        &mut self,
        read: &SearchRead,
        list: &mut SegmentList,
        files: SegmentFiles,
        with: Vec<Cell>,
    ) -> Result<()> {
        let number = next_number(read, list);
        self.write_parts(read, number, &files)?;
        list.segments.push(ListedSegment::new(number, &files));
        self.write_list(read, list, with)
    }

    fn write_parts(&self, read: &SearchRead, number: u64, files: &SegmentFiles) -> Result<()> {
        let mut record = Vec::new();
        let mut bytes = 0;
        for cell in cells_of(number, files)? {
            bytes += cell.value().len();
            record.push(cell);
            if bytes >= RECORD_BYTES_MAX {
                self.store.write_search_table(&read.entries, std::mem::take(&mut record))?;
                bytes = 0;
            }
        }
        if record.is_empty() {
            return Ok(());
        }
        self.store.write_search_table(&read.entries, record)
    }

    fn write_list(
        &self,
        read: &SearchRead,
        list: &mut SegmentList,
        mut with: Vec<Cell>,
    ) -> Result<()> {
        list.revision = (list.revision + 1).max(read.point.sequence());
        with.push(list.to_cell()?);
        self.store.write_search_table(&read.entries, with)
    }

    /// Merges the segments that are due, except for large runs. Plans a merge of one of these, if
    /// it may.
    fn merge_due(
        &mut self,
        table: &TableName,
        index: &str,
        may_plan: bool,
    ) -> Result<Option<LargeMerge>> {
        let is_early = self.work.large_not_before.is_some_and(|time| Instant::now() < time);
        let may_plan = may_plan && self.work.large.is_none() && !is_early;
        loop {
            let (read, inputs) = {
                let mut open = self.live.open.lock();
                let read = self.store.search_read(table, index)?;
                open.follow(&read)?;
                let merging = self.work.large.as_ref().map_or(&[][..], |large| &large.inputs);
                let sizes = MergeInput::sizes(&open, merging);
                let due = due(&sizes, &self.live.limits);
                let is_small = |run: &&Range<usize>| {
                    let bytes: u64 = sizes[(*run).clone()].iter().map(|it| it.bytes).sum();
                    bytes <= self.live.limits.at_once_bytes_max
                };
                let small = due.iter().find(is_small);
                let Some(run) = small.or(due.first()) else { return Ok(None) };
                let inputs = MergeInput::of(&open, run);
                if small.is_none() && MergeInput::docs(&inputs) > 0 {
                    if !may_plan {
                        return Ok(None);
                    }
                    let list = open.list().clone();
                    drop(open);
                    return self.plan(&read, list, inputs).map(Some);
                }
                (read, inputs)
            };
            self.merge(&read, inputs)?;
        }
    }

    /// Merges segments in memory.
    fn merge(&mut self, read: &SearchRead, inputs: Vec<MergeInput>) -> Result<()> {
        let files = MergeInput::merge(&inputs)?;
        let mut list = SegmentList::read(read)?;
        let number = next_number(read, &mut list);
        let merged = match files {
            Some(files) => {
                self.write_parts(read, number, &files)?;
                Some(ListedSegment::new(number, &files))
            }
            None => None,
        };
        self.replace(read, list, &inputs, merged).map(|_| ())
    }

    /// Plans a large merge: no segment gets the merged segment's number after this.
    fn plan(
        &mut self,
        read: &SearchRead,
        mut list: SegmentList,
        inputs: Vec<MergeInput>,
    ) -> Result<LargeMerge> {
        let number = next_number(read, &mut list);
        self.write_list(read, &mut list, Vec::new())?;
        let merge = LargeMerge::new(read, number, inputs);
        let inputs = merge.numbers();
        self.work.large = Some(Merging { number, inputs, stop: merge.stop.clone() });
        Ok(merge)
    }

    /// Puts a merged segment into the list. Returns false if its inputs are not there any more.
    fn list_merged(
        &mut self,
        merge: &LargeMerge,
        open: TableSegment,
        listed: ListedSegment,
    ) -> Result<bool> {
        merge.stop.check()?;
        let read = self.store.search_read(&merge.table, &merge.index)?;
        let is_same = read.entries.id() == merge.entries.id() && !merge.entries.is_dropped();
        if !is_same || !read.state.is_ready() {
            return Ok(false);
        }
        let list = SegmentList::read(&read)?;
        self.live.open.lock().expect_merged(open, &merge.numbers());
        let is_listed = self.replace(&read, list, &merge.inputs, Some(listed))?;
        if is_listed {
            let read = self.store.search_read(&merge.table, &merge.index)?;
            self.live.open.lock().follow(&read)?;
        }
        Ok(is_listed)
    }

    /// Puts a segment into the list in place of a run of others, if the list has these.
    fn replace(
        &mut self,
        read: &SearchRead,
        mut list: SegmentList,
        inputs: &[MergeInput],
        merged: Option<ListedSegment>,
    ) -> Result<bool> {
        let is_run = |run: &[ListedSegment]| {
            run.iter().zip(inputs).all(|(listed, input)| *listed == input.listed)
        };
        let Some(from) = list.segments.windows(inputs.len()).position(is_run) else {
            return Ok(false);
        };
        list.segments.splice(from..from + inputs.len(), merged);
        // Before the list is written: an error does not say that it was not.
        let retired = inputs.iter().map(|input| Retired::new(&input.listed, &input.segment));
        self.work.retired.extend(retired);
        self.write_list(read, &mut list, Vec::new())?;
        Ok(true)
    }

    /// Deletes segments that are in no list and that no search reads, and compacts the queue.
    fn tidy(&mut self, table: &TableName, index: &str) -> Result<()> {
        let read = self.store.search_read(table, index)?;
        if self.work.removed >= REMOVED_MAX {
            read.entries.flush_family(QUEUE_FAMILY.as_bytes())?;
            read.entries.compact_family(QUEUE_FAMILY.as_bytes(), CompactionKind::Major)?;
            self.work.removed = 0;
        }
        if self.work.is_swept && !self.work.retired.iter().any(Retired::is_unused) {
            return Ok(());
        }
        // Segments that are no longer listed are closed before they are looked for.
        self.live.open.lock().follow(&read)?;
        let mut list = SegmentList::read(&read)?;
        let mut used: BTreeSet<u64> = list.segments.iter().map(|it| it.id.number).collect();
        used.extend(self.work.retired.iter().filter(|it| !it.is_unused()).map(|it| it.number));
        used.extend(self.work.large.as_ref().map(|large| large.number));
        let (removals, next_number) = if self.work.is_swept {
            (self.retired_parts(&used)?, 0)
        } else {
            removals(&read, &used)?
        };
        if next_number > list.next_number.max(1) {
            // Parts of a segment that was never listed.
            list.next_number = next_number;
            self.write_list(&read, &mut list, removals)?;
        } else if !removals.is_empty() {
            self.store.write_search_table(&read.entries, removals)?;
        }
        self.work.retired.retain(|it| used.contains(&it.number));
        self.work.is_swept = true;
        Ok(())
    }

    /// Returns the cells that remove the parts of retired segments, except for used ones.
    fn retired_parts(&self, used: &BTreeSet<u64>) -> Result<Vec<Cell>> {
        let mut removals = Vec::new();
        for retired in self.work.retired.iter().filter(|it| !used.contains(&it.number)) {
            removals.extend(removals_of(retired.number, &retired.files)?);
        }
        Ok(removals)
    }
}

/// Returns the number for a new segment. It is at least the store's sequence number, so that the
/// numbers in a table that was truncated meanwhile differ from the old segments' numbers.
fn next_number(read: &SearchRead, list: &mut SegmentList) -> u64 {
    let number = list.next_number.max(read.point.sequence()).max(1);
    list.next_number = number + 1;
    number
}

/// Makes a segment from rows from `next_row` on, as many as fit. Returns it, if any row shows
/// anything, and whether these were the last rows.
fn build_segment(
    read: &SearchRead,
    layout: &Layout,
    next_row: &mut Bytes,
    now: i64,
) -> Result<(Option<SegmentFiles>, bool)> {
    let mut builder = SegmentBuilder::new(layout, false)?;
    let mut rows = 0;
    loop {
        let keys = read.row_keys(next_row)?;
        let Some(last) = keys.last() else { break };
        *next_row = RowRange::row(last).stop;
        for row in &keys {
            let document = document_of(read, row, now)?;
            if !document.is_gone() {
                builder.add(&document)?;
            }
            if builder.memory() > BUILDER_BYTES_MAX {
                *next_row = RowRange::row(row).stop;
                return Ok((Some(builder.finish()?), false));
            }
        }
        rows += keys.len();
        if rows >= BUILT_AT_ONCE {
            let files = (builder.docs() > 0).then(|| builder.finish()).transpose()?;
            return Ok((files, false));
        }
    }
    Ok(((builder.docs() > 0).then(|| builder.finish()).transpose()?, true))
}

/// Makes a segment from pending rows, as many as fit. Returns it, and how many rows they are.
fn segment_of(
    read: &SearchRead,
    layout: &Layout,
    pending: &[PendingRow],
    now: i64,
) -> Result<(SegmentFiles, usize)> {
    let mut builder = SegmentBuilder::new(layout, pending.len() <= SMALL_DOCS)?;
    let mut done = 0;
    for row in pending {
        builder.add(&document_of(read, &row.row, now)?)?;
        done += 1;
        if builder.memory() > BUILDER_BYTES_MAX {
            break;
        }
    }
    Ok((builder.finish()?, done))
}

/// Returns the cell that removes a row's entry from the queue, if it has one, with all earlier
/// ones. A later entry for the row stays.
fn removal_from_queue(row: &PendingRow) -> Result<Option<Cell>> {
    let Some(queued_at) = row.queued_at else { return Ok(None) };
    let at = Timestamp::from_millis(queued_at)?;
    let row = Bytes::copy_from_slice(&row.row);
    Cell::new(row, QUEUE_FAMILY.as_bytes(), b"", at, CellKind::DeleteColumn, b"").map(Some)
}

/// Returns the cells that remove the parts of all segments but the used ones, and a number above
/// the removed segments' numbers: the removals would hide the parts of another segment with the
/// same number.
fn removals(read: &SearchRead, used: &BTreeSet<u64>) -> Result<(Vec<Cell>, u64)> {
    let mut removals = Vec::new();
    let mut next_number = 0;
    for row in segment_rows(read)? {
        let number = row.get(..8).and_then(|number| number.try_into().ok());
        let number = number.map(u64::from_be_bytes);
        if number.is_none_or(|number| !used.contains(&number)) {
            next_number = next_number.max(number.map_or(0, |number| number.saturating_add(1)));
            removals.push(removal_of(row)?);
        }
    }
    Ok((removals, next_number))
}

/// Returns the rows in which segment parts lie.
fn segment_rows(read: &SearchRead) -> Result<Vec<Bytes>> {
    let mut scan = Scan::new(RowRange::all());
    let mut columns = Columns::all();
    columns.add_family(SEGMENT_FAMILY);
    scan.columns = columns;
    // Parts after the first are not read.
    scan.filter = Some(Box::new(Filter::FirstKeyOnly));
    scan.cache_blocks = false;
    let mut rows = read.entries.scan_at(scan, &read.point)?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        keys.push(Bytes::copy_from_slice(row.key()));
    }
    Ok(keys)
}
