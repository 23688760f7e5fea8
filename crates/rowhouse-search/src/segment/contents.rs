//! What a segment's documents have in the index, as a number for each document.

use std::hash::{DefaultHasher, Hash, Hasher};

use rowhouse_model::Result;
use rowhouse_schema::Analyser;
use tantivy::columnar::BytesColumn;
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, TERMINATED};

use super::error::damaged;
use super::guard::guarded;
use super::layout::Layout;
use super::open::OpenSegment;

/// Returns a number for each document: the summed hashes of the document's terms, with their
/// places, and of its values; 0 for a document without any. Documents in two segments with the same
/// layout that have the same terms and values have the same number.
pub(crate) fn contents(segment: &OpenSegment, layout: &Layout) -> Result<Vec<u64>> {
    guarded(|| sums_of(segment, layout))
}

fn sums_of(segment: &OpenSegment, layout: &Layout) -> Result<Vec<u64>> {
    let mut sums = vec![0u64; segment.docs() as usize];
    let mut add = |doc: DocId, hash: u64| {
        if let Some(sum) = sums.get_mut(doc as usize) {
            *sum = sum.wrapping_add(hash);
        }
    };
    let broken = |error| damaged(segment.number, &error);
    for field in 0..layout.len() {
        for &(analyser, words) in layout.texts(field) {
            add_terms(segment, words, analyser, &mut add).map_err(broken)?;
        }
        if layout.value(field).is_some() {
            let name = layout.value_column(field);
            let column = segment.reader().fast_fields().bytes(&name).map_err(broken)?;
            if let Some(column) = column {
                add_values(segment, field, &column, &mut add).map_err(broken)?;
            }
        }
    }
    Ok(sums)
}

fn add_terms(
    segment: &OpenSegment,
    field: Field,
    analyser: Analyser,
    add: &mut impl FnMut(DocId, u64),
) -> tantivy::Result<()> {
    let option = match analyser {
        Analyser::Keyword => IndexRecordOption::WithFreqs,
        Analyser::Simple | Analyser::English | Analyser::Chinese => {
            IndexRecordOption::WithFreqsAndPositions
        }
    };
    let index = segment.reader().inverted_index(field)?;
    let mut terms = index.terms().stream()?;
    let mut places = Vec::new();
    while terms.advance() {
        let mut term = DefaultHasher::new();
        (field.field_id(), terms.key()).hash(&mut term);
        let mut postings = index.read_postings_from_terminfo(terms.value(), option)?;
        while postings.doc() != TERMINATED {
            places.clear();
            postings.positions(&mut places);
            let mut hasher = term.clone();
            (postings.term_freq(), &places).hash(&mut hasher);
            add(postings.doc(), hasher.finish());
            postings.advance();
        }
    }
    Ok(())
}

fn add_values(
    segment: &OpenSegment,
    field: usize,
    column: &BytesColumn,
    add: &mut impl FnMut(DocId, u64),
) -> tantivy::Result<()> {
    let mut hashes = Vec::with_capacity(column.num_terms());
    let mut values = column.dictionary().stream()?;
    while values.advance() {
        let mut hasher = DefaultHasher::new();
        (field, values.key()).hash(&mut hasher);
        hashes.push(hasher.finish());
    }
    for doc in 0..segment.docs() {
        for ord in column.term_ords(doc) {
            add(doc, usize::try_from(ord).ok().and_then(|ord| hashes.get(ord)).map_or(1, |it| *it));
        }
    }
    Ok(())
}
