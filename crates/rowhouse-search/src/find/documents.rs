//! Queries over an index's documents, made from parsed queries.

use std::borrow::Cow;
use std::sync::Arc;

use rowhouse_model::{Error, Result, RowRange};
use rowhouse_schema::{Analyser, Index, KeySchema, Plan};

use super::bind::Binder;
use crate::highlight::Highlighter;
use crate::lucene::{LuceneQuery, Occurs};
use crate::words::{Leaf, Lookup};

/// The name under which a query and a document have the row key.
pub const ROW_NAME: &str = "id";

/// The name under which a document has the score.
const SCORE_NAME: &str = "score";

/// Returns the name that documents and queries have for a declared key field or column: the
/// declared name, unless documents have something else under it.
pub fn document_name(declared: &str) -> Cow<'_, str> {
    match declared {
        ROW_NAME | SCORE_NAME => format!("{declared}_").into(),
        declared => declared.into(),
    }
}

/// Returns a field's declared name, given the one that documents have.
pub fn declared_name(name: &str, is_declared: impl Fn(&str) -> bool) -> &str {
    match name.strip_suffix('_') {
        Some(declared @ (ROW_NAME | SCORE_NAME)) if !is_declared(name) => declared,
        _ => name,
    }
}

/// A query over a full-text index's documents, with filters.
///
/// A document is a row that shows a value or a text in the index, even an empty one. A row without
/// any is in no answer.
///
/// ```
/// use rowhouse_schema::{ColumnSchema, IndexSchema, KeySchema};
/// use rowhouse_search::{DocumentQuery, LuceneQuery, Operator};
///
/// let key = KeySchema::parse("[user string][n u8]")?;
/// let columns = ColumnSchema::parse("d:b body string; d:z size u32")?;
/// let indexes =
///     IndexSchema::parse("text search body english, size", Some(&key), Some(&columns))?;
/// let (index, parse) = (indexes.index("text")?, |text| LuceneQuery::parse(text, Operator::Or));
///
/// let query = parse("row keys -hbase")?;
/// let filters = [parse("user:bob")?, parse("size:[5 TO *]")?];
/// DocumentQuery::new(index, Some(&key), &query, &filters, Some("body"))?;
///
/// let unknown = DocumentQuery::new(index, Some(&key), &parse("sender:eve")?, &[], None);
/// assert_eq!(
///     unknown.unwrap_err().message(),
///     "undefined field sender: fields=id, user, n, body, size"
/// );
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DocumentQuery {
    pub(super) query: Test,
    pub(super) filters: Vec<Test>,
    words: Vec<FieldLeaf>,
}

/// A condition on documents.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// Words in a text field, by the field position, as each analyser of the field looks for them.
    Words(usize, Vec<(Analyser, Lookup)>),
    Alone(Alone),
    Nothing,
    /// At least one clause; not only clauses that must not match.
    Group(Vec<(Occurs, Test)>),
    Boosted(Box<Test>, f32),
    Constant(Box<Test>, f32),
}

/// A condition without words, by which documents can be tested one by one.
#[derive(Clone, Debug)]
pub(super) enum Alone {
    /// A field value, by the field position, in ranges of order-preserving encodings.
    Values(usize, Vec<RowRange>),
    /// The row key.
    Rows(RowTest),
    /// A field has a value or a word.
    Has(usize),
}

/// A condition on a row key.
#[derive(Clone, Debug)]
pub(super) struct RowTest {
    /// In order, without overlaps.
    pub(super) ranges: Vec<RowRange>,
    /// What the ranges leave to be checked.
    pub(super) rest: Option<Arc<RowRest>>,
}

#[derive(Debug)]
pub(super) struct RowRest {
    pub(super) key: KeySchema,
    pub(super) plan: Plan,
}

/// Words in a query, and the field in which it looks for them.
#[derive(Clone, Debug)]
pub(super) struct FieldLeaf {
    pub(super) field: usize,
    pub(super) leaf: Leaf,
}

impl DocumentQuery {
    /// Makes a query for the documents that match `query` and all `filters`. Only `query` gives
    /// scores. Clauses without a field are on the default field.
    ///
    /// # Errors
    /// `InvalidRequest` for a field that neither the index nor the key has, for a value that does
    /// not have the field's type, for a condition that neither the index nor the key decides, for a
    /// clause without a field if there is no default field, and for too many terms.
    pub fn new(
        index: &Index,
        key: Option<&KeySchema>,
        query: &LuceneQuery,
        filters: &[LuceneQuery],
        default_field: Option<&str>,
    ) -> Result<Self> {
        let search = index.search().ok_or_else(|| {
            Error::invalid(format!("index {} is not a full-text index", index.name()))
        })?;
        let mut binder = Binder::new(search, key, default_field);
        let bound = binder.query(query)?;
        let words = binder.take_words();
        let filters = filters.iter().map(|filter| binder.query(filter));
        Ok(Self { query: bound, filters: filters.collect::<Result<_>>()?, words })
    }

    /// Makes a query for all documents.
    pub fn all() -> Self {
        Self { query: Test::all(), filters: Vec::new(), words: Vec::new() }
    }

    /// Returns what finds the query's words in a field's texts; `None` if the index has no such
    /// text. Words that must not match are left out, as are the words in filters. With
    /// `own_words_only`, only the words that the query looks for in this field are found.
    pub fn highlighter(
        &self,
        index: &Index,
        field: &str,
        own_words_only: bool,
    ) -> Option<Highlighter> {
        let (at, text) = index.search()?.field(field).filter(|(_, text)| text.is_text())?;
        let leaves = self.words.iter().filter(|words| !own_words_only || words.field == at);
        Some(Highlighter::of(leaves.map(|words| &words.leaf), text.analysers()))
    }
}

impl Test {
    /// All documents.
    pub(super) fn all() -> Self {
        Self::Alone(Alone::Rows(RowTest { ranges: vec![RowRange::all()], rest: None }))
    }
}
