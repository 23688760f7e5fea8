//! Pending rows: rows that changed since their documents were written. Their documents are in
//! segments in memory.

use std::collections::HashMap;
use std::sync::Arc;

use rowhouse_model::Result;
use rowhouse_store::SearchRead;
use tantivy::fastfield::AliveBitSet;
use tantivy::{BitSet, DocId};

use crate::rows::document_of;
use crate::segment::{Layout, OpenSegment, SegmentBuilder, SegmentFiles, alive_of, merge};

/// The most segments in memory. More are merged.
const SEGMENTS_MAX: usize = 8;

/// How much memory, in bytes, a segment being built takes before it is finished.
pub(crate) const BUILDER_BYTES_MAX: usize = 64 << 20;

/// Documents up to which a segment is small.
pub(crate) const SMALL_DOCS: usize = 1_000;

/// A row whose documents in the table's segments do not count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PendingRow {
    pub(crate) row: Vec<u8>,
    /// The timestamp of the row's entry in the queue; `None` if it has no entry, and the document
    /// is not certain any more.
    pub(crate) queued_at: Option<i64>,
}

/// Documents for pending rows.
#[derive(Default)]
pub(crate) struct Memory {
    segments: Vec<MemorySegment>,
    rows: HashMap<Vec<u8>, Analysed>,
}

struct MemorySegment {
    segment: Arc<OpenSegment>,
    files: SegmentFiles,
}

/// A row that was analysed.
struct Analysed {
    queued_at: Option<i64>,
    /// The last millisecond at which the document is certain.
    until: i64,
    /// The segment's position among the segments in memory, and the document there.
    segment: usize,
    doc: DocId,
    /// The row's documents in the table's segments, each with the segment number, as of a revision
    /// of the segment list.
    older: Vec<(u64, DocId)>,
    older_at: u64,
}

