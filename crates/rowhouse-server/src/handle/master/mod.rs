//! What clients ask of the master.

pub(crate) mod backup;
pub(crate) mod list;
pub(crate) mod namespace;
pub(crate) mod procedure;
pub(crate) mod region;
pub(crate) mod snapshot;
pub(crate) mod status;
pub(crate) mod switches;
pub(crate) mod table;
