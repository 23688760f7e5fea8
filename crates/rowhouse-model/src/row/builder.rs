//! Building a row from cells in several buffers.

use bytes::Bytes;

use super::{CellSpan, CellSpans, Row, Runs};
use crate::{Cell, CellRef, compare};

/// A row under construction.
///
/// ```
/// use rowhouse_model::{Cell, CellKind, RowBuilder, Timestamp};
///
/// let at = Timestamp::from_millis(7)?;
/// let cell = Cell::new("r", "f", "q", at, CellKind::Put, "value")?;
/// let mut row = RowBuilder::default();
/// row.push_copy(cell.as_bytes(), 1);
/// row.push(cell);
/// let row = row.finish();
/// assert_eq!(row.key(), b"r");
/// assert_eq!(row.len(), 2);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Default)]
pub struct RowBuilder {
    cells: CellSpans,
    /// The buffer with number [`COPIED`].
    copied: Vec<u8>,
    /// Buffer 0, which cells share.
    shared: Bytes,
    /// Buffers 1 and up.
    more: Vec<Bytes>,
    byte_len: u64,
}

/// The buffer number for copied cells until the row is finished.
const COPIED: u32 = u32::MAX;

impl RowBuilder {
    /// Allocates space for `cells` cells, from which `copied_len` bytes will be copied.
    pub fn with_capacity(cells: usize, copied_len: usize) -> Self {
        Self {
            cells: CellSpans::with_capacity(cells),
            copied: Vec::with_capacity(copied_len),
            ..Self::default()
        }
    }

    /// Appends a cell.
    pub fn push(&mut self, cell: Cell) {
        let sequence = cell.sequence();
        let len = cell.as_bytes().len() as u32;
        let run = self.add_run(cell.into_bytes());
        self.add(CellSpan { run, start: 0, len, sequence });
    }

    /// Adds a buffer to the row, so that cells in it can be appended without copying.
    #[inline]
    pub fn share(&mut self, run: &Bytes) -> SharedRun<'_> {
        let last = self.more.last().unwrap_or(&self.shared);
        let run = if last.as_ptr() == run.as_ptr() && last.len() == run.len() {
            self.runs()
        } else {
            self.add_run(run.clone())
        };
        SharedRun { row: self, run }
    }

    /// Appends a KeyValue copy.
    ///
    /// # Panics
    /// May panic, now or when the row is read, if `key_value` is not a KeyValue.
    #[inline]
    pub fn push_copy(&mut self, key_value: &[u8], sequence: u64) {
        debug_assert!(CellRef::parse(key_value, sequence).is_ok());
        let start = self.copied.len();
        if start + key_value.len() > u32::MAX as usize {
            let cell = Cell::from_checked(Bytes::copy_from_slice(key_value), sequence);
            return self.push(cell);
        }
        self.copied.extend_from_slice(key_value);
        let start = start as u32;
        let len = key_value.len() as u32;
        self.add(CellSpan { run: COPIED, start, len, sequence });
    }

    /// Returns the cell appended last.
    pub fn last(&self) -> Option<CellRef<'_>> {
        Some(self.at(self.cells.as_slice().last()?))
    }

    fn at(&self, place: &CellSpan) -> CellRef<'_> {
        let &CellSpan { run, start, len, sequence } = place;
        let bytes = match run {
            COPIED => &self.copied[..],
            0 => &self.shared[..],
            number => &self.more[number as usize - 1][..],
        };
        let start = start as usize;
        CellRef::from_checked(&bytes[start..start + len as usize], sequence)
    }

    /// Returns true if there is no cell yet.
    pub fn is_empty(&self) -> bool {
        self.cells.as_slice().is_empty()
    }

    /// Returns the cell count.
    #[inline]
    pub fn len(&self) -> usize {
        self.cells.as_slice().len()
    }

    /// Returns the total cell length in bytes.
    #[inline]
    pub fn byte_len(&self) -> u64 {
        self.byte_len
    }

    /// Returns how many bytes were copied.
    pub fn copied_len(&self) -> usize {
        self.copied.len()
    }

    /// Keeps only the cells for which `keeps` returns true.
    pub fn retain(&mut self, mut keeps: impl FnMut(&CellRef<'_>) -> bool) {
        let mut cells = std::mem::take(&mut self.cells);
        cells.retain(|place| {
            let is_retained = keeps(&self.at(place));
            if !is_retained {
                self.byte_len -= u64::from(place.len);
            }
            is_retained
        });
        self.cells = cells;
    }

    /// Sorts the cells in cell order.
    pub fn sort(&mut self) {
        let mut cells = std::mem::take(&mut self.cells);
        cells.as_mut_slice().sort_by(|a, b| compare(&self.at(a), &self.at(b)));
        self.cells = cells;
    }

    /// Returns the row. The cells must all be in one row and in cell order.
    #[inline]
    pub fn finish(self) -> Row {
        if self.is_empty() {
            return Row::default();
        }
        let Self { mut cells, copied, shared: mut first, mut more, .. } = self;
        if !copied.is_empty() {
            let copied = Bytes::from(copied);
            let run = if first.is_empty() {
                first = copied;
                0
            } else {
                more.push(copied);
                more.len() as u32
            };
            let copied = cells.as_mut_slice().iter_mut().filter(|place| place.run == COPIED);
            copied.for_each(|place| place.run = run);
        }
        let row = Row { cells, runs: Runs { first, more: more.into() } };
        debug_assert!(row.cells().all(|cell| cell.row() == row.key()));
        row
    }

    #[inline]
    fn add(&mut self, place: CellSpan) {
        self.byte_len += u64::from(place.len);
        self.cells.push(place);
    }

    /// Returns the number for the buffer added last.
    #[inline]
    fn runs(&self) -> u32 {
        self.more.len() as u32
    }

    fn add_run(&mut self, run: Bytes) -> u32 {
        if self.shared.is_empty() {
            self.shared = run;
        } else {
            self.more.push(run);
        }
        self.runs()
    }
}

