//! Changing rows: row locks, conditions, what a mutation means, the commit path.

pub(crate) mod apply;
pub(crate) mod commit;
mod condition;
pub(crate) mod draft;
pub(crate) mod nonce;
pub(crate) mod row_lock;
