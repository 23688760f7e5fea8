//! An index's documents at a read point.

use std::sync::Arc;

use rowhouse_model::{Columns, Filter, Result, RowRange, Scan};
use rowhouse_schema::QUEUE_FAMILY;
use rowhouse_store::SearchRead;
use tantivy::fastfield::AliveBitSet;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;
use tantivy::{BitSet, Term};

use crate::list::SegmentList;
use crate::memory::{Memory, PendingRow};
use crate::segment::{Layout, OpenSegment, PartCache, SegmentFiles, UNKNOWN, alive_of, damaged};

/// An index's documents at a read point: each row that shows anything has one that is alive.
#[derive(Clone)]
pub(crate) struct View {
    /// The table's segments, the oldest first, then the segments in memory.
    pub(crate) segments: Vec<ViewedSegment>,
}

#[derive(Clone)]
pub(crate) struct ViewedSegment {
    pub(crate) segment: Arc<OpenSegment>,
    pub(crate) alive: Arc<AliveBitSet>,
}

/// An index's segments that are open, and the documents in memory.
pub(crate) struct OpenSegments {
    layout: Layout,
    parts: Arc<PartCache>,
    list: SegmentList,
    segments: Vec<TableSegment>,
    /// A merged segment that the list is about to name.
    merged: Option<TableSegment>,
    memory: Memory,
    last: Option<LastView>,
}

/// A segment in the table.
pub(crate) struct TableSegment {
    segment: Arc<OpenSegment>,
    /// The documents whose rows are in no newer segment.
    newest: BitSet,
    alive: Arc<AliveBitSet>,
    /// The numbers of the newer segments that `newest` knows.
    newer: Vec<u64>,
}

/// The last view. It holds for the same list, the same pending rows, and a time.
struct LastView {
    pending: Vec<PendingRow>,
    until: i64,
    view: Arc<View>,
}

impl ViewedSegment {
    /// Returns true if a row has a value that is too long for the index.
    ///
    /// # Errors
    /// As for reads.
    pub(crate) fn has_unknown(&self, column: &str) -> Result<bool> {
        let number = self.segment.number;
        let column = self.segment.reader().fast_fields().bytes(column);
        let Some(column) = column.map_err(|error| damaged(number, &error))? else {
            return Ok(false);
        };
        let ord = column.dictionary().term_ord(UNKNOWN);
        let Some(unknown) = ord.map_err(|error| damaged(number, &error.into()))? else {
            return Ok(false);
        };
        let docs = 0..self.segment.docs();
        let mut alive = docs.filter(|doc| self.alive.is_alive(*doc));
        Ok(alive.any(|doc| column.term_ords(doc).any(|ord| ord == unknown)))
    }
}

