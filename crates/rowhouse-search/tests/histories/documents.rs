//! Random queries in Lucene's syntax, and what they find.

use std::fmt;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use rowhouse_model::Bytes;
use rowhouse_schema::{ColumnSchema, Direction, Index, KeySchema};
use rowhouse_search::{
    DocumentQuery, LuceneQuery, Matches, Operator, OrderKey, OrderedRow, PagePart, SearchEngine,
};
use rowhouse_store::Table;

use crate::queries::{Judge, JudgedRow, Other, TAGS, WORDS, Words, words};

/// A query part.
#[derive(Clone)]
pub(crate) enum Part {
    Words(&'static str, Words),
    Other(Other),
    Has(&'static str),
    All,
    Group(Vec<(char, Part)>),
}

/// Returns any query.
pub(crate) fn part() -> impl Strategy<Value = Part> {
    let leaf = |of| words(of).prop_filter("one word or phrase", is_leaf);
    let user = || prop::sample::select(vec!['a', 'b', 'm']);
    let part = prop_oneof![
        4 => leaf(&WORDS).prop_map(|words| Part::Words("q", words)),
        4 => leaf(&WORDS).prop_map(|words| Part::Words("other", words)),
        1 => leaf(&TAGS).prop_map(|words| Part::Words("tagged.tag", words)),
        1 => (-1i64..5).prop_map(|size| Part::Other(Other::SizeOver(size))),
        1 => (-1i64..5).prop_map(|size| Part::Other(Other::SizeUpTo(size))),
        1 => user().prop_map(|user| Part::Other(Other::User(user))),
        1 => user().prop_map(|user| Part::Other(Other::UserFrom(user))),
        1 => (1u8..3).prop_map(|n| Part::Other(Other::Number(n))),
        1 => prop::sample::select(vec!["q", "other", "size", "tagged.tag"]).prop_map(Part::Has),
        1 => Just(Part::All),
    ];
    let part = part.prop_recursive(2, 8, 4, |inner| {
        let sign = prop_oneof![3 => Just(' '), 2 => Just('+'), 1 => Just('-')];
        prop::collection::vec((sign, inner), 1..5).prop_map(Part::Group)
    });
    part.prop_map(|part| Part::Group(vec![(' ', part)]))
}

fn is_leaf(words: &Words) -> bool {
    matches!(words, Words::Word(_) | Words::Phrase(_) | Words::Prefix(_))
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Words(field, words) => write!(f, "{field}:{words}"),
            Part::Other(Other::SizeOver(size)) => write!(f, "size:{{{size} TO *]"),
            Part::Other(Other::SizeUpTo(size)) => write!(f, "size:[* TO {size}]"),
            Part::Other(Other::User(user)) => write!(f, "user:{user}"),
            Part::Other(Other::UserFrom(user)) => write!(f, "user:[{user} TO *]"),
            Part::Other(Other::Number(n)) => write!(f, "n:{n}"),
            Part::Other(other) => write!(f, "{other}"),
            Part::Has(field) => write!(f, "{field}:*"),
            Part::All => f.write_str("*:*"),
            Part::Group(parts) => {
                for (nth, (sign, part)) in parts.iter().enumerate() {
                    let sign = if *sign == ' ' { String::new() } else { sign.to_string() };
                    write!(f, "{}{sign}", if nth == 0 { "" } else { " " })?;
                    match part {
                        Part::Group(_) => write!(f, "({part})")?,
                        part => write!(f, "{part}")?,
                    }
                }
                Ok(())
            }
        }
    }
}

impl Part {
    /// Whether a document matches; `None` if there is nothing to look for.
    fn finds(&self, row: &JudgedRow, is_top: bool) -> Option<bool> {
        match self {
            Part::Words(field, words) => row.has_words(field, words),
            Part::Other(other) => Some(row.meets(other)),
            Part::Has(field) => Some(row.has(field)),
            Part::All => Some(true),
            // A single clause without a sign is the clause itself.
            Part::Group(parts) if parts.len() == 1 && parts[0].0 == ' ' => {
                parts[0].1.finds(row, is_top)
            }
            Part::Group(parts) => {
                let results = parts.iter().map(|(sign, part)| (*sign, part.finds(row, false)));
                let results: Vec<_> =
                    results.filter_map(|(sign, finds)| Some((sign, finds?))).collect();
                let of = |of: char| {
                    results.iter().filter(move |(sign, _)| *sign == of).map(|(_, finds)| *finds)
                };
                if results.is_empty() {
                    return None;
                }
                let is_only_not = of('+').next().is_none() && of(' ').next().is_none();
                let is_match = match of('+').next() {
                    _ if is_only_not => is_top,
                    Some(_) => of('+').all(|finds| finds),
                    None => of(' ').any(|finds| finds),
                };
                Some(is_match && !of('-').any(|finds| finds))
            }
        }
    }

