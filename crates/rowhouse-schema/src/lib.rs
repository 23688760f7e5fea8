//! Row-key templates: declare the key once, derive encoding, order, ranges and decoding.
//!
//! A template is the key as one draws it on a whiteboard: fields in brackets, literal bytes between
//! them. It encodes keys, decodes keys (also those written before the template existed), and turns
//! a query into the row ranges that hold the query's rows.
//!
//! ```
//! use rowhouse_schema::{KeySchema, Predicate};
//!
//! // The posts of a blogger, newest first: "123_" + (Long.MAX_VALUE - ts)
//! let schema = KeySchema::parse("[blogger text]_[at millis digits desc]")?;
//!
//! let key = schema.encode(&[("blogger", "123".into()), ("at", "2022-12-24T18:00".into())])?;
//! assert_eq!(key, "123_9223370364949975807");
//! assert_eq!(schema.decode(&key)?["at"].to_string(), "2022-12-24T18:00:00.000Z");
//!
//! let december = Predicate::parse("blogger = '123' and at during 2022-12")?;
//! let plan = schema.plan(&december)?;
//! assert!(plan.ranges()[0].contains(&key));
//! # Ok::<(), rowhouse_model::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | encode a key | [`KeySchema::encode`], [`KeySchema::encode_values`] (fastest), |
//! | | [`KeySchema::encode_all`] (one key per salt) |
//! | decode a key | [`KeySchema::decode`], [`KeySchema::decode_into`] (reuses a buffer), |
//! | | [`KeySchema::read_prefix`] (for a key that may be cut off) |
//! | find rows | [`KeySchema::plan`] turns a [`Predicate`] into a [`Plan`] |
//! | merge rows from several buckets in order | [`StreamMerge`], [`KeySchema::logical_key`] |
//! | resume a read | [`Plan::page_token`], [`Plan::resume`] |
//! | split a new table | [`KeySchema::splits`] |
//! | name columns and type their values | [`ColumnSchema`]; |
//! | | [`KeySchema::plan_with_columns`] for conditions on columns |
//! | index rows by columns | [`IndexSchema`] declares indexes; [`Index::entries`], |
//! | | [`Index::row_key`], [`Index::plan`] |
//! | search texts | [`IndexSchema`] declares full-text indexes; [`Search::values`], |
//! | | [`IndexSchema::search_plan`] |
//! | estimate what a read costs | [`Plan::estimate`] with [`Statistics`] |
//! | review a template | [`KeySchema::check`] |
//! | find the field that makes a hotspot | [`LoadProfile::judge`] |
//! | map keys to Rust structs | [`RowKey`], [`FromRowKey`], derived by the crate |
//! | | `rowhouse-derive`; [`KeyReader`] |
//!
//! This crate does no I/O, reads no clock, uses no randomness and starts no threads. The guide is
//! `docs/templates.md`.

mod advise;
mod columns;
mod computed;
mod design;
mod encode;
mod error;
mod field;
mod index;
mod key;
mod order;
mod plan;
mod spelling;
mod template;
mod time;
mod transform;
mod typed;
mod value;

pub use advise::{
    BusiestServer, ColumnGroup, ColumnGroups, FamilySize, Finding, HeatMap, HeatMapColumn,
    HotPrefix, HottestRange, LoadCause, LoadKind, LoadProfile, LoadVerdict, MissingEvidence,
    Placement, Remedy, RemedyKind, RowLoad, Rule, check_table,
};
pub use columns::{COLUMNS_ATTRIBUTE, CellBytes, CellMismatch, Column, ColumnSchema, NamedCell};
pub use computed::Computed;
pub use design::{
    BusiestShares, Design, DesignEstimate, DesignKind, Distribution, Draw, Estimator, Limits,
    Proposal, Question, QuestionEstimate, QuestionReading, ROWS_PER_RANGE, ROWS_PER_WRITE, Record,
    RegionModel, RowSample, Spread, TableSpread, Way, WideForm, Workload, two_digits,
};
pub use encode::{Calendar, FieldType, ForeignType, Holds, Labels};
pub use error::{Fault, KeyMismatch};
pub use field::Field;
pub use index::{
    Analyser, CLIENT_MAINTAINER, COLLECTED_ENTRIES_MAX, ChangeReads, CheapestWay, Covered,
    ENTRY_FAMILY, Entry, EntryHeader, FORMER_KEY_ATTRIBUTE, INDEX_DAMAGE_ATTRIBUTE,
    INDEX_MAINTAINER_ATTRIBUTE, INDEX_STATE_ATTRIBUTE, INDEXES_ATTRIBUTE, Index, IndexCost,
    IndexOf, IndexPlan, IndexSchema, IndexState, Intent, LAYOUT_ATTRIBUTE, LIST_FAMILY, Promotion,
    QUEUE_FAMILY, SEGMENT_FAMILY, SERVER_MAINTAINER, Search, SearchField, SearchPlan, WhyNot,
    check_altered_declarations, check_buffered_columns, check_declarations, index_damage,
    is_former_key, layout_of,
};
pub use key::{
    INDEX_OF_ATTRIBUTE, KEY_ATTRIBUTE, KeyPrefix, KeyReader, KeySchema, NamedValues, Values,
};
pub use order::FieldOrder;
pub use plan::{
    ColumnFilter, Direction, Estimate, EstimatedRows, OrderedField, Plan, PlanOrder, PlanPart,
    PlanStream, Predicate, QualifierPlan, QualifierRange, RANGES_MAX, Residual, RowSequence,
    Statistics, StreamMerge,
};
pub use time::{Date, Time, TimeUnit, TimeZone, parse_zone, zone_name};
pub use typed::{FromField, FromRowKey, RowKey, ToField};
pub use value::{Decimal, FieldValue, Float, Uuid, Value};

/// Types called by `rowhouse-derive` and by the code that it generates: the fast path for plain
/// keys. Not for use by programs; it changes with the crate.
pub mod derived {
    pub use crate::encode::PlainNumber;
    pub use crate::typed::{PlainReader, PlainStep, PlainWriter};
}

/// Compiles the guide's examples.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/templates.md")]
struct Guide;
