//! What a store's commits share: row locks, the rows written recently, the nonces from accepted
//! mutations, and the counters that are not in the log.

mod counters;
mod nonces;
mod recent_writes;
mod row_locks;

pub(crate) use counters::{Buffering, DueCounters, TakenCounters, UnloggedCounters};
pub(crate) use nonces::Nonces;
pub(crate) use recent_writes::{RecentWrites, Touched};
pub(crate) use row_locks::{LockedRow, RowLocks, RowsGuard};