impl OpenSegments {
    pub(crate) fn new(layout: Layout, parts: Arc<PartCache>) -> Self {
        Self {
            layout,
            parts,
            list: SegmentList::default(),
            segments: Vec::new(),
            merged: None,
            memory: Memory::default(),
            last: None,
        }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The segment list at the last read point.
    pub(crate) fn list(&self) -> &SegmentList {
        &self.list
    }

    /// The table's segments, in list order, each with the documents whose rows are in no newer one.
    pub(crate) fn in_table(&self) -> impl Iterator<Item = (&Arc<OpenSegment>, &BitSet)> {
        self.segments.iter().map(|it| (&it.segment, &it.newest))
    }

    /// Returns the segments after one, by number.
    pub(crate) fn newer_than(&self, number: u64) -> Vec<Arc<OpenSegment>> {
        let at = self.segments.iter().position(|it| it.segment.number == number);
        let newer = self.segments.iter().skip(at.map_or(usize::MAX, |at| at + 1));
        newer.map(|it| Arc::clone(&it.segment)).collect()
    }

    /// Takes a merged segment that the list is about to name in place of others, by number, so that
    /// the next search need not open it.
    pub(crate) fn expect_merged(&mut self, merged: TableSegment, inputs: &[u64]) {
        // Its rows are rows of the inputs: older segments have no other documents for them.
        let knows_inputs =
            |older: &&mut TableSegment| inputs.iter().all(|it| older.newer.contains(it));
        for older in self.segments.iter_mut().filter(knows_inputs) {
            older.newer.push(merged.segment.number);
        }
        self.merged = Some(merged);
    }

    /// Forgets a merged segment that the list does not name.
    pub(crate) fn expect_no_merged(&mut self) {
        self.merged = None;
    }

    pub(crate) fn parts(&self) -> &Arc<PartCache> {
        &self.parts
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Forgets everything: the table has other segments, or the rows changed otherwise than row by
    /// row.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.layout.clone(), Arc::clone(&self.parts));
    }

    /// Returns the documents at a read point that is not older than the last one; `None` if more
    /// rows than `pending_max` are pending. `now` is the time at which rows are read.
    ///
    /// # Errors
    /// `Corruption` for a segment; errors as for reads.
    pub(crate) fn view(
        &mut self,
        read: &SearchRead,
        now: i64,
        pending_max: usize,
    ) -> Result<Option<Arc<View>>> {
        self.follow(read)?;
        let pending = self.pending(read, now, pending_max as u64 + 1)?;
        if pending.len() > pending_max {
            return Ok(None);
        }
        if let Some(last) = &self.last
            && last.pending == pending
            && now <= last.until
        {
            return Ok(Some(Arc::clone(&last.view)));
        }
        self.view_of(read, pending, now).map(Some)
    }

    /// Opens the segments at a read point, and closes others.
    ///
    /// # Errors
    /// As [`OpenSegments::view`].
    pub(crate) fn follow(&mut self, read: &SearchRead) -> Result<()> {
        let list = SegmentList::read(read)?;
        if list != self.list {
            self.last = None;
            self.open(read, list)?;
        }
        Ok(())
    }

    /// Returns the pending rows, in order: the first `queue_max` in the queue, and the rows whose
    /// documents are not certain any more.
    ///
    /// # Errors
    /// As [`OpenSegments::view`].
    pub(crate) fn pending(
        &self,
        read: &SearchRead,
        now: i64,
        queue_max: u64,
    ) -> Result<Vec<PendingRow>> {
        let mut pending = queued_rows(read, queue_max)?;
        self.add_expired(&mut pending, now)?;
        Ok(pending)
    }

    /// Returns a segment for pending rows. Only rows that no search has analysed are analysed.
    ///
    /// # Errors
    /// As for reads.
    pub(crate) fn merged(
        &mut self,
        read: &SearchRead,
        pending: &[PendingRow],
        now: i64,
    ) -> Result<SegmentFiles> {
        self.analyse(read, pending, now)?;
        self.memory.merged()
    }

    fn analyse(&mut self, read: &SearchRead, pending: &[PendingRow], now: i64) -> Result<()> {
        self.last = None;
        self.memory.follow(read, &self.layout, pending, now)
    }

    fn view_of(
        &mut self,
        read: &SearchRead,
        pending: Vec<PendingRow>,
        now: i64,
    ) -> Result<Arc<View>> {
        self.analyse(read, &pending, now)?;
        let open: Vec<_> = self.segments.iter().map(|it| Arc::clone(&it.segment)).collect();
        let mut changed: Vec<Option<BitSet>> = vec![None; open.len()];
        let segments = &self.segments;
        self.memory.each_older(&open, self.list.revision, |at, doc| {
            changed[at].get_or_insert_with(|| segments[at].newest.clone()).remove(doc);
        })?;
        let mut viewed = Vec::with_capacity(open.len() + 1);
        for (segment, changed) in self.segments.iter().zip(changed) {
            let alive = match changed {
                Some(alive) => Arc::new(alive_of(&alive)),
                None => Arc::clone(&segment.alive),
            };
            viewed.push(ViewedSegment { segment: Arc::clone(&segment.segment), alive });
        }
        for (segment, alive) in self.memory.segments() {
            viewed.push(ViewedSegment { segment, alive: Arc::new(alive) });
        }
        let view = Arc::new(View { segments: viewed });
        let until = self.until(now);
        self.last = Some(LastView { pending, until, view: Arc::clone(&view) });
        Ok(view)
    }

    /// The last time at which a view from this time holds.
    fn until(&self, now: i64) -> i64 {
        let in_table = self.segments.iter().flat_map(|it| it.segment.certain_after(now));
        in_table.min().unwrap_or(i64::MAX).min(self.memory.until_min())
    }

    /// Opens the segments in a list, and closes the others.
    fn open(&mut self, read: &SearchRead, list: SegmentList) -> Result<()> {
        let mut segments: Vec<TableSegment> = Vec::with_capacity(list.segments.len());
        for listed in &list.segments {
            let number = listed.id.number;
            let open = self.segments.iter().position(|it| it.segment.number == number);
            let merged = self.merged.take_if(|it| it.segment.number == number);
            segments.push(match open.map(|at| self.segments.swap_remove(at)).or(merged) {
                Some(open) => open,
                None => {
                    let table = &read.entries;
                    let long_words = listed.long_words;
                    let layout = &self.layout;
                    let parts = &self.parts;
                    TableSegment::new(OpenSegment::in_table(
                        table, &listed.id, long_words, layout, parts,
                    )?)
                }
            });
        }
        // The newest segment that has a row is right about it.
        for older in 0..segments.len() {
            for newer in older + 1..segments.len() {
                let newer = Arc::clone(&segments[newer].segment);
                segments[older].know(&newer)?;
            }
        }
        (self.segments, self.list) = (segments, list);
        Ok(())
    }

    /// Adds rows whose documents are not certain any more, and that are not in the queue.
    fn add_expired(&self, pending: &mut Vec<PendingRow>, now: i64) -> Result<()> {
        let mut expired = Vec::new();
        for TableSegment { segment, newest, .. } in &self.segments {
            for doc in segment.expired(now).filter(|doc| newest.contains(*doc)) {
                let row = segment.row(doc)?;
                if pending.binary_search_by(|it| it.row[..].cmp(&row)).is_err() {
                    expired.push(PendingRow { row, queued_at: None });
                }
            }
        }
        if !expired.is_empty() {
            pending.append(&mut expired);
            pending.sort_by(|one, other| one.row.cmp(&other.row));
        }
        Ok(())
    }
}

impl TableSegment {
    pub(crate) fn new(segment: OpenSegment) -> Self {
        let newest = BitSet::with_max_value_and_full(segment.docs());
        let alive = Arc::new(alive_of(&newest));
        Self { segment: Arc::new(segment), newest, alive, newer: Vec::new() }
    }

