//! Named columns: the family and qualifier under which each is stored, and the value type.
//!
//! [`parse`] parses declarations and checks them against each other, [`column`] is one declaration,
//! and [`cell`] encodes and decodes cells.

mod cell;
mod column;
mod parse;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rowhouse_model::{Error, Result, TableDescriptor, escape};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Fault;
use crate::key::{KeySchema, LANGUAGE_VERSION, without_version};
use crate::spelling::closest;

pub use cell::{CellBytes, CellMismatch, NamedCell};
pub use column::Column;
pub(crate) use column::ColumnAddress;

/// The table attribute that holds the column declarations. It is stored with the table, on rowhouse
/// and on Apache HBase alike; tools that do not know it ignore it.
pub const COLUMNS_ATTRIBUTE: &str = "rowhouse.columns";

/// A table's declared columns. Cheap to clone.
///
/// A declaration is `family:qualifier name type`, one per line or separated by `;`. The qualifier
/// is a literal, or a template with one column for each value that the template fields have.
///
/// # Example: how does a column with a short qualifier get a readable name?
///
/// ```
/// use rowhouse_schema::ColumnSchema;
///
/// let columns = ColumnSchema::parse("d:via myVeryImportantAttribute string; d:n count u64")?;
/// let cell = columns.encode("count", 7)?;
/// assert_eq!((&cell.family[..], &cell.qualifier[..]), (&b"d"[..], &b"n"[..]));
/// assert_eq!(cell.value, &b"\0\0\0\0\0\0\0\x07"[..]);
///
/// let named = columns.decode(b"d", b"via", b"blue")?;
/// assert_eq!(named.to_string(), "myVeryImportantAttribute='blue'");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Example: what if qualifiers are data?
///
/// ```
/// use rowhouse_schema::ColumnSchema;
///
/// let columns = ColumnSchema::parse("f:[at millis desc][id u32] price f64")?;
/// let fields = [("at", "2022-12-24T18:00".into()), ("id", 7.into())];
/// let cell = columns.encode_with("price", &fields, 9.99)?;
/// assert_eq!(cell.qualifier.len(), 12);
///
/// let named = columns.decode(&cell.family, &cell.qualifier, &cell.value)?;
/// assert_eq!(named.to_string(), "price[at=2022-12-24T18:00:00.000Z, id=7]=9.99");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Example: what does a mistake look like?
///
/// ```
/// use rowhouse_schema::ColumnSchema;
///
/// let error = ColumnSchema::parse("d:via colour strng").unwrap_err();
/// assert_eq!(error.to_string(), "\
/// unknown type `strng`; did you mean `string`?: offset=13
///   d:via colour strng
///                ^");
/// ```
#[derive(Clone)]
pub struct ColumnSchema {
    declared: Arc<Declared>,
}

struct Declared {
    columns: Vec<Column>,
    /// The positions for columns with a literal qualifier, sorted by family and qualifier.
    sorted: Vec<usize>,
    /// The declarations' canonical text: equal declarations have equal texts.
    text: String,
}

impl ColumnSchema {
    /// Parses declarations; an empty text has none. The error points at the wrong character, says
    /// what was expected there, and suggests what was probably meant.
    ///
    /// # Errors
    /// `InvalidRequest` for text that is not a declaration, for a name or a qualifier that is
    /// declared twice, and for a qualifier that could belong to two declarations.
    pub fn parse(text: &str) -> Result<Self> {
        Self::read(text).map_err(|fault| fault.in_text(text))
    }

    /// Parses declarations that are part of a longer text.
    pub(crate) fn read(text: &str) -> Result<Self, Fault> {
        let columns = parse::parse(text)?;
        let printed: Vec<_> = columns.iter().map(Column::to_string).collect();
        let with_qualifier = |at: &usize| columns[*at].qualifier().is_some();
        let mut sorted: Vec<_> = (0..columns.len()).filter(with_qualifier).collect();
        sorted.sort_by_key(|at| (columns[*at].family(), columns[*at].qualifier()));
        let text = printed.join("; ");
        Ok(Self { declared: Arc::new(Declared { columns, sorted, text }) })
    }

    /// Parses declarations in the form stored in a table descriptor: the language version, a space,
    /// the text.
    ///
    /// ```
    /// use rowhouse_schema::ColumnSchema;
    ///
    /// let columns = ColumnSchema::parse("d:n count u64")?;
    /// assert_eq!(columns.to_stored(), "1 d:n count u64");
    /// assert_eq!(ColumnSchema::from_stored("1 d:n count u64")?, columns);
    ///
    /// let newer = ColumnSchema::from_stored("2 d:n count u64").unwrap_err();
    /// assert_eq!(newer.kind(), rowhouse_model::ErrorKind::Unsupported);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Unsupported` for a newer language; otherwise as [`ColumnSchema::parse`].
    pub fn from_stored(stored: &str) -> Result<Self> {
        Self::parse(without_version(stored, "declaration of columns")?)
    }

    /// Returns the declarations in the form stored in a table descriptor.
    pub fn to_stored(&self) -> String {
        format!("{LANGUAGE_VERSION} {self}")
    }

