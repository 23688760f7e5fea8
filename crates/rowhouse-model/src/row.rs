//! Row keys and what a read gives back for one row.

mod builder;

use std::fmt;

use bytes::Bytes;

use crate::{Cell, Error, KeyValue, Result, counter_value};

pub use builder::{RowBuilder, SharedRun};

/// The longest row key, in bytes: HBase keeps the length in a signed 16-bit number.
pub const ROW_LEN_MAX: usize = i16::MAX as usize;

/// Checks that `row` can be the key of a row: not empty, at most [`ROW_LEN_MAX`] bytes.
pub fn check_row(row: &[u8]) -> Result<()> {
    if row.is_empty() {
        return Err(Error::invalid("Row length is 0"));
    }
    if row.len() > ROW_LEN_MAX {
        return Err(Error::invalid(format!("Row length {} is > {ROW_LEN_MAX}", row.len())));
    }
    Ok(())
}

/// The cells of one row that a read asked for, in cell order. HBase calls it a Result.
///
/// Cells that lie in one block share it: the row holds the block once, however many cells it has.
#[derive(Clone, Default)]
pub struct Row {
    cells: CellSpans,
    runs: Runs,
}

/// Where the cells of a row lie. That of a row with one cell is here, without an allocation.
#[derive(Clone, Default)]
enum CellSpans {
    #[default]
    None,
    One(CellSpan),
    /// Any number, where room was made for them.
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

/// Where a cell lies.
#[derive(Clone, Copy)]
struct CellSpan {
    /// The number of the run.
    run: u32,
    start: u32,
    len: u32,
    sequence: u64,
}

/// Bytes in which cells lie, by number.
#[derive(Clone, Default)]
struct Runs {
    /// Number 0, and mostly the only one.
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
    /// A row of these cells, all of the same row and in cell order.
    pub fn new(cells: Vec<Cell>) -> Self {
        let mut row = RowBuilder::with_capacity(cells.len(), 0);
        for cell in cells {
            row.push(cell);
        }
        row.finish()
    }

    /// The row's key; empty when the row holds nothing.
    pub fn key(&self) -> &[u8] {
        self.cells().next().map_or(&[], KeyValue::row)
    }

    /// The cells, in order.
    pub fn cells(
        &self,
    ) -> impl DoubleEndedIterator<Item = KeyValue<'_>> + ExactSizeIterator + Clone {
        self.cells.as_slice().iter().map(|place| self.at(place))
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cells.as_slice().len()
    }

    /// The cells, each for itself. They share what the row held.
    pub fn to_cells(&self) -> Vec<Cell> {
        self.cells().map(KeyValue::to_cell).collect()
    }

    /// Whether the read found nothing.
    pub fn is_empty(&self) -> bool {
        self.cells.as_slice().is_empty()
    }

    /// The newest cell of a column.
    pub fn cell(
        &self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
    ) -> Option<KeyValue<'_>> {
        let (family, qualifier) = (family.as_ref(), qualifier.as_ref());
        self.cells().find(|cell| cell.family() == family && cell.qualifier() == qualifier)
    }

    /// The newest value of a column.
    pub fn value(&self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Option<Bytes> {
        self.cell(family, qualifier).map(KeyValue::value_bytes)
    }

    /// The newest value of a column that holds a counter: eight bytes, big-endian.
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

/// Equal cells, wherever they lie.
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
