//! Keeps the files that a record's reads see in place until it is committed.

use std::sync::Arc;

use rowhouse_model::Mutation;

use crate::family::SteadyGuard;
use crate::region::Region;

/// Keeps flushes and compactions on the steady families in `regions` from being installed. Taken
/// before observers are called, and held until the record is committed.
pub(super) fn hold_steady<'a>(regions: &[&'a Region]) -> SteadyGuard<'a> {
    SteadyGuard::of(regions.iter().flat_map(|region| region.families()))
}

/// As [`hold_steady`], for the regions that additions write.
pub(super) fn hold_steady_too(additions: &[(Arc<Region>, Mutation)]) -> SteadyGuard<'_> {
    SteadyGuard::of_additions(additions.iter().flat_map(|(region, _)| region.families()))
}

/// As [`hold_steady_too`], for the regions that hold copies.
pub(super) fn hold_copies_steady(regions: &[Arc<Region>]) -> SteadyGuard<'_> {
    SteadyGuard::of_additions(regions.iter().flat_map(|region| region.families()))
}
