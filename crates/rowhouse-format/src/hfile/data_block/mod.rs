//! Data blocks: decodes, searches and encodes cells, unencoded, with a row index, or delta-encoded.

mod builder;
mod cell_offsets;
mod cursor;
mod delta;
mod layout;
mod markers;
mod outline;

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use rowhouse_model::{DataBlockEncoding, Error, Key, ROW_LEN_MAX, Result, row_prefix};

pub(super) use builder::DataBlockBuilder;
pub use cursor::{Cursor, MarkerSkip};
pub use layout::Layout;
pub use outline::{BlockOutline, BlockPart, RowPlace};

use super::block::{Block, BlockKind};
use super::key::{compare_columns, compare_rows};
use super::prefetch::prefetch;
use cell_offsets::CellOffsets;
use layout::{ROW_INDEX_ID, ROW_OFFSET};
use markers::BlockMarkerRun;

/// How long an encoding's number is, in bytes.
const ID_LEN: usize = 2;
/// Least distance in bytes between milestones, the cells whose offsets are recorded for binary
/// search: about four 100-byte cells.
const MILESTONE_BYTES: usize = 512;
/// Prefetch distance in bytes ahead of the current cell.
const PREFETCH_BYTES: usize = 1024;

/// A data block, ready to search. Cells are validated when a cursor reaches them.
#[derive(Clone, Debug)]
pub struct DataBlock {
    /// The cells, without row index.
    cells: Bytes,
    /// The offset of each row's first cell, one u32 per row; empty in a block without row index.
    rows: Bytes,
    /// For each row, [`row_prefix`] for the bytes after the prefix that all rows share. A search
    /// compares these and reads one row, instead of incurring a cache miss on a row at every step.
    prefixes: Box<[u64]>,
    /// How long the prefix is that all rows share, in bytes.
    common: usize,
    /// Some cells' offsets, for searches in rows that fill much of the block; computed on first
    /// use.
    milestones: OnceLock<Box<[u32]>>,
    /// A long delete marker run, cached by the first reader that meets it.
    markers: OnceLock<BlockMarkerRun>,
    layout: Layout,
    offset: u64,
}

impl DataBlock {
    /// Parses a data block from a file with `layout`.
    ///
    /// # Errors
    /// `Corruption` if the block has another kind or encoding than the file declares, or a
    /// malformed row index.
    pub fn parse(block: Block, layout: Layout) -> Result<Self> {
        let Block { kind, payload, offset, .. } = block;
        let want = match layout.encoding {
            DataBlockEncoding::None => BlockKind::Data,
            _ => BlockKind::EncodedData,
        };
        if kind != want {
            return Err(malformed(offset, &format!("want={want:?}, have={kind:?}")));
        }
        let (cells, rows) = match layout.encoding {
            DataBlockEncoding::None => (payload, Bytes::new()),
            DataBlockEncoding::RowIndexV1 => split_row_index(payload, offset)?,
            DataBlockEncoding::Prefix | DataBlockEncoding::Diff | DataBlockEncoding::FastDiff => {
                unpack(&payload, layout, offset)?
            }
        };
        Self::of_parts(cells, rows, layout, offset)
    }

    /// Creates a block from cells and the offset of each row's first cell, none without row index.
    fn of_parts(cells: Bytes, rows: Bytes, layout: Layout, offset: u64) -> Result<Self> {
        if cells.is_empty() {
            return Err(malformed(offset, "no cells"));
        }
        let milestones = OnceLock::new();
        let markers = OnceLock::new();
        let prefixes = Box::default();
        let mut block =
            Self { cells, rows, prefixes, common: 0, milestones, markers, layout, offset };
        if block.has_row_index() {
            block.compute_prefixes()?;
        }
        Ok(block)
    }

