//! Wide-column tables with typed row keys, embedded or on an HBase cluster.
//!
//! [`open`] takes a directory, or the address of a cluster that speaks HBase's protocol, and
//! returns the same [`Database`] type for both. A table that declares a key template accepts typed
//! rows and answers typed queries. Every table accepts HBase's plain requests.
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
//! use rowhouse::RowKey;
//! use rowhouse::key::Time;
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
//! A table can also declare columns: names for short qualifiers, value types, and qualifiers that
//! contain data. See [`TableSpec::columns`].
//!
//! | for | see |
//! |---|---|
//! | settings: memory, durability, timeouts | [`Database::builder`] |
//! | typed keys and queries | [`Table::row`], [`Table::query`], [`key`], [`query`] |
//! | full-text search | [`query`], [`Query::by_score`](query::Query::by_score) |
//! | full-text search in a cluster's table | `search_copy` |
//! | HBase's requests | [`Get`], [`Put`], [`Scan`], …, [`Table::get_many`], [`Table::batch`] |
//! | HBase's filters | [`filter`] |
//! | several rows at once | [`Database::transact`], [`Database::commit`] |
//! | counters gathered in memory | [`Table::counter_buffer`] |
//! | code that sees each change to a table | [`observer`], [`Database::observe`] |
//! | rows as a `Stream` | [`Rows`], [`query::QueryRows`] |
//! | tables, regions, snapshots, backups | [`Database::admin`], [`admin`], [`schema`] |
//! | keys and indexes compared before there are rows | [`advise`] |
//! | databases for tests | `testing` |
//! | errors | [`Error::kind`] states what happened, [`Error::action`] what to do |
//!
//! All calls are asynchronous and need a tokio runtime. Programs that need only the synchronous
//! store use `rowhouse-store` directly.

pub mod admin;
pub mod advise;
mod analysis;
mod backend;
mod builder;
pub mod cell;
pub mod changes;
mod counters;
mod database;
mod declared;
pub mod filter;
mod fit;
pub mod key;
mod location;
pub mod observer;
pub mod query;
mod row_put;
mod rows;
pub mod schema;
#[cfg(feature = "search")]
pub mod search_copy;
mod spec;
mod table;
#[cfg(feature = "testing")]
pub mod testing;
mod transaction;

pub use builder::{DatabaseBuilder, open};
pub use counters::{CounterBuffer, CounterSettings};
pub use database::Database;
pub use key::RowKey;
pub use row_put::RowPut;
pub use rows::Rows;
pub use spec::TableSpec;
pub use table::Table;
pub use transaction::Transaction;

pub use rowhouse_model::{
    Action, Append, Bytes, Columns, Condition, Delete, DeletedCells, Durability, Error, ErrorKind,
    Get, Increment, Mutation, MutationOutcome, Put, Result, Row, RowMutations, RowRange, Scan,
    TimeRange, Timestamp,
};
pub use rowhouse_schema::Value;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../README.zh-CN.md")]
#[doc = include_str!("../../../docs/in-tests.md")]
#[doc = include_str!("../../../docs/indexes.md")]
#[cfg_attr(feature = "search", doc = include_str!("../../../docs/search.md"))]
struct Guides;
