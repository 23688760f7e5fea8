//! Filters that wrap one other filter.

use rowhouse_model::{CellRef, Result};

use super::FilterVerdict;
use super::state::State;

/// SkipFilter. As in HBase, any verdict except [`FilterVerdict::Include`] excludes the row, even
/// one that includes the cell with a longer step.
#[derive(Debug)]
pub(super) struct Skip {
    inner: Box<State>,
    filters_row: bool,
}

impl Skip {
    pub(super) fn new(inner: State) -> Self {
        Self { inner: Box::new(inner), filters_row: false }
    }

    pub(super) fn inner(&self) -> &State {
        &self.inner
    }

    pub(super) fn reset(&mut self) {
        self.inner.reset();
        self.filters_row = false;
    }

    pub(super) fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        let verdict = self.inner.judge(cell)?;
        self.filters_row |= verdict != FilterVerdict::Include;
        Ok(verdict)
    }

    pub(super) fn filters_row(&self) -> bool {
        self.filters_row
    }
}

/// WhileMatchFilter. Any verdict except [`FilterVerdict::Include`] ends the scan.
#[derive(Debug)]
pub(super) struct WhileMatch {
    inner: Box<State>,
    is_over: bool,
}

impl WhileMatch {
    pub(super) fn new(inner: State) -> Self {
        Self { inner: Box::new(inner), is_over: false }
    }

    pub(super) fn inner(&self) -> &State {
        &self.inner
    }

    pub(super) fn reset(&mut self) {
        self.inner.reset();
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_over || self.inner.is_done()
    }

    pub(super) fn filters_row_key(&mut self, row: &[u8]) -> Result<bool> {
        if self.is_done() {
            return Ok(true);
        }
        let filters = self.inner.filters_row_key(row)?;
        self.is_over |= filters;
        Ok(filters)
    }

    pub(super) fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        let verdict = self.inner.judge(cell)?;
        self.is_over |= verdict != FilterVerdict::Include;
        Ok(verdict)
    }

    pub(super) fn filters_row(&mut self) -> bool {
        let filters = self.inner.filters_row();
        self.is_over |= filters;
        filters
    }
}
