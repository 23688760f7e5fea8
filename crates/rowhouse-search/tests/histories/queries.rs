//! Random queries, and a judge that looks at each row.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use proptest::prelude::*;
use rowhouse_model::{Bytes, Row};
use rowhouse_schema::{Index, Predicate};
use rowhouse_search::{Analyse, Analyser, text_of};

/// The words in all texts: numbers, stems with their endings, a stop word, and Chinese runs that
/// have dictionary words in common.
pub(crate) const WORDS: [&str; 8] =
    ["row", "Rows", "design", "designed", "the", "2022", "中国人民", "人民行键"];
pub(crate) const TAGS: [&str; 3] = ["red", "blue", "Red"];

/// A query, as text and as the judge reads it.
#[derive(Clone)]
pub(crate) struct Query {
    texts: Vec<(&'static str, Words)>,
    others: Vec<Other>,
}

/// A search text.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    Word(&'static str),
    Phrase(Vec<&'static str>),
    Prefix(&'static str),
    All(Vec<Words>),
    Any(Vec<Words>),
    Without(Box<Words>, Box<Words>),
}

/// A condition that is not a search.
#[derive(Clone, Debug)]
pub(crate) enum Other {
    SizeOver(i64),
    SizeUpTo(i64),
    User(char),
    UserFrom(char),
    Number(u8),
    QIs(&'static str),
    QFrom(&'static str),
    IsNull,
}

pub(crate) fn words(of: &'static [&'static str]) -> impl Strategy<Value = Words> {
    let word = || prop::sample::select(of);
    let prefix =
        prop::sample::select(vec!["r", "ro", "rows", "design", "designed", "20", "b", "中"]);
    let leaf = prop_oneof![
        8 => word().prop_map(Words::Word),
        2 => prop::collection::vec(word(), 2..4).prop_map(Words::Phrase),
        1 => prefix.prop_map(Words::Prefix),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            1 => several().prop_map(Words::All),
            2 => several().prop_map(Words::Any),
            2 => (inner.clone(), inner.clone())
                .prop_map(|(one, other)| Words::Without(Box::new(one), Box::new(other))),
        ]
    })
}

/// Returns any query.
pub(crate) fn query() -> impl Strategy<Value = Query> {
    let text = || {
        prop_oneof![
            3 => words(&WORDS).prop_map(|words| ("q", words)),
            3 => words(&WORDS).prop_map(|words| ("other", words)),
            1 => words(&TAGS).prop_map(|words| ("tagged.tag", words)),
        ]
    };
    let user = || prop::sample::select(vec!['a', 'b', 'm']);
    let other = prop_oneof![
        3 => (-1i64..5).prop_map(Other::SizeOver),
        1 => (-1i64..5).prop_map(Other::SizeUpTo),
        2 => user().prop_map(Other::User),
        1 => user().prop_map(Other::UserFrom),
        1 => (1u8..3).prop_map(Other::Number),
        1 => prop::sample::select(&WORDS[..]).prop_map(Other::QIs),
        1 => prop::sample::select(&WORDS[..]).prop_map(Other::QFrom),
        1 => Just(Other::IsNull),
    ];
    let texts = prop_oneof![
        4 => prop::collection::vec(text(), 1),
        1 => prop::collection::vec(text(), 2),
    ];
    let others = prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::collection::vec(other, 1..3),
    ];
    (texts, others).prop_map(|(texts, others)| Query { texts, others })
}

/// Returns a search for each word.
pub(crate) fn each_word() -> impl Iterator<Item = Query> {
    let fields = ["q", "other"].into_iter();
    let texts = fields.flat_map(|field| WORDS.iter().map(move |word| (field, Words::Word(word))));
    let tags = TAGS.iter().map(|tag| ("tagged.tag", Words::Word(tag)));
    texts.chain(tags).map(|text| Query { texts: vec![text], others: Vec::new() })
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (field, words)) in self.texts.iter().enumerate() {
            write!(f, "{}{field} matches '{words}'", if nth == 0 { "" } else { " and " })?;
        }
        self.others.iter().try_for_each(|other| write!(f, " and {other}"))
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |parts: &[Words], with: &str| {
            parts.iter().map(Words::to_string).collect::<Vec<_>>().join(with)
        };
        match self {
            Words::Word(word) => write!(f, "{word}"),
            Words::Phrase(words) => write!(f, "\"{}\"", words.join(" ")),
            Words::Prefix(word) => write!(f, "{word}*"),
            Words::All(parts) => write!(f, "({})", joined(parts, " ")),
            Words::Any(parts) => write!(f, "({})", joined(parts, " OR ")),
            Words::Without(one, other) => write!(f, "({one} NOT {other})"),
        }
    }
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Other::SizeOver(size) => write!(f, "size > {size}"),
            Other::SizeUpTo(size) => write!(f, "size <= {size}"),
            Other::User(user) => write!(f, "user = '{user}'"),
            Other::UserFrom(user) => write!(f, "user >= '{user}'"),
            Other::Number(n) => write!(f, "n = {n}"),
            Other::QIs(text) => write!(f, "q = '{text}'"),
            Other::QFrom(text) => write!(f, "q >= '{text}'"),
            Other::IsNull => write!(f, "other is null"),
        }
    }
}

