//! Switching a merge from flushed memstores to their file.

use std::sync::Arc;

use rowhouse_model::{CellRef, Result, compare};

use super::{Merge, Source};
use crate::block_cache::Caching;
use crate::cells::Cells;
use crate::memstore::{FlushResult, Memstore};
use crate::store_file::{FileCursor, StoreFile};

impl Source {
    fn memstore(&self) -> Option<&Arc<Memstore>> {
        match self {
            Self::Memory(cursor) => Some(cursor.memstore()),
            Self::File(_) | Self::Waiting(..) => None,
            Self::Traced(traced) => traced.source.memstore(),
        }
    }
}

impl Merge {
    /// Returns the memstores it reads.
    pub(in crate::read) fn memstores(&self) -> impl Iterator<Item = &Arc<Memstore>> {
        self.sources.iter().filter_map(Source::memstore)
    }

    /// True if the source's cells are counted. The merge then keeps the sources.
    pub(in crate::read) fn is_traced(&self) -> bool {
        matches!(self.sources.first(), Some(Source::Traced(_)))
    }

    /// Returns the sequence up to which it returns cells.
    pub(in crate::read) fn sequence_max(&self) -> u64 {
        self.sequence_max
    }

    /// Releases flushed memstores and continues in their file. When memstores were flushed
    /// together, each that has cells up to the merge's sequence must be among the merge's sources.
    pub(in crate::read) fn follow_flush(
        &mut self,
        flushed: &Arc<FlushResult>,
        caching: Caching,
    ) -> Result<()> {
        let (at, left) = self.take_flushed(flushed);
        let next = left.iter().filter_map(Source::cell).min_by(compare);
        let mut sources = std::mem::take(&mut self.sources);
        if let (Some(file), Some(next)) = (&flushed.file, next) {
            sources.insert(at, Source::File(open_at(file, &next, caching)?));
        }
        *self = Self::new(sources, self.sequence_max)?;
        Ok(())
    }

    /// As [`Merge::follow_flush`], for a reverse merge that has read nothing from the current row.
    pub(in crate::read) fn follow_flush_backward(
        &mut self,
        flushed: &Arc<FlushResult>,
        caching: Caching,
    ) -> Result<()> {
        let end = self.cell().map(|cell| [cell.key.row, &[0]].concat());
        let (at, _) = self.take_flushed(flushed);
        let mut sources = std::mem::take(&mut self.sources);
        if let Some(file) = &flushed.file {
            sources.insert(at, Source::File(FileCursor::at_end(file, caching)?));
        }
        *self = Self::backward(sources, self.sequence_max);
        match end {
            Some(end) => self.seek_row_before(Some(&end)),
            // Any later position is before the file's end.
            None => Ok(()),
        }
    }

    /// Removes the memstores that were flushed together; returns the first one's index and their
    /// cursors.
    fn take_flushed(&mut self, flushed: &Arc<FlushResult>) -> (usize, Vec<Source>) {
        let is_flushed = |source: &Source| {
            let into = source.memstore().and_then(|memstore| memstore.flushed());
            into.is_some_and(|into| Arc::ptr_eq(into, flushed))
        };
        let at = self.sources.iter().position(is_flushed).unwrap_or(self.sources.len());
        (at, self.sources.extract_if(.., |source| is_flushed(source)).collect())
    }
}

/// Opens a cursor at `cell` in a file, or at the first cell after it if the file lacks it.
fn open_at(file: &Arc<StoreFile>, cell: &CellRef<'_>, caching: Caching) -> Result<FileCursor> {
    let mut cursor = FileCursor::open(file, &cell.key, caching)?;
    // Newer writes to the same key sort before the cell and have been read.
    while cursor.cell().is_some_and(|current| compare(&current, cell).is_lt()) {
        cursor.advance()?;
    }
    Ok(cursor)
}
