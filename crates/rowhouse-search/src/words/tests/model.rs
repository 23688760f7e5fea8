//! Searches in an index, judged by a naive matcher over the texts' terms.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use rowhouse_schema::Analyser;
use tantivy::collector::{DocSetCollector, TopDocs};
use tantivy::directory::RamDirectory;
use tantivy::query::Query;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::TokenizerManager;
use tantivy::{Index, Searcher, TantivyDocument};

use crate::analyse::{Analyse, register_analysers, stem};
use crate::words::Words;
use crate::words::node::{Form, Node};
use crate::{Highlighter, MATCHES_MAX};

/// A text index, each text analysed by all analysers.
pub(super) struct Texts {
    texts: Vec<String>,
    fields: Vec<(Analyser, Field)>,
    pub(super) searcher: Searcher,
}

impl Texts {
    pub(super) fn new(texts: Vec<String>) -> Self {
        let mut schema = Schema::builder();
        let fields: Vec<_> = Analyser::ALL
            .into_iter()
            .map(|analyser| {
                let indexing = TextFieldIndexing::default()
                    .set_tokenizer(analyser.name())
                    .set_index_option(IndexRecordOption::WithFreqsAndPositions);
                let options = TextOptions::default().set_indexing_options(indexing);
                (analyser, schema.add_text_field(analyser.name(), options))
            })
            .collect();
        let tokenizers = TokenizerManager::new();
        register_analysers(&tokenizers);
        let index = Index::builder().schema(schema.build()).tokenizers(tokenizers);
        let mut writer =
            index.single_segment_index_writer(RamDirectory::create(), 15_000_000).unwrap();
        for text in &texts {
            let mut document = TantivyDocument::new();
            for (_, field) in &fields {
                document.add_text(*field, text);
            }
            writer.add_document(document).unwrap();
        }
        let searcher = writer.finalize().unwrap().reader().unwrap().searcher();
        Self { texts, fields, searcher }
    }

    /// The numbers of the texts that match, or the refusal message.
    fn search(&self, words: &str, analysers: &[Analyser]) -> Result<BTreeSet<usize>, String> {
        let query = self.query(words, analysers)?;
        // Each collector has tantivy run the query in another way.
        let best = TopDocs::with_limit(self.texts.len().max(1)).order_by_score();
        let hits = self.searcher.search(&query, &DocSetCollector).unwrap();
        let scored = self.searcher.search(&query, &best).unwrap();
        let scored = scored.into_iter().map(|(_, document)| document).collect();
        assert_eq!(hits, scored);
        assert_eq!(query.count(&self.searcher).unwrap(), hits.len());
        Ok(hits.into_iter().map(|document| document.doc_id as usize).collect())
    }

    /// The query for a search text, or the refusal message.
    pub(super) fn query(
        &self,
        words: &str,
        analysers: &[Analyser],
    ) -> Result<Box<dyn Query>, String> {
        let words = Words::parse(words).unwrap();
        let fields = self.fields.iter().copied();
        let fields: Vec<_> = fields.filter(|(name, _)| analysers.contains(name)).collect();
        words.query(&fields).map_err(|error| error.message().to_owned())
    }

    /// As [`Texts::search`], by looking at each text.
    fn judge(&self, words: &str, analysers: &[Analyser]) -> Option<BTreeSet<usize>> {
        let words = Words::parse(words).unwrap();
        let mut hits = BTreeSet::new();
        for (number, text) in self.texts.iter().enumerate() {
            let terms: Vec<_> =
                analysers.iter().map(|&analyser| (analyser, terms(analyser, text))).collect();
            if matches(&words.root, &terms)? {
                hits.insert(number);
            }
        }
        Some(hits)
    }
}

type Terms = BTreeSet<(usize, String)>;

fn terms(analyser: Analyser, text: &str) -> Terms {
    let mut terms = Terms::new();
    analyser.each_token(text, |token| {
        terms.insert((token.position, token.text.clone()));
    });
    terms
}

