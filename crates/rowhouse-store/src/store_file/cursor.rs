//! A cursor over a file.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rowhouse_format::hfile::{Cursor, IndexStep, IndexWalk, MarkerSkip, OwnedKey};
use rowhouse_model::{Bytes, Cell, CellRef, Key, Result, RowBuilder, RowRange};

use super::row_part::RowBlock;
use super::{FileTrace, StoreFile};
use crate::block_cache::Caching;
use crate::cells::Cells;

/// With this many entries in a file's root index, the middle entry is close enough to the file's
/// middle.
const INDEX_ENTRIES_ENOUGH: usize = 4;

/// A position in a file. It keeps the file alive.
pub(crate) struct FileCursor {
    pub(super) file: Arc<StoreFile>,
    caching: Caching,
    /// Whether cells may have tags.
    with_tags: bool,
    /// Whether every cell has the file's sequence number, regardless of the number stored with it.
    loaded: bool,
    pub(super) walk: IndexWalk,
    /// `None` after the last cell.
    pub(super) cursor: Option<Cursor>,
    trace: Option<Arc<FileTrace>>,
    /// The reader needs the cells of one row only, so that the cursor may be after the last cell
    /// where cells of other rows follow.
    single_row: bool,
    /// No cell of the row, or of the row before it, is in a later block: set if `single_row`.
    row_ends: bool,
    /// The cell to return to, in place of a block.
    rest: Option<Box<Rest>>,
}

/// A cell's key and sequence number.
struct Rest {
    key: OwnedKey,
    sequence: u64,
}

impl FileCursor {
    /// Returns a cursor at the first cell at or after `key`.
    pub(crate) fn open(file: &Arc<StoreFile>, key: &Key<'_>, caching: Caching) -> Result<Self> {
        Self::open_traced(file, key, caching, None)
    }

    /// As [`FileCursor::open`], for reading everything once.
    pub(crate) fn open_once(file: &Arc<StoreFile>, key: &Key<'_>) -> Result<Self> {
        Self::open(file, key, Caching::Past)
    }

    /// As [`FileCursor::open`], and adds to a trace.
    pub(crate) fn open_traced(
        file: &Arc<StoreFile>,
        key: &Key<'_>,
        caching: Caching,
        trace: Option<&Arc<FileTrace>>,
    ) -> Result<Self> {
        let mut cursor = Self::at_end(file, caching)?.traced(trace);
        cursor.seek_from_root(key)?;
        Ok(cursor)
    }

    /// As [`FileCursor::open_traced`], for reading the row of `key` alone: the cursor may leave out
    /// cells of other rows.
    pub(crate) fn open_row(
        file: &Arc<StoreFile>,
        key: &Key<'_>,
        caching: Caching,
        trace: Option<&Arc<FileTrace>>,
    ) -> Result<Self> {
        let mut cursor = Self::at_end(file, caching)?.traced(trace);
        cursor.single_row = true;
        cursor.seek_from_root(key)?;
        Ok(cursor)
    }

    /// Returns a cursor after the last cell.
    pub(crate) fn at_end(file: &Arc<StoreFile>, caching: Caching) -> Result<Self> {
        let with_tags = file.has_tags()?;
        let walk = IndexWalk::new();
        let loaded = file.is_loaded();
        let file = Arc::clone(file);
        Ok(Self {
            file,
            caching,
            with_tags,
            loaded,
            walk,
            cursor: None,
            trace: None,
            single_row: false,
            row_ends: false,
            rest: None,
        })
    }

    /// Makes the cursor add to a trace, if there is one.
    pub(crate) fn traced(mut self, trace: Option<&Arc<FileTrace>>) -> Self {
        self.trace = trace.cloned();
        if let Some(trace) = trace {
            trace.open();
        }
        self
    }

    /// Releases the blocks that it holds. Until [`FileCursor::wake`] it has no cell.
    pub(crate) fn rest(&mut self) {
        if let Some(CellRef { key, sequence, .. }) = self.cell() {
            self.rest = Some(Box::new(Rest { key: OwnedKey::new(&key), sequence }));
            self.cursor = None;
            self.walk = IndexWalk::new();
        }
    }

    /// Returns to the cell at which it rests, if it does.
    pub(crate) fn wake(&mut self) -> Result<()> {
        let Some(rest) = self.rest.take() else { return Ok(()) };
        let key = rest.key.view();
        self.seek_from_root(&key)?;
        // Among cells with one key the newest is first.
        while self.cell().is_some_and(|it| it.key == key && it.sequence > rest.sequence) {
            self.advance()?;
        }
        Ok(())
    }

    /// Returns the highest sequence number in the file.
    #[inline]
    pub(crate) fn sequence_max(&self) -> u64 {
        self.file.sequence_max()
    }

    /// Returns the current cell's sequence number.
    #[inline]
    pub(crate) fn sequence(&self) -> Option<u64> {
        let sequence = self.cursor.as_ref()?.sequence()?;
        Some(if self.loaded { self.file.sequence_max() } else { sequence })
    }

