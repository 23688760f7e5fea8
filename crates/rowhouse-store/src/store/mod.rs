//! The store as a whole: its handle, tables and namespaces, and its end.

mod alter;
mod assignment;
mod automatic_split;
mod change_lock;
mod close;
mod closed_regions;
mod handle;
mod index_build;
mod index_check;
mod indexes;
mod namespaces;
mod promote;
mod queries;
mod quota;
mod regions;
mod replace;
mod row_search;
mod search;
mod search_rows;
mod snapshots;
mod switches;
mod tables;
mod transact;
mod workers;

pub(crate) use handle::Background;
pub use handle::Store;
pub use index_check::IndexReport;
pub(crate) use indexes::{RepairingIndexes, without_index};
pub use promote::LayoutChange;
pub use queries::QueryScan;
pub use row_search::{RowSearch, SearchedRows};
pub use search::SearchIndex;