/// Whether a text with these terms matches; none if no word has a term.
fn matches(node: &Node, terms: &[(Analyser, Terms)]) -> Option<bool> {
    let all = |parts: &[Node]| parts.iter().filter_map(|part| matches(part, terms)).collect();
    match node {
        Node::And(parts) => {
            let parts: Vec<bool> = all(parts);
            (!parts.is_empty()).then(|| parts.into_iter().all(|matches| matches))
        }
        Node::Or(parts) => {
            let parts: Vec<bool> = all(parts);
            (!parts.is_empty()).then(|| parts.into_iter().any(|matches| matches))
        }
        Node::Not(part) => matches(part, terms).map(|matches| !matches),
        Node::Leaf(leaf) => {
            let each = terms.iter();
            let each = each.filter_map(|(analyser, terms)| has(&leaf.form, *analyser, terms));
            each.reduce(|one, other| one || other)
        }
    }
}

fn has(form: &Form, analyser: Analyser, text: &Terms) -> Option<bool> {
    match form {
        Form::Prefix(prefix) if prefix.is_ascii() => {
            let is_english = analyser == Analyser::English;
            let is_stem = |term: &str| is_english && term == stem(prefix);
            Some(text.iter().any(|(_, term)| term.starts_with(prefix) || is_stem(term)))
        }
        Form::Fuzzy(word, distance) => {
            let word = if analyser == Analyser::English { stem(word) } else { word.clone() };
            let word: Vec<char> = word.chars().collect();
            let is_near = |term: &str| is_near(&word, &term.chars().collect::<Vec<_>>(), *distance);
            Some(text.iter().any(|(_, term)| is_near(term)))
        }
        // All terms that an indexed text has must be there, not only the terms that cover it.
        Form::Word(words) | Form::Phrase(words) | Form::Prefix(words) => {
            let expected = terms(analyser, words);
            let (first, _) = expected.first()?;
            let last = text.last().map_or(0, |(position, _)| *position);
            Some((0..=last).any(|start| {
                expected.iter().all(|(at, term)| text.contains(&(start + at - first, term.clone())))
            }))
        }
    }
}

/// Whether so many changes turn one word into the other, by trying all.
fn is_near(a: &[char], b: &[char], distance: u8) -> bool {
    let (Some((last, before)), Some((other, before_other))) = (a.split_last(), b.split_last())
    else {
        return a.len() + b.len() <= usize::from(distance);
    };
    if last == other && is_near(before, before_other, distance) {
        return true;
    }
    let Some(left) = distance.checked_sub(1) else { return false };
    let is_swap = matches!((a, b), ([.., c, d], [.., e, f]) if c == f && d == e);
    is_near(before, before_other, left)
        || is_near(before, b, left)
        || is_near(a, before_other, left)
        || is_swap && is_near(&a[..a.len() - 2], &b[..b.len() - 2], left)
}

/// Pieces of text that form dictionary words with each other, and such that end words.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "中",
        "国",
        "人",
        "民",
        "共",
        "和",
        "行",
        "键",
        "设",
        "计",
        "研",
        "究",
        "生",
        "命",
        "中国",
        "人民",
        "研究",
        "数据库",
        "𠮷",
        "\u{30000}",
        "々",
        "〇",
        "鑫",
        "垚",
        "，",
        "。",
        " ",
        "\n",
        "row ",
        " key",
        "T",
        "2022",
        "\u{fe00}",
        "\u{301}",
        "\u{e0100}",
        "\u{200d}",
        "😀",
        "の",
        "ﾊ",
        "Ａ",
        "é",
        "\u{fffd}",
        "國",
        "\u{20dd}",
    ])
}

