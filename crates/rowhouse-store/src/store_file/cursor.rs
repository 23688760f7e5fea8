//! A position in a file.

use std::sync::Arc;

use rowhouse_format::hfile::{Cursor, IndexWalk, Step};
use rowhouse_model::{Cell, CellRef, Key, Result};

use super::StoreFile;
use crate::engine::Engine;

/// A position in a file, keeping it alive.
pub(crate) struct FileCursor {
    engine: Arc<Engine>,
    file: Arc<StoreFile>,
    /// Whether data blocks go into the cache; not for compactions, which read each once.
    caching: bool,
    walk: IndexWalk,
    /// `None` behind the last cell.
    cursor: Option<Cursor>,
}

impl FileCursor {
    /// A cursor on the first cell at or behind `key`.
    pub(crate) fn open(engine: &Arc<Engine>, file: &Arc<StoreFile>, key: &Key<'_>) -> Result<Self> {
        Self::with_caching(engine, file, key, true)
    }

    /// The same for reading everything once, past the cache.
    pub(crate) fn open_once(
        engine: &Arc<Engine>,
        file: &Arc<StoreFile>,
        key: &Key<'_>,
    ) -> Result<Self> {
        Self::with_caching(engine, file, key, false)
    }

    fn with_caching(
        engine: &Arc<Engine>,
        file: &Arc<StoreFile>,
        key: &Key<'_>,
        caching: bool,
    ) -> Result<Self> {
        let mut cursor = Self {
            engine: Arc::clone(engine),
            file: Arc::clone(file),
            caching,
            walk: IndexWalk::new(),
            cursor: None,
        };
        cursor.seek_from_root(key)?;
        Ok(cursor)
    }

    /// The current cell; `None` behind the last.
    #[inline]
    pub(crate) fn cell(&self) -> Option<CellRef<'_>> {
        self.cursor.as_ref()?.cell()
    }

    /// The current cell's sequence.
    #[inline]
    pub(crate) fn sequence(&self) -> Option<u64> {
        self.cursor.as_ref()?.sequence()
    }

    /// The current cell, sharing its block's bytes.
    pub(crate) fn to_cell(&self) -> Option<Cell> {
        self.cursor.as_ref()?.to_cell()
    }

    /// To the next cell.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<()> {
        let Some(cursor) = &mut self.cursor else { return Ok(()) };
        if !cursor.advance().map_err(|error| self.file.named(error))? {
            self.next_block()?;
        }
        Ok(())
    }

    /// Forward to the first cell at or behind `key`.
    pub(crate) fn seek(&mut self, key: &Key<'_>) -> Result<()> {
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

    fn seek_from_root(&mut self, key: &Key<'_>) -> Result<()> {
        self.cursor = None;
        let step = self.walk.seek(self.file.opened()?.hfile.index(), key);
        let Some(block) = self.enter(step)? else { return Ok(()) };
        let cursor = block.seek(key).map_err(|error| self.file.named(error))?;
        let at_end = cursor.is_end();
        self.cursor = Some(cursor);
        // The key may stand between the last cell of its block and the next block.
        if at_end { self.next_block() } else { Ok(()) }
    }

    fn next_block(&mut self) -> Result<()> {
        self.cursor = None;
        let step = self.walk.advance();
        if let Some(block) = self.enter(step)? {
            self.cursor = Some(block.first().map_err(|error| self.file.named(error))?);
        }
        Ok(())
    }

    /// Follows the index down to a data block.
    fn enter(&mut self, mut step: Step) -> Result<Option<Arc<rowhouse_format::hfile::DataBlock>>> {
        let opened = self.file.opened()?;
        let cache = &self.engine.cache;
        loop {
            match step {
                Step::Index(handle) => {
                    step = self.walk.enter(self.file.index_block(cache, opened, &handle)?);
                }
                Step::Data(handle) => {
                    let cache = self.caching.then_some(cache);
                    return self.file.data_block(cache, opened, &handle).map(Some);
                }
                Step::End => return Ok(None),
            }
        }
    }
}