    /// Returns the current cell, which shares the block.
    pub(crate) fn to_cell(&self) -> Option<Cell> {
        let cell = self.cursor.as_ref()?.to_cell()?;
        Some(if self.loaded { cell.with_sequence(self.file.sequence_max()) } else { cell })
    }

    /// Returns the first row in `range`.
    pub(crate) fn first_row_in(file: &Arc<StoreFile>, range: &RowRange) -> Result<Option<Bytes>> {
        let first = Self::open_once(file, &Key::row_start(&range.start))?;
        let row = first.cell().map(|cell| cell.key.row).filter(|row| range.contains(row));
        Ok(row.map(Bytes::copy_from_slice))
    }

    /// Returns the row of a cell near the middle of the cells in `range`, other than the first row;
    /// `None` if there is no other row.
    pub(crate) fn middle_row(file: &Arc<StoreFile>, range: &RowRange) -> Result<Option<Bytes>> {
        let Some(first) = Self::first_row_in(file, range)? else { return Ok(None) };
        let is_later = |row: &[u8]| row > &first[..] && range.contains(row);
        let index = file.opened()?.index();
        let block_rows: Vec<&[u8]> = index.rows().filter(|row| is_later(row)).collect();
        let is_large = index.level() > 1 && !block_rows.is_empty();
        if is_large || block_rows.len() >= INDEX_ENTRIES_ENOUGH {
            return Ok(Some(Bytes::copy_from_slice(block_rows[block_rows.len() / 2])));
        }
        // So few blocks are read quickly.
        let mut rows: Vec<Bytes> = Vec::new();
        let mut cursor = Self::open_once(file, &Key::row_start(&range.start))?;
        while let Some(row) = cursor.cell().map(|cell| cell.key.row) {
            if !range.contains(row) {
                break;
            }
            rows.push(match rows.last() {
                Some(last) if last == row => last.clone(),
                _ => Bytes::copy_from_slice(row),
            });
            cursor.advance()?;
        }
        let later = rows[rows.len() / 2..].iter().find(|row| is_later(row));
        Ok(later.or_else(|| rows.iter().find(|row| is_later(row))).cloned())
    }

    fn seek_from_root(&mut self, key: &Key<'_>) -> Result<()> {
        self.cursor = None;
        let step = self.walk.seek(self.file.opened()?.index(), key);
        let entered = if self.single_row { self.enter_row(step, key)? } else { self.enter(step)? };
        let Some(block) = entered else { return Ok(()) };
        let cursor = block.seek(key).map_err(|error| self.file.named(error))?;
        let at_end = cursor.is_end();
        self.cursor = Some(cursor);
        // The key may lie between the last cell in the block and the next block.
        if at_end { self.next_block() } else { Ok(()) }
    }

    /// Moves to the first cell in the last row before `row`, or in the last row if `row` is `None`;
    /// to the end if there is no such row.
    pub(crate) fn seek_row_before(&mut self, row: Option<&[u8]>) -> Result<()> {
        let cursor = match self.row_before_in_block(row)? {
            Some(cursor) => Some(cursor),
            None => self.find_row_before(row)?,
        };
        match cursor {
            // The row may begin in an earlier block.
            Some(cursor) if cursor.is_first() => {
                let first = cursor.cell().map(|cell| cell.key.row.to_vec()).unwrap_or_default();
                self.seek_from_root(&Key::row_start(&first))
            }
            cursor => {
                self.cursor = cursor;
                Ok(())
            }
        }
    }

    /// Returns the row before `row` if the current block holds it.
    fn row_before_in_block(&self, row: Option<&[u8]>) -> Result<Option<Cursor>> {
        match (&self.cursor, row) {
            (Some(cursor), Some(row)) if cursor.key().is_some_and(|key| key.row >= row) => {
                let before = cursor.block().seek_row_before(Some(row));
                before.map_err(|error| self.file.named(error))
            }
            _ => Ok(None),
        }
    }

    /// As [`FileCursor::row_before_in_block`], in any block. Leaves the index walk at that block.
    fn find_row_before(&mut self, row: Option<&[u8]>) -> Result<Option<Cursor>> {
        self.cursor = None;
        let index = self.file.opened()?.index();
        let mut step = match row {
            Some(row) => self.walk.seek(index, &Key::row_start(row)),
            None => self.walk.last(index),
        };
        while let Some(block) = self.enter(step)? {
            let cursor = block.seek_row_before(row).map_err(|error| self.file.named(error))?;
            if cursor.is_some() {
                return Ok(cursor);
            }
            step = self.walk.back();
        }
        Ok(None)
    }

