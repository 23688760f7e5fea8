//! Executes a filter on one scanner's rows.
//!
//! Each of HBase's classes has a small state type with all that the filter does, an implementation
//! of [`FilterBase`](base::FilterBase); [`State`] enumerates them. HBase's quirks are retained,
//! because results depend on them. Where HBase reads past a cell's bytes, loses rows or does not
//! terminate, `docs/hbase.md` describes the behavior here.

mod base;
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
pub use verdict::{FilterVerdict, ValuePart};

use rowhouse_model::{CellRef, Comparator, Comparison, Error, Filter, KeyBuf, Result};

use crate::depth::check_depth;
use crate::regex::RegexMemoryLimit;

/// A filter's execution state. The caller follows HBase's `RegionScannerImpl` and
/// `UserScanQueryMatcher`: [`FilterRun::reset`] before each row, [`FilterRun::filters_row_key`],
/// then [`FilterRun::judge`] for each visible cell, family by family, then [`FilterRun::keeps`] for
/// the included cells and, if any remain, [`FilterRun::filters_row`].
///
/// A value that cannot be compared (seven bytes with a
/// [`Comparator::Long`](rowhouse_model::Comparator::Long)) ends the scan: everything after it is
/// excluded, and [`FilterRun::check`] returns the error.
#[derive(Debug)]
pub struct FilterRun {
    state: State,
    failure: Option<Error>,
    has_failed: bool,
}

impl FilterRun {
    /// Prepares a filter for one scanner.
    ///
    /// # Errors
    /// `InvalidRequest` for a filter that HBase's constructors reject, one nested deeper than
    /// [`FILTER_DEPTH_MAX`](rowhouse_model::FILTER_DEPTH_MAX), or an invalid regular expression;
    /// `Unsupported` for a Java regular expression that is not supported here.
    pub fn new(filter: &Filter, reversed: bool) -> Result<Self> {
        check_depth(filter)?;
        let room = RegexMemoryLimit::for_several(regexes(filter));
        Ok(Self { state: State::start(filter, reversed, room)?, failure: None, has_failed: false })
    }

    /// Returns a failed comparison's error, once. Call it when rows or the scan end: without an
    /// error the result is complete.
    ///
    /// # Errors
    /// `InvalidRequest` for bytes that a comparator in the filter cannot parse as a number, and for
    /// text on which a regular expression exceeds the step limit.
    pub fn check(&mut self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Resets the state when a row ends.
    pub fn reset(&mut self) {
        self.state.reset();
    }

    /// Returns true if the filter will include nothing more, so that the scan can end.
    pub fn is_done(&mut self) -> bool {
        self.has_failed || self.state.is_done()
    }

    /// Returns true if the row key excludes the row.
    pub fn filters_row_key(&mut self, row: &[u8]) -> bool {
        if self.is_done() {
            return true;
        }
        let filters = self.state.filters_row_key(row);
        self.or_fail(filters, true)
    }

    /// Returns the verdict on a visible cell.
    pub fn judge(&mut self, cell: &CellRef<'_>) -> FilterVerdict {
        if self.has_failed {
            return FilterVerdict::NextRow;
        }
        let verdict = self.state.judge(cell);
        self.or_fail(verdict, FilterVerdict::NextRow)
    }

    /// Returns which part of the last included cell's value to retain.
    pub fn value_part(&mut self, _cell: &CellRef<'_>) -> ValuePart {
        self.state.value_part(ValuePart::Whole)
    }

    /// Returns the position to seek to after a cell with the verdict [`FilterVerdict::SeekToHint`];
    /// `None` for the next cell. A hint that is not ahead also means the next cell. In a reversed
    /// scan the hint's row may itself match.
    pub fn hint(&mut self, cell: &CellRef<'_>) -> Option<KeyBuf> {
        self.state.hint(cell.key)
    }

    /// Returns true if the whole row must be read before any part is returned; limits then count
    /// whole rows.
    pub fn needs_whole_row(&self) -> bool {
        self.state.needs_whole_row()
    }

    /// When a row ends, if [`FilterRun::needs_whole_row`]: returns true if an included cell stays
    /// in the row.
    pub fn keeps(&mut self, cell: &CellRef<'_>) -> bool {
        self.state.keeps(cell)
    }

    /// Returns true to exclude the complete row. Call it only for rows with cells, because
    /// PageFilter counts rows here.
    pub fn filters_row(&mut self) -> bool {
        self.has_failed || self.state.filters_row()
    }

    /// Returns true if the filter needs the family's cells to decide which rows to include.
    pub fn needs_family(&self, family: &[u8]) -> bool {
        self.state.needs_family(family)
    }

    fn or_fail<T>(&mut self, result: Result<T>, failed: T) -> T {
        result.unwrap_or_else(|error| {
            self.failure = Some(error);
            self.has_failed = true;
            failed
        })
    }
}

/// Returns how many regular expressions the filter has. Call [`check_depth`] first.
fn regexes(filter: &Filter) -> usize {
    let is_regex = |comparison: &Comparison| matches!(comparison.comparator, Comparator::Regex(_));
    let own = usize::from(filter.comparison().is_some_and(is_regex));
    own + filter.children().iter().map(regexes).sum::<usize>()
}

#[cfg(test)]
mod tests;
