//! Many sorted sources as one.

use rowhouse_model::{Cell, CellRef, Key, Result, compare};

use crate::memstore::MemstoreCursor;
use crate::store_file::FileCursor;

/// One sorted run of cells.
pub(crate) enum Source {
    Memory(MemstoreCursor),
    File(FileCursor),
}

impl Source {
    fn cell(&self) -> Option<CellRef<'_>> {
        match self {
            Self::Memory(cursor) => cursor.cell(),
            Self::File(cursor) => cursor.cell(),
        }
    }

    fn to_cell(&self) -> Option<Cell> {
        match self {
            Self::Memory(cursor) => cursor.to_cell(),
            Self::File(cursor) => cursor.to_cell(),
        }
    }

    fn advance(&mut self) -> Result<()> {
        match self {
            Self::Memory(cursor) => {
                cursor.advance();
                Ok(())
            }
            Self::File(cursor) => cursor.advance(),
        }
    }

    fn seek(&mut self, key: &Key<'_>) -> Result<()> {
        match self {
            Self::Memory(cursor) => {
                cursor.seek(key);
                Ok(())
            }
            Self::File(cursor) => cursor.seek(key),
        }
    }
}

/// The cells of all sources in THE order, up to a sequence.
pub(crate) struct Merge {
    sources: Vec<Source>,
    /// The source whose cell is the first of all.
    first: Option<usize>,
    sequence_max: u64,
}

impl Merge {
    /// Merges cells up to `sequence_max`.
    pub(crate) fn new(sources: Vec<Source>, sequence_max: u64) -> Result<Self> {
        let mut merge = Self { sources, first: None, sequence_max };
        for at in 0..merge.sources.len() {
            merge.skip_unseen(at)?;
        }
        merge.find_first();
        Ok(merge)
    }

    /// The current cell; `None` behind the last.
    pub(crate) fn cell(&self) -> Option<CellRef<'_>> {
        self.sources[self.first?].cell()
    }

    /// The current cell, sharing the bytes it lies in.
    pub(crate) fn to_cell(&self) -> Option<Cell> {
        self.sources[self.first?].to_cell()
    }

    /// To the next cell.
    pub(crate) fn advance(&mut self) -> Result<()> {
        let Some(at) = self.first else { return Ok(()) };
        self.sources[at].advance()?;
        self.skip_unseen(at)?;
        self.find_first();
        Ok(())
    }

    /// Forward to the first cell at or behind `key`.
    pub(crate) fn seek(&mut self, key: &Key<'_>) -> Result<()> {
        for at in 0..self.sources.len() {
            if self.sources[at].cell().is_some_and(|cell| cell.key < *key) {
                self.sources[at].seek(key)?;
                self.skip_unseen(at)?;
            }
        }
        self.find_first();
        Ok(())
    }

    /// Passes cells that were written behind the reader's sequence.
    fn skip_unseen(&mut self, at: usize) -> Result<()> {
        let source = &mut self.sources[at];
        while source.cell().is_some_and(|cell| cell.sequence > self.sequence_max) {
            source.advance()?;
        }
        Ok(())
    }

    /// Linear, since a store has few sources: compaction sees to that.
    fn find_first(&mut self) {
        if self.sources.len() == 1 {
            self.first = self.sources[0].cell().map(|_| 0);
            return;
        }
        let mut first: Option<(usize, CellRef<'_>)> = None;
        for (at, source) in self.sources.iter().enumerate() {
            let Some(cell) = source.cell() else { continue };
            if first.as_ref().is_none_or(|(_, best)| compare(&cell, best).is_lt()) {
                first = Some((at, cell));
            }
        }
        self.first = first.map(|(at, _)| at);
    }
}