/// The runs of Chinese characters in a text, by the test's own definition.
fn chinese_runs(text: &str) -> Vec<String> {
    let is_between = |c: char| "\u{fe00}\u{301}\u{e0100}\u{200d}\u{20dd}".contains(c);
    let is_chinese =
        |c: char| "中国人民共和行键设计研究生命数据库𠮷\u{30000}々〇鑫垚國".contains(c);
    let text: String = text.chars().filter(|&c| !is_between(c)).collect();
    let runs = text.split(|c| !is_chinese(c)).filter(|run| !run.is_empty());
    runs.map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_run_of_chinese_matches_exactly_where_it_is(
        texts in prop::collection::vec(prop::collection::vec(piece(), 0..24), 1..8),
        others in prop::collection::vec(prop::collection::vec(piece(), 1..4), 4),
        cuts in any::<[u8; 16]>(),
    ) {
        let texts: Vec<String> = texts.into_iter().map(|pieces| pieces.concat()).collect();
        let runs: Vec<_> = texts.iter().map(|text| chinese_runs(text)).collect();
        let index = Texts::new(texts.clone());
        let mut searched: BTreeSet<String> = runs.iter().flatten().cloned().collect();
        // Parts of the runs, and runs that may be in no text.
        let parts: Vec<_> = searched.iter().zip(cuts.chunks(2).cycle()).map(|(run, cut)| {
            let chars: Vec<char> = run.chars().collect();
            let start = usize::from(cut[0]) % chars.len();
            let end = start + 1 + usize::from(cut[1]) % (chars.len() - start);
            chars[start..end].iter().collect::<String>()
        }).collect();
        searched.extend(parts);
        searched.extend(others.iter().flat_map(|pieces| chinese_runs(&pieces.concat())));
        for run in searched {
            let expected: BTreeSet<usize> = (0..texts.len())
                .filter(|&text| runs[text].iter().any(|other| other.contains(&run)))
                .collect();
            for words in [run.clone(), format!("\"{run}\""), format!("{run}*")] {
                let hits = index.search(&words, &[Analyser::Chinese]).unwrap();
                prop_assert_eq!(&hits, &expected, "{} in {:?}", words, texts);
            }
        }
    }
}

fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "row",
        "rows",
        "key",
        "keys",
        "the",
        "of",
        "design",
        "designs",
        "designed",
        "desing",
        "kye",
        "compute",
        "computers",
        "a-b",
        "b",
        "中国",
        "中国人民",
        "人民",
        "民共",
        "数据库",
        "鑫垚",
        "行键design",
        "T恤",
        "happy",
        "happily",
    ])
}

pub(super) fn text() -> impl Strategy<Value = String> {
    let separator = prop::sample::select(vec![" ", " ", " ", "", "，", "-", "\n"]);
    prop::collection::vec((word(), separator), 0..10).prop_map(|parts| {
        parts.into_iter().flat_map(|(word, separator)| [word, separator]).collect::<String>()
    })
}

pub(super) fn search_text() -> impl Strategy<Value = String> {
    let stems = prop::sample::select(vec![
        "r", "ro", "key", "keys", "the", "design", "designs", "comp", "computer", "h", "happ",
        "happy", "happily", "b", "kye", "desgin",
    ]);
    let leaf = prop_oneof![
        4 => word().prop_map(str::to_owned),
        2 => prop::collection::vec(word(), 1..4).prop_map(|words| format!("\"{}\"", words.join(" "))),
        1 => stems.clone().prop_map(|word| format!("{word}*")),
        1 => (stems, 1..=2).prop_map(|(word, distance)| format!("{word}~{distance}")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|parts| format!("({})", parts.join(" OR "))),
            prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|parts| format!("({})", parts.join(" "))),
            (inner.clone(), inner).prop_map(|(one, other)| format!("({one} NOT {other})")),
        ]
    })
}

