//! Changing rows: row locks, conditions, what a mutation means, the commit path.

pub(crate) mod admit;
pub(crate) mod apply;
mod batch;
pub(crate) mod commit;
mod condition;
mod delta;
pub(crate) mod draft;
pub(crate) mod nonce;
pub(crate) mod patience;
pub(crate) mod recent;
pub(crate) mod row_lock;
pub(crate) mod transaction;
