//! The limit for nested filters.

use rowhouse_model::{Error, FILTER_DEPTH_MAX, Filter, Result};

/// Returns an error for a filter that is nested too deeply for recursion.
pub(crate) fn check_depth(filter: &Filter) -> Result<()> {
    let mut level = vec![filter];
    for _ in 0..FILTER_DEPTH_MAX {
        level = level.into_iter().flat_map(Filter::children).collect();
        if level.is_empty() {
            return Ok(());
        }
    }
    Err(Error::invalid(format!("filters nested too deeply: max={FILTER_DEPTH_MAX}")))
}
