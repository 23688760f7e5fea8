//! Master calls.

pub(crate) mod chores;
pub(crate) mod compaction;
pub(crate) mod list;
pub(crate) mod namespace;
pub(crate) mod procedure;
pub(crate) mod quota;
pub(crate) mod region;
pub(crate) mod replication;
pub(crate) mod servers;
pub(crate) mod snapshot;
pub(crate) mod status;
pub(crate) mod switches;
pub(crate) mod table;
pub(crate) mod tracker;