impl Query {
    pub(crate) fn to_predicate(&self) -> Predicate {
        Predicate::parse(&self.to_string()).unwrap()
    }
}

/// The rows that a table shows, as an index analyses them.
pub(crate) struct Judge {
    rows: Vec<JudgedRow>,
}

pub(crate) struct JudgedRow {
    row: Row,
    /// Each field's values, encoded.
    values: BTreeMap<String, Vec<Bytes>>,
    /// Each text field's terms by each analyser, value by value.
    terms: BTreeMap<String, Vec<(Analyser, Vec<Terms>)>>,
    /// The column for `q`.
    q: (&'static str, &'static str),
}

type Terms = BTreeSet<(usize, String)>;

fn terms(analyser: Analyser, text: &str) -> Terms {
    let mut terms = Terms::new();
    analyser.each_token(text, |token| {
        terms.insert((token.position, token.text.clone()));
    });
    terms
}

impl Judge {
    /// Takes the rows from a full scan. Rows whose keys do not fit the template are in no answer.
    pub(crate) fn new(index: &Index, rows: Vec<Row>, q: (&'static str, &'static str)) -> Self {
        let search = index.search().unwrap();
        let fitting = rows.into_iter().filter(|row| index.fits(row.key()));
        let rows = fitting.map(|row| {
            let mut values: BTreeMap<String, Vec<Bytes>> = BTreeMap::new();
            for (at, value) in search.values(&row) {
                values.entry(search.fields()[at].name().to_owned()).or_default().push(value);
            }
            let texts = search.fields().iter().filter(|field| field.is_text()).map(|field| {
                let values = values.get(field.name()).map_or(&[][..], |values| &values[..]);
                let of = |&analyser: &Analyser| {
                    let values = values.iter().map(|value| terms(analyser, &text_of(value)));
                    (analyser, values.collect())
                };
                (field.name().to_owned(), field.analysers().iter().map(of).collect())
            });
            let terms = texts.collect();
            JudgedRow { row, values, terms, q }
        });
        Self { rows: rows.collect() }
    }

    /// Returns the row keys that match a query, in order.
    pub(crate) fn find(&self, query: &Query) -> Vec<Bytes> {
        let matching = self.rows.iter().filter(|row| row.matches(query));
        matching.map(|row| Bytes::copy_from_slice(row.row.key())).collect()
    }

    /// Returns the row keys that pass a test, in order.
    pub(crate) fn find_by(&self, test: impl Fn(&JudgedRow) -> bool) -> Vec<Bytes> {
        let matching = self.rows.iter().filter(|row| test(row));
        matching.map(|row| Bytes::copy_from_slice(row.row.key())).collect()
    }

    /// Returns how many rows with these keys have each value of a field.
    pub(crate) fn facets(&self, keys: &[Bytes], field: &str) -> BTreeMap<Bytes, u64> {
        let mut counts = BTreeMap::new();
        for row in self.rows.iter().filter(|row| keys.iter().any(|key| key[..] == *row.row.key())) {
            let values = row.values.get(field).into_iter().flatten();
            // Longer ones are not counted.
            for value in values.filter(|value| value.len() <= 1_024) {
                *counts.entry(value.clone()).or_default() += 1;
            }
        }
        counts
    }
}

impl JudgedRow {
    fn matches(&self, query: &Query) -> bool {
        let has = |(field, words): &(&str, Words)| words.are_in(&self.terms[*field]) == Some(true);
        query.texts.iter().all(has) && query.others.iter().all(|other| self.meets(other))
    }

    /// The value in `q`, unless it is no text.
    fn q(&self) -> Option<String> {
        let value = self.row.value(self.q.0, self.q.1)?;
        String::from_utf8(value.to_vec()).ok()
    }

