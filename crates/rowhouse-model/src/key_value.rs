//! The cell as it lies in bytes, borrowed.

use std::fmt;

use bytes::Bytes;

use crate::cell::{ROW_OFFSET, read_u32};
use crate::{Cell, CellKind, CellRef, Key, Timestamp, escape};

/// A cell that is borrowed as the KeyValue it lies in: whoever asks for one part reads the lengths in
/// front of that part alone. [`KeyValue::view`] takes it apart at once.
#[derive(Clone, Copy)]
pub struct KeyValue<'a> {
    /// Exactly one KeyValue, checked.
    bytes: &'a [u8],
    /// What `bytes` is a piece of.
    owner: &'a Bytes,
    sequence: u64,
}

impl<'a> KeyValue<'a> {
    /// The KeyValue in `bytes`, a piece of `owner`, which was checked before.
    #[inline]
    pub(crate) fn from_checked(bytes: &'a [u8], owner: &'a Bytes, sequence: u64) -> Self {
        debug_assert!(CellRef::parse(bytes, sequence).is_ok());
        Self { bytes, owner, sequence }
    }

    /// The cell, taken apart.
    #[inline]
    pub fn view(self) -> CellRef<'a> {
        CellRef::from_checked(self.bytes, self.sequence)
    }

    /// Where the cell stands.
    pub fn key(self) -> Key<'a> {
        self.view().key
    }

    /// Row key.
    #[inline]
    pub fn row(self) -> &'a [u8] {
        let len = u16::from_be_bytes([self.bytes[8], self.bytes[9]]) as usize;
        &self.bytes[ROW_OFFSET..ROW_OFFSET + len]
    }

    /// Row key, sharing the cell's bytes.
    pub fn row_bytes(self) -> Bytes {
        self.owner.slice_ref(self.row())
    }

    /// Column family, sharing the cell's bytes.
    pub fn family_bytes(self) -> Bytes {
        self.owner.slice_ref(self.family())
    }

    /// Column qualifier, sharing the cell's bytes.
    pub fn qualifier_bytes(self) -> Bytes {
        self.owner.slice_ref(self.qualifier())
    }

    /// Column family.
    pub fn family(self) -> &'a [u8] {
        self.key().family
    }

    /// Column qualifier.
    pub fn qualifier(self) -> &'a [u8] {
        self.key().qualifier
    }

    /// Version.
    pub fn timestamp(self) -> Timestamp {
        Timestamp::trusted(self.key().timestamp)
    }

    /// What the cell does.
    pub fn kind(self) -> CellKind {
        self.view().kind()
    }

    /// Value; empty for deletes.
    #[inline]
    pub fn value(self) -> &'a [u8] {
        let start = 8 + read_u32(self.bytes, 0);
        &self.bytes[start..start + read_u32(self.bytes, 4)]
    }

    /// Value, sharing the cell's bytes.
    pub fn value_bytes(self) -> Bytes {
        self.owner.slice_ref(self.value())
    }

    /// HBase's tags, as they lie in the cell, without their total length.
    pub fn tags(self) -> &'a [u8] {
        self.view().tags
    }

    /// The sequence number of the mutation that wrote it; 0 when unknown.
    #[inline]
    pub fn sequence(self) -> u64 {
        self.sequence
    }

    /// The whole KeyValue, tags included.
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// The KeyValue without its tags, as a cell block without tags carries it.
    pub fn without_tags(self) -> &'a [u8] {
        &self.bytes[..8 + read_u32(self.bytes, 0) + read_u32(self.bytes, 4)]
    }

    /// The cell, sharing these bytes.
    pub fn to_cell(self) -> Cell {
        Cell::from_checked(self.owner.slice_ref(self.bytes), self.sequence)
    }
}

impl<'a> From<&'a Cell> for KeyValue<'a> {
    fn from(cell: &'a Cell) -> Self {
        cell.as_key_value()
    }
}

/// Equal bytes; the sequence is where a cell was written, not what it is.
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
