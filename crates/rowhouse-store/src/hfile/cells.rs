//! The cells in a file, in order.

use std::cmp::Ordering;
use std::sync::Arc;

use rowhouse_format::hfile::{Cursor, DataBlock, IndexStep, IndexWalk};
use rowhouse_model::{Cell, CellRef, Error, Key, Result, compare};

use super::{HFile, named};

/// A position among the cells of an [`HFile`].
#[derive(Debug)]
pub struct HFileCells<'a> {
    file: &'a HFile,
    walk: IndexWalk,
    /// `None` after the last cell.
    cursor: Option<Cursor>,
}

impl<'a> HFileCells<'a> {
    pub(super) fn open(file: &'a HFile, key: &Key<'_>) -> Result<Self> {
        let mut cells = Self { file, walk: IndexWalk::new(), cursor: None };
        let step = cells.walk.seek(file.meta.index(), key);
        if let Some(block) = cells.enter(step)? {
            let cursor = block.seek(key).map_err(|error| named(&file.path, error))?;
            if cursor.is_end() {
                cells.next_block()?;
            } else {
                cells.cursor = Some(cursor);
            }
        }
        Ok(cells)
    }

    /// Returns the current cell; `None` after the last one.
    pub fn cell(&self) -> Option<CellRef<'_>> {
        self.cursor.as_ref()?.cell()
    }

    /// Moves to the next cell.
    ///
    /// # Errors
    /// `Corruption` for unreadable data and for cells out of order; there is no current cell then.
    pub fn advance(&mut self) -> Result<()> {
        let Some(cursor) = &mut self.cursor else { return Ok(()) };
        let Some(last) = cursor.to_cell() else { return Ok(()) };
        let more = cursor.advance().map_err(|error| named(&self.file.path, error));
        match more {
            Ok(true) => {}
            Ok(false) => self.next_block()?,
            Err(error) => {
                self.cursor = None;
                return Err(error);
            }
        }
        self.check_order(&last)
    }

    fn check_order(&mut self, last: &Cell) -> Result<()> {
        let Some(next) = self.cell() else { return Ok(()) };
        if compare(&last.view(), &next) != Ordering::Greater {
            return Ok(());
        }
        let what = format!("cells out of order: {:?}", next.to_cell());
        self.cursor = None;
        Err(named(&self.file.path, Error::corruption(what)))
    }

    fn next_block(&mut self) -> Result<()> {
        self.cursor = None;
        let step = self.walk.advance();
        if let Some(block) = self.enter(step)? {
            self.cursor = Some(block.first().map_err(|error| named(&self.file.path, error))?);
        }
        Ok(())
    }

    /// Follows the index down to a data block.
    fn enter(&mut self, mut step: IndexStep) -> Result<Option<Arc<DataBlock>>> {
        loop {
            match step {
                IndexStep::Index(handle) => step = self.walk.enter(self.file.index_block(&handle)?),
                IndexStep::Data(handle) => return self.file.data_block(&handle).map(Some),
                IndexStep::End => return Ok(None),
            }
        }
    }
}
