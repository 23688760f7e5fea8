//! What a store's commits share: row locks, the rows written recently, and the nonces from accepted
//! mutations.

mod nonces;
mod recent_writes;
mod row_locks;

pub(crate) use nonces::Nonces;
pub(crate) use recent_writes::{RecentWrites, Touched};
pub(crate) use row_locks::{LockedRow, RowLocks, RowsGuard};
