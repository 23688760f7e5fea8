//! Builds a segment, on the thread of the caller.

use std::sync::Arc;

use rowhouse_model::Result;
use tantivy::fastfield::AliveBitSet;
use tantivy::indexer::merge_filtered_segments;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{Index, Segment, TantivyDocument};

use super::build_directory::BuildDirectory;
use super::meta::SegmentMeta;
use super::parts::Parts;
use crate::error::ours;
use crate::fields::{Document, Fields};

/// Builds a segment of documents, at most one for each row, and writes its parts. `memory_bytes` is the memory that
/// tantivy's tables begin with.
///
/// # Errors
/// Those of the documents and of the parts.
pub(crate) fn build(
    number: u64,
    parts: Arc<dyn Parts>,
    (fields, tokenizers): (&Fields, &TokenizerManager),
    documents: impl IntoIterator<Item = Result<Document>>,
    memory_bytes: usize,
) -> Result<SegmentMeta> {
    let directory = BuildDirectory::new(number, parts);
    let builder = Index::builder()
        .schema(fields.schema().clone())
        .settings(fields.settings())
        .tokenizers(tokenizers.clone());
    let mut writer = builder
        .single_segment_index_writer::<TantivyDocument>(directory.clone(), memory_bytes)
        .map_err(ours)?;
    let mut count = 0;
    for document in documents {
        writer.add_document(fields.document(&document?)?).map_err(ours)?;
        count += 1;
    }
    writer.finalize().map_err(ours)?;
    Ok(SegmentMeta { number, documents: count, lengths: directory.lengths() })
}

/// Merges the live documents of segments into one, and writes its parts.
///
/// # Errors
/// Those of the parts.
pub(crate) fn merge(
    number: u64,
    parts: Arc<dyn Parts>,
    fields: &Fields,
    segments: &[(Segment, Option<AliveBitSet>)],
) -> Result<SegmentMeta> {
    let directory = BuildDirectory::new(number, parts);
    let (segments, alive): (Vec<_>, Vec<_>) = segments.iter().cloned().unzip();
    let merged = merge_filtered_segments(&segments, fields.settings(), alive, directory.clone());
    let metas = merged.map_err(ours)?.load_metas().map_err(ours)?;
    let documents = metas.segments.iter().map(|segment| segment.max_doc()).sum();
    Ok(SegmentMeta { number, documents, lengths: directory.lengths() })
}
