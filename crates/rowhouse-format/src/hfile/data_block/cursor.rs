//! A place in a block of cells.

use std::cmp::Ordering;
use std::ops::RangeInclusive;
use std::sync::Arc;

use rowhouse_model::{
    Cell, CellKind, CellRef, Key, ROW_LEN_MAX, Result, RowBuilder, compare_bytes, equal_bytes,
};

use super::{DataBlock, KEY_OFFSET, Layout, PREFETCH_BYTES, ROW_OFFSET};
use crate::hfile::prefetch::prefetch;
use crate::hfile::varint::read_vint;

/// Where the parts of one cell are in its block. All offsets were checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellOffsets {
    start: u32,
    row_end: u32,
    family_end: u32,
    key_end: u32,
    value_end: u32,
    tags_end: u32,
    /// Where the next cell begins.
    pub(super) next: u32,
    sequence: u64,
}

impl CellOffsets {
    /// Checks the cell that begins at `start`; none if it is none.
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
        Self::parse_behind_family(cell, start, row_end, family_end, layout)
    }

    /// Checks the cell behind this one; none if it is none, or if it is of another row or family. That they are
    /// the same is seen at once, and spares half of the checks.
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
        Self::parse_behind_family(cell, start, row_end as usize, family_end as usize, layout)
    }

    /// Checks a cell, which has these bytes and begins with them, but for its row and family.
    #[inline]
    fn parse_behind_family(
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
        // The highest bit of the timestamp is its sign.
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

    /// Where the cell begins.
    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    /// Bytes of the value.
    pub(super) fn value_len(self) -> usize {
        (self.value_end - self.key_end) as usize
    }

    /// The cell's key.
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

    #[inline]
    fn cell(self, cells: &[u8]) -> CellRef<'_> {
        let tags = &cells[self.value_end as usize..self.tags_end as usize];
        CellRef {
            key: self.key(cells),
            value: &cells[self.key_end as usize..self.value_end as usize],
            tags: tags.get(2..).unwrap_or_default(),
            sequence: self.sequence,
        }
    }

    /// The end of the KeyValue: a length of no tags is not part of it.
    fn key_value_end(self) -> usize {
        let end = if self.tags_end - self.value_end > 2 { self.tags_end } else { self.value_end };
        end as usize
    }
}

/// A place in a block: at a cell, or behind the last one. It keeps the block alive; moving and
/// looking allocate nothing.
#[derive(Clone, Debug)]
pub struct Cursor {
    block: Arc<DataBlock>,
    place: Option<CellOffsets>,
}

/// What came of passing delete markers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkerSkip {
    /// Whether the cursor has moved.
    pub any: bool,
    /// Whether there are only such markers from where it stands up to the end of the block, and the next may begin with more.
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

    /// The cell here; none at the end of the block.
    #[inline]
    pub fn cell(&self) -> Option<CellRef<'_>> {
        self.place.map(|place| place.cell(&self.block.cells))
    }

    /// The key of the cell here; none at the end of the block.
    #[inline]
    pub fn key(&self) -> Option<Key<'_>> {
        self.place.map(|place| place.key(&self.block.cells))
    }

    /// The sequence number of the cell here; none at the end of the block.
    #[inline]
    pub fn sequence(&self) -> Option<u64> {
        self.place.map(|place| place.sequence)
    }

    /// The cell here, sharing the block's bytes: it keeps the whole block in memory
    /// ([`Cell::detached`] does not). None at the end of the block.
    pub fn to_cell(&self) -> Option<Cell> {
        let place = self.place?;
        let bytes = self.block.cells.slice(place.start as usize..place.key_value_end());
        // A cursor checks what a cell checks before it stops at one.
        Some(Cell::from_checked(bytes, place.sequence))
    }

    /// Adds the cell here to a row, which comes to share the block. Nothing at the end of the block.
    #[inline]
    pub fn push_to(&self, row: &mut RowBuilder) {
        if let Some(place) = self.place {
            let end = place.key_value_end() as u32;
            // A cursor checks what a cell checks before it stops at one.
            row.share(&self.block.cells).push(place.start, end, place.sequence);
        }
    }

    /// Adds a copy of the cell here to a row. Nothing at the end of the block.
    #[inline]
    pub fn push_copy_to(&self, row: &mut RowBuilder) {
        if let Some(place) = self.place {
            let cell = &self.block.cells[place.start as usize..place.key_value_end()];
            row.push_copy(cell, place.sequence);
        }
    }

    /// Adds the cells from here on to a row, which comes to share the block, as long as each is a put
    /// at one of `times`; and moves behind them. Stops at the end of the block, at another row, and
    /// behind the first cell of a column that has more. False when no cell was added.
    ///
    /// Most cells of most tables are such cells, and a loop that knows nothing else goes through them
    /// in a third of the time.
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
            // A cursor checks what a cell checks before it stops at one.
            run.push(place.start, place.key_value_end() as u32, place.sequence);
            // The processor itself asks for what follows only within a page, and only when it has seen some of it.
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

    /// To the cell behind `place`.
    fn leave(&mut self, place: CellOffsets) -> Result<()> {
        self.place = None;
        self.place = self.block.place_at(place.next as usize)?;
        Ok(())
    }

    /// From cell to cell of the same row, up to the last one in this block in front of the column `qualifier`, or of all where
    /// that is none; at most `cells_max`. Gives how many cells were passed, and how many bytes of values.
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

    /// Whether this is the first cell of its block.
    pub fn is_first(&self) -> bool {
        self.place.is_some_and(|place| place.start == 0)
    }

    /// Whether all cells are behind.
    #[inline]
    pub fn is_end(&self) -> bool {
        self.place.is_none()
    }

    /// The block this is a place in.
    pub fn block(&self) -> &Arc<DataBlock> {
        &self.block
    }

    /// To the next cell. False at the end of the block.
    ///
    /// # Errors
    /// `Corruption` when there is something else than a cell; the cursor is then at the end.
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

    /// From a delete marker past others that cover nothing behind them, within this block: so a reader goes through many
    /// that delete what is not there. Only markers of single columns are passed, and only a reader may pass them to whom
    /// a marker covers by timestamp; and none that may cover `bound`, a cell of another source.
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

    /// On to the first cell at or behind `key`; never back. False at the end of the block.
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
        let far = self.block.knows_rows() && here.row != key.row;
        self.place = None;
        self.place = if far {
            self.block.find(key)?
        } else {
            self.block.scan_to(place.next as usize, key)?
        };
        Ok(self.place.is_some())
    }
}