pub(super) fn analysers() -> impl Strategy<Value = Vec<Analyser>> {
    prop::sample::subsequence(Analyser::ALL.to_vec(), 1..=2)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn searches_find_the_texts_that_a_naive_matcher_finds(
        texts in prop::collection::vec(text(), 1..12),
        searches in prop::collection::vec((search_text(), analysers()), 24),
    ) {
        let index = Texts::new(texts);
        for (words, analysers) in searches {
            match index.search(&words, &analysers) {
                Ok(hits) => {
                    let expected = index.judge(&words, &analysers);
                    prop_assert_eq!(Some(hits), expected, "{} by {:?} in {:?}", words, analysers, index.texts);
                }
                // Stop words left nothing to search for.
                Err(message) => prop_assert!(
                    message.starts_with("there is no word to search for")
                        || message.starts_with("only words after `NOT` are left"),
                    "{}", message
                ),
            }
        }
    }

    #[test]
    fn a_text_has_a_highlight_if_a_search_for_one_word_finds_it(
        texts in prop::collection::vec(text(), 1..12),
        searches in prop::collection::vec((search_text(), analysers()), 24),
    ) {
        let index = Texts::new(texts);
        let is_one = |words: &str| matches!(Words::parse(words).unwrap().root, Node::Leaf(_));
        for (words, analysers) in searches.into_iter().filter(|(words, _)| is_one(words)) {
            let Ok(hits) = index.search(&words, &analysers) else { continue };
            let highlighter = Highlighter::new(&Words::parse(&words).unwrap(), &analysers).unwrap();
            for (number, text) in index.texts.iter().enumerate() {
                let matches = highlighter.matches(text);
                prop_assert!(matches.len() <= MATCHES_MAX);
                prop_assert_eq!(
                    !matches.is_empty(), hits.contains(&number), "{} in {}", words, text
                );
            }
        }
    }
}

fn refused(words: &str, analysers: &[Analyser]) -> String {
    Texts::new(Vec::new()).search(words, analysers).unwrap_err()
}

#[test]
fn texts_that_cannot_be_looked_for_are_refused() {
    use Analyser::{Chinese, English, Keyword, Simple};
    let check = |words: &str, analysers: &[Analyser], expected: Expect| {
        expected.assert_eq(&refused(words, analysers));
    };
    check(
        "the",
        &[English],
        expect![[r#"
        there is no word to search for: analysers=english; stop words and punctuation are left out: offset=0
          the
          ^"#]],
    );
    check(
        "(the OR of) ...",
        &[English],
        expect![[r#"
        there is no word to search for: analysers=english; stop words and punctuation are left out: offset=0
          (the OR of) ...
          ^"#]],
    );
    check(
        "the NOT row",
        &[English],
        expect![[r#"
        only words after `NOT` are left, without the stop words: offset=0
          the NOT row
          ^"#]],
    );
    check(
        "row a-b*",
        &[Simple],
        expect![[r#"
        `a-b*` is several words for the analyser simple; `*` and `~` are for one word: offset=4
          row a-b*
              ^"#]],
    );
    check(
        "row a-*",
        &[Keyword, Simple],
        expect![[r#"
        `a-*` does not end in a word for the analyser simple; write a letter or digit before the `*` or `~`: offset=4
          row a-*
              ^"#]],
    );
    check(
        "row 行键~1",
        &[Chinese],
        expect![[r#"
        `行键~1`: `~` is not for Chinese characters: offset=4
          row 行键~1
              ^"#]],
    );
    check(
        "row 微信pay~1",
        &[Chinese],
        expect![[r#"
        `微信pay~1` is several words for the analyser chinese; `*` and `~` are for one word: offset=4
          row 微信pay~1
              ^"#]],
    );
    let long = "a".repeat(65);
    check(
        &format!("{long}~1"),
        &[Keyword],
        expect![[r#"
        a word with `~` is too long: chars=65, max=64: offset=0
          aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa~1
          ^"#]],
    );
    let many = format!("\"{}\"", "a ".repeat(1025));
    assert!(refused(&many, &[Simple]).starts_with("too many terms: max=1024"));
    let similar = "a~1 ".repeat(33);
    assert!(refused(&similar, &[Simple]).starts_with("too many terms: max=1024: offset=128"));
}

#[test]
fn prefixes_end_at_the_last_character_of_unicode() {
    let texts = ["a\u{e000}", "a\u{d7ff}x", "a\u{10ffff}", "a\u{10ffff}\u{10ffff}", "b"];
    let index = Texts::new(texts.map(str::to_owned).to_vec());
    let hits_of = |words: &str| {
        index.search(words, &[Analyser::Keyword]).unwrap().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(hits_of("a\u{d7ff}*"), [1]);
    assert_eq!(hits_of("a\u{10ffff}*"), [2, 3]);
    assert_eq!(hits_of("a*"), [0, 1, 2, 3]);
    assert_eq!(hits_of("\u{10ffff}*"), [0usize; 0]);
}
