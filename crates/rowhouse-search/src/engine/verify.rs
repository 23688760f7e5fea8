//! Compares a full-text index with the table's rows.

use std::sync::Arc;

use rowhouse_model::{Filter, IndexReport, Result, RowRange, Scan, TableName};
use tantivy::BitSet;

use super::{Shared, Viewed};
use crate::rows::document_of;
use crate::segment::{Layout, OpenSegment, SegmentBuilder, contents};
use crate::view::View;

/// The most rows that are analysed together.
const ROWS_AT_ONCE: u32 = 10_000;

/// How many memory bytes the terms for such rows may take before they are compared.
const TERMS_BYTES_MAX: usize = 64 << 20;

impl Shared {
    /// As [`SearchEngine::verify`](super::SearchEngine::verify). Every row is analysed anew into a
    /// segment, whose documents are compared with the index's documents.
    pub(super) fn compare_with_rows(
        &self,
        table: &TableName,
        index: &str,
        progress: &mut dyn FnMut(&IndexReport),
    ) -> Result<IndexReport> {
        let viewed = self.viewed(table, index, |_| Ok(()))?;
        let compared = compare(&viewed, progress);
        self.noted(&viewed.read, compared)
    }
}

fn compare(viewed: &Viewed, progress: &mut dyn FnMut(&IndexReport)) -> Result<IndexReport> {
    let Viewed { read, view, layout, now_millis, .. } = viewed;
    let mut documents = Documents::of(view, layout)?;
    let mut report = IndexReport { entries: documents.left(), ..IndexReport::default() };
    let mut scan = Scan::new(RowRange::all());
    scan.filter = Some(Box::new(Filter::FirstKeyOnly));
    let mut rows = read.table.scan_at(scan, &read.point)?;
    let mut analysed = SegmentBuilder::new(layout, false)?;
    loop {
        let row = rows.next()?;
        if let Some(row) = &row {
            report.rows += 1;
            report.unfit_rows += u64::from(!read.index.fits(row.key()));
            analysed.add(&document_of(read, row.key(), *now_millis)?)?;
        }
        let is_full = analysed.docs() == ROWS_AT_ONCE || analysed.memory() > TERMS_BYTES_MAX;
        if analysed.docs() > 0 && (is_full || row.is_none()) {
            let next = SegmentBuilder::new(layout, false)?;
            let files = std::mem::replace(&mut analysed, next).finish()?;
            let fresh = OpenSegment::in_memory(&files, layout)?;
            report.missing += documents.compare(&fresh, layout)?;
            progress(&report);
        }
        if row.is_none() {
            report.stale = documents.left();
            return Ok(report);
        }
    }
}

/// The documents in a view that have words or values, and have not been compared.
struct Documents<'v> {
    view: &'v Arc<View>,
    /// By segment and document; see [`contents`].
    contents: Vec<Vec<u64>>,
    left: Vec<BitSet>,
}

impl<'v> Documents<'v> {
    fn of(view: &'v Arc<View>, layout: &Layout) -> Result<Self> {
        let mut documents = Self { view, contents: Vec::new(), left: Vec::new() };
        for viewed in &view.segments {
            let contents = contents(&viewed.segment, layout)?;
            let mut left = BitSet::with_max_value(viewed.segment.docs());
            for (doc, content) in (0..).zip(&contents) {
                if *content != 0 && !viewed.alive.is_deleted(doc) {
                    left.insert(doc);
                }
            }
            documents.contents.push(contents);
            documents.left.push(left);
        }
        Ok(documents)
    }

    /// How many documents have not been compared.
    fn left(&self) -> u64 {
        self.left.iter().map(|left| left.len() as u64).sum()
    }

    /// Compares row documents with these, which were analysed now, and returns how many are missing
    /// or differ.
    fn compare(&mut self, fresh: &OpenSegment, layout: &Layout) -> Result<u64> {
        let mut missing = 0;
        for (doc, expected) in (0..).zip(contents(fresh, layout)?) {
            if expected != 0 && self.take(&fresh.row(doc)?)? != Some(expected) {
                missing += 1;
            }
        }
        Ok(missing)
    }

    /// Returns what a row's document has, and counts it as compared.
    fn take(&mut self, row: &[u8]) -> Result<Option<u64>> {
        let segments = self.view.segments.iter().zip(&self.contents).zip(&mut self.left);
        for ((viewed, contents), left) in segments {
            if let Some(doc) = viewed.segment.doc_of(row)?
                && left.contains(doc)
            {
                left.remove(doc);
                return Ok(contents.get(doc as usize).copied());
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::Bytes;
    use rowhouse_schema::{ColumnSchema, IndexSchema};

    use super::*;
    use crate::segment::{Document, alive_of};
    use crate::view::ViewedSegment;

    fn layout() -> Layout {
        let columns =
            ColumnSchema::parse("d:b body string; d:s sender string; d:z size u8").unwrap();
        let text = "text search body english chinese, sender keyword, size";
        let indexes = IndexSchema::parse(text, None, Some(&columns)).unwrap();
        Layout::of(indexes.index("text").unwrap().search().unwrap())
    }

    /// Documents for rows with a body, a sender and a size.
    fn segment(rows: &[(&str, &str, &str, u8)], layout: &Layout) -> OpenSegment {
        let mut builder = SegmentBuilder::new(layout, true).unwrap();
        for &(row, body, sender, size) in rows {
            let text = |text: &str| Bytes::copy_from_slice(text.as_bytes());
            let values = vec![(0, text(body)), (1, text(sender)), (2, vec![size].into())];
            builder.add(&Document { row: row.into(), values, until: i64::MAX }).unwrap();
        }
        OpenSegment::in_memory(&builder.finish().unwrap(), layout).unwrap()
    }

    /// Returns how many rows are missing or differ, and how many documents are left.
    fn differences(
        indexed: &[(&str, &str, &str, u8)],
        rows: &[(&str, &str, &str, u8)],
    ) -> (u64, u64) {
        let layout = layout();
        let segments = indexed.chunks(2).map(|chunk| {
            let segment = Arc::new(segment(chunk, &layout));
            let alive = alive_of(&BitSet::with_max_value_and_full(segment.docs()));
            ViewedSegment { segment, alive: Arc::new(alive) }
        });
        let view = Arc::new(View { segments: segments.collect() });
        let mut documents = Documents::of(&view, &layout).unwrap();
        assert_eq!(documents.left(), indexed.len() as u64);
        let missing = documents.compare(&segment(rows, &layout), &layout).unwrap();
        (missing, documents.left())
    }

    #[test]
    fn a_check_finds_each_row_whose_document_is_missing_or_differs_and_documents_without_rows() {
        let rows = [("a", "row keys", "eve", 1), ("b", "行键设计", "bob", 2), ("c", "", "", 0)];
        assert_eq!(differences(&rows, &rows), (0, 0));
        assert_eq!(differences(&rows[..2], &rows), (1, 0), "c is missing");
        assert_eq!(differences(&rows, &rows[1..]), (0, 1), "a is not there");
        for other in [
            ("a", "keys row", "eve", 1),
            ("a", "row row keys", "eve", 1),
            ("a", "row keys 行", "eve", 1),
            ("a", "row keys", "eva", 1),
            ("a", "row keys", "eve", 2),
        ] {
            assert_eq!(differences(&[other, rows[1], rows[2]], &rows), (1, 0), "{other:?}");
        }
    }
}
