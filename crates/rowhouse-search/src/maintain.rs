//! Builds an index, writes changed rows to segments, merges segments, and deletes segments that are
//! not used any more.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rowhouse_model::{
    Bytes, Cell, CellKind, Columns, Error, Filter, Result, RowRange, Scan, TableName, Timestamp,
};
use rowhouse_schema::{IndexState, QUEUE_FAMILY, SEGMENT_FAMILY};
use rowhouse_store::{CompactionKind, SearchRead, Store};
use tantivy::{BitSet, Index, IndexReader, ReloadPolicy, Searcher};

use crate::list::{ListedSegment, SegmentList};
use crate::memory::{BUILDER_BYTES_MAX, PendingRow, SMALL_DOCS};
use crate::rows::document_of;
use crate::segment::{
    Layout, OpenSegment, PartCache, SegmentBuilder, SegmentFiles, alive_of, cells_of, failed,
    merge, removal_of,
};
use crate::view::OpenSegments;

/// The most queue entries that become one segment.
const ROWS_AT_ONCE: u64 = 50_000;

/// The most rows that a build reads at one read point.
const BUILT_AT_ONCE: usize = 200_000;

/// How many cell bytes one log record has at most.
const RECORD_BYTES_MAX: usize = 4 << 20;

/// How many segments of a size are merged into one.
const MERGED_AT_ONCE: usize = 10;

/// Segments with more bytes together are not merged. A merge is made in memory, and no changed row
/// is written to a segment before it ends: a search with too many changed rows waits for it.
const MERGED_BYTES_MAX: u64 = 256 << 20;

/// How many queue entries are removed before the queue is compacted. Searches read past their
/// delete markers until then.
const REMOVED_MAX: u64 = 2_000;

/// An index that is in use.
pub(crate) struct LiveIndex {
    pub(crate) open: Mutex<OpenSegments>,
    /// Held by the segment writer.
    working: Mutex<Work>,
    /// For queries that need one; the index is empty.
    pub(crate) searcher: Searcher,
}

impl LiveIndex {
    pub(crate) fn new(layout: Layout, parts: Arc<PartCache>) -> Result<Self> {
        let empty = Index::create_in_ram(layout.schema.clone());
        let reader = empty.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader: IndexReader = reader.map_err(|error| failed(&error))?;
        Ok(Self {
            open: Mutex::new(OpenSegments::new(layout, parts)),
            working: Mutex::default(),
            searcher: reader.searcher(),
        })
    }
}

/// What the segment writer knows.
#[derive(Default)]
struct Work {
    /// Segments that are in the list no more, and that a search may still read.
    retired: Vec<(u64, Weak<OpenSegment>)>,
    /// Whether segments that no list names were looked for.
    is_swept: bool,
    /// How many queue entries are removed since the queue was last compacted.
    removed: u64,
}

/// Works on an index until nothing is left to do.
///
/// # Errors
/// As [`work`].
pub(crate) fn work_all(
    store: &Store,
    table: &TableName,
    index: &str,
    live: &LiveIndex,
) -> Result<()> {
    while !work(store, table, index, live)? {}
    Ok(())
}

