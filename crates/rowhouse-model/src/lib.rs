//! The rowhouse data model, and the cell order.
//!
//! Everything here is a plain value: no I/O, no clock, no threads. The store, the wire format and
//! the schema share these types.
//!
//! ```
//! use rowhouse_model::{Get, Put, TableName};
//!
//! let table = TableName::parse("blog")?;
//! let put = Put::new("123_9223370398279575807")?.add("cf", "title", "第一篇")?;
//! let get = Get::new(put.row().clone())?.column("cf", "title");
//! assert_eq!(table.to_string(), "blog");
//! assert_eq!(get.row(), put.row());
//! # Ok::<(), rowhouse_model::Error>(())
//! ```

mod backup_status;
mod cell;
mod change;
mod cluster_status;
mod compaction_state;
mod coprocessor;
mod counter;
mod delete_rows;
mod error;
mod escape;
mod family;
mod fault;
mod filter;
mod fullwidth;
mod heat;
mod hex;
mod history;
mod index_report;
mod key_buf;
mod key_value;
mod namespace;
mod op;
mod range;
mod region;
mod region_switch;
mod row;
mod row_key;
mod sanity;
mod search;
mod snapshot;
mod split_policy;
mod split_restriction;
mod svg;
mod table;
mod table_name;
mod tags;
mod time;

pub use bytes::Bytes;

pub use backup_status::BackupStatus;
pub use cell::{
    Cell, CellKind, CellRef, Key, QUALIFIER_VALUE_LEN_MAX, compare, compare_bytes, equal_bytes,
    row_prefix,
};
pub use change::{
    Change, ChangePosition, FOLLOWER_NAME_LEN_MAX, FollowerStatus, RowOfChange, WholeTableChange,
    WholeTableChangeKind, check_follower_name,
};
pub use cluster_status::{Balanced, ClusterStatus, RegionLoad, ServerLoad, ServerTask};
pub use compaction_state::CompactionState;
pub use coprocessor::Coprocessor;
pub use counter::counter_value;
pub use delete_rows::{DeleteRows, DeletedCells, DeletedRows};
pub use error::{Action, Error, ErrorKind, Result};
pub use escape::{blanks, escape, escape_controls, escape_line, escape_xml, unescape};
pub use family::{BloomKind, Compression, DataBlockEncoding, FamilyDescriptor, KeepDeletedCells};
pub use fault::{FaultCallKind, FaultEffect, FaultRule, FaultStatus};
pub use filter::{
    BitOperator, ColumnOffset, Comparator, CompareOperator, Comparison, FILTER_DEPTH_MAX, Filter,
    FilterRange, FuzzyKey, ListOperator, RegexEngine, RegexPattern,
};
pub use fullwidth::{ascii_of, full_width_hint};
pub use heat::{
    HeatBucket, HeatColumn, HeatReport, HeatSample, HotColumns, HotRow, mixed, thinned,
};
pub use hex::{hex, unhex};
pub use history::{CellEntry, CellHistory, CellLocation, CellStatus};
pub use index_report::{IndexReport, IndexStatus};
pub use key_buf::KeyBuf;
pub use key_value::KeyValue;
pub use namespace::Namespace;
pub use op::{
    Append, ColumnCondition, Columns, Condition, Delete, Durability, FilterCondition, Get,
    Increment, Mutation, MutationOutcome, Nonce, Put, Qualifiers, RowCondition, RowMutations, Scan,
    TimeRange,
};
pub use range::RowRange;
pub use region::{META_ENCODED_NAME, RegionInfo, RegionName, ServerName};
pub use region_switch::{MasterSwitch, RegionSwitch};
pub use row::{Row, RowBuilder, SharedRun};
pub use row_key::{ROW_LEN_MAX, check_row};
pub use search::{
    FacetCount, MatchingKey, MatchingRows, SearchPlace, SearchRequest, SearchText, ValueRow,
};
pub use snapshot::{Snapshot, SnapshotKind, check_snapshot_name};
pub use split_policy::SplitPolicy;
pub use split_restriction::SplitRestriction;
pub use svg::{Svg, SvgStyle, clipped};
pub use table::{TableDescriptor, TableState};
pub use table_name::TableName;
pub use tags::{TTL_TAG, Tags, check_tags, tags_with_ttl};
pub use time::Timestamp;
