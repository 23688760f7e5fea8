//! The store as a whole: handle, tables and namespaces, and how it ends.

mod alter;
mod assignment;
mod automatic_split;
mod change_lock;
mod close;
mod closed_regions;
mod handle;
mod index_build;
mod index_check;
mod index_damage;
mod indexes;
mod namespaces;
mod promote;
mod quota;
mod regions;
mod replace;
mod search;
mod search_rows;
mod snapshots;
mod switches;
mod tables;
mod transact;
mod workers;

pub(crate) use handle::Background;
pub use handle::Store;
pub use index_check::NO_SEARCH;
pub(crate) use indexes::{RepairingIndexes, without_index};
pub use promote::LayoutChange;
pub use search::SearchIndex;
