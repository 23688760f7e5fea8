//! A cursor over a data block's cells.

use std::cmp::Ordering;
use std::ops::RangeInclusive;
use std::sync::Arc;

use rowhouse_model::{
    Cell, CellKind, CellRef, Key, ROW_LEN_MAX, Result, RowBuilder, compare_bytes, equal_bytes,
};

use super::{DataBlock, KEY_OFFSET, Layout, PREFETCH_BYTES, ROW_OFFSET};
use crate::hfile::prefetch::prefetch;
use crate::hfile::varint::read_vint;

/// The offsets of one cell's parts in the block, all validated.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellOffsets {
    start: u32,
    row_end: u32,
    family_end: u32,
    key_end: u32,
    value_end: u32,
    tags_end: u32,
    /// The next cell's offset.
    pub(super) next: u32,
    sequence: u64,
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
        let (row_end, family_end) = (self.row_end - self.start, self.family_end - self.start);
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
        let (key_len, value_len) = ((lengths >> 32) as usize, lengths as u32 as usize);
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
        let (mut sequence, mut next) = (0, tags_end);
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
    fn qualifier(self, cells: &[u8]) -> &[u8] {
        &cells[self.family_end as usize..self.key_end as usize - 9]
    }

    // Inlined always, so that a caller computes only the parts that it reads. Where the compiler
    // emitted a call, a scan over several files took a seventh more.
    #[inline(always)]
    fn cell(self, cells: &[u8]) -> CellRef<'_> {
        let tags = &cells[self.value_end as usize..self.tags_end as usize];
        CellRef {
            key: self.key(cells),
            value: &cells[self.key_end as usize..self.value_end as usize],
            tags: tags.get(2..).unwrap_or_default(),
            sequence: self.sequence,
        }
    }

    /// Returns the KeyValue's end, which excludes the tags length if there are no tags.
    fn key_value_end(self) -> usize {
        let end = if self.tags_end - self.value_end > 2 { self.tags_end } else { self.value_end };
        end as usize
    }
}

/// A position in a data block: at a cell or at the end. It holds a reference to the block; moving
/// and reading do not allocate.
#[derive(Clone, Debug)]
pub struct Cursor {
    block: Arc<DataBlock>,
    place: Option<CellOffsets>,
}

/// The result when delete markers are skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkerSkip {
    /// Whether the cursor has moved.
    pub any: bool,
    /// True if the block holds only such markers from the cursor to the block's end, so that the
    /// run may continue in the next block.
    pub open: bool,
}

impl Cursor {
    pub(super) fn new(block: Arc<DataBlock>, place: Option<CellOffsets>) -> Self {
        Self { block, place }
    }

    pub(super) fn at(block: Arc<DataBlock>, start: usize) -> Result<Self> {
        let place = block.place_at(start)?;
        Ok(Self { block, place })
    }

