//! How queries are read: the choice between the key and the indexes, and the rows in order.
//!
//! [`Access`] chooses, by estimates. [`PlanRows`] reads a plan's ranges by the key and merges them;
//! [`IndexRows`] reads index entries, and the rows to which they lead. Both read from a [`Source`]:
//! the library has one for its own threads and for clusters, and [`StoreSource`] reads the store on
//! the requesting thread. [`scan_region`] opens region scans that carry a query, and [`StoreQuery`]
//! reads a query's keys in query order.

mod at_point;
mod choose;
mod covered;
mod delete;
mod entries;
mod entry_reader;
mod index_rows;
mod judge;
mod key_instead;
mod parts;
mod plan_rows;
mod projection;
mod region;
mod row;
mod search;
mod source;
mod store_query;
mod table_query;

pub use at_point::{StoreRows, StoreSource, at_once};
pub use choose::{Access, AccessPath, Candidate};
pub use delete::delete_rows;
pub use entries::Written;
pub use index_rows::{IndexQuery, IndexRows};
pub use judge::EntryOrder;
pub use plan_rows::{KeyQuery, PlanRows};
pub use projection::{Projection, add_condition_columns};
pub use region::{QueryScan, query_index, scan_region};
pub use row::MatchingRow;
pub use search::{Search, verify_index};
pub use source::{EntryHit, JudgeRows, Judged, ReadFrom, Reading, Source, SourceRows};
pub use store_query::{StoreKeys, StoreQuery};
