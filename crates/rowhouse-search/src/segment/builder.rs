//! Makes a segment from rows' documents.

use rowhouse_model::{Bytes, Result};
use tantivy::directory::RamDirectory;
use tantivy::{Index, SingleSegmentIndexWriter, TantivyDocument};

use super::error::failed;
use super::files::SegmentFiles;
use super::layout::{GONE_FOR_EVER, GONE_FOR_NOW, Layout, stored_value, tokenizers};
use crate::analyse::{Analyse, text_of};

/// The memory for a segment's terms at first, in bytes: tantivy sizes a hash table by it.
const TERMS_BYTES: usize = 16 << 20;

/// The memory for the terms of a segment with few documents.
const TERMS_BYTES_MIN: usize = 1 << 20;

/// A row as an index sees it.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) row: Vec<u8>,
    /// The values that the row shows, each with the field number.
    pub(crate) values: Vec<(usize, Bytes)>,
    /// The last millisecond at which it is certain to show them; `i64::MAX` if only a write changes
    /// it.
    pub(crate) until: i64,
}

impl Document {
    /// Whether the row shows nothing before it is written again.
    pub(crate) fn is_gone(&self) -> bool {
        self.values.is_empty() && self.until == i64::MAX
    }
}

/// A segment to which documents are added in row order.
pub(crate) struct SegmentBuilder {
    layout: Layout,
    writer: SingleSegmentIndexWriter,
    directory: RamDirectory,
    docs: u32,
    long_words: u64,
}

impl SegmentBuilder {
    /// Creates one for few documents, or for as many as memory allows.
    pub(crate) fn new(layout: &Layout, is_small: bool) -> Result<Self> {
        let directory = RamDirectory::create();
        let budget = if is_small { TERMS_BYTES_MIN } else { TERMS_BYTES };
        let writer = Index::builder()
            .schema(layout.schema.clone())
            .settings(Layout::settings())
            .tokenizers(tokenizers())
            .single_segment_index_writer(directory.clone(), budget)
            .map_err(|error| failed(&error))?;
        Ok(Self { layout: layout.clone(), writer, directory, docs: 0, long_words: 0 })
    }

    /// Adds a document. The row is greater than the one before.
    pub(crate) fn add(&mut self, document: &Document) -> Result<()> {
        let layout = &self.layout;
        let mut doc = TantivyDocument::default();
        doc.add_bytes(layout.row, &document.row);
        if document.until < i64::MAX {
            doc.add_i64(layout.until, document.until);
        }
        if document.values.is_empty() {
            let gone = if document.is_gone() { GONE_FOR_EVER } else { GONE_FOR_NOW };
            doc.add_u64(layout.gone, gone);
        }
        for (field, value) in &document.values {
            if let Some(stored) = layout.value(*field) {
                doc.add_bytes(stored, &stored_value(value));
            }
            let texts = layout.texts(*field);
            if !texts.is_empty() {
                let text = text_of(value);
                for (analyser, words) in texts {
                    self.long_words += analyser.words_too_long(&text);
                    doc.add_text(*words, &text);
                }
            }
        }
        self.docs += 1;
        self.writer.add_document(doc).map_err(|error| failed(&error))
    }

    /// How many documents the segment has.
    pub(crate) fn docs(&self) -> u32 {
        self.docs
    }

    /// The memory that the segment takes so far, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.writer.mem_usage()
    }

    pub(crate) fn finish(self) -> Result<SegmentFiles> {
        let index = self.writer.finalize().map_err(|error| failed(&error))?;
        SegmentFiles::of(&index, &self.directory, self.long_words)
    }
}
