//! Whether a row is as a conditional mutation wants it.

use rowhouse_model::{Bytes, Condition, Get, Result, Timestamp};

use crate::region::Region;

/// What a condition came to.
pub(super) enum Holds {
    No,
    /// What is written now must not be older than this, or it would not be seen.
    Yes(Timestamp),
}

/// Judges a condition. The caller holds the row locked.
pub(super) fn judge(region: &Region, condition: &Condition, row: &Bytes) -> Result<Holds> {
    let mut get = Get::new(row.clone())?;
    match condition {
        Condition::NoRow => {
            get.existence_only = true;
            let found = region.read_row(&get)?;
            Ok(if found.is_empty() { Holds::Yes(Timestamp::MIN) } else { Holds::No })
        }
        Condition::NoValue(column) => {
            let get = get
                .column(column.family.clone(), column.qualifier.clone())
                .time_range(column.time_range);
            let found = region.read_row(&get)?;
            Ok(match found.cells().next() {
                None => Holds::Yes(Timestamp::MIN),
                Some(cell) if cell.value().is_empty() => Holds::Yes(cell.timestamp()),
                Some(_) => Holds::No,
            })
        }
    }
}
