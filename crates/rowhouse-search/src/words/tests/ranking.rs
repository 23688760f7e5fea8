//! The documents with the highest scores, compared with all documents and their scores.

use proptest::prelude::*;
use rowhouse_schema::Analyser;
use tantivy::collector::TopDocs;
use tantivy::query::{EnableScoring, Query, Weight};
use tantivy::{DocId, Score, SegmentReader};

use super::model::{Texts, analysers, search_text, text};

/// The documents with scores above a threshold, as a search for the best ones visits them.
fn above(weight: &dyn Weight, segment: &SegmentReader, threshold: Score) -> Vec<(DocId, Score)> {
    let mut hits = Vec::new();
    let mut visit = |doc, score| {
        hits.push((doc, score));
        threshold
    };
    weight.for_each_pruning(threshold, segment, &mut visit).unwrap();
    hits
}

/// All documents with their scores, by tantivy's scorer.
fn all(weight: &dyn Weight, segment: &SegmentReader) -> Vec<(DocId, Score)> {
    let mut hits = Vec::new();
    weight.for_each(segment, &mut |doc, score| hits.push((doc, score))).unwrap();
    hits
}

/// Sums in another order differ in the last digits.
fn is_close(one: Score, other: Score) -> bool {
    (one - other).abs() <= 1e-5 * one.abs()
}

fn check(texts: &Texts, words: &str, analysers: &[Analyser], count: usize, nth: usize) {
    let Ok(query) = texts.query(words, analysers) else { return };
    let scoring = EnableScoring::enabled_from_searcher(&texts.searcher);
    let weight = query.weight(scoring).unwrap();
    let segment = texts.searcher.segment_reader(0);
    let hits = above(&*weight, segment, Score::MIN);
    let expected = all(&*weight, segment);
    assert_eq!(hits.len(), expected.len(), "{words} by {analysers:?}");
    for (hit, expected) in hits.iter().zip(&expected) {
        assert!(hit.0 == expected.0 && is_close(hit.1, expected.1), "{hit:?} {expected:?} {words}");
    }
    if hits.is_empty() {
        return;
    }
    let threshold = hits[nth % hits.len()].1;
    let mut higher = hits.clone();
    higher.retain(|(_, score)| *score > threshold);
    let visited = above(&*weight, segment, threshold);
    assert_eq!(visited, higher, "{words} by {analysers:?} above {threshold}");

    let mut ranked = hits;
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    ranked.truncate(count);
    let best = best(texts, &*query, count);
    assert_eq!(best, ranked, "{words} by {analysers:?}, best {count}");
}

fn best(texts: &Texts, query: &dyn Query, count: usize) -> Vec<(DocId, Score)> {
    let best = TopDocs::with_limit(count).order_by_score();
    let best = texts.searcher.search(query, &best).unwrap();
    best.into_iter().map(|(score, document)| (document.doc_id, score)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn best_documents_are_the_first_of_all_ranked(
        texts in prop::collection::vec(text(), 1..300),
        searches in prop::collection::vec((search_text(), analysers()), 24),
        count in 1..20usize,
        nth in any::<usize>(),
    ) {
        let texts = Texts::new(texts);
        for (words, analysers) in searches {
            check(&texts, &words, &analysers, count, nth);
        }
    }
}

#[test]
fn best_phrases_include_ties_and_documents_after_a_block() {
    let text = |nth: usize| match nth % 7 {
        0 => "row key row key design",
        1 => "key row design",
        2 => "行键设计 row key",
        _ => "row key",
    };
    let texts = Texts::new((0..1_000).map(|nth| text(nth).to_owned()).collect());
    let analysers = [Analyser::English, Analyser::Chinese];
    for words in
        ["\"row key\"", "row key", "\"row key\" design", "行键设计", "行键设计 \"row key\""]
    {
        for count in [1, 10, 142, 143, 144, 1_000] {
            check(&texts, words, &analysers, count, count);
        }
    }
}

#[test]
fn best_documents_repeat_a_word_more_often_than_their_rounded_length_says() {
    let repeated = [95, 103, 1151].map(|times| "row ".repeat(times));
    let others = (0..2_000).map(|_| "a key of few words".to_owned());
    let texts = Texts::new(repeated.into_iter().chain(others).collect());
    // A conjunction of words alone is tantivy's, which has the lower bound.
    for words in ["\"row row\"", "\"row row\" row"] {
        for count in [1, 2, 3] {
            check(&texts, words, &[Analyser::Simple], count, count);
        }
    }
}
