//! Changing rows: row locks, what a mutation means, the commit path.

pub(crate) mod apply;
pub(crate) mod commit;
pub(crate) mod draft;
pub(crate) mod nonce;
pub(crate) mod row_lock;
