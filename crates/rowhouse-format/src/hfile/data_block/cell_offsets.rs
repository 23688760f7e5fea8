//! The places of a cell's parts in a block of plain cells.

use rowhouse_model::{CellKind, CellRef, Key, ROW_LEN_MAX, equal_bytes};

use super::layout::{KEY_OFFSET, Layout, ROW_OFFSET};
use crate::hfile::varint::read_vint;

/// The offsets of one cell's parts in the block, all validated.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellOffsets {
    pub(super) start: u32,
    row_end: u32,
    family_end: u32,
    key_end: u32,
    value_end: u32,
    tags_end: u32,
    /// The next cell's offset.
    pub(super) next: u32,
    pub(super) sequence: u64,
}

impl CellOffsets {
    /// Validates the cell at `start`; returns `None` if it is malformed.
    #[inline]
    pub(super) fn parse(cells: &[u8], start: usize, layout: Layout) -> Option<Self> {
        let cell = cells.get(start..)?;
        let header = cell.first_chunk::<ROW_OFFSET>()?;
        let row_len = u16::from_be_bytes([header[8], header[9]]) as usize;
        let row_end = ROW_OFFSET + row_len;
        if row_len > ROW_LEN_MAX {
            return None;
        }
        let family_end = row_end + 1 + *cell.get(row_end)? as usize;
        Self::parse_after_family(cell, start, row_end, family_end, layout)
    }

    /// Validates the next cell if it has the same row and family as this one; otherwise, or if it
    /// is malformed, returns `None`. One comparison replaces half the checks.
    #[inline]
    pub(super) fn parse_next_in_row(self, cells: &[u8], layout: Layout) -> Option<Self> {
        let here = &cells[self.start as usize + KEY_OFFSET..self.family_end as usize];
        let start = self.next as usize;
        let cell = cells.get(start..)?;
        let there = cell.get(KEY_OFFSET..KEY_OFFSET + here.len())?;
        if !equal_bytes(here, there) {
            return None;
        }
        let row_end = self.row_end - self.start;
        let family_end = self.family_end - self.start;
        Self::parse_after_family(cell, start, row_end as usize, family_end as usize, layout)
    }

    /// Validates everything after the family in the cell at the start of `cell`.
    #[inline]
    fn parse_after_family(
        cell: &[u8],
        start: usize,
        row_end: usize,
        family_end: usize,
        layout: Layout,
    ) -> Option<Self> {
        let lengths = u64::from_be_bytes(*cell.first_chunk::<8>()?);
        let key_len = (lengths >> 32) as usize;
        let value_len = lengths as u32 as usize;
        let key_end = KEY_OFFSET + key_len;
        let value_end = key_end + value_len;
        if family_end + 9 > key_end || value_end > cell.len() {
            return None;
        }
        // The timestamp's top bit is the sign; negative timestamps are invalid.
        if CellKind::from_code(cell[key_end - 1]).is_none() || cell[key_end - 9] & 0x80 != 0 {
            return None;
        }
        let mut tags_end = value_end;
        if layout.tags {
            let len = cell.get(value_end..)?.first_chunk::<2>()?;
            tags_end += 2 + u16::from_be_bytes(*len) as usize;
            if tags_end > cell.len() {
                return None;
            }
        }
        let mut sequence = 0;
        let mut next = tags_end;
        if layout.sequences {
            let (number, end) = read_vint(cell, tags_end)?;
            (sequence, next) = (u64::try_from(number).ok()?, end);
        }
        let place = |offset: usize| (start + offset) as u32;
        Some(Self {
            start: start as u32,
            row_end: place(row_end),
            family_end: place(family_end),
            key_end: place(key_end),
            value_end: place(value_end),
            tags_end: place(tags_end),
            next: place(next),
            sequence,
        })
    }

    /// Returns the cell's offset.
    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    /// Returns the value length in bytes.
    pub(super) fn value_len(self) -> usize {
        (self.value_end - self.key_end) as usize
    }

    /// Returns the cell's key.
    #[inline]
    pub(super) fn key(self, cells: &[u8]) -> Key<'_> {
        let qualifier_end = self.key_end as usize - 9;
        let fixed = &cells[qualifier_end..self.key_end as usize];
        let mut timestamp = [0; 8];
        timestamp.copy_from_slice(&fixed[..8]);
        Key {
            row: &cells[self.start as usize + ROW_OFFSET..self.row_end as usize],
            family: &cells[self.row_end as usize + 1..self.family_end as usize],
            qualifier: &cells[self.family_end as usize..qualifier_end],
            timestamp: i64::from_be_bytes(timestamp),
            kind: fixed[8],
        }
    }

    #[inline]
    pub(super) fn qualifier(self, cells: &[u8]) -> &[u8] {
        &cells[self.family_end as usize..self.key_end as usize - 9]
    }

    // Inlined always, so that a caller computes only the parts that it reads. Where the compiler
    // emitted a call, a scan over several files took a seventh more.
    #[inline(always)]
    pub(super) fn cell(self, cells: &[u8]) -> CellRef<'_> {
        let tags = &cells[self.value_end as usize..self.tags_end as usize];
        CellRef {
            key: self.key(cells),
            value: &cells[self.key_end as usize..self.value_end as usize],
            tags: tags.get(2..).unwrap_or_default(),
            sequence: self.sequence,
        }
    }

    /// Returns the KeyValue's end, which excludes the tags length if there are no tags.
    pub(super) fn key_value_end(self) -> usize {
        let end = if self.tags_end - self.value_end > 2 { self.tags_end } else { self.value_end };
        end as usize
    }
}
