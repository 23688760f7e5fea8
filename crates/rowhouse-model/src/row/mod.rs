//! Row keys, and the result from reading one row.

mod builder;

use std::fmt;

use bytes::Bytes;

use crate::{Cell, KeyValue, Result, counter_value};

pub use builder::{RowBuilder, SharedRun};

/// The cells in one row that a read returns, in cell order. HBase calls it a Result.
///
/// Cells in the same block share it: the row holds one reference to the block, however many cells
/// it has.
#[derive(Clone, Default)]
pub struct Row {
    cells: CellSpans,
    runs: Runs,
}

/// Where a row's cells are. A single cell needs no allocation.
#[derive(Clone, Default)]
enum CellSpans {
    #[default]
    None,
    One(CellSpan),
    /// Any cell count, in allocated space.
    Many(Vec<CellSpan>),
}

impl CellSpans {
    fn with_capacity(cells: usize) -> Self {
        if cells > 1 { Self::Many(Vec::with_capacity(cells)) } else { Self::None }
    }

    #[inline]
    fn as_slice(&self) -> &[CellSpan] {
        match self {
            Self::None => &[],
            Self::One(place) => std::slice::from_ref(place),
            Self::Many(places) => places,
        }
    }

    #[inline]
    fn as_mut_slice(&mut self) -> &mut [CellSpan] {
        match self {
            Self::None => &mut [],
            Self::One(place) => std::slice::from_mut(place),
            Self::Many(places) => places,
        }
    }

    #[inline]
    fn push(&mut self, place: CellSpan) {
        match self {
            Self::Many(places) => places.push(place),
            Self::None => *self = Self::One(place),
            Self::One(first) => {
                let mut places = Vec::with_capacity(4);
                places.extend([*first, place]);
                *self = Self::Many(places);
            }
        }
    }

    fn retain(&mut self, mut keeps: impl FnMut(&CellSpan) -> bool) {
        match self {
            Self::One(place) if !keeps(place) => *self = Self::None,
            Self::None | Self::One(_) => {}
            Self::Many(places) => places.retain(keeps),
        }
    }
}

/// Where a cell is.
#[derive(Clone, Copy)]
struct CellSpan {
    /// The buffer's number.
    run: u32,
    start: u32,
    len: u32,
    sequence: u64,
}

/// The buffers that hold the cells, by number.
#[derive(Clone, Default)]
struct Runs {
    /// Number 0; usually the only one.
    first: Bytes,
    more: Box<[Bytes]>,
}

impl Runs {
    #[inline]
    fn get(&self, number: u32) -> &Bytes {
        match number {
            0 => &self.first,
            number => &self.more[number as usize - 1],
        }
    }
}

impl Row {
    /// Creates a row from cells, which must all be in one row and in cell order.
    pub fn new(cells: Vec<Cell>) -> Self {
        let mut row = RowBuilder::with_capacity(cells.len(), 0);
        for cell in cells {
            row.push(cell);
        }
        row.finish()
    }

    /// Returns the row key; empty if the row has no cells.
    pub fn key(&self) -> &[u8] {
        self.cells().next().map_or(&[], KeyValue::row)
    }

    /// Iterates over the cells in order.
    pub fn cells(
        &self,
    ) -> impl DoubleEndedIterator<Item = KeyValue<'_>> + ExactSizeIterator + Clone {
        self.cells.as_slice().iter().map(|place| self.at(place))
    }

    /// Returns the cell count.
    pub fn len(&self) -> usize {
        self.cells.as_slice().len()
    }

    /// Returns the sum over the cells' bytes, as they are encoded.
    pub fn byte_len(&self) -> u64 {
        self.cells.as_slice().iter().map(|place| u64::from(place.len)).sum()
    }

    /// Returns the row with the cells in a separate buffer: it keeps no file block alive.
    #[must_use]
    pub fn detached(&self) -> Self {
        let bytes = usize::try_from(self.byte_len()).unwrap_or_default();
        let mut row = RowBuilder::with_capacity(self.len(), bytes);
        for place in self.cells.as_slice() {
            row.push_copy(self.at(place).as_bytes(), place.sequence);
        }
        row.finish()
    }

    /// Returns the cells individually; they share the row's buffers.
    pub fn to_cells(&self) -> Vec<Cell> {
        self.cells().map(KeyValue::to_cell).collect()
    }

    /// Returns true if the row has no cells.
    pub fn is_empty(&self) -> bool {
        self.cells.as_slice().is_empty()
    }

    /// Returns a column's newest cell.
    pub fn cell(
        &self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
    ) -> Option<KeyValue<'_>> {
        let family = family.as_ref();
        let qualifier = qualifier.as_ref();
        self.cells().find(|cell| cell.family() == family && cell.qualifier() == qualifier)
    }

    /// Returns a column's newest value.
    pub fn value(&self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Option<Bytes> {
        self.cell(family, qualifier).map(KeyValue::value_bytes)
    }

    /// Returns a counter column's newest value: eight bytes, big-endian.
    pub fn counter(
        &self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
    ) -> Result<Option<i64>> {
        self.cell(family, qualifier).map(|cell| counter_value(cell.value())).transpose()
    }

    #[inline]
    fn at(&self, place: &CellSpan) -> KeyValue<'_> {
        let run = self.runs.get(place.run);
        let start = place.start as usize;
        KeyValue::from_checked(&run[start..start + place.len as usize], run, place.sequence)
    }
}

/// Compares cells, regardless of their buffers.
impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.cells().eq(other.cells())
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.cells()).finish()
    }
}
