//! Indexes: templates over a table's rows, whose keys are stored in a separate table.
//!
//! [`parse`] parses declarations, [`names`] resolves the names in them, and [`full_form`] derives
//! the entry template. [`entries`] turns a row into entries and an entry back into the row key,
//! [`header`] is an entry's value, [`copy`] is a table under another key, and [`plan`] reads an
//! index for a query. [`search`] is a full-text index, [`parse_search`] parses its declaration, and
//! [`search_plan`] plans a query by it.

mod analyser;
mod change;
mod check;
mod copy;
mod cost;
mod entries;
mod full_form;
mod header;
mod intent;
mod names;
mod parse;
mod parse_search;
mod plan;
mod search;
mod search_plan;
mod state;
mod table;

use std::fmt;
use std::sync::Arc;

use rowhouse_model::{Columns, Error, Result, TableDescriptor};

use crate::columns::{Column, ColumnSchema};
use crate::key::{KeySchema, LANGUAGE_VERSION, without_version};
use crate::plan::{Predicate, RowConditions};
use crate::spelling::closest;

pub use analyser::Analyser;
pub use change::ChangeReads;
pub use check::{check_altered_declarations, check_declarations};
pub use copy::{FORMER_KEY_ATTRIBUTE, LAYOUT_ATTRIBUTE, Promotion, is_former_key, layout_of};
pub use cost::{COLLECTED_ENTRIES_MAX, CheapestWay, IndexCost};
pub use entries::{Covered, Entry};
pub use header::EntryHeader;
pub use intent::{CLIENT_MAINTAINER, INDEX_MAINTAINER_ATTRIBUTE, Intent, SERVER_MAINTAINER};
pub use plan::{IndexPlan, WhyNot};
pub use search::{Search, SearchField};
pub use search_plan::SearchPlan;
pub use state::{INDEX_DAMAGE_ATTRIBUTE, INDEX_STATE_ATTRIBUTE, IndexState, index_damage};
pub use table::{ENTRY_FAMILY, IndexOf, LIST_FAMILY, QUEUE_FAMILY, SEGMENT_FAMILY};

use change::Parts;
use full_form::KeySource;
use names::Source;

/// The table attribute that holds the index declarations.
pub const INDEXES_ATTRIBUTE: &str = "rowhouse.indexes";

/// A table's declared indexes. Cheap to clone.
///
/// A declaration is a name and a template with key fields and declared columns; then `memory` or
/// `unique`, `covers` and columns, `where` and a query. Declarations are separated by `;` or written one a
/// line. An index that `covers *` is a table copy under another key. `NAME search` and fields with
/// their analysers declares a full-text index: [`Search`].
///
/// # Example: what keys does an index have?
///
/// ```
/// use rowhouse_schema::{ColumnSchema, IndexSchema, KeySchema};
///
/// let key = KeySchema::parse("[user text]_[at millis digits desc]")?;
/// let columns = ColumnSchema::parse("d:s sender string; d:n size u64")?;
/// let text = "by_sender [sender]; large [size desc] covers sender where size > 10000";
/// let indexes = IndexSchema::parse(text, Some(&key), Some(&columns))?;
///
/// // Types come from the key and the columns; the fields of the key that are missing are appended.
/// assert_eq!(
///     indexes.index("by_sender")?.template().to_string(),
///     "[sender string][user string][at millis desc]"
/// );
/// assert_eq!(indexes.to_string(), text);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Example: what does a mistake look like?
///
/// ```
/// use rowhouse_schema::{ColumnSchema, IndexSchema};
///
/// let columns = ColumnSchema::parse("d:s sender string")?;
/// let error = IndexSchema::parse("by_sender [sendr]", None, Some(&columns)).unwrap_err();
/// assert_eq!(error.to_string(), "\
/// there is no `sendr`; did you mean `sender`?: offset=11
///   by_sender [sendr]
///              ^");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone)]
pub struct IndexSchema {
    declared: Arc<Declared>,
}

struct Declared {
    indexes: Vec<Index>,
    /// The declarations' canonical text: equal declarations have equal texts.
    text: String,
}

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
    declaration: Arc<Declaration>,
}

struct Declaration {
    name: String,
    /// The entries are in memory alone.
    memory: bool,
    unique: bool,
    /// True if it covers `*`: the table under another key.
    copy: bool,
    /// The covered columns, each with one qualifier, and their names.
    covers: Vec<Column>,
    covered: Vec<String>,
    condition: Option<Predicate>,
    /// A full-text index's fields; such an index has no entries.
    search: Option<Search>,
    /// The same condition, bound to the key and the columns.
    rows: Option<RowConditions>,
    /// The template as declared.
    template: String,
    /// The entry template.
    full: KeySchema,
    /// Where each stored field in the full form comes from; the first `named` are declared.
    sources: Vec<Source>,
    named: usize,
    /// How many elements in the full form are declared.
    named_elements: usize,
    key: Option<KeySchema>,
    columns: Option<ColumnSchema>,
    key_source: KeySource,
    reads: Columns,
    parts: Parts,
    /// The canonical declaration.
    text: String,
}

