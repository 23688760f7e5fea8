//! A native async client for Apache HBase clusters and for rowhouse servers.
//!
//! It speaks HBase's RPC to masters and region servers, and locates them through cluster servers or
//! through ZooKeeper. It needs a tokio runtime.
//!
//! ```no_run
//! use rowhouse_client::{Client, Target};
//! use rowhouse_model::{FamilyDescriptor, Get, Put, Scan, TableDescriptor, TableName};
//!
//! # async fn example() -> rowhouse_model::Result<()> {
//! let client = Client::connect(&Target::parse("hbase+zk://localhost:2181/hbase")?).await?;
//! let name = TableName::parse("blog")?;
//! let descriptor = TableDescriptor::new(name.clone()).family(FamilyDescriptor::new("cf")?);
//! client.admin().create_table(&descriptor, &[]).await?;
//!
//! let blog = client.table(&name);
//! blog.mutate(Put::new("bob_1")?.add("cf", "title", "Hello")?).await?;
//! let row = blog.get(&Get::new("bob_1")?).await?;
//! assert_eq!(row.value("cf", "title").as_deref(), Some(&b"Hello"[..]));
//!
//! let mut rows = blog.scan(Scan::all().limit(100));
//! while let Some(row) = rows.next().await? {
//!     println!("{}", rowhouse_model::escape(row.key()));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | type | purpose |
//! |---|---|
//! | [`Target`] | the location of the cluster: its servers, or ZooKeeper; with TLS or without |
//! | [`Client`] | connects to the cluster, caches connections and locations; cheap to clone |
//! | [`Table`] | reads and changes rows, individually or in batches |
//! | [`Scanner`] | reads a range of rows, and follows regions that move, split or fail |
//! | [`Admin`] | creates and drops tables and namespaces, and returns the state of the cluster |
//! | [`Settings`] | limits on time and retries |
//!
//! # Errors
//! Every error is a [`rowhouse_model::Error`] with HBase's message. Calls that are safe to retry
//! are retried within the limits in [`Settings`]; the last attempt's error is returned. A get from
//! an unknown or disabled table fails immediately with `TableNotFound` or `TableNotEnabled`, as
//! with stock clients.
//!
//! # Limits
//! Each connection has at most 1,024 calls and 64 MiB of requests under way; further calls wait,
//! within their timeout. A mutation whose answer was lost is retried only if it is idempotent or
//! carries a nonce by which the server recognizes the retry, as increments do.
//!
//! # Users
//! A client with a token ([`Target::token`]) or a certificate ([`TlsSettings::identity`]) proves
//! its user to servers that check users. Otherwise the user is [`Settings::user`], unchecked.
//!
//! # Features
//! `tls`, off by default, adds TLS with the C code of ring.

mod admin;
mod batch;
mod client;
mod connection;
#[cfg(test)]
mod fake;
mod locate;
mod retry;
mod scan;
mod settings;
mod site;
mod table;
mod target;
#[cfg(test)]
mod tests;
mod transport;

pub use admin::Admin;
pub use client::Client;
pub use rowhouse_format::convert::changes::{ReadChanges, ReadFrom};
pub use rowhouse_format::convert::procedure::fault::FaultCall;
pub use rowhouse_format::convert::procedure::query_index::QueryIndexCall;
pub use rowhouse_format::convert::procedure::region_server::{
    RegionServerCall, RegionServerChange,
};
pub use rowhouse_format::convert::procedure::state::{StateCall, state_of};
pub use rowhouse_model::{
    BackupStatus, Balanced, ClusterStatus, RegionLoad, ServerLoad, ServerTask,
};
pub use scan::Scanner;
pub use settings::Settings;
pub use table::Table;
pub use target::{Place, Target, TlsSettings};
