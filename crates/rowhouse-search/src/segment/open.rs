//! Segments that are open for searches.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rowhouse_model::Result;
use tantivy::columnar::BytesColumn;
use tantivy::query::{EnableScoring, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{DocId, Index, ReloadPolicy, Searcher, Segment, SegmentReader, TERMINATED, Term};

use super::meta::SegmentMeta;
use super::parts::Parts;
use super::read_directory::{Components, ReadDirectory};
use crate::error::{ours, ours_of_io};
use crate::fields::Fields;

/// A segment that is open.
pub(crate) struct OpenSegment {
    components: Arc<Components>,
    /// Documents of rows that a newer segment has, by the number of that segment.
    superseded: Mutex<HashMap<u64, Arc<[DocId]>>>,
    hidden: OnceLock<Arc<[DocId]>>,
}

impl OpenSegment {
    pub(crate) fn new(meta: SegmentMeta, parts: Arc<dyn Parts>) -> Self {
        let components = Arc::new(Components::new(meta, parts));
        Self { components, superseded: Mutex::default(), hidden: OnceLock::new() }
    }

    pub(crate) fn meta(&self) -> &SegmentMeta {
        self.components.meta()
    }
}

/// Segments that are open together, without regard to dead documents.
pub(crate) struct Opened {
    searcher: Searcher,
    segments: Vec<Arc<OpenSegment>>,
    /// The same segments in tantivy.
    tantivy: Vec<Segment>,
    /// The row of each document: the ordinals of a segment are its documents.
    rows: Vec<BytesColumn>,
}

impl Opened {
    /// Opens segments, the oldest first.
    ///
    /// # Errors
    /// Those of the parts, and `Corruption`.
    pub(crate) fn new(
        fields: &Fields,
        tokenizers: &TokenizerManager,
        segments: Vec<Arc<OpenSegment>>,
    ) -> Result<Self> {
        let components: Vec<_> = segments.iter().map(|it| Arc::clone(&it.components)).collect();
        let mut index = Index::open(ReadDirectory::new(&components, fields)).map_err(ours)?;
        index.set_tokenizers(tokenizers.clone());
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader = reader.doc_store_cache_num_blocks(1).try_into().map_err(ours)?;
        let searcher = tantivy::IndexReader::searcher(&reader);
        let tantivy = index.searchable_segments().map_err(ours)?;
        let row = |reader: &SegmentReader| {
            let rows = reader.fast_fields().bytes(fields.row_column()).map_err(ours)?;
            Ok(rows.unwrap_or_else(|| BytesColumn::empty(reader.max_doc())))
        };
        let rows = searcher.segment_readers().iter().map(row).collect::<Result<_>>()?;
        Ok(Self { searcher, segments, tantivy, rows })
    }

    pub(crate) fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    pub(crate) fn segments(&self) -> &[Arc<OpenSegment>] {
        &self.segments
    }

    /// Returns a segment as tantivy knows it.
    pub(crate) fn tantivy(&self, at: usize) -> &Segment {
        &self.tantivy[at]
    }

    /// Returns the rows of a segment.
    pub(crate) fn rows(&self, at: usize) -> &BytesColumn {
        &self.rows[at]
    }

    /// Returns the document of a row in a segment.
    ///
    /// # Errors
    /// Those of the parts.
    pub(crate) fn find(&self, at: usize, row: &[u8]) -> Result<Option<DocId>> {
        let found = self.rows[at].dictionary().term_ord(row);
        Ok(found.map_err(|error| ours_of_io(&error))?.map(|document| document as DocId))
    }

    /// Returns the documents of a segment whose rows a newer segment has.
    ///
    /// # Errors
    /// Those of the parts.
    pub(crate) fn superseded(&self, at: usize, newer: usize) -> Result<Arc<[DocId]>> {
        let (segment, number) = (&self.segments[at], self.segments[newer].meta().number);
        if let Some(known) = segment.superseded.lock().get(&number) {
            return Ok(Arc::clone(known));
        }
        let mut found = Vec::new();
        let rows = self.rows[newer].dictionary();
        let mut rows = rows.stream().map_err(|error| ours_of_io(&error))?;
        while rows.advance() {
            found.extend(self.find(at, rows.key())?);
        }
        let found: Arc<[DocId]> = found.into();
        segment.superseded.lock().insert(number, Arc::clone(&found));
        Ok(found)
    }

    /// Returns the documents of rows that show nothing.
    ///
    /// # Errors
    /// Those of the parts.
    pub(crate) fn hidden(&self, at: usize, fields: &Fields) -> Result<Arc<[DocId]>> {
        if let Some(known) = self.segments[at].hidden.get() {
            return Ok(Arc::clone(known));
        }
        let term = Term::from_field_bool(fields.hidden(), true);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        let weight = query.weight(EnableScoring::disabled_from_searcher(&self.searcher));
        let reader = self.searcher.segment_reader(at as u32);
        let mut scorer = weight.and_then(|weight| weight.scorer(reader, 1.0)).map_err(ours)?;
        let mut found = Vec::new();
        while scorer.doc() != TERMINATED {
            found.push(scorer.doc());
            scorer.advance();
        }
        Ok(Arc::clone(self.segments[at].hidden.get_or_init(|| found.into())))
    }
}
