//! Views of random segments against a list of rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use rowhouse_model::{Bytes, Cell, CellKind, Row, RowRange, Timestamp};
use rowhouse_schema::{Analyser, ColumnSchema, Direction, SearchIndex};
use tantivy::Term;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer, TokenizerManager};

use crate::fields::{Document, Fields};
use crate::query::RowsInRanges;
use crate::segment::{MemoryParts, OpenSegment, Opened, build, merge};
use crate::view::View;

const MEMORY: usize = 1 << 20;

fn fields() -> (ColumnSchema, Fields) {
    let columns = ColumnSchema::parse("d:b body string; d:z size u32").unwrap();
    let index = SearchIndex::parse("text search body simple, size", None, Some(&columns)).unwrap();
    (columns, Fields::new(index))
}

fn tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::default();
    let simple = TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).build();
    tokenizers.register("simple", simple);
    tokenizers
}

fn document(columns: &ColumnSchema, row: &str, words: Option<&[u8]>) -> Document {
    let cells = words.map(|words| {
        let text: Vec<_> = words.iter().map(|word| format!("w{word}")).collect();
        let cell = columns.encode("body", text.join(" ")).unwrap();
        let at = Timestamp::from_millis(1).unwrap();
        let (family, qualifier) = (cell.family, cell.qualifier);
        let row = row.as_bytes().to_vec();
        Cell::new(row, family, qualifier, at, CellKind::Put, cell.value).unwrap()
    });
    let row = Bytes::copy_from_slice(row.as_bytes());
    Document { row, cells: Row::new(cells.into_iter().collect()), until_millis: i64::MAX }
}

fn word(fields: &Fields, word: u8) -> Box<dyn Query> {
    let (_, body) = fields.find("body").unwrap();
    let (analyser, field) = body.words[0];
    assert_eq!(analyser, Analyser::Simple);
    let term = Term::from_field_text(field, &format!("w{word}"));
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

/// The rows of a segment; `None` for one that shows nothing.
type Rows = BTreeMap<u8, Option<Vec<u8>>>;

fn rows() -> impl Strategy<Value = Rows> {
    let words = prop::collection::vec(0_u8..6, 1..5);
    prop::collection::btree_map(0_u8..40, prop::option::weighted(0.8, words), 0..12)
}

fn key(row: u8) -> String {
    format!("row{row:02}")
}

proptest! {
    #[test]
    fn a_view_finds_the_live_documents_of_the_newest_segments(
        segments in prop::collection::vec(rows(), 1..5),
        dead in prop::collection::btree_set(0_u8..40, 0..4),
        merged in any::<bool>(),
        asked in 0_u8..6,
        range in (0_u8..45, 0_u8..45),
    ) {
        let (columns, fields) = fields();
        let tokenizers = tokenizers();
        let parts = Arc::new(MemoryParts::default());
        let mut open = Vec::new();
        let mut expected = Rows::new();
        for (number, rows) in segments.into_iter().enumerate() {
            // In any order: the segment sorts them.
            let documents = rows.iter().rev().map(|(row, words)| {
                Ok(document(&columns, &key(*row), words.as_deref()))
            });
            let how = (&fields, &tokenizers);
            let meta = build(number as u64, parts.clone(), how, documents, MEMORY).unwrap();
            prop_assert_eq!(meta.documents as usize, rows.len());
            open.push(Arc::new(OpenSegment::new(meta, parts.clone())));
            expected.extend(rows);
        }
        expected.retain(|row, words| words.is_some() && !dead.contains(row));
        let dead: Vec<Bytes> = dead.iter().map(|row| key(*row).into()).collect();
        let opened = Arc::new(Opened::new(&fields, &tokenizers, open).unwrap());
        let mut view = View::new(&fields, opened, &dead).unwrap();
        if merged {
            let alive: Vec<_> = view.alive().map(|(segment, alive)| (segment, Some(alive))).collect();
            let meta = merge(99, parts.clone(), &fields, &alive).unwrap();
            prop_assert_eq!(meta.documents as usize, expected.len());
            let open = vec![Arc::new(OpenSegment::new(meta, parts.clone()))];
            let opened = Arc::new(Opened::new(&fields, &tokenizers, open).unwrap());
            view = View::new(&fields, opened, &[]).unwrap();
        }
        prop_assert_eq!(view.len() as usize, expected.len());

        let (start, stop) = (key(range.0), key(range.1.max(range.0)));
        let ranges = RowsInRanges::new("row", vec![RowRange::new(start.clone(), stop.clone())]);
        let inside = BooleanQuery::new(vec![
            (Occur::Must, word(&fields, asked)),
            (Occur::Must, Box::new(ranges)),
        ]);
        let has = |words: &Option<Vec<u8>>| words.as_ref().is_some_and(|it| it.contains(&asked));
        let found = expected.iter().filter(|(_, words)| has(words)).map(|(row, _)| key(*row));
        let all: Vec<String> = found.collect();
        let in_range: Vec<_> =
            all.iter().filter(|row| **row >= start && **row < stop).cloned().collect();
        let queries: [(Box<dyn Query>, Vec<String>); 2] =
            [(word(&fields, asked), all), (Box::new(inside), in_range)];
        for (query, mut expected) in queries {
            let keys = |hits: Vec<crate::view::Hit>| -> Vec<String> {
                hits.iter().map(|hit| String::from_utf8(hit.row.to_vec()).unwrap()).collect()
            };
            prop_assert_eq!(view.count(&*query).unwrap() as usize, expected.len());
            let forward = view.by_key(&*query, Direction::Forward, 100).unwrap();
            prop_assert_eq!(&keys(forward), &expected);
            let mut scored = keys(view.by_score(&*query, 100).unwrap());
            scored.sort();
            prop_assert_eq!(&scored, &expected);
            let best = view.by_score(&*query, 3).unwrap();
            prop_assert_eq!(&best[..], &view.by_score(&*query, 100).unwrap()[..best.len()]);
            expected.reverse();
            expected.truncate(2);
            let reverse = view.by_key(&*query, Direction::Reverse, 2).unwrap();
            prop_assert_eq!(&keys(reverse), &expected);
        }
    }
}
