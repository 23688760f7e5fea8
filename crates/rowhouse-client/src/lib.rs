//! The native async client for Apache HBase clusters and for rowhouse servers.
//!
//! It speaks HBase's own RPC to masters and region servers, and finds them through servers of the
//! cluster or through ZooKeeper. It wants a tokio runtime.
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
//! | type | what it does |
//! |---|---|
//! | [`Target`] | says where the cluster is found: its servers, or ZooKeeper |
//! | [`Client`] | finds it, and keeps connections and locations; one per cluster, cloned freely |
//! | [`Table`] | reads and changes rows, one or many at a time |
//! | [`Scanner`] | reads a range of rows, through whatever happens to their regions |
//! | [`Admin`] | makes and drops tables and namespaces, asks for the state of the cluster |
//! | [`Settings`] | limits: time and repetitions |
//!
//! # Errors
//! Every error is a [`rowhouse_model::Error`] with HBase's message. What can be repeated is
//! repeated within the limits of [`Settings`]; the error that comes back is that of the last try.
//! A get from a table that is unknown or disabled fails with `TableNotFound` or `TableNotEnabled`
//! at once, as with stock clients.
//!
//! # Limits
//! On each connection at most 1,024 calls and 64 MiB of requests are under way; whoever comes
//! next waits, within its time. A call that changes something is repeated after its answer was
//! lost only if that does no harm: increments carry a nonce by which the server knows them again.
//! Authentication is simple: the server believes [`Settings::user`].

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
mod table;
mod target;
#[cfg(test)]
mod tests;

pub use admin::{Admin, ClusterStatus, RegionLoad, ServerLoad};
pub use client::Client;
pub use rowhouse_format::convert::backup::BackupStatus;
pub use scan::Scanner;
pub use settings::Settings;
pub use table::Table;
pub use target::Target;
