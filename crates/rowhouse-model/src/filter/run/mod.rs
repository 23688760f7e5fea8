//! A filter at work on the rows of one scanner.
//!
//! Each class of HBase's is a small state of its own; [`State`] is the closed list of them. Their
//! oddities are kept, because answers depend on them; where HBase reads beyond the bytes of a cell,
//! loses rows or does not end, `docs/filters.md` says what is done here instead.

mod columns;
mod fuzzy;
mod list;
mod ranges;
mod rows;
mod state;
mod values;
mod verdict;
mod wrap;

use state::State;
pub use verdict::FilterVerdict;

use super::Filter;
use super::comparator::RegexRoom;
use crate::{CellRef, Error, KeyBuf, Result};

/// What is kept of the value of a cell that was let through. With anything but [`KeptValue::Whole`]
/// the cell loses its tags as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptValue {
    /// All of it.
    Whole,
    /// Nothing: it is empty.
    Nothing,
    /// Its length, in four bytes, big-endian.
    Length,
    /// This number, in four bytes, big-endian: of several KeyOnlyFilters a later one counts what an
    /// earlier one has left.
    Number(u32),
}

/// A filter at work. The calls come as HBase's `RegionScannerImpl` and `UserScanQueryMatcher` make
/// them: [`FilterRun::reset`] before each row, [`FilterRun::filters_row_key`], then
/// [`FilterRun::judge`] for each visible cell, family by family, then [`FilterRun::keeps`] for the
/// cells that were let through and, if any is left, [`FilterRun::filters_row`].
///
/// Something that cannot be compared (seven bytes with a [`Comparator::Long`](super::Comparator::Long))
/// ends the scan: everything is filtered out from there on, and [`FilterRun::check`] gives the error.
#[derive(Debug)]
pub struct FilterRun {
    state: State,
    failure: Option<Error>,
    has_failed: bool,
}

impl FilterRun {
    /// Makes a filter ready for one scanner.
    ///
    /// # Errors
    /// `InvalidRequest` for a filter that HBase's constructors refuse, one that is nested deeper than
    /// [`FILTER_DEPTH_MAX`](super::FILTER_DEPTH_MAX), and a regular expression that is none;
    /// `Unsupported` for a regular expression of Java's that cannot be had here.
    pub fn new(filter: &Filter, reversed: bool) -> Result<Self> {
        filter.check_depth()?;
        let room = RegexRoom::for_several(filter.regexes());
        Ok(Self { state: State::start(filter, reversed, room)?, failure: None, has_failed: false })
    }

    /// What could not be compared, once. To be asked when rows or the scan end: without an error the
    /// answer is whole.
    ///
    /// # Errors
    /// `InvalidRequest` for bytes that the filter's comparators cannot read as a number, and for text
    /// on which a regular expression takes too long.
    pub fn check(&mut self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// A row ends.
    pub fn reset(&mut self) {
        self.state.reset();
    }

    /// Whether nothing more will be let through: the scan is at its end.
    pub fn is_done(&mut self) -> bool {
        self.has_failed || self.state.is_done()
    }

    /// Whether the row is left out by its key.
    pub fn filters_row_key(&mut self, row: &[u8]) -> bool {
        if self.is_done() {
            return true;
        }
        let filters = self.state.filters_row_key(row);
        self.or_fail(filters, true)
    }

    /// Judges a visible cell.
    pub fn judge(&mut self, cell: &CellRef<'_>) -> FilterVerdict {
        if self.has_failed {
            return FilterVerdict::NextRow;
        }
        let verdict = self.state.judge(cell);
        self.or_fail(verdict, FilterVerdict::NextRow)
    }

    /// What is kept of the value of the cell that was let through last.
    pub fn kept_value(&mut self, _cell: &CellRef<'_>) -> KeptValue {
        self.state.kept_value(KeptValue::Whole)
    }

    /// Where to go on behind a cell that was judged [`FilterVerdict::SeekToHint`]; `None` for the next
    /// cell. A hint that is not ahead means the next cell too. Of a reversed scan a hint is a row
    /// that may itself be wanted.
    pub fn hint(&mut self, cell: &CellRef<'_>) -> Option<KeyBuf> {
        self.state.hint(cell.key)
    }

    /// Whether the whole row has to be read before anything of it is given away: limits count
    /// whole rows.
    pub fn needs_whole_row(&self) -> bool {
        self.state.needs_whole_row()
    }

    /// With [`FilterRun::needs_whole_row`], at a row's end: whether a cell that was let through stays
    /// in it.
    pub fn keeps(&mut self, cell: &CellRef<'_>) -> bool {
        self.state.keeps(cell)
    }

    /// Whether the row that was read is left out after all. Only to be asked of a row with cells:
    /// PageFilter counts by it.
    pub fn filters_row(&mut self) -> bool {
        self.has_failed || self.state.filters_row()
    }

    /// Whether the filter has to see the family's cells to say which rows are wanted.
    pub fn needs_family(&self, family: &[u8]) -> bool {
        self.state.needs_family(family)
    }

    fn or_fail<T>(&mut self, said: Result<T>, failed: T) -> T {
        said.unwrap_or_else(|error| {
            self.failure = Some(error);
            self.has_failed = true;
            failed
        })
    }
}

#[cfg(test)]
mod tests;
