//! A cursor over a data block's cells.

use std::cmp::Ordering;
use std::ops::RangeInclusive;
use std::sync::Arc;

use rowhouse_model::{
    Cell, CellKind, CellRef, Key, Result, RowBuilder, compare_bytes, equal_bytes,
};

use super::cell_offsets::CellOffsets;
use super::{DataBlock, PREFETCH_BYTES};
use crate::hfile::prefetch::prefetch;

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
        self.push_columns_while(times, row, |_| true)
    }

    /// As [`Cursor::push_columns`], but stops also before the column `end`. The current cell must
    /// be before it.
    ///
    /// # Errors
    /// As [`Cursor::advance`].
    pub fn push_columns_before(
        &mut self,
        end: &[u8],
        times: &RangeInclusive<i64>,
        row: &mut RowBuilder,
    ) -> Result<bool> {
        self.push_columns_while(times, row, |qualifier| compare_bytes(qualifier, end).is_lt())
    }

    // Inlined always: a check of a bound that is not there takes a fifth of a scan.
    #[inline(always)]
    fn push_columns_while(
        &mut self,
        times: &RangeInclusive<i64>,
        row: &mut RowBuilder,
        takes_column: impl Fn(&[u8]) -> bool,
    ) -> Result<bool> {
        let cells = &self.block.cells;
        let is_selected =
            |key: &Key<'_>| key.kind == CellKind::Put.code() && times.contains(&key.timestamp);
        let Some(mut place) = self.place.filter(|place| is_selected(&place.key(cells))) else {
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
                || !takes_column(next.qualifier(cells))
                || !is_selected(&next.key(cells))
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
        let mut passed = 0;
        let mut bytes = 0;
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
