//! Filters that wrap one other filter. As in HBase, neither forwards the inner filter's hint or
//! asks the inner filter which included cells stay, and SkipFilter does not show it row keys.

use rowhouse_model::{CellRef, Result};

use super::base::FilterBase;
use super::state::State;
use super::verdict::{FilterVerdict, ValuePart};

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
}

impl FilterBase for Skip {
    fn reset(&mut self) {
        self.inner.reset();
        self.filters_row = false;
    }

    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        let verdict = self.inner.judge(cell)?;
        self.filters_row |= verdict != FilterVerdict::Include;
        Ok(verdict)
    }

    fn value_part(&self, left: ValuePart) -> ValuePart {
        self.inner.value_part(left)
    }

    fn needs_whole_row(&self) -> bool {
        true
    }

    fn filters_row(&mut self) -> bool {
        self.filters_row
    }

    fn needs_family(&self, family: &[u8]) -> bool {
        self.inner.needs_family(family)
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
}

impl FilterBase for WhileMatch {
    fn reset(&mut self) {
        self.inner.reset();
    }

    fn is_done(&self) -> bool {
        self.is_over || self.inner.is_done()
    }

    fn filters_row_key(&mut self, row: &[u8]) -> Result<bool> {
        if self.is_done() {
            return Ok(true);
        }
        let filters = self.inner.filters_row_key(row)?;
        self.is_over |= filters;
        Ok(filters)
    }

    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        let verdict = self.inner.judge(cell)?;
        self.is_over |= verdict != FilterVerdict::Include;
        Ok(verdict)
    }

    fn value_part(&self, left: ValuePart) -> ValuePart {
        self.inner.value_part(left)
    }

    fn needs_whole_row(&self) -> bool {
        true
    }

    fn filters_row(&mut self) -> bool {
        let filters = self.inner.filters_row();
        self.is_over |= filters;
        filters
    }

    fn needs_family(&self, family: &[u8]) -> bool {
        self.inner.needs_family(family)
    }
}