    /// Returns the current cell; `None` at the block's end.
    #[inline]
    pub fn cell(&self) -> Option<CellRef<'_>> {
        self.place.map(|place| place.cell(&self.block.cells))
    }

    /// Returns the current cell's key; `None` at the block's end.
    #[inline]
    pub fn key(&self) -> Option<Key<'_>> {
        self.place.map(|place| place.key(&self.block.cells))
    }

    /// Returns the current cell's sequence number; `None` at the block's end.
    #[inline]
    pub fn sequence(&self) -> Option<u64> {
        self.place.map(|place| place.sequence)
    }

    /// Returns the current cell, sharing the block's bytes: it keeps the whole block in memory
    /// ([`Cell::detached`] does not). `None` at the block's end.
    pub fn to_cell(&self) -> Option<Cell> {
        let place = self.place?;
        let bytes = self.block.cells.slice(place.start as usize..place.key_value_end());
        // The cursor has made all checks on a cell before it stopped here.
        Some(Cell::from_checked(bytes, place.sequence))
    }

    /// Appends the current cell to `row`, which then shares the block. Does nothing at the block's
    /// end.
    #[inline]
    pub fn push_to(&self, row: &mut RowBuilder) {
        if let Some(place) = self.place {
            let end = place.key_value_end() as u32;
            // The cursor has made all checks on a cell before it stopped here.
            row.share(&self.block.cells).push(place.start, end, place.sequence);
        }
    }

    /// Appends a copy of the current cell to `row`. Does nothing at the block's end.
    #[inline]
    pub fn push_copy_to(&self, row: &mut RowBuilder) {
        if let Some(place) = self.place {
            let cell = &self.block.cells[place.start as usize..place.key_value_end()];
            row.push_copy(cell, place.sequence);
        }
    }

    /// Appends consecutive cells to `row`, which then shares the block, while each is a put with a
    /// timestamp in `times`, and moves past them. Stops at the block's end, at another row, and
    /// after the first cell in a column that has more cells. Returns false if it appended no cell.
    ///
    /// Most cells in most tables meet these conditions, and this specialized loop takes a third of
    /// the general loop's time.
    ///
    /// # Errors
    /// As [`Cursor::advance`].
    pub fn push_columns(
        &mut self,
        times: &RangeInclusive<i64>,
        row: &mut RowBuilder,
    ) -> Result<bool> {
        let cells = &self.block.cells;
        let is_wanted =
            |key: &Key<'_>| key.kind == CellKind::Put.code() && times.contains(&key.timestamp);
        let Some(mut place) = self.place.filter(|place| is_wanted(&place.key(cells))) else {
            return Ok(false);
        };
        let mut run = row.share(cells);
        loop {
            // The cursor has made all checks on a cell before it stopped here.
            run.push(place.start, place.key_value_end() as u32, place.sequence);
            // The hardware prefetcher works only within a page and only after a few accesses.
            let ahead = place.start as usize + PREFETCH_BYTES;
            let len = (place.next - place.start) as usize;
            prefetch(cells, ahead..ahead + len.min(PREFETCH_BYTES));
            let Some(next) = place.parse_next_in_row(cells, self.block.layout) else {
                return self.leave(place).map(|()| true);
            };
            if equal_bytes(place.qualifier(cells), next.qualifier(cells))
                || !is_wanted(&next.key(cells))
            {
                self.place = Some(next);
                return Ok(true);
            }
            place = next;
        }
    }

    /// Moves to the cell after `place`.
    fn leave(&mut self, place: CellOffsets) -> Result<()> {
        self.place = None;
        self.place = self.block.place_at(place.next as usize)?;
        Ok(())
    }

    /// Advances within the row to the last cell in this block before the column `qualifier`, or to
    /// the row's last cell in this block if `qualifier` is `None`; by at most `cells_max` cells.
    /// Returns how many cells it advanced and how long their values are together, in bytes.
    pub fn pass_columns(&mut self, qualifier: Option<&[u8]>, cells_max: usize) -> (usize, usize) {
        let (mut passed, mut bytes) = (0, 0);
        let Some(mut place) = self.place else { return (0, 0) };
        let cells = &self.block.cells;
        while passed < cells_max
            && let Some(next) = place.parse_next_in_row(cells, self.block.layout)
            && qualifier.is_none_or(|end| compare_bytes(next.qualifier(cells), end).is_lt())
        {
            bytes += next.value_len();
            passed += 1;
            place = next;
        }
        self.place = Some(place);
        (passed, bytes)
    }

    /// Returns true if the cursor is at the block's first cell.
    pub fn is_first(&self) -> bool {
        self.place.is_some_and(|place| place.start == 0)
    }

    /// Returns true if the cursor is at the block's end.
    #[inline]
    pub fn is_end(&self) -> bool {
        self.place.is_none()
    }

    /// Returns which share of the block's bytes lies before the cursor: 0 at the first cell, 1 at
    /// the end.
    pub fn share_before(&self) -> f64 {
        self.place.map_or(1.0, |place| f64::from(place.start) / self.block.cells.len() as f64)
    }

    /// Returns the block.
    pub fn block(&self) -> &Arc<DataBlock> {
        &self.block
    }

    /// Moves to the next cell. Returns false at the block's end.
    ///
    /// # Errors
    /// `Corruption` if the bytes are not a cell; the cursor is then at the end.
    #[inline]
    pub fn advance(&mut self) -> Result<bool> {
        let Some(place) = self.place.take() else { return Ok(false) };
        if let Some(next) = place.parse_next_in_row(&self.block.cells, self.block.layout) {
            self.place = Some(next);
            return Ok(true);
        }
        self.leave(place)?;
        Ok(self.place.is_some())
    }

    /// Moves from a delete marker past further markers in this block that cover no later cell, so
    /// that a reader skips marker runs that delete nothing. It skips only markers for single
    /// columns, and none that may cover `bound`, a cell from another source. Valid only for readers
    /// to which a marker covers by timestamp.
    ///
    /// # Errors
    /// As [`Cursor::advance`].
    pub fn skip_markers(&mut self, bound: Option<&Key<'_>>) -> Result<MarkerSkip> {
        let Some(place) = self.place else { return Ok(MarkerSkip::default()) };
        let run = self.block.marker_run(place.start(), bound)?;
        let any = run.target() > place.start();
        if any {
            self.place = self.block.place_at(run.target())?;
        }
        Ok(MarkerSkip { any, open: run.is_open() })
    }

    /// Moves forward to the first cell at or after `key`; never moves back. Returns false at the
    /// block's end.
    ///
    /// # Errors
    /// As [`Cursor::advance`].
    pub fn seek(&mut self, key: &Key<'_>) -> Result<bool> {
        let Some(place) = self.place else { return Ok(false) };
        let here = place.key(&self.block.cells);
        match here.row.cmp(key.row).then_with(|| super::compare_columns(&here, key)) {
            Ordering::Equal | Ordering::Greater => return Ok(true),
            Ordering::Less => {}
        }
        let far = self.block.has_row_index() && here.row != key.row;
        self.place = None;
        self.place = if far {
            self.block.find(key)?
        } else {
            self.block.scan_to(place.next as usize, key)?
        };
        Ok(self.place.is_some())
    }
}