    /// Whether the row shows a value or a text.
    pub(crate) fn is_document(&self) -> bool {
        self.values.values().any(|values| !values.is_empty())
    }

    /// True if a field has a value, or a text in it has a word.
    pub(crate) fn has(&self, field: &str) -> bool {
        let of_words = self.terms.get(field).map_or(&[][..], |terms| &terms[..]);
        if !of_words.is_empty() && of_words.iter().all(|(it, _)| *it != Analyser::Keyword) {
            let mut texts = of_words.iter().flat_map(|(_, texts)| texts);
            return texts.any(|terms| !terms.is_empty());
        }
        self.values.get(field).is_some_and(|values| !values.is_empty())
    }

    /// True if a text has the words; `None` if no analyser has a term for any of them.
    pub(crate) fn has_words(&self, field: &str, words: &Words) -> Option<bool> {
        words.are_in(&self.terms[field])
    }

    pub(crate) fn meets(&self, other: &Other) -> bool {
        let size = self.row.value("f", "s");
        let size = size.map(|size| i64::from_be_bytes(size[..].try_into().unwrap()) ^ i64::MIN);
        // The copy's template has the number first.
        let key = self.row.key();
        let user = key.iter().find(|byte| byte.is_ascii_alphabetic()).map(|&user| char::from(user));
        match other {
            Other::SizeOver(than) => size.is_some_and(|size| size > *than),
            Other::SizeUpTo(to) => size.is_some_and(|size| size <= *to),
            Other::User(is) => user == Some(*is),
            Other::UserFrom(from) => user >= Some(*from),
            Other::Number(n) => key.contains(&(b'0' + n)),
            Other::QIs(text) => self.q().is_some_and(|q| q == *text),
            Other::QFrom(text) => self.q().is_some_and(|q| &q[..] >= *text),
            Other::IsNull => self.row.value("g", "q").is_none(),
        }
    }
}

impl Words {
    /// Returns true if a field with these terms has the words; `None` if no analyser has a term for
    /// any of them.
    fn are_in(&self, field: &[(Analyser, Vec<Terms>)]) -> Option<bool> {
        let known = |parts: &[Words]| -> Option<Vec<bool>> {
            let known: Vec<_> = parts.iter().filter_map(|part| part.are_in(field)).collect();
            (!known.is_empty()).then_some(known)
        };
        match self {
            Words::All(parts) => known(parts).map(|parts| parts.into_iter().all(|has| has)),
            Words::Any(parts) => known(parts).map(|parts| parts.into_iter().any(|has| has)),
            Words::Without(one, other) => {
                let parts = [one.are_in(field), other.are_in(field).map(|has| !has)];
                parts.into_iter().flatten().reduce(|one, other| one && other)
            }
            Words::Word(_) | Words::Phrase(_) | Words::Prefix(_) => {
                let by_analyser = field.iter().filter_map(|(analyser, values)| {
                    let has: Option<Vec<bool>> =
                        values.iter().map(|terms| self.is_in(*analyser, terms)).collect();
                    // Without a value, whether the analyser has a term is still to be known.
                    self.is_in(*analyser, &Terms::new()).and(has).map(|has| has.contains(&true))
                });
                by_analyser.reduce(|one, other| one || other)
            }
        }
    }

    /// Returns true if a value with these terms has a word or phrase.
    fn is_in(&self, analyser: Analyser, value: &Terms) -> Option<bool> {
        let text = match self {
            Words::Prefix(prefix) if prefix.is_ascii() || analyser != Analyser::Chinese => {
                let stems = match analyser {
                    Analyser::English => terms(analyser, prefix),
                    Analyser::Keyword | Analyser::Simple | Analyser::Chinese => Terms::new(),
                };
                let has = |term: &str| {
                    term.starts_with(prefix) || stems.iter().any(|(_, stem)| stem == term)
                };
                return Some(value.iter().any(|(_, term)| has(term)));
            }
            Words::Word(word) | Words::Prefix(word) => (*word).to_owned(),
            Words::Phrase(words) => words.join(" "),
            Words::All(_) | Words::Any(_) | Words::Without(..) => return None,
        };
        // All terms that an indexed text has must be there, not only the searched ones.
        let expected = terms(analyser, &text);
        let (first, _) = expected.first()?;
        let last = value.last().map_or(0, |(position, _)| *position);
        Some((0..=last).any(|start| {
            expected.iter().all(|(at, term)| value.contains(&(start + at - first, term.clone())))
        }))
    }
}
