//! One declared index.

use std::fmt;
use std::sync::Arc;

use rowhouse_model::Columns;

use super::change::Parts;
use super::full_form::KeySource;
use super::names::Source;
use super::search::Search;
use crate::columns::{Column, ColumnSchema};
use crate::key::KeySchema;
use crate::plan::{Predicate, RowConditions};

/// One declared index. Cheap to clone.
///
/// ```
/// use rowhouse_schema::{ColumnSchema, IndexSchema, KeySchema};
///
/// let key = KeySchema::parse("[user string]")?;
/// let columns = ColumnSchema::parse("d:m mail string; d:n name string")?;
/// let text = "by_mail [mail] unique covers name";
/// let indexes = IndexSchema::parse(text, Some(&key), Some(&columns))?;
/// let index = indexes.index("by_mail")?;
/// assert!(index.is_unique());
/// assert_eq!(index.declared_template(), "[mail]");
/// assert_eq!(index.template().to_string(), "[mail string][user string]");
/// assert!(index.columns().has_column(b"d", b"n") && !index.columns().has_column(b"d", b"x"));
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone)]
pub struct Index {
    pub(super) declaration: Arc<Declaration>,
}

pub(super) struct Declaration {
    pub(super) name: String,
    /// The entries are in memory alone.
    pub(super) memory: bool,
    pub(super) unique: bool,
    /// True if it covers `*`: the table under another key.
    pub(super) copy: bool,
    /// The covered columns, each with one qualifier, and their names.
    pub(super) covers: Vec<Column>,
    pub(super) covered: Vec<String>,
    pub(super) condition: Option<Predicate>,
    /// A full-text index's fields; such an index has no entries.
    pub(super) search: Option<Search>,
    /// The same condition, bound to the key and the columns.
    pub(super) rows: Option<RowConditions>,
    /// The template as declared.
    pub(super) template: String,
    /// The entry template.
    pub(super) full: KeySchema,
    /// Where each stored field in the full form comes from; the first `named` are declared.
    pub(super) sources: Vec<Source>,
    pub(super) named: usize,
    /// How many elements in the full form are declared.
    pub(super) named_elements: usize,
    pub(super) key: Option<KeySchema>,
    pub(super) columns: Option<ColumnSchema>,
    pub(super) key_source: KeySource,
    pub(super) reads: Columns,
    pub(super) parts: Parts,
    /// The canonical declaration.
    pub(super) text: String,
}

impl Index {
    /// The name.
    pub fn name(&self) -> &str {
        &self.declaration.name
    }

    /// Returns true if no two rows may have equal values in the declared fields.
    pub fn is_unique(&self) -> bool {
        self.declaration.unique
    }

    /// Returns true if the entries are in memory alone: the store builds them after each open.
    pub fn is_in_memory(&self) -> bool {
        self.declaration.memory
    }

    /// Returns true if the index is a table copy under another key: it `covers *`.
    pub fn is_copy(&self) -> bool {
        self.declaration.copy
    }

    /// The covered columns' names, in declaration order; none for a copy, which has all.
    pub fn covers(&self) -> &[String] {
        &self.declaration.covered
    }

    /// The covered columns, in declaration order.
    pub fn covered_columns(&self) -> &[Column] {
        &self.declaration.covers
    }

    /// The condition that rows with entries meet, if there is one.
    pub fn condition(&self) -> Option<&Predicate> {
        self.declaration.condition.as_ref()
    }

    /// A full-text index's fields; `None` for every other index.
    pub fn search(&self) -> Option<&Search> {
        self.declaration.search.as_ref()
    }

    /// The full form: the entry template, whose last fields determine the row's key. A full-text
    /// index has no entries, and returns `[row blob]`.
    pub fn template(&self) -> &KeySchema {
        &self.declaration.full
    }

    /// The template as declared, without types and without the appended fields. For a full-text
    /// index, the word `search` and the fields.
    pub fn declared_template(&self) -> &str {
        &self.declaration.template
    }

    /// The cells that decide a row's entries or are covered. For a column with a qualifier
    /// template, the whole family. All columns if a row without any such cell can have an entry,
    /// because then any cell decides that the row exists.
    pub fn columns(&self) -> &Columns {
        &self.declaration.reads
    }
}

impl Declaration {
    /// The columns whose declarations decide the entries.
    fn used_columns(&self) -> impl Iterator<Item = &Column> {
        let columns = self.columns.as_ref().map_or(&[][..], ColumnSchema::columns);
        let is_used = move |(at, column): &(usize, &Column)| {
            let by_source = |source: &Source| match source {
                Source::Row | Source::Key(_) => false,
                Source::Column(used) | Source::Qualifier { column: used, .. } => used == at,
            };
            let mut conditions = self.rows.iter().flat_map(RowConditions::columns);
            let mut searched = self.search.iter().flat_map(Search::fields);
            self.sources.iter().any(by_source)
                || searched.any(|field| by_source(field.source()))
                || self.covered.iter().any(|name| name == column.name())
                || conditions.any(|other| other.name() == column.name())
        };
        columns.iter().enumerate().filter(is_used).map(|(_, column)| column)
    }
}

impl PartialEq for Index {
    /// Compares everything that decides entries: the declaration, the key, and the declarations for
    /// the columns that the index uses. Equal indexes have equal entries.
    fn eq(&self, other: &Self) -> bool {
        let one = &self.declaration;
        let other = &other.declaration;
        one.text == other.text
            && one.full == other.full
            && one.key == other.key
            && one.used_columns().eq(other.used_columns())
    }
}

impl Eq for Index {}

impl fmt::Display for Index {
    /// Writes the declaration.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.declaration.text)
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.search() {
            Some(_) => write!(f, "Index({self})"),
            None => write!(f, "Index({self}, full form {})", self.template()),
        }
    }
}
