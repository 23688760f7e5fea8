//! The store as a whole: handle, tables and namespaces, and how it ends.
//!
//! Each change is one manifest edit. `assignment` records which region server has a region, and
//! whether the region is in service; new regions go to the servers in turn. A split or merge
//! (`regions`) names the old regions' files in the new ones, and compactions rewrite them; a handle
//! on an old region leads to the new ones (decision 0041). Snapshots and tables share files, and
//! taking, cloning and restoring copy nothing (`snapshots`, decision 0042). `index_damage` puts an
//! index with damaged data off and gives it an empty table (decision 0067).

mod alter;
mod assignment;
mod automatic_split;
mod change_lock;
mod changes;
mod close;
mod closed_regions;
mod expired_snapshots;
mod handle;
mod index_build;
mod index_check;
mod index_damage;
mod indexes;
mod namespaces;
mod promote;
mod quota;
mod regions;
mod removal;
mod replace;
mod search;
mod search_rows;
mod servers_in_turn;
mod snapshots;
mod switches;
mod tables;
mod transact;
mod usage;
mod workers;

pub use changes::{Changes, ChangesFrom};
pub(crate) use handle::Background;
pub use handle::Store;
pub use index_check::NO_SEARCH;
pub(crate) use indexes::{RepairingIndexes, without_index};
pub use promote::LayoutChange;
pub use search::SearchIndex;
pub use usage::StoreUsage;
