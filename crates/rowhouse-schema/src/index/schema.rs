//! A table's declared indexes.

use std::fmt;
use std::sync::Arc;

use rowhouse_model::{Error, Result, TableDescriptor};

use super::declaration::Index;
use super::parse;
use crate::columns::ColumnSchema;
use crate::key::{KeySchema, LANGUAGE_VERSION, without_version};
use crate::spelling::closest;

/// The table attribute that holds the index declarations.
pub const INDEXES_ATTRIBUTE: &str = "rowhouse.indexes";

/// A table's declared indexes. Cheap to clone.
///
/// A declaration is a name and a template with key fields and declared columns; then `memory` or
/// `unique`, `covers` and columns, `where` and a query. Declarations are separated by `;` or
/// written one a line. An index that `covers *` is a table copy under another key. `NAME search`
/// and fields with their analysers declares a full-text index: [`Search`](crate::Search).
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
