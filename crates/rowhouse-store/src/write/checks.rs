//! What a mutation is, and the checks that need no read.

use rowhouse_model::{Cell, Durability, Error, Mutation, Result};

use crate::region::Region;

pub(super) fn is_delete(mutation: &Mutation) -> bool {
    matches!(mutation, Mutation::Delete(_))
}

pub(crate) fn requested_durability(region: &Region, mutation: &Mutation) -> Durability {
    match mutation.durability() {
        Durability::UseDefault => region.durability(),
        requested => requested,
    }
}

/// Returns the strongest of several durabilities.
pub(super) fn strongest(requested: impl Iterator<Item = Durability>) -> Durability {
    requested.max_by_key(|durability| strength(*durability)).unwrap_or_default()
}

fn strength(durability: Durability) -> u8 {
    match durability {
        Durability::SkipWal => 0,
        Durability::AsyncWal => 1,
        Durability::UseDefault | Durability::SyncWal => 2,
        Durability::FsyncWal => 3,
    }
}

/// Makes the checks that need no read.
pub(super) fn check(region: &Region, mutation: &Mutation) -> Result<()> {
    region.check_row(mutation.row())?;
    region.check_writable()?;
    if mutation.cells().is_empty() {
        match mutation {
            Mutation::Put(_) => return Err(Error::invalid("No columns to insert")),
            Mutation::Increment(_) => return Err(Error::invalid("No columns to increment")),
            Mutation::Append(_) => return Err(Error::invalid("No columns to append")),
            // Deletes the whole row.
            Mutation::Delete(_) => {}
        }
    }
    mutation.cells().iter().try_for_each(|cell: &Cell| region.family(cell.family()).map(|_| ()))
}