    /// Returns the columns that a table declares, if any.
    ///
    /// # Errors
    /// As [`ColumnSchema::from_stored`].
    pub fn of_table(table: &TableDescriptor) -> Result<Option<Self>> {
        let stored = table.attributes.get(COLUMNS_ATTRIBUTE.as_bytes());
        stored.map(|stored| Self::from_stored(&String::from_utf8_lossy(stored))).transpose()
    }

    /// Returns the stored form's xxh3 hash, which tells declarations apart.
    pub fn fingerprint(&self) -> u64 {
        xxh3_64(self.to_stored().as_bytes())
    }

    /// The columns, in the order in which they are declared.
    pub fn columns(&self) -> &[Column] {
        &self.declared.columns
    }

    /// Returns the column with this name.
    ///
    /// # Errors
    /// `InvalidRequest` if there is none; the message suggests the closest name, or lists all.
    pub fn column(&self, name: &str) -> Result<&Column> {
        let column = self.position(name).map(|at| &self.columns()[at]);
        column.ok_or_else(|| Error::invalid(self.no_column_message(name)))
    }

    /// Returns the column to which cells with this family and qualifier belong, if there is one.
    pub fn find(&self, family: &[u8], qualifier: &[u8]) -> Option<&Column> {
        self.single(family, qualifier).or_else(|| {
            let (column, template) = self.template_of(family, qualifier)?;
            template.decode(qualifier).is_ok().then_some(column)
        })
    }

    /// Returns the column with a template to which this qualifier may belong. There is at most one:
    /// no two templates in a family begin alike.
    fn template_of(&self, family: &[u8], qualifier: &[u8]) -> Option<(&Column, &KeySchema)> {
        let of = |column: &&Column| {
            column.template().is_some()
                && column.family() == family
                && qualifier.starts_with(column.lead())
        };
        let column = self.columns().iter().find(of)?;
        Some((column, column.template()?))
    }

    /// Returns the column with this literal qualifier.
    pub(crate) fn single(&self, family: &[u8], qualifier: &[u8]) -> Option<&Column> {
        let Declared { columns, sorted, .. } = &*self.declared;
        let place = |at: &usize| {
            let column = &columns[*at];
            (column.family(), column.qualifier()).cmp(&(family, Some(qualifier)))
        };
        sorted.binary_search_by(place).ok().map(|at| &columns[sorted[at]])
    }

    /// Checks that the columns can be declared beside this key. A column may share its name only
    /// with a field for which keys hold just a hash or a step, and then must have the same values
    /// as the field.
    ///
    /// # Errors
    /// `InvalidRequest` that names the first column in conflict.
    pub fn check_key(&self, key: &KeySchema) -> Result<()> {
        for column in self.columns() {
            let name = column.name();
            let refused = |why: &str| {
                Err(Error::invalid(format!("`{name}` is a field of the key and a column: {why}")))
            };
            if key.computed_position(name).is_some() {
                return refused("names are unique, so choose another for the column");
            }
            let Some(field) = key.field(name) else { continue };
            if !field.codec.is_lossy() {
                return refused("the key holds the value already, so choose another name");
            }
            if column.template().is_some() {
                return refused("a column of many qualifiers has no single value");
            }
            if !field.field_type().has_values_of(column.field_type()) {
                let one = field.field_type();
                let other = column.field_type();
                return refused(&format!("their values differ, `{one}` and `{other}`"));
            }
        }
        Ok(())
    }

    /// Checks that the table has every family in the declarations.
    ///
    /// # Errors
    /// `InvalidRequest` that names the column and the table's families.
    pub fn check_families(&self, table: &TableDescriptor) -> Result<()> {
        let declared = |column: &&Column| table.find_family(column.family()).is_err();
        let Some(column) = self.columns().iter().find(declared) else { return Ok(()) };
        let families: Vec<_> =
            table.families().iter().map(|family| escape(family.name())).collect();
        Err(Error::invalid(format!(
            "column `{}` is in a family that the table does not declare: family={}, declared={}",
            column.name(),
            escape(column.family()),
            families.join(",")
        )))
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.columns().iter().position(|column| column.name() == name)
    }

    pub(crate) fn no_column_message(&self, name: &str) -> String {
        let names = self.columns().iter().map(Column::name);
        match closest(name, names.clone()) {
            Some(close) => format!("no column `{name}` is declared; did you mean `{close}`?"),
            None => {
                let names: Vec<_> = names.collect();
                format!("no column `{name}` is declared; declared: {}", names.join(", "))
            }
        }
    }
}

impl FromStr for ColumnSchema {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl PartialEq for ColumnSchema {
    fn eq(&self, other: &Self) -> bool {
        self.declared.text == other.declared.text
    }
}

impl Eq for ColumnSchema {}

impl fmt::Display for ColumnSchema {
    /// Writes the declarations; parsing them returns equal columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.declared.text)
    }
}

impl fmt::Debug for ColumnSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ColumnSchema({self})")
    }
}