impl Memory {
    /// Analyses the pending rows that are not analysed, as they are at the read point, and forgets
    /// all other rows.
    ///
    /// # Errors
    /// As for the reads.
    pub(crate) fn follow(
        &mut self,
        read: &SearchRead,
        layout: &Layout,
        pending: &[PendingRow],
        now: i64,
    ) -> Result<()> {
        let mut retained = HashMap::with_capacity(pending.len());
        let mut new = Vec::new();
        for row in pending {
            match self.rows.remove(&row.row) {
                Some(analysed) if analysed.queued_at == row.queued_at && now <= analysed.until => {
                    retained.insert(row.row.clone(), analysed);
                }
                _ => new.push(row),
            }
        }
        self.rows = retained;
        if let Err(error) = self.analyse(read, layout, &new, now) {
            // Some rows may be in no segment.
            self.clear();
            return Err(error);
        }
        self.tidy(layout)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn analyse(
        &mut self,
        read: &SearchRead,
        layout: &Layout,
        pending: &[&PendingRow],
        now: i64,
    ) -> Result<()> {
        let mut pending = pending.to_vec();
        // Documents are in row order.
        pending.sort_by(|one, other| one.row.cmp(&other.row));
        let is_small = pending.len() <= SMALL_DOCS;
        let mut building: Option<(SegmentBuilder, Vec<(&PendingRow, i64)>)> = None;
        for row in pending {
            let document = document_of(read, &row.row, now)?;
            if building.is_none() {
                building = Some((SegmentBuilder::new(layout, is_small)?, Vec::new()));
            }
            let Some((builder, rows)) = &mut building else { continue };
            builder.add(&document)?;
            rows.push((row, document.until));
            if builder.memory() > BUILDER_BYTES_MAX
                && let Some((builder, rows)) = building.take()
            {
                self.add(layout, builder, rows)?;
            }
        }
        match building {
            Some((builder, rows)) => self.add(layout, builder, rows),
            None => Ok(()),
        }
    }

    fn add(
        &mut self,
        layout: &Layout,
        builder: SegmentBuilder,
        rows: Vec<(&PendingRow, i64)>,
    ) -> Result<()> {
        let files = builder.finish()?;
        let segment = self.segments.len();
        self.push(layout, files)?;
        for (doc, (row, until)) in (0..).zip(rows) {
            let analysed = Analysed {
                queued_at: row.queued_at,
                until,
                segment,
                doc,
                older: Vec::new(),
                older_at: u64::MAX,
            };
            self.rows.insert(row.row.clone(), analysed);
        }
        Ok(())
    }

    fn push(&mut self, layout: &Layout, files: SegmentFiles) -> Result<()> {
        let segment = Arc::new(OpenSegment::in_memory(&files, layout)?);
        self.segments.push(MemorySegment { segment, files });
        Ok(())
    }

    /// Drops segments where nothing counts, and merges too many.
    fn tidy(&mut self, layout: &Layout) -> Result<()> {
        if self.rows.is_empty() {
            self.segments.clear();
            return Ok(());
        }
        let docs: u64 = self.segments.iter().map(|it| u64::from(it.segment.docs())).sum();
        let too_many = self.segments.len() > SEGMENTS_MAX;
        let mostly_dead = docs > 1_000 && docs / 2 > self.rows.len() as u64;
        if !too_many && !mostly_dead {
            return Ok(());
        }
        let files = self.merged()?;
        self.segments.clear();
        self.push(layout, files)?;
        // The documents in the merged segment are in row order.
        let mut rows: Vec<_> = self.rows.iter_mut().collect();
        rows.sort_by_key(|(row, _)| *row);
        for (doc, (_, analysed)) in (0..).zip(rows) {
            (analysed.segment, analysed.doc) = (0, doc);
        }
        Ok(())
    }

    /// Returns how many of these rows are not analysed.
    pub(crate) fn missing(&self, pending: &[PendingRow], now: i64) -> usize {
        let is_missing = |row: &&PendingRow| {
            let analysed = self.rows.get(&row.row);
            !analysed.is_some_and(|it| it.queued_at == row.queued_at && now <= it.until)
        };
        pending.iter().filter(is_missing).count()
    }

    /// Returns one segment with all rows' documents. There is one.
    pub(crate) fn merged(&self) -> Result<SegmentFiles> {
        let alive = self.alive();
        if let ([only], [alive]) = (&self.segments[..], &alive[..])
            && alive.num_alive_docs() == only.segment.docs() as usize
        {
            return Ok(only.files.clone());
        }
        let inputs = self.segments.iter().zip(alive);
        let inputs: Vec<_> = inputs.map(|(segment, alive)| (&*segment.segment, alive)).collect();
        merge(&inputs)
    }

    fn alive(&self) -> Vec<AliveBitSet> {
        let empty = |segment: &MemorySegment| BitSet::with_max_value(segment.segment.docs());
        let mut alive: Vec<_> = self.segments.iter().map(empty).collect();
        for row in self.rows.values() {
            alive[row.segment].insert(row.doc);
        }
        alive.iter().map(alive_of).collect()
    }

    /// The segments, each with the documents that count.
    pub(crate) fn segments(&self) -> Vec<(Arc<OpenSegment>, AliveBitSet)> {
        let segments = self.segments.iter().map(|it| Arc::clone(&it.segment));
        segments.zip(self.alive()).collect()
    }

    /// The first time until which a document is certain.
    pub(crate) fn until_min(&self) -> i64 {
        self.rows.values().map(|row| row.until).min().unwrap_or(i64::MAX)
    }

    /// Calls `note` with each document that a pending row has in the table's segments: the
    /// segment's position, and the document.
    ///
    /// # Errors
    /// As for the reads.
    pub(crate) fn each_older(
        &mut self,
        segments: &[Arc<OpenSegment>],
        revision: u64,
        mut note: impl FnMut(usize, DocId),
    ) -> Result<()> {
        for (row, analysed) in &mut self.rows {
            if analysed.older_at != revision {
                analysed.older.clear();
                for segment in segments {
                    let doc = segment.doc_of(row)?;
                    analysed.older.extend(doc.map(|doc| (segment.number, doc)));
                }
                analysed.older_at = revision;
            }
            for (number, doc) in &analysed.older {
                if let Some(at) = segments.iter().position(|it| it.number == *number) {
                    note(at, *doc);
                }
            }
        }
        Ok(())
    }
}
