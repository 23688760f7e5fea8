//! What the commits of a store share: row locks, the rows written recently, and the nonces of
//! accepted mutations.

mod nonces;
mod recent_writes;
mod row_locks;

pub(crate) use nonces::Nonces;
pub(crate) use recent_writes::{RecentWrites, Touched};
pub(crate) use row_locks::{LockedRow, RowLocks, RowsGuard};
