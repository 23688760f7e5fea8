//! The approximate share of a file's cells in a row range, from the file index.

use rowhouse_format::hfile::{self, BlockHandle, IndexWalk};
use rowhouse_model::{Key, Result, RowRange, compare_bytes};

use super::StoreFile;
use crate::block_cache::CachedBlock;

/// The share of a block that a range of several rows in it takes, if the block is not in the cache.
/// Such a range may hold one cell or almost all; a block is small, so the error is.
const SHARE_IN_BLOCK: f64 = 0.25;

/// The position of a key in a file.
#[derive(Clone, Copy)]
struct Position {
    /// The block that holds, or would hold, the first cell at or after the key.
    block: BlockHandle,
    /// The share of the block before that cell, known if the block is in the cache.
    before: Option<f64>,
}

impl StoreFile {
    /// Returns the blocks' uncompressed bytes; the bytes on disk if the file was not opened.
    pub(crate) fn uncompressed_len(&self) -> u64 {
        self.opened.get().map_or(self.meta.len, |opened| opened.trailer().uncompressed_len)
    }

    /// Returns about which share of the cells, from 0 to 1, lies in `range`. The file is opened if
    /// the range covers only part of the file's rows; data blocks are consulted if they are in the
    /// cache, and never read.
    ///
    /// # Errors
    /// `Io` and `Corruption` from the index.
    pub(crate) fn share_in(&self, range: &RowRange) -> Result<f64> {
        if !self.may_hold_rows(range) {
            return Ok(0.0);
        }
        let begins_inside = compare_bytes(&range.start, &self.meta.first_row).is_gt();
        let ends_inside =
            !range.stop.is_empty() && compare_bytes(&range.stop, &self.meta.last_row).is_le();
        if !begins_inside && !ends_inside {
            return Ok(1.0);
        }
        let opened = self.opened()?;
        let mut walk = IndexWalk::new();
        let last = walk.last(opened.index());
        let Some(last) = self.block_at(opened, &mut walk, last, None)? else { return Ok(0.0) };
        let mut position = |row: &[u8]| self.position(opened, &mut walk, &Key::row_start(row));
        let start = if begins_inside { position(&range.start)? } else { None };
        let stop = if ends_inside { position(&range.stop)? } else { None };
        let end = (last.offset + u64::from(last.len)) as f64;
        let bytes = match (start, stop) {
            (Some(start), Some(stop)) if start.block == stop.block => {
                let is_row = range.stop.strip_suffix(&[0]) == Some(&range.start[..]);
                let share = match (start.before, stop.before) {
                    (Some(start), Some(stop)) => stop - start,
                    _ if is_row => return Ok(1.0 / self.meta.cells.max(1) as f64),
                    _ => SHARE_IN_BLOCK,
                };
                share * f64::from(start.block.len)
            }
            (start, stop) => {
                stop.map_or(end, |stop| stop.offset()) - start.map_or(0.0, |start| start.offset())
            }
        };
        Ok((bytes / end).clamp(0.0, 1.0))
    }

    fn position(
        &self,
        opened: &hfile::FileMeta,
        walk: &mut IndexWalk,
        key: &Key<'_>,
    ) -> Result<Option<Position>> {
        let step = walk.seek(opened.index(), key);
        let Some(block) = self.block_at(opened, walk, step, None)? else { return Ok(None) };
        let before = match self.files.blocks.get((self.meta.file_id, block.offset)) {
            Some(CachedBlock::Data(cached)) => {
                let cursor = cached.seek(key).map_err(|error| self.named(error))?;
                Some(cursor.share_before())
            }
            _ => None,
        };
        Ok(Some(Position { block, before }))
    }
}

impl Position {
    /// Returns the offset in the file; a position in an unknown place in the block counts as the
    /// middle.
    fn offset(&self) -> f64 {
        self.block.offset as f64 + self.before.unwrap_or(0.5) * f64::from(self.block.len)
    }
}
