//! Indexes that clients maintain: the intent table, and an intent's bytes.
//!
//! ```text
//! form(1 byte, 1) write number(8 bytes, big-endian) [len(2 bytes, big-endian) row key]*
//! ```

use rowhouse_model::{Bytes, Error, FamilyDescriptor, Result, TableDescriptor, TableName};

/// The attribute on an index table that names who maintains the entries: `client`. Without it, the
/// server maintains them.
pub const INDEX_MAINTAINER_ATTRIBUTE: &str = "rowhouse.index_keeper";

/// The [`INDEX_MAINTAINER_ATTRIBUTE`] value for entries that clients maintain.
pub const CLIENT_MAINTAINER: &str = "client";

/// The name by which a server announces that it maintains indexes itself: a coprocessor on the
/// server's master.
pub const SERVER_MAINTAINER: &str = "rowhouse.indexes";

/// The rows that a client is about to write, on a cluster where clients keep the indexes. Until it
/// is closed, readers look at these rows themselves, because their entries may not be right yet.
///
/// ```
/// use rowhouse_schema::Intent;
///
/// let intent = Intent { write: 7, rows: vec!["bob".into(), "eve".into()] };
/// assert_eq!(Intent::decode(&intent.encode()?)?, Some(intent));
/// // A closed one.
/// assert_eq!(Intent::decode(b"")?, None);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Distinguishes one client's writes.
    pub write: u64,
    /// The row keys.
    pub rows: Vec<Bytes>,
}

const FORM: u8 = 1;

impl Intent {
    /// The intents' family in their table.
    pub const FAMILY: &str = "i";
    /// The family for build progress in the same table.
    pub const BUILD_FAMILY: &str = "b";

    /// Returns the table that holds a base table's intents: `mail.index-intents`. No index has this
    /// name.
    ///
    /// # Errors
    /// `InvalidRequest` if the name is no table name.
    pub fn table_name(base: &TableName) -> Result<TableName> {
        TableName::new(base.namespace(), &format!("{}.index-intents", base.qualifier()))
    }

    /// Returns that table's descriptor.
    ///
    /// # Errors
    /// As [`Intent::table_name`].
    pub fn table_descriptor(base: &TableName) -> Result<TableDescriptor> {
        let family = |name| FamilyDescriptor::new(name).map(|family| family.versions(1));
        Ok(TableDescriptor::new(Self::table_name(base)?)
            .family(family(Self::FAMILY)?)
            .family(family(Self::BUILD_FAMILY)?)
            .attribute(INDEX_MAINTAINER_ATTRIBUTE, CLIENT_MAINTAINER))
    }

    /// Encodes the intent.
    ///
    /// # Errors
    /// `InvalidRequest` for a row key that is longer than 65,535 bytes.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![FORM];
        bytes.extend_from_slice(&self.write.to_be_bytes());
        for row in &self.rows {
            let len = u16::try_from(row.len());
            let len =
                len.map_err(|_| Error::invalid(format!("row key too long: {}", row.len())))?;
            bytes.extend_from_slice(&len.to_be_bytes());
            bytes.extend_from_slice(row);
        }
        Ok(bytes)
    }

    /// Decodes an intent; `None` for a closed one. Never panics.
    ///
    /// # Errors
    /// `Unsupported` for another form; `Corruption` for a wrong length.
    pub fn decode(bytes: &[u8]) -> Result<Option<Self>> {
        let Some((form, rest)) = bytes.split_first() else { return Ok(None) };
        if *form != FORM {
            return Err(Error::unsupported(format!(
                "an intent has a newer form: form={form}, known={FORM}"
            )));
        }
        let cut = || Error::corruption(format!("an intent is cut off: len={}", bytes.len()));
        let (write, mut rest) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
        let mut rows = Vec::new();
        while !rest.is_empty() {
            let (len, after) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
            let len = usize::from(u16::from_be_bytes(*len));
            let (row, after) = after.split_at_checked(len).ok_or_else(cut)?;
            rows.push(Bytes::copy_from_slice(row));
            rest = after;
        }
        Ok(Some(Self { write: u64::from_be_bytes(*write), rows }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_that_is_cut_off_is_refused() {
        let intent = Intent { write: 1, rows: vec!["row".into()] };
        let bytes = intent.encode().unwrap();
        assert_eq!(bytes, b"\x01\0\0\0\0\0\0\0\x01\0\x03row");
        for len in (1..bytes.len()).filter(|len| *len != 9) {
            assert!(Intent::decode(&bytes[..len]).is_err(), "{len}");
        }
        assert!(Intent::decode(b"\x02").is_err());
    }
}