/// A buffer in a row under construction.
pub struct SharedRun<'a> {
    row: &'a mut RowBuilder,
    run: u32,
}

impl SharedRun<'_> {
    /// Appends the cell at `start..end` in the buffer.
    ///
    /// # Panics
    /// May panic, now or when the row is read, if these bytes are not a KeyValue.
    #[inline]
    pub fn push(&mut self, start: u32, end: u32, sequence: u64) {
        self.row.add(CellSpan { run: self.run, start, len: end - start, sequence });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{CellKind, Timestamp};

    fn cell(qualifier: u32) -> Cell {
        let at = Timestamp::from_millis(5).unwrap();
        let qualifier = qualifier.to_be_bytes();
        Cell::new("row", "f", qualifier, at, CellKind::Put, "value").unwrap()
    }

    proptest! {
        #[test]
        fn cells_come_back_as_they_were_put_in(ways in prop::collection::vec(0u8..4, 0..40)) {
            // Two blocks with many cells, from which some are appended.
            let blocks = [0, 1].map(|_| {
                Bytes::from((0..40).flat_map(|n| cell(n).as_bytes().to_vec()).collect::<Vec<_>>())
            });
            let len = cell(0).as_bytes().len() as u32;
            let mut row = RowBuilder::default();
            let mut expected = Vec::new();
            for (&way, number) in ways.iter().zip(0u32..) {
                let sequence = u64::from(number);
                expected.push((cell(number), sequence));
                match way {
                    0 => row.push(cell(number).with_sequence(sequence)),
                    1 => row.push_copy(cell(number).as_bytes(), sequence),
                    block => {
                        let start = number * len;
                        let end = (number + 1) * len;
                        row.share(&blocks[block as usize - 2]).push(start, end, sequence);
                    }
                }
                let (cell, sequence) = expected.last().unwrap();
                prop_assert_eq!(row.last().map(|last| (last.to_cell(), last.sequence)), Some((cell.clone(), *sequence)));
            }
            prop_assert_eq!(row.len(), expected.len());
            let row = row.finish();
            let cells: Vec<_> = row.cells().map(|cell| (cell.to_cell(), cell.sequence())).collect();
            prop_assert_eq!(cells, expected);
        }
    }
}
