//! Evaluates the conditions of conditional mutations.

use rowhouse_filter::column_condition_holds;
use rowhouse_model::{Bytes, Condition, Get, KeyValue, Result, Timestamp};

use crate::read::RowVersion;
use crate::region::Region;

/// The result of a condition.
pub(super) enum Holds {
    No,
    /// It holds. A put must not have an older timestamp than this, or it would not be visible.
    Yes(Timestamp),
}

/// Makes the checks that need no read.
///
/// # Errors
/// `WrongRegion`, `NoSuchColumnFamily`.
pub(super) fn check(region: &Region, condition: &Condition, row: &[u8]) -> Result<()> {
    region.check_row(row)?;
    match condition {
        Condition::Column(column) => region.family(&column.family).map(|_| ()),
        Condition::NoRow | Condition::Filter(_) => Ok(()),
    }
}

/// Evaluates a condition. The caller holds the row lock.
pub(super) fn judge(region: &Region, condition: &Condition, row: &Bytes) -> Result<Holds> {
    let mut get = Get::new(row.clone())?;
    let (result, holds) = match condition {
        Condition::NoRow => {
            get.existence_only = true;
            let result = region.read_row(&get, RowVersion::Current)?;
            let holds = result.is_empty();
            (result, holds)
        }
        Condition::Column(column) => {
            let get = get.column(column.family.clone(), column.qualifier.clone());
            let result =
                region.read_row(&get.time_range(column.time_range), RowVersion::Current)?;
            let value = result.cells().next().map(KeyValue::value);
            let holds = column_condition_holds(column, value)?;
            (result, holds)
        }
        Condition::Filter(filter) => {
            get.filter = Some(filter.filter.clone());
            let result =
                region.read_row(&get.time_range(filter.time_range), RowVersion::Current)?;
            let holds = !result.is_empty();
            (result, holds)
        }
    };
    let seen = result.cells().next().map_or(Timestamp::MIN, KeyValue::timestamp);
    Ok(if holds { Holds::Yes(seen) } else { Holds::No })
}