impl IndexSchema {
    /// Parses the declarations for a table with this key and these columns; an empty text has none.
    ///
    /// # Errors
    /// `InvalidRequest` that points at the mistake: a name that is neither a key field nor a
    /// declared column, a name used twice, a field that cannot stand where it is, a salt, a column
    /// covered twice or with many qualifiers, `covers *` with names that are not key fields, an
    /// analyser for values that are no texts, and text that is not a declaration.
    pub fn parse(
        text: &str,
        key: Option<&KeySchema>,
        columns: Option<&ColumnSchema>,
    ) -> Result<Self> {
        let indexes = parse::parse(text, key, columns)?;
        let texts: Vec<_> = indexes.iter().map(ToString::to_string).collect();
        let text = texts.join("; ");
        Ok(Self { declared: Arc::new(Declared { indexes, text }) })
    }

    /// Parses declarations in the form stored in a table descriptor: the language version, a space,
    /// the text.
    ///
    /// # Errors
    /// `Unsupported` for a newer language; otherwise as [`IndexSchema::parse`].
    pub fn from_stored(
        stored: &str,
        key: Option<&KeySchema>,
        columns: Option<&ColumnSchema>,
    ) -> Result<Self> {
        Self::parse(without_version(stored, "declaration of indexes")?, key, columns)
    }

    /// Returns the declarations in the form stored in a table descriptor.
    pub fn to_stored(&self) -> String {
        format!("{LANGUAGE_VERSION} {self}")
    }

    /// Returns the indexes that a table declares, if any.
    ///
    /// # Errors
    /// As [`IndexSchema::from_stored`], [`KeySchema::of_table`] and [`ColumnSchema::of_table`].
    pub fn of_table(table: &TableDescriptor) -> Result<Option<Self>> {
        let Some(stored) = table.attributes.get(INDEXES_ATTRIBUTE.as_bytes()) else {
            return Ok(None);
        };
        let key = KeySchema::of_table(table)?;
        let columns = ColumnSchema::of_table(table)?;
        let stored = String::from_utf8_lossy(stored);
        Self::from_stored(&stored, key.as_ref(), columns.as_ref()).map(Some)
    }

    /// The indexes, in the order in which they are declared.
    pub fn indexes(&self) -> &[Index] {
        &self.declared.indexes
    }

    /// Returns true if cells in a family decide entries of any index.
    pub fn are_decided_by(&self, family: &[u8]) -> bool {
        self.indexes().iter().any(|index| index.columns().selects_family(family))
    }

    /// Returns true if any index is a table copy.
    pub fn have_copy(&self) -> bool {
        self.indexes().iter().any(Index::is_copy)
    }

    /// Checks that the table has the families for all index columns.
    ///
    /// # Errors
    /// `InvalidRequest` that names the index and the family.
    pub fn check_families(&self, table: &TableDescriptor) -> Result<()> {
        for index in self.indexes() {
            for (family, _) in index.columns().families() {
                if table.find_family(family).is_err() {
                    return Err(Error::invalid(format!(
                        "index `{}` needs a family that the table does not declare: family={}",
                        index.name(),
                        rowhouse_model::escape(family)
                    )));
                }
            }
        }
        Ok(())
    }

    /// Returns the index with this name.
    ///
    /// # Errors
    /// `InvalidRequest` if there is none; the message suggests the closest name, or lists all.
    pub fn index(&self, name: &str) -> Result<&Index> {
        let index = self.indexes().iter().find(|index| index.name() == name);
        index.ok_or_else(|| {
            let names = self.indexes().iter().map(Index::name);
            Error::invalid(match closest(name, names.clone()) {
                Some(close) => format!("no index `{name}` is declared; did you mean `{close}`?"),
                None => {
                    let names: Vec<_> = names.collect();
                    format!("no index `{name}` is declared; declared: {}", names.join(", "))
                }
            })
        })
    }
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

impl PartialEq for IndexSchema {
    /// Compares index by index.
    fn eq(&self, other: &Self) -> bool {
        self.indexes() == other.indexes()
    }
}

impl Eq for IndexSchema {}

impl fmt::Display for IndexSchema {
    /// Writes the declarations; parsing them for the same key and columns returns equal indexes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.declared.text)
    }
}

impl fmt::Debug for IndexSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IndexSchema({self})")
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
