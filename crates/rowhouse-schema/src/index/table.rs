//! The table that holds an index's entries.

use std::fmt;

use rowhouse_model::{Error, FamilyDescriptor, Result, TableDescriptor, TableName};

use super::declaration::Index;
use crate::columns::COLUMNS_ATTRIBUTE;
use crate::key::{INDEX_OF_ATTRIBUTE, KEY_ATTRIBUTE, LANGUAGE_VERSION, without_version};

/// The word in [`INDEX_OF_ATTRIBUTE`] that marks a copy.
const COPY: &str = "copy";

/// The word in [`INDEX_OF_ATTRIBUTE`] that marks an index in memory.
const MEMORY: &str = "memory";

/// The queue family in a full-text index's table: a row for each base table row that has changed
/// since the document was written.
pub const QUEUE_FAMILY: &str = "q";

/// The segment family in a full-text index's table.
pub const SEGMENT_FAMILY: &str = "s";

/// The family for the segment list in a full-text index's table.
pub const LIST_FAMILY: &str = "m";

/// An index table's family, unless the table is a copy or belongs to a full-text index.
pub const ENTRY_FAMILY: &str = "e";

impl Index {
    /// Returns the name of the table that holds the entries: `mail.by_sender`, in the base table's
    /// namespace.
    ///
    /// # Errors
    /// `InvalidRequest` if the name is no table name.
    pub fn table_name(&self, base: &TableName) -> Result<TableName> {
        TableName::new(base.namespace(), &format!("{}.{}", base.qualifier(), self.name()))
    }

    /// Returns the descriptor for the table that holds the entries. It declares the full form as
    /// the key, and the covered columns. A copy's table has the base table's families and columns.
    /// A full-text index's table has no key template: it holds a queue, segments, and their list.
    ///
    /// ```
    /// use rowhouse_model::{TableDescriptor, TableName};
    /// use rowhouse_schema::{COLUMNS_ATTRIBUTE, IndexOf, IndexSchema, KeySchema};
    ///
    /// let mail = TableDescriptor::new(TableName::parse("mail")?)
    ///     .attribute("rowhouse.key", "1 [user string][n u32]")
    ///     .attribute(COLUMNS_ATTRIBUTE, "1 d:s sender string; d:t subject string")
    ///     .attribute("rowhouse.indexes", "1 by_sender [sender] covers subject");
    /// let indexes = IndexSchema::of_table(&mail)?.unwrap();
    ///
    /// let table = indexes.index("by_sender")?.table_descriptor(&mail)?;
    /// assert_eq!(table.name().to_string(), "mail.by_sender");
    /// let key = KeySchema::of_table(&table)?.unwrap();
    /// assert_eq!(key.to_string(), "[sender string][user string][n u32]");
    /// assert_eq!(table.attributes[COLUMNS_ATTRIBUTE.as_bytes()], "1 e:subject subject string");
    ///
    /// let of = IndexOf::of_table(&table)?.unwrap();
    /// assert_eq!((of.table.to_string(), &of.index[..]), ("mail".into(), "by_sender"));
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Index::table_name`].
    pub fn table_descriptor(&self, base: &TableDescriptor) -> Result<TableDescriptor> {
        let of = IndexOf {
            table: base.name().clone(),
            index: self.name().to_owned(),
            is_copy: self.is_copy(),
            is_in_memory: self.is_in_memory(),
        };
        let table = TableDescriptor::new(self.table_name(base.name())?)
            .attribute(INDEX_OF_ATTRIBUTE, of.to_stored());
        if self.search().is_some() {
            let family = |name| FamilyDescriptor::new(name).map(|family| family.versions(1));
            return Ok(table
                .family(family(QUEUE_FAMILY)?)
                .family(family(SEGMENT_FAMILY)?)
                .family(family(LIST_FAMILY)?));
        }
        let table = table.attribute(KEY_ATTRIBUTE, self.template().to_stored());
        if self.is_copy() {
            let families = base.families().iter().cloned();
            let table = families.fold(table, TableDescriptor::family);
            return Ok(match base.attributes.get(COLUMNS_ATTRIBUTE.as_bytes()) {
                None => table,
                Some(columns) => table.attribute(COLUMNS_ATTRIBUTE, columns.clone()),
            });
        }
        let table = table.family(FamilyDescriptor::new(ENTRY_FAMILY)?.versions(1));
        if self.covered_columns().is_empty() {
            return Ok(table);
        }
        let columns = self.covered_columns().iter().map(|column| {
            let name = column.name();
            format!("{ENTRY_FAMILY}:{name} {}", column.field())
        });
        let columns: Vec<_> = columns.collect();
        let columns = format!("{LANGUAGE_VERSION} {}", columns.join("; "));
        Ok(table.attribute(COLUMNS_ATTRIBUTE, columns))
    }
}

/// The index whose entries a table holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexOf {
    /// The base table.
    pub table: TableName,
    /// The index name.
    pub index: String,
    /// True if the table is a copy of the base table under another key.
    pub is_copy: bool,
    /// True if the entries are in memory alone.
    pub is_in_memory: bool,
}

impl IndexOf {
    /// Returns the index whose entries a table holds; `None` for every other table.
    ///
    /// # Errors
    /// `Unsupported` for a newer language; `InvalidRequest` for an attribute that is not a table
    /// and an index.
    pub fn of_table(table: &TableDescriptor) -> Result<Option<Self>> {
        let Some(stored) = table.attributes.get(INDEX_OF_ATTRIBUTE.as_bytes()) else {
            return Ok(None);
        };
        let stored = String::from_utf8_lossy(stored);
        let text = without_version(&stored, "name of an index")?;
        let mut words = text.split(' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some(base), Some(index), kind @ (None | Some(COPY | MEMORY)), None) => {
                Ok(Some(Self {
                    table: TableName::parse(base)?,
                    index: index.to_owned(),
                    is_copy: kind == Some(COPY),
                    is_in_memory: kind == Some(MEMORY),
                }))
            }
            _ => Err(Error::invalid(format!("not a stored name of an index: text={stored}"))),
        }
    }

    /// Returns the form stored in the table attribute.
    pub fn to_stored(&self) -> String {
        let kind = match (self.is_copy, self.is_in_memory) {
            (true, _) => format!(" {COPY}"),
            (_, true) => format!(" {MEMORY}"),
            _ => String::new(),
        };
        format!("{LANGUAGE_VERSION} {} {}{kind}", self.table, self.index)
    }
}

impl fmt::Display for IndexOf {
    /// Writes `index of table`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.index, self.table)
    }
}
