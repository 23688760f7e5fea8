//! A segment that can be read.

use std::ops::{Bound, Range};
use std::path::Path;
use std::sync::Arc;

use rowhouse_model::{Error, Result, RowRange};
use rowhouse_store::Table;
use tantivy::columnar::BytesColumn;
use tantivy::directory::RamDirectory;
use tantivy::{Directory, DocId, Index, Segment, SegmentReader, TantivyError};

use super::error::{damaged, failed};
use super::files::{META, META_PATH, SegmentFiles};
use super::guard::guarded;
use super::layout::{GONE_FOR_EVER, Layout, tokenizers};
use super::part_cache::PartCache;
use super::parts::{PartsDirectory, SegmentId};

/// Documents from one on, to before another.
pub(crate) type DocRange = Range<DocId>;

/// A segment that can be read. The documents are in row key order, and each row has one, so that a
/// row's ordinal among the rows is the document number.
pub(crate) struct OpenSegment {
    /// The number; 0 for a segment in memory.
    pub(crate) number: u64,
    segment: Segment,
    reader: SegmentReader,
    rows: BytesColumn,
    /// The documents that are certain for a time only, by that time.
    until: Vec<(i64, DocId)>,
    /// The documents whose rows show nothing before they are written again, in order.
    gone: Vec<DocId>,
    long_words: u64,
}

impl OpenSegment {
    /// Opens a segment in a table.
    ///
    /// # Errors
    /// `Corruption` if it is not as it was written; errors as for reads.
    pub(crate) fn in_table(
        table: &Arc<Table>,
        id: &SegmentId,
        long_words: u64,
        layout: &Layout,
        cache: &Arc<PartCache>,
    ) -> Result<Self> {
        let cache = Arc::clone(cache);
        let table = Arc::clone(table);
        let number = id.number;
        let directory = PartsDirectory { table, id: Arc::new(id.clone()), cache };
        let opened = Self::open(number, directory, long_words, layout);
        opened.map_err(|error| damaged(number, &error))
    }

    /// Opens a segment in memory.
    ///
    /// # Errors
    /// None, except for a defect.
    pub(crate) fn in_memory(files: &SegmentFiles, layout: &Layout) -> Result<Self> {
        let directory = RamDirectory::create();
        let open = || {
            // Only `meta` has its own name; the others bear the id that tantivy's segment has.
            let meta = files.files.iter().find(|(name, _)| name == META);
            let meta = meta.map(|(_, bytes)| bytes.clone()).unwrap_or_default();
            directory.atomic_write(Path::new(META_PATH), &meta)?;
            let index = Index::open(directory.clone())?;
            for path in index.load_metas()?.list_segment_files() {
                let extension = path.extension().and_then(|it| it.to_str());
                let file = files.files.iter().find(|(name, _)| Some(&name[..]) == extension);
                if let Some((_, bytes)) = file {
                    directory.atomic_write(&path, bytes)?;
                }
            }
            Self::open(0, directory.clone(), files.long_words, layout)
        };
        open().map_err(|error| failed(&error))
    }

    fn open(
        number: u64,
        directory: impl Directory,
        long_words: u64,
        layout: &Layout,
    ) -> tantivy::Result<Self> {
        let mut index = Index::open(directory)?;
        index.set_tokenizers(tokenizers());
        let corrupt = |why: &str| TantivyError::InternalError(why.to_owned());
        let segment = index.searchable_segments()?.pop();
        let segment = segment.ok_or_else(|| corrupt("it has no documents"))?;
        if segment.schema() != layout.schema {
            return Err(corrupt("its fields are not those of the index"));
        }
        let reader = SegmentReader::open(&segment)?;
        let columns = reader.fast_fields();
        let rows = columns.bytes(layout.row_column())?;
        let rows = rows.ok_or_else(|| corrupt("it has no rows"))?;
        if rows.num_terms() as u64 != u64::from(reader.max_doc()) {
            return Err(corrupt("a row has two documents"));
        }
        let mut until = Vec::new();
        if let Some(column) = columns.column_opt::<i64>(layout.until_column())? {
            let docs = 0..reader.max_doc();
            until = docs.filter_map(|doc| column.first(doc).map(|until| (until, doc))).collect();
            until.sort_unstable();
        }
        let mut gone = Vec::new();
        if let Some(column) = columns.column_opt::<u64>(layout.gone_column())? {
            let docs = 0..reader.max_doc();
            gone = docs.filter(|doc| column.first(*doc) == Some(GONE_FOR_EVER)).collect();
        }
        Ok(Self { number, segment, reader, rows, until, gone, long_words })
    }

    pub(crate) fn tantivy(&self) -> &Segment {
        &self.segment
    }

    pub(crate) fn reader(&self) -> &SegmentReader {
        &self.reader
    }

    /// How many words are too long to be indexed, also in documents for rows that newer segments
    /// have.
    pub(crate) fn long_words(&self) -> u64 {
        self.long_words
    }

    /// How many documents there are.
    pub(crate) fn docs(&self) -> DocId {
        self.reader.max_doc()
    }

