//! Wide-column tables with typed row keys, embedded or on an HBase cluster.
//!
//! [`open`] takes a directory, or the address of a cluster that speaks HBase's protocol, and
//! returns the same [`Database`] type for both. A table that declares a template for its key
//! accepts typed rows and answers typed queries. Every table accepts HBase's plain requests.
//!
//! ```
//! use rowhouse::TableSpec;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> rowhouse::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let url = dir.path().join("data").display().to_string();
//! let database = rowhouse::open(&url).await?;
//! let spec = TableSpec::new("blog").family("cf").key("[blogger text]_[at millis digits desc]");
//! let blog = database.create_table(spec).await?;
//!
//! let key = [("blogger", "123".into()), ("at", "2022-12-24T18:00".into())];
//! blog.row(&key).set("cf", "title", "圣诞快乐").put().await?;
//!
//! let mut posts = blog.query("blogger = '123' and at during 2022-12").rows().await?;
//! while let Some(post) = posts.next().await? {
//!     assert_eq!(post.key("at").unwrap().to_string(), "2022-12-24T18:00:00.000Z");
//!     assert_eq!(post.text("cf", "title").as_deref(), Some("圣诞快乐"));
//! }
//! database.close().await
//! # }
//! ```
//!
//! A key can also be a struct, whose template is parsed at compile time (feature `derive`, on by
//! default):
//!
//! ```
//! # #[cfg(feature = "derive")] {
//! use rowhouse::{RowKey, Time};
//!
//! #[derive(RowKey)]
//! #[key("[blogger text]_[at millis digits desc]")]
//! struct Post {
//!     blogger: String,
//!     at: Time,
//! }
//!
//! # async fn example(blog: rowhouse::Table) -> rowhouse::Result<()> {
//! let post = Post { blogger: "123".into(), at: Time::parse("2022-12-24T18:00")? };
//! blog.row_of(&post).set("cf", "title", "圣诞快乐").put().await?;
//! for found in blog.query("blogger = '123'").page(10).await?.rows {
//!     let Post { blogger, at } = found.key_as()?;
//!     println!("{blogger} {at}");
//! }
//! # Ok(())
//! # }
//! # }
//! ```
//!
//! A table can also declare its columns: names for short qualifiers, value types, and qualifiers
//! that contain data. See [`TableSpec::columns`].
//!
//! All calls are asynchronous and need a tokio runtime. Programs that want only the synchronous
//! store use `rowhouse-store` directly.

mod backend;
mod database;
mod declared;
mod fit;
mod location;
mod query;
mod row_put;
mod rows;
mod spec;
mod table;
mod transaction;

pub use database::{Database, check_url, open};
pub use fit::Fit;
pub use query::{Page, Query, QueryRow, QueryRows};
pub use row_put::RowPut;
pub use rows::Rows;
pub use spec::TableSpec;
pub use table::Table;
pub use transaction::Transaction;

pub use rowhouse_client::{ClusterStatus, RegionLoad, ServerLoad, ServerTask};
pub use rowhouse_model::{
    Action, Append, BitOperator, Bytes, Cell, CellEntry, CellHistory, CellKind, CellLocation,
    CellStatus, ColumnCondition, Columns, CompactionState, Comparator, CompareOperator, Comparison,
    Condition, Delete, Durability, Error, ErrorKind, FamilyDescriptor, Filter, FilterCondition,
    Get, Increment, KeyValue, Mutation, MutationOutcome, Namespace, Put, RegionInfo, RegionSwitch,
    Result, Row, RowMutations, RowRange, Scan, ServerName, Snapshot, SnapshotKind, TableDescriptor,
    TableName, TableState, TimeRange, Timestamp, escape, unescape,
};
pub use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, Calendar, CellBytes, CellMismatch, Column, ColumnFilter, ColumnSchema,
    Computed, Date, Decimal, Direction, Estimate, EstimatedRows, FamilySize, Field, FieldType,
    FieldValue, Finding, Float, FromField, FromRowKey, Holds, KEY_ATTRIBUTE, KeyMismatch,
    KeyPrefix, KeyReader, KeySchema, Labels, NamedCell, NamedValues, Plan, Predicate,
    QualifierPlan, QualifierRange, RowKey, RowSequence, Rule, Statistics, StreamMerge, Time,
    TimeUnit, TimeZone, ToField, Uuid, Value, Values, check_table, derived,
};
pub use rowhouse_store::CompactionKind;

#[cfg(feature = "derive")]
pub use rowhouse_derive::FacadeRowKey as RowKey;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/in-tests.md")]
struct Guides;