    /// Returns the current cell's key; `None` after the last cell.
    #[inline]
    pub(crate) fn key(&self) -> Option<Key<'_>> {
        self.cursor.as_ref()?.key()
    }

    /// As [`Cursor::skip_markers`].
    pub(super) fn pass_markers_in_block(&mut self, bound: Option<&Key<'_>>) -> Result<MarkerSkip> {
        let Some(cursor) = &mut self.cursor else { return Ok(MarkerSkip::default()) };
        cursor.skip_markers(bound).map_err(|error| self.file.named(error))
    }

    /// As [`Cells::push_columns`], for columns before `end`.
    pub(crate) fn push_columns_before(
        &mut self,
        end: &[u8],
        times: &RangeInclusive<i64>,
        row: &mut RowBuilder,
    ) -> Result<bool> {
        self.push_columns_by(|cursor| cursor.push_columns_before(end, times, row))
    }

    #[inline(always)]
    fn push_columns_by(&mut self, push: impl FnOnce(&mut Cursor) -> Result<bool>) -> Result<bool> {
        // Cells with tags may expire before their family's TTL, and a reader that is older than a
        // bulk load sees no cell from that load.
        if self.with_tags || self.loaded {
            return Ok(false);
        }
        let Some(cursor) = &mut self.cursor else { return Ok(false) };
        let pushed = push(cursor).map_err(|error| self.file.named(error))?;
        if cursor.is_end() {
            self.next_block()?;
        }
        Ok(pushed)
    }

    /// Moves to the next block's first cell.
    pub(crate) fn next_block(&mut self) -> Result<()> {
        self.cursor = None;
        if self.row_ends {
            return Ok(());
        }
        let step = self.walk.advance();
        if let Some(block) = self.enter(step)? {
            self.cursor = Some(block.first().map_err(|error| self.file.named(error))?);
        }
        Ok(())
    }

    /// Follows the index down to the data block, or the part of one, in which the row of `key`
    /// begins.
    fn enter_row(
        &mut self,
        mut step: IndexStep,
        key: &Key<'_>,
    ) -> Result<Option<Arc<rowhouse_format::hfile::DataBlock>>> {
        let opened = self.file.opened()?;
        let trace = self.trace.as_deref();
        while let Some(handle) = self.file.block_at(opened, &mut self.walk, step, trace)? {
            // Without a bound the row may go on in the next block.
            self.row_ends = self.walk.bound().is_some_and(|bound| bound.row > key.row);
            match self.file.row_block(opened, &handle, key.row, self.caching, trace)? {
                RowBlock::Whole(block) => return Ok(Some(block)),
                RowBlock::Part { block, ends_block } => {
                    self.row_ends |= !ends_block;
                    return Ok(Some(block));
                }
                RowBlock::Next if !self.row_ends => step = self.walk.advance(),
                RowBlock::Next | RowBlock::Absent => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Follows the index down to a data block.
    fn enter(&mut self, step: IndexStep) -> Result<Option<Arc<rowhouse_format::hfile::DataBlock>>> {
        let opened = self.file.opened()?;
        let trace = self.trace.as_deref();
        let handle = self.file.block_at(opened, &mut self.walk, step, trace)?;
        handle.map(|handle| self.file.data_block(opened, &handle, self.caching, trace)).transpose()
    }
}

impl Cells for FileCursor {
    fn skip_markers(&mut self) -> Result<bool> {
        self.pass_markers_to(None)
    }

    #[inline]
    fn cell(&self) -> Option<CellRef<'_>> {
        let cell = self.cursor.as_ref()?.cell()?;
        Some(if self.loaded {
            CellRef { sequence: self.file.sequence_max(), ..cell }
        } else {
            cell
        })
    }

    #[inline]
    fn advance(&mut self) -> Result<()> {
        let Some(cursor) = &mut self.cursor else { return Ok(()) };
        if !cursor.advance().map_err(|error| self.file.named(error))? {
            self.next_block()?;
        }
        Ok(())
    }

    fn seek(&mut self, key: &Key<'_>) -> Result<()> {
        let Some(cursor) = &mut self.cursor else { return Ok(()) };
        let in_block = self.walk.bound().is_some_and(|bound| *key < bound);
        if !in_block {
            return self.seek_from_root(key);
        }
        if !cursor.seek(key).map_err(|error| self.file.named(error))? {
            self.next_block()?;
        }
        Ok(())
    }

    fn pass_columns(&mut self, qualifier: Option<&[u8]>, cells_max: usize) -> (usize, usize) {
        self.cursor.as_mut().map_or((0, 0), |cursor| cursor.pass_columns(qualifier, cells_max))
    }

    #[inline]
    fn push_to(&self, row: &mut RowBuilder, copied: bool) {
        if self.loaded {
            if let Some(cell) = self.to_cell() {
                row.push_copy(cell.as_bytes(), cell.sequence());
            }
            return;
        }
        match &self.cursor {
            Some(cursor) if copied => cursor.push_copy_to(row),
            Some(cursor) => cursor.push_to(row),
            None => {}
        }
    }

    fn push_columns(&mut self, times: &RangeInclusive<i64>, row: &mut RowBuilder) -> Result<bool> {
        self.push_columns_by(|cursor| cursor.push_columns(times, row))
    }
}
