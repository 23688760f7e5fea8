//! Copies: indexes that `covers *`. Such an index is the table under another key.

use rowhouse_model::{Bytes, Error, Result, TableDescriptor};

use super::declaration::Index;
use super::entries::EntryValues;
use super::names::Source;
use super::parse::canonical;
use super::schema::IndexSchema;
use crate::columns::ColumnSchema;
use crate::encode::FieldType;
use crate::field::Field;
use crate::key::KeySchema;

/// The table attribute that tells one key from the next: it changes whenever a copy is promoted.
pub const LAYOUT_ATTRIBUTE: &str = "rowhouse.layout";

/// Returns a table's layout, the [`LAYOUT_ATTRIBUTE`] value; `None` before the first promotion.
pub fn layout_of(table: &TableDescriptor) -> Option<&Bytes> {
    table.attributes.get(LAYOUT_ATTRIBUTE.as_bytes())
}

/// The table attribute that declares the index which holds the key before the last promotion.
pub const FORMER_KEY_ATTRIBUTE: &str = "rowhouse.former_key";

/// Returns true if a table's index holds the key that the table had before the last promotion:
/// promoting it swaps back.
pub fn is_former_key(table: &TableDescriptor, index: &Index) -> bool {
    let former = table.attributes.get(FORMER_KEY_ATTRIBUTE.as_bytes());
    former.is_some_and(|former| former[..] == *index.to_string().as_bytes())
}

/// A table's declarations after a copy was promoted.
///
/// ```
/// use rowhouse_schema::{IndexSchema, KeySchema};
///
/// let key = KeySchema::parse("[at millis][user string]")?;
/// let text = "by_user [bucket 16 of user][user] covers *";
/// let indexes = IndexSchema::parse(text, Some(&key), None)?;
///
/// let promoted = indexes.promote("by_user", None)?;
/// assert_eq!(promoted.key.to_string(), "[bucket 16 of user][user string][at millis]");
/// assert_eq!(promoted.indexes.to_string(), "by_user [at millis][user string] covers *");
/// // Another promotion swaps back.
/// assert_eq!(promoted.indexes.promote("by_user", None)?.key, key);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Promotion {
    /// The key: the copy's full form.
    pub key: KeySchema,
    /// The indexes: the promoted one has the old key, the others are as they were declared.
    pub indexes: IndexSchema,
}

impl IndexSchema {
    /// Returns the declarations after the copy with this name and the table have swapped their
    /// keys. `columns` are the table's columns.
    ///
    /// # Errors
    /// `InvalidRequest` if there is no such index, if it does not cover `*`, if its full form
    /// cannot be a table's key, or if the old key cannot be declared as an index under the new one.
    pub fn promote(&self, name: &str, columns: Option<&ColumnSchema>) -> Result<Promotion> {
        let index = self.index(name)?;
        let Some(old) = index.declaration.key.as_ref().filter(|_| index.is_copy()) else {
            return Err(Error::invalid(format!(
                "only an index that covers * can be promoted: index={name}, declaration={index}"
            )));
        };
        let context = |error: Error| error.with_context(format_args!("index {name} is promoted"));
        let key = KeySchema::from_stored(&index.template().to_stored()).map_err(context)?;
        let declare = |other: &Index| {
            if other.name() == name {
                format!("{name} {} covers *", canonical(&old.to_string()))
            } else {
                other.to_string()
            }
        };
        let texts: Vec<_> = self.indexes().iter().map(declare).collect();
        let indexes = Self::parse(&texts.join("; "), Some(&key), columns).map_err(context)?;
        let back = indexes.index(name)?.template();
        if back != old {
            return Err(Error::invalid(format!(
                "index {name} cannot be promoted: the old key would become another one: key={old}, \
                 full form of the index={back}"
            )));
        }
        Ok(Promotion { key, indexes })
    }
}

impl Index {
    /// Returns true if a copy cannot hold some keys that the table can: a text that holds what ends
    /// it there. Rows with such keys are refused.
    pub fn may_refuse_keys(&self) -> bool {
        let is_open =
            |field: &Field| matches!(field.field_type, FieldType::Text | FieldType::Domain);
        self.is_copy() && self.template().fields().iter().any(is_open)
    }

    /// Returns the key that a row has in the copy; `None` if the key does not fit the table's
    /// template. [`Index::row_key`] leads back.
    ///
    /// ```
    /// use rowhouse_schema::{IndexSchema, KeySchema};
    ///
    /// let key = KeySchema::parse("[at u8][user string]")?;
    /// let indexes = IndexSchema::parse("by_user [user] covers *", Some(&key), None)?;
    /// let index = indexes.index("by_user")?;
    /// let copy = index.copy_key(b"\x07bob\0\x01")?;
    /// assert_eq!(copy.as_deref(), Some(&b"bob\0\x01\x07"[..]));
    /// assert_eq!(index.row_key(b"bob\0\x01\x07")?, b"\x07bob\0\x01");
    /// assert_eq!(index.copy_key(b"\x07bob")?, None);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if the copy cannot hold the key: it is too long, or a text holds what ends
    /// it. Also for an index that is no copy.
    pub fn copy_key(&self, row: &[u8]) -> Result<Option<Bytes>> {
        let index = &*self.declaration;
        let (Some(schema), true) = (&index.key, index.copy) else {
            return Err(Error::invalid(format!("the index `{}` is no copy", index.name)));
        };
        let mut key = Vec::new();
        if schema.decode_into(row, &mut key).is_err() {
            return Ok(None);
        }
        let mut keys = Vec::with_capacity(1);
        index.push(row, &EntryValues { key: &key, own: Vec::new() }, &mut keys)?;
        debug_assert!(index.sources.iter().all(|source| matches!(source, Source::Key(_))));
        Ok(keys.pop())
    }
}