    /// Removes the documents whose rows are in a newer segment.
    pub(crate) fn know(&mut self, newer: &OpenSegment) -> Result<()> {
        if self.newer.contains(&newer.number) {
            return Ok(());
        }
        let docs = self.segment.docs_also_in(newer)?;
        if !docs.is_empty() {
            docs.into_iter().for_each(|doc| self.newest.remove(doc));
            self.alive = Arc::new(alive_of(&self.newest));
        }
        self.newer.push(newer.number);
        Ok(())
    }
}

/// Reads the queue at the read point: the rows that changed, in order.
fn queued_rows(read: &SearchRead, max: u64) -> Result<Vec<PendingRow>> {
    let mut scan = Scan::new(RowRange::all());
    let mut columns = Columns::all();
    columns.add_family(QUEUE_FAMILY);
    scan.columns = columns;
    scan.limit = Some(max);
    scan.filter = Some(Box::new(Filter::FirstKeyOnly));
    let mut rows = read.entries.scan_at(scan, &read.point)?;
    let mut queued = Vec::new();
    while let Some(row) = rows.next()? {
        let queued_at = row.cells().next().map(|cell| cell.timestamp().as_millis());
        queued.push(PendingRow { row: row.key().to_vec(), queued_at });
    }
    Ok(queued)
}

impl Bm25StatisticsProvider for View {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let mut tokens = 0;
        for viewed in &self.segments {
            tokens += viewed.segment.reader().inverted_index(field)?.total_num_tokens();
        }
        Ok(tokens)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.segments.iter().map(|it| u64::from(it.segment.docs())).sum())
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let mut docs = 0;
        for viewed in &self.segments {
            let index = viewed.segment.reader().inverted_index(term.field())?;
            docs += u64::from(index.doc_freq(term)?);
        }
        Ok(docs)
    }
}
