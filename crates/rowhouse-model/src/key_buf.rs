//! An owned cell key.

use bytes::Bytes;

use crate::Key;

/// A [`Key`] that owns the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyBuf {
    /// Row key.
    pub row: Bytes,
    /// Column family.
    pub family: Bytes,
    /// Column qualifier.
    pub qualifier: Bytes,
    /// Version, in milliseconds.
    pub timestamp: i64,
    /// The kind's code. At one timestamp 255 sorts before every kind, 0 after.
    pub kind: u8,
}

impl KeyBuf {
    /// Returns the borrowed key.
    pub fn as_key(&self) -> Key<'_> {
        Key {
            row: &self.row,
            family: &self.family,
            qualifier: &self.qualifier,
            timestamp: self.timestamp,
            kind: self.kind,
        }
    }
}

impl From<Key<'_>> for KeyBuf {
    fn from(key: Key<'_>) -> Self {
        Self {
            row: Bytes::copy_from_slice(key.row),
            family: Bytes::copy_from_slice(key.family),
            qualifier: Bytes::copy_from_slice(key.qualifier),
            timestamp: key.timestamp,
            kind: key.kind,
        }
    }
}