    /// The row keys. A row's ordinal is the document number.
    pub(crate) fn rows(&self) -> &BytesColumn {
        &self.rows
    }

    /// Returns the key of a document's row.
    pub(crate) fn row(&self, doc: DocId) -> Result<Vec<u8>> {
        let mut row = Vec::new();
        match self.rows.ord_to_bytes(u64::from(doc), &mut row) {
            Ok(true) => Ok(row),
            Ok(false) => {
                let number = self.number;
                Err(Error::corruption(format!("no such document: segment={number}, doc={doc}")))
            }
            Err(error) => Err(damaged(self.number, &error.into())),
        }
    }

    /// Returns a row's document.
    pub(crate) fn doc_of(&self, row: &[u8]) -> Result<Option<DocId>> {
        let ord = self.rows.dictionary().term_ord(row);
        let ord = ord.map_err(|error| damaged(self.number, &error.into()))?;
        Ok(ord.and_then(|ord| DocId::try_from(ord).ok()))
    }

    /// Returns the documents whose rows lie in these ranges, which are in order.
    pub(crate) fn docs_in(&self, ranges: &[RowRange]) -> Result<Vec<DocRange>> {
        docs_in(&self.rows, self.docs(), ranges)
            .map_err(|error| damaged(self.number, &error.into()))
    }

    /// Returns the documents that are no longer certain at a time.
    pub(crate) fn expired(&self, now: i64) -> impl Iterator<Item = DocId> + '_ {
        self.until.iter().take_while(move |(until, _)| *until < now).map(|(_, doc)| *doc)
    }

    /// Returns the first time, not before `now`, until which a document is certain; `None` if all
    /// others are for ever.
    pub(crate) fn certain_after(&self, now: i64) -> Option<i64> {
        let at = self.until.partition_point(|(until, _)| *until < now);
        self.until.get(at).map(|(until, _)| *until)
    }

    /// The documents whose rows show nothing before they are written again, in order.
    pub(crate) fn gone(&self) -> &[DocId] {
        &self.gone
    }

    /// Returns the documents in this segment whose rows are in a newer one.
    pub(crate) fn docs_also_in(&self, newer: &OpenSegment) -> Result<Vec<DocId>> {
        guarded(|| self.docs_in_both(newer))
    }

    fn docs_in_both(&self, newer: &OpenSegment) -> Result<Vec<DocId>> {
        let mut shared = Vec::new();
        // Looking a row up decodes a dictionary block, reading all rows decodes each once.
        if newer.docs() < self.docs() / 64 {
            for doc in 0..newer.docs() {
                shared.extend(self.doc_of(&newer.row(doc)?)?);
            }
            return Ok(shared);
        }
        let broken = |number: u64| move |error: std::io::Error| damaged(number, &error.into());
        let mut own = self.rows.dictionary().stream().map_err(broken(self.number))?;
        let mut others = newer.rows.dictionary().stream().map_err(broken(newer.number))?;
        let mut has_other = others.advance();
        let mut doc = 0;
        while has_other && own.advance() {
            while has_other && others.key() < own.key() {
                has_other = others.advance();
            }
            if has_other && others.key() == own.key() {
                shared.push(doc);
            }
            doc += 1;
        }
        Ok(shared)
    }
}

/// Returns the documents whose rows lie in these ranges, which are in order.
///
/// # Errors
/// As for reading the column.
pub(crate) fn docs_in(
    rows: &BytesColumn,
    docs: DocId,
    ranges: &[RowRange],
) -> std::io::Result<Vec<DocRange>> {
    let mut doc_ranges: Vec<DocRange> = Vec::new();
    for range in ranges {
        let start = Bound::Included(&range.start[..]);
        let stop =
            if range.stop.is_empty() { Bound::Unbounded } else { Bound::Excluded(&range.stop[..]) };
        // A row's ordinal is the document number.
        if let Some(ords) = term_ords(rows, start, stop)? {
            let doc = |ord| DocId::try_from(ord).unwrap_or(DocId::MAX).min(docs);
            doc_ranges.push(doc(ords.start)..doc(ords.end));
        }
    }
    Ok(doc_ranges)
}

/// Returns the ordinals for a column's values between two values; `None` if there are none.
///
/// # Errors
/// As for reading the column.
pub(crate) fn term_ords<K: AsRef<[u8]>>(
    column: &BytesColumn,
    start: Bound<K>,
    stop: Bound<K>,
) -> std::io::Result<Option<Range<u64>>> {
    let count = column.num_terms() as u64;
    let (start, stop) = column.dictionary().term_bounds_to_ord(start, stop)?;
    let start = match start {
        Bound::Included(ord) => ord,
        Bound::Excluded(ord) => ord.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let stop = match stop {
        Bound::Included(ord) => ord.saturating_add(1),
        Bound::Excluded(ord) => ord,
        Bound::Unbounded => count,
    };
    let ords = start..stop.min(count);
    Ok(if ords.is_empty() { None } else { Some(ords) })
}