    /// True if an index has the words for all fields that words are looked for in, and no values
    /// under the field names.
    fn is_about(&self, index: &Index) -> bool {
        let search = index.search().unwrap();
        match self {
            Part::Words(field, _) => search.field(field).is_some_and(|(_, field)| field.is_text()),
            Part::Has(field) => search.field(field).is_some(),
            Part::Other(Other::SizeOver(_) | Other::SizeUpTo(_)) => search.field("size").is_some(),
            Part::Other(_) | Part::All => true,
            Part::Group(parts) => parts.iter().all(|(_, part)| part.is_about(index)),
        }
    }
}

/// Compares an index's answers to a query, and to the same query as a filter, with a judge's
/// answers.
pub(crate) fn check(
    engine: &SearchEngine,
    table: &Table,
    index: &Index,
    judge: &Judge,
    part: &Part,
) -> Result<(), TestCaseError> {
    if !part.is_about(index) {
        return Ok(());
    }
    let descriptor = table.descriptor();
    let key = KeySchema::of_table(descriptor).unwrap().unwrap();
    let columns = ColumnSchema::of_table(descriptor).unwrap().unwrap();
    let indexes = table.indexes().unwrap().unwrap();
    let plan = indexes.all_documents(Some(&key), &columns, index.name()).unwrap();
    let parse = |text: &str| LuceneQuery::parse(text, Operator::Or).unwrap();
    let text = part.to_string();
    let all = parse("*:*");
    let query = DocumentQuery::new(index, Some(&key), &parse(&text), &[], None).unwrap();
    let filter = DocumentQuery::new(index, Some(&key), &all, &[parse(&text)], None).unwrap();
    let expected = judge.find_by(|row| row.is_document() && part.finds(row, true).unwrap_or(false));
    for documents in [query, filter] {
        let matches = engine.find_documents(table.name(), &plan, &documents, None).unwrap();
        let context = |error| TestCaseError::fail(format!("{text} in {index}: {error}"));
        check_matches(&matches, index, &expected).map_err(context)?;
    }
    Ok(())
}

fn check_matches(
    matches: &Matches,
    index: &Index,
    expected: &[Bytes],
) -> Result<(), TestCaseError> {
    prop_assert_eq!(matches.count().unwrap(), expected.len() as u64);
    prop_assert_eq!(&matches.by_key(Direction::Forward, None, usize::MAX).unwrap()[..], expected);
    let forward = Direction::Forward;
    let reverse = Direction::Reverse;
    let by_row = pages(matches, &[OrderKey::Row(forward)], expected.len())?;
    prop_assert_eq!(&by_row[..], expected, "by row");
    let mut by_score = pages(matches, &[OrderKey::Score(reverse)], expected.len())?;
    by_score.sort();
    prop_assert_eq!(&by_score[..], expected, "by score");
    if index.search().unwrap().field("size").is_some() {
        for direction in [forward, reverse] {
            let size = OrderKey::Value("size".to_owned(), direction);
            let by_size = pages(matches, &[size, OrderKey::Row(direction)], expected.len())?;
            let rows = matches.by_value("size", direction, None, usize::MAX).unwrap();
            let rows: Vec<_> = rows.into_iter().map(|row| row.row).collect();
            prop_assert_eq!(by_size, rows, "by size, {:?}", direction);
        }
    }
    Ok(())
}

/// Reads all rows in an order, page by page, and at once.
fn pages(matches: &Matches, order: &[OrderKey], count: usize) -> Result<Vec<Bytes>, TestCaseError> {
    let key = |row: OrderedRow| row.row;
    let whole =
        matches.ordered(order, false, PagePart { limit: 1_000, ..PagePart::default() }).unwrap();
    prop_assert_eq!(whole.count, count as u64);
    let whole: Vec<_> = whole.rows.into_iter().map(key).collect();
    let mut rows: Vec<Bytes> = Vec::new();
    let mut after: Option<OrderedRow> = None;
    loop {
        let part = PagePart { after: after.as_ref(), skip: 0, limit: 3 };
        let page = matches.ordered(order, false, part).unwrap().rows;
        let Some(last) = page.last().cloned() else { break };
        rows.extend(page.into_iter().map(key));
        after = Some(last);
    }
    prop_assert_eq!(&rows, &whole, "pages, {:?}", order);
    let part = PagePart { after: None, skip: count / 2, limit: 2 };
    let middle = matches.ordered(order, true, part).unwrap().rows.into_iter().map(key);
    let end = (count / 2 + 2).min(count);
    prop_assert_eq!(&middle.collect::<Vec<_>>()[..], &whole[count / 2..end], "{:?}", order);
    Ok(whole)
}
