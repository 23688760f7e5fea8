//! Writing rows: row locks, conditions, applying mutations, and the commit path.

pub(crate) mod admit;
pub(crate) mod apply;
mod batch;
pub(crate) mod commit;
mod condition;
mod delta;
pub(crate) mod nonce;
mod observe;
pub(crate) mod recent;
pub(crate) mod record_builder;
pub(crate) mod row_lock;
pub(crate) mod transaction;
pub(crate) mod wait_mode;