    /// Returns true if the block has a row index.
    fn has_row_index(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Computes the rows' common prefix, and a prefix for each row.
    fn compute_prefixes(&mut self) -> Result<()> {
        let rows = self.rows.len() / 4;
        let first = self.row_at(0)?;
        let last = self.row_at(self.row_start(rows - 1))?;
        let common = first.iter().zip(last).take_while(|(a, b)| a == b).count();
        let prefixes: Result<Box<[u64]>> = (0..rows)
            .map(|row| {
                let start = self.row_start(row);
                let rest = self.row_at(start)?.get(common..);
                rest.map(row_prefix).ok_or_else(|| self.broken(start, "row out of order"))
            })
            .collect();
        self.prefixes = prefixes?;
        self.common = common;
        Ok(())
    }

    /// Returns the block's offset in the file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the most bytes that this value can occupy in memory.
    pub fn memory_len(&self) -> usize {
        let milestones = 4 * (self.cells.len() / MILESTONE_BYTES);
        size_of::<Self>()
            + self.cells.len()
            + self.rows.len()
            + 8 * self.prefixes.len()
            + milestones
    }

    /// Returns a cursor at the first cell.
    ///
    /// # Errors
    /// `Corruption` if the bytes are not a cell.
    pub fn first(self: &Arc<Self>) -> Result<Cursor> {
        Cursor::at(Arc::clone(self), 0)
    }

    /// Returns a cursor at the first cell at or after `key`, or at the end if all cells are before
    /// it.
    ///
    /// # Errors
    /// `Corruption` if the search meets bytes that are not a cell.
    pub fn seek(self: &Arc<Self>, key: &Key<'_>) -> Result<Cursor> {
        let place = self.find(key)?;
        Ok(Cursor::new(Arc::clone(self), place))
    }

    /// Returns a cursor at the block's first cell in the last row before `row`, or in the last row
    /// if `row` is `None`; `None` if there is no such row. The block's first row may also have
    /// cells in the previous block.
    ///
    /// # Errors
    /// `Corruption` if the search meets bytes that are not a cell.
    pub fn seek_row_before(self: &Arc<Self>, row: Option<&[u8]>) -> Result<Option<Cursor>> {
        let start = if self.has_row_index() {
            let rows = match row {
                Some(row) => self.rows_before(row)?,
                None => self.prefixes.len(),
            };
            rows.checked_sub(1).map(|last| {
                let start = self.row_start(last);
                // A reader that goes back continues with the row before. The hardware prefetcher
                // follows no reads that go back over whole rows.
                let before = last.checked_sub(1).map_or(start, |before| self.row_start(before));
                prefetch(&self.cells, before..start.min(before + 2 * PREFETCH_BYTES));
                start
            })
        } else {
            self.scan_to_row_before(row)?
        };
        start.map(|start| Cursor::at(Arc::clone(self), start)).transpose()
    }

    /// Returns how many rows are before `row`.
    fn rows_before(&self, row: &[u8]) -> Result<usize> {
        Ok(match self.find_row(row)? {
            Ok(at) | Err(at) => at,
        })
    }

    /// Returns the offset of the first cell in the last row before `row`, or in the last row if
    /// `row` is `None`.
    fn scan_to_row_before(&self, row: Option<&[u8]>) -> Result<Option<usize>> {
        let mut row_first: Option<CellOffsets> = None;
        let mut at = 0;
        while at < self.cells.len() {
            let place = self.parse_at(at)?;
            let here = place.key(&self.cells).row;
            if row.is_some_and(|row| here >= row) {
                break;
            }
            if row_first.is_none_or(|row_first| row_first.key(&self.cells).row != here) {
                row_first = Some(place);
            }
            at = place.next as usize;
        }
        Ok(row_first.map(CellOffsets::start))
    }

    /// Returns the first cell at or after `key`.
    fn find(&self, key: &Key<'_>) -> Result<Option<CellOffsets>> {
        if self.has_row_index() { self.find_by_row(key) } else { self.scan_to(0, key) }
    }

    fn find_by_row(&self, key: &Key<'_>) -> Result<Option<CellOffsets>> {
        match self.find_row(key.row)? {
            Ok(at) => self.scan_row_to(self.row_start(at), self.row_start(at + 1), key),
            Err(at) => self.place_at(self.row_start(at)),
        }
    }

    /// Searches for `row`. Returns the row number, or as the inner error how many rows are before
    /// it.
    #[inline]
    fn find_row(&self, row: &[u8]) -> Result<Result<usize, usize>> {
        let mut low = 0;
        let mut high = self.prefixes.len();
        let common = &self.row_at(0)?[..self.common];
        let (front, rest) = row.split_at(self.common.min(row.len()));
        match common.cmp(front) {
            Ordering::Less => return Ok(Err(high)),
            Ordering::Greater => high = 0,
            Ordering::Equal => {}
        }
        let prefix = row_prefix(rest);
        while low < high {
            let middle = low.midpoint(high);
            let order = match self.prefixes[middle].cmp(&prefix) {
                Ordering::Equal => {
                    let start = self.row_start(middle);
                    // The search goes on among the row's cells: their cache lines arrive together.
                    let end = self.row_start(middle + 1).min(start + PREFETCH_BYTES);
                    prefetch(&self.cells, start..end);
                    self.row_at(start)?.cmp(row)
                }
                decided => decided,
            };
            match order {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(Ok(middle)),
            }
        }
        Ok(Err(low))
    }

    /// Returns the offset for row number `at`; the cells' end if there is no such row.
    #[inline]
    fn row_start(&self, at: usize) -> usize {
        match self.rows.get(4 * at..).and_then(|rest| rest.first_chunk::<4>()) {
            Some(offset) => u32::from_be_bytes(*offset) as usize,
            None => self.cells.len(),
        }
    }

    /// Returns the row in the cell at offset `start`.
    #[inline]
    fn row_at(&self, start: usize) -> Result<&[u8]> {
        self.try_row_at(start).ok_or_else(|| self.broken(start, "row after the block's end"))
    }

    #[inline]
    fn try_row_at(&self, start: usize) -> Option<&[u8]> {
        let cell = self.cells.get(start..)?;
        let len = u16::from_be_bytes([*cell.get(8)?, *cell.get(9)?]) as usize;
        cell.get(ROW_OFFSET..ROW_OFFSET + len)
    }

    /// Returns the first cell at or after `key` among the cells in the key's row, which lie between
    /// two offsets; the cell at `end` if there is none.
    fn scan_row_to(&self, start: usize, end: usize, key: &Key<'_>) -> Result<Option<CellOffsets>> {
        // No cell has a family this long: the caller seeks the row's end.
        if key.family.len() > u8::MAX as usize {
            return self.place_at(end);
        }
        self.scan(start, end, |cell| compare_columns(cell, key).is_lt())
    }

    /// Returns the first cell at or after `key`, in any row, from offset `start` on.
    fn scan_to(&self, start: usize, key: &Key<'_>) -> Result<Option<CellOffsets>> {
        let prefix = row_prefix(key.row);
        self.scan(start, self.cells.len(), |cell| {
            let rows = compare_rows(cell.row, key.row, prefix);
            rows.then_with(|| compare_columns(cell, key)).is_lt()
        })
    }

    /// Returns the first cell between two offsets for which `is_before` is false; the cell at `end`
    /// if there is none. After a short linear scan it uses the milestones.
    fn scan(
        &self,
        start: usize,
        end: usize,
        is_before: impl Fn(&Key<'_>) -> bool,
    ) -> Result<Option<CellOffsets>> {
        let mut near = start.saturating_add(2 * MILESTONE_BYTES);
        let mut at = start;
        while at < end {
            if at > near {
                near = usize::MAX;
                at = self.milestone_before(at, end, &is_before)?;
            }
            let place = self.parse_at(at)?;
            if !is_before(&place.key(&self.cells)) {
                return Ok(Some(place));
            }
            at = place.next as usize;
        }
        self.place_at(at)
    }

    /// Returns the last milestone between two offsets for which `is_before` is true; `start` if
    /// there is none.
    fn milestone_before(
        &self,
        start: usize,
        end: usize,
        is_before: impl Fn(&Key<'_>) -> bool,
    ) -> Result<usize> {
        let milestones = self.milestones.get_or_init(|| self.find_milestones());
        let mut low = milestones.partition_point(|at| *at as usize <= start);
        let mut high = milestones.partition_point(|at| (*at as usize) < end);
        let mut milestone = start;
        while low < high {
            let middle = low.midpoint(high);
            let at = milestones[middle] as usize;
            if is_before(&self.parse_at(at)?.key(&self.cells)) {
                (milestone, low) = (at, middle + 1);
            } else {
                high = middle;
            }
        }
        Ok(milestone)
    }

    /// Returns the offsets of cells at least [`MILESTONE_BYTES`] apart, up to the first malformed
    /// cell. The search that reaches the malformed cell reports it.
    fn find_milestones(&self) -> Box<[u32]> {
        let mut at = 0;
        let mut milestones = Vec::new();
        let mut next = MILESTONE_BYTES;
        while let Some(place) = CellOffsets::parse(&self.cells, at, self.layout) {
            if at >= next {
                milestones.push(at as u32);
                next = at + MILESTONE_BYTES;
            }
            at = place.next as usize;
        }
        milestones.into()
    }

    /// Returns the cell at an offset; `None` at the cells' end.
    fn place_at(&self, at: usize) -> Result<Option<CellOffsets>> {
        if at >= self.cells.len() { Ok(None) } else { self.parse_at(at).map(Some) }
    }

    /// Validates the cell at offset `at`.
    #[inline]
    fn parse_at(&self, at: usize) -> Result<CellOffsets> {
        CellOffsets::parse(&self.cells, at, self.layout).ok_or_else(|| self.not_a_cell(at))
    }

    /// Returns the error for malformed bytes at offset `at`.
    #[cold]
    fn not_a_cell(&self, at: usize) -> Error {
        let what = match self.try_row_at(at) {
            None => "cell cut short",
            Some(row) if row.len() > ROW_LEN_MAX => "row too long",
            Some(_) => "no cell",
        };
        self.broken(at, what)
    }

    #[cold]
    fn broken(&self, at: usize, what: &str) -> Error {
        malformed(self.offset, &format!("{what}, at={at}, len={}", self.cells.len()))
    }
}

#[cold]
fn malformed(offset: u64, what: &str) -> Error {
    Error::corruption(format!("malformed hfile data block: offset={offset}, {what}"))
}

/// Checks that a payload begins with its encoding's number `want`.
fn check_id(payload: &[u8], want: u16, offset: u64) -> Result<()> {
    let id = payload.first_chunk::<2>().map(|id| u16::from_be_bytes(*id));
    if id != Some(want) {
        return Err(malformed(offset, &format!("encoding id, want={want}, have={id:?}")));
    }
    Ok(())
}

/// Decodes a delta-encoded payload into cells and row offsets.
fn unpack(payload: &[u8], layout: Layout, offset: u64) -> Result<(Bytes, Bytes)> {
    if let Some(id) = delta::id(layout.encoding) {
        check_id(payload, id, offset)?;
    }
    let unpacked = delta::unpack(&payload[ID_LEN..], layout).map_err(|at| {
        let name = layout.encoding.name();
        let at = ID_LEN + at;
        let len = payload.len();
        malformed(offset, &format!("not a {name} cell, at={at}, len={len}"))
    })?;
    Ok((unpacked.cells.into(), unpacked.rows.into()))
}

/// Splits a payload with a row index into cells and row offsets.
fn split_row_index(payload: Bytes, offset: u64) -> Result<(Bytes, Bytes)> {
    let number = |at: usize| {
        let bytes = payload.get(at..)?.first_chunk::<4>()?;
        Some(u32::from_be_bytes(*bytes) as usize)
    };
    check_id(&payload, ROW_INDEX_ID, offset)?;
    let parts = || {
        let len_at = payload.len().checked_sub(4)?;
        let rows_at = number(len_at)?.checked_add(2)?;
        let rows_start = rows_at.checked_add(4)?;
        let rows_end = number(rows_at)?.checked_mul(4)?.checked_add(rows_start)?;
        (rows_end == len_at).then_some((2..rows_at, rows_start..rows_end))
    };
    let (cells, rows) =
        parts().ok_or_else(|| malformed(offset, &format!("row index, len={}", payload.len())))?;
    let cells = payload.slice(cells);
    let rows = payload.slice(rows);
    let (offsets, _) = rows.as_chunks::<4>();
    let mut bound = None;
    for start in offsets.iter().map(|start| u32::from_be_bytes(*start)) {
        if bound.is_none_or(|bound| start > bound) && (start as usize) < cells.len() {
            bound = Some(start);
            continue;
        }
        return Err(malformed(offset, &format!("row offsets out of order, row at={start}")));
    }
    if offsets.first() != Some(&[0; 4]) {
        return Err(malformed(offset, "first row is not at the start"));
    }
    Ok((cells, rows))
}
