//! A borrowed cell in serialized form.

use std::fmt;

use bytes::Bytes;

use crate::cell::{ROW_OFFSET, read_u32};
use crate::{Cell, CellKind, CellRef, Key, Timestamp, escape};

/// A borrowed cell in serialized form, a KeyValue. Each accessor decodes only the lengths it needs;
/// [`KeyValue::view`] decodes all parts at once.
#[derive(Clone, Copy)]
pub struct KeyValue<'a> {
    /// Exactly one KeyValue, validated.
    bytes: &'a [u8],
    /// The buffer that contains `bytes`.
    owner: &'a Bytes,
    sequence: u64,
}

impl<'a> KeyValue<'a> {
    /// Wraps `bytes`, a validated KeyValue inside `owner`.
    #[inline]
    pub(crate) fn from_checked(bytes: &'a [u8], owner: &'a Bytes, sequence: u64) -> Self {
        debug_assert!(CellRef::parse(bytes, sequence).is_ok());
        Self { bytes, owner, sequence }
    }

    /// Returns the decoded cell parts.
    #[inline]
    pub fn view(self) -> CellRef<'a> {
        CellRef::from_checked(self.bytes, self.sequence)
    }

    /// Returns the cell's position in the cell order.
    pub fn key(self) -> Key<'a> {
        self.view().key
    }

    /// Returns the row key.
    #[inline]
    pub fn row(self) -> &'a [u8] {
        let len = u16::from_be_bytes([self.bytes[8], self.bytes[9]]) as usize;
        &self.bytes[ROW_OFFSET..ROW_OFFSET + len]
    }

    /// Returns the row key, sharing the cell's bytes.
    pub fn row_bytes(self) -> Bytes {
        self.owner.slice_ref(self.row())
    }

    /// Returns the column family, sharing the cell's bytes.
    pub fn family_bytes(self) -> Bytes {
        self.owner.slice_ref(self.family())
    }

    /// Returns the column qualifier, sharing the cell's bytes.
    pub fn qualifier_bytes(self) -> Bytes {
        self.owner.slice_ref(self.qualifier())
    }

    /// Returns the column family.
    pub fn family(self) -> &'a [u8] {
        self.key().family
    }

    /// Returns the column qualifier.
    pub fn qualifier(self) -> &'a [u8] {
        self.key().qualifier
    }

    /// Returns the timestamp, which is the version.
    pub fn timestamp(self) -> Timestamp {
        Timestamp::trusted(self.key().timestamp)
    }

    /// Returns the cell's kind.
    pub fn kind(self) -> CellKind {
        self.view().kind()
    }

    /// Returns the value; empty for delete markers.
    #[inline]
    pub fn value(self) -> &'a [u8] {
        let start = 8 + read_u32(self.bytes, 0);
        &self.bytes[start..start + read_u32(self.bytes, 4)]
    }

    /// Returns the value, sharing the cell's bytes.
    pub fn value_bytes(self) -> Bytes {
        self.owner.slice_ref(self.value())
    }

    /// Returns HBase's tags in serialized form, without their total length.
    pub fn tags(self) -> &'a [u8] {
        self.view().tags
    }

    /// Returns the cell's sequence number, from the mutation that wrote it; 0 if unknown.
    #[inline]
    pub fn sequence(self) -> u64 {
        self.sequence
    }

    /// Returns the whole KeyValue, tags included.
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the KeyValue without tags, the form in a cell block without tags.
    pub fn without_tags(self) -> &'a [u8] {
        &self.bytes[..8 + read_u32(self.bytes, 0) + read_u32(self.bytes, 4)]
    }

    /// Returns the cell, sharing these bytes.
    pub fn to_cell(self) -> Cell {
        Cell::from_checked(self.owner.slice_ref(self.bytes), self.sequence)
    }
}

impl<'a> From<&'a Cell> for KeyValue<'a> {
    fn from(cell: &'a Cell) -> Self {
        cell.as_key_value()
    }
}

/// Compares bytes only: the sequence number is not part of a cell's identity.
impl PartialEq for KeyValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl fmt::Debug for KeyValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cell = self.view();
        write!(
            f,
            "{}/{}:{}/{}/{:?}={}#{}",
            escape(cell.key.row),
            escape(cell.key.family),
            escape(cell.key.qualifier),
            cell.key.timestamp,
            cell.kind(),
            escape(cell.value),
            cell.sequence
        )
    }
}