/// Does some work on an index. Returns true if nothing is left to do.
///
/// # Errors
/// `Corruption` for a segment; errors as for reads and writes.
pub(crate) fn work(
    store: &Store,
    table: &TableName,
    index: &str,
    live: &LiveIndex,
) -> Result<bool> {
    let mut work = live.working.lock();
    let read = store.search_read(table, index)?;
    match &read.state {
        IndexState::Off(_) => return Ok(true),
        IndexState::Repairing => {
            let building = IndexState::Building { next_row: Bytes::new() };
            store.set_search_state(&read.entries, &IndexState::Repairing, &building)?;
            return Ok(false);
        }
        IndexState::Building { next_row } => {
            let next_row = next_row.clone();
            let is_built = Maintainer { store, live, work: &mut work }.build(&read, next_row)?;
            if !is_built {
                return Ok(false);
            }
        }
        IndexState::Ready => {}
        state => return Err(Error::unsupported(format!("an index of a newer version: {state}"))),
    }
    let mut maintainer = Maintainer { store, live, work: &mut work };
    let is_done = maintainer.write_queued(table, index)?;
    maintainer.merge_due(table, index)?;
    maintainer.tidy(table, index)?;
    Ok(is_done)
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
            let mut open = self.live.open.lock();
            // Answers that were returned before still read them.
            let closed = open.in_table().map(|(segment, _)| segment);
            let closed = closed.map(|segment| (segment.number, Arc::downgrade(segment)));
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

    /// Merges segments of one size, if there are many.
    fn merge_due(&mut self, table: &TableName, index: &str) -> Result<()> {
        loop {
            let (read, mut list, inputs, from) = {
                let mut open = self.live.open.lock();
                let read = self.store.search_read(table, index)?;
                open.follow(&read)?;
                let list = open.list().clone();
                let Some((from, to)) = choose(&list) else { return Ok(()) };
                let inputs: Vec<_> = open
                    .in_table()
                    .skip(from)
                    .take(to - from)
                    .map(|(segment, newest)| (Arc::clone(segment), newest.clone()))
                    .collect();
                (read, list, inputs, from)
            };
            let (segments, files) = merged(inputs, from == 0)?;
            let to = from + segments.len();
            let number = next_number(&read, &mut list);
            let with = match files {
                Some(files) => {
                    self.write_parts(&read, number, &files)?;
                    Some(ListedSegment::new(number, &files))
                }
                None => None,
            };
            list.segments.splice(from..to, with);
            self.write_list(&read, &mut list, Vec::new())?;
            for segment in segments {
                self.work.retired.push((segment.number, Arc::downgrade(&segment)));
            }
        }
    }

    /// Deletes segments that are in no list and that no search reads, and compacts the queue.
    fn tidy(&mut self, table: &TableName, index: &str) -> Result<()> {
        let read = self.store.search_read(table, index)?;
        if self.work.removed >= REMOVED_MAX {
            read.entries.flush_family(QUEUE_FAMILY.as_bytes())?;
            read.entries.compact_family(QUEUE_FAMILY.as_bytes(), CompactionKind::Major)?;
            self.work.removed = 0;
        }
        let is_unused = |(_, segment): &(u64, Weak<OpenSegment>)| segment.strong_count() == 0;
        let is_swept = self.work.is_swept;
        if is_swept && !self.work.retired.iter().any(is_unused) {
            return Ok(());
        }
        // Segments that are no longer listed are closed before they are looked for.
        self.live.open.lock().follow(&read)?;
        let mut list = SegmentList::read(&read)?;
        let mut used: BTreeSet<u64> = list.segments.iter().map(|it| it.id.number).collect();
        let in_use = self.work.retired.iter().filter(|it| !is_unused(it));
        used.extend(in_use.map(|(number, _)| *number));
        let (removals, next_number) = removals(&read, &used)?;
        if next_number > list.next_number.max(1) {
            // Parts of a segment that was never listed.
            list.next_number = next_number;
            self.write_list(&read, &mut list, removals)?;
        } else if !removals.is_empty() {
            self.store.write_search_table(&read.entries, removals)?;
        }
        self.work.retired.retain(|it| !is_unused(it));
        self.work.is_swept = true;
        Ok(())
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

/// Returns the segments to merge, by position: the newest ones, in a run.
fn choose(list: &SegmentList) -> Option<(usize, usize)> {
    let class = |segment: &ListedSegment| segment.bytes().max(1).ilog10().max(5);
    let segments = &list.segments;
    let largest = segments.iter().map(class).max()?;
    for limit in 5..=largest {
        let from = segments.iter().rposition(|it| class(it) > limit).map_or(0, |at| at + 1);
        let bytes: u64 = segments[from..].iter().map(ListedSegment::bytes).sum();
        if segments.len() - from >= MERGED_AT_ONCE && bytes <= MERGED_BYTES_MAX {
            return Some((from, segments.len()));
        }
    }
    None
}

/// Merges segments. `is_oldest` says that no segment is older: rows that show nothing need no
/// document then. Returns the segments, and the merged one unless it has no documents.
fn merged(
    inputs: Vec<(Arc<OpenSegment>, BitSet)>,
    is_oldest: bool,
) -> Result<(Vec<Arc<OpenSegment>>, Option<SegmentFiles>)> {
    let mut segments = Vec::with_capacity(inputs.len());
    let mut alive = Vec::with_capacity(inputs.len());
    for (segment, mut newest) in inputs {
        if is_oldest && segment.has_gone() {
            for doc in 0..segment.docs() {
                if segment.is_gone(doc) {
                    newest.remove(doc);
                }
            }
        }
        alive.push(alive_of(&newest));
        segments.push(segment);
    }
    let docs: usize = alive.iter().map(|it| it.num_alive_docs()).sum();
    if docs == 0 {
        return Ok((segments, None));
    }
    let inputs: Vec<_> = segments.iter().map(|segment| &**segment).zip(alive).collect();
    let files = merge(&inputs)?;
    drop(inputs);
    Ok((segments, Some(files)))
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
    scan.filter = Some(Box::new(Filter::KeyOnly { length_as_value: false }));
    let mut rows = read.entries.scan_at(scan, &read.point)?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        keys.push(Bytes::copy_from_slice(row.key()));
    }
    Ok(keys)
}
