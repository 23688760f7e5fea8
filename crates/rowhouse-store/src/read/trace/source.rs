//! A merge source that counts the cells at which it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rowhouse_model::Result;

use crate::cells::Cells;
use crate::read::merge::Source;
use crate::store_file::FileTrace;

/// A source whose cells are counted.
pub(crate) struct TracedSource {
    pub(in crate::read) source: Source,
    cells: Arc<AtomicU64>,
    /// For a source that is a file.
    pub(in crate::read) file: Option<Arc<FileTrace>>,
}

impl TracedSource {
    /// Returns a memstore source.
    pub(in crate::read) fn of_memory(source: Source, cells: &Arc<AtomicU64>) -> Source {
        Self::wrap(source, Arc::clone(cells), None)
    }

    /// Returns a file source.
    pub(in crate::read) fn of_file(source: Source, file: &Arc<FileTrace>) -> Source {
        Self::wrap(source, Arc::clone(file.cells()), Some(Arc::clone(file)))
    }

    fn wrap(source: Source, cells: Arc<AtomicU64>, file: Option<Arc<FileTrace>>) -> Source {
        let traced = Self { source, cells, file };
        traced.count_place();
        Source::Traced(Box::new(traced))
    }

    /// Moves the source, and counts the cell at which it stops.
    pub(in crate::read) fn moved<T>(
        &mut self,
        to: impl FnOnce(&mut Source) -> Result<T>,
    ) -> Result<T> {
        let moved = to(&mut self.source)?;
        self.count_place();
        Ok(moved)
    }

    fn count_place(&self) {
        if self.source.cell().is_some() {
            self.cells.fetch_add(1, Ordering::Relaxed);
        }
    }
}
