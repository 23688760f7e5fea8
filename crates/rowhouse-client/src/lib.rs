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
//! # Errors
//! Every error is a [`rowhouse_model::Error`] with HBase's message. What can be repeated is
//! repeated within the limits of [`Settings`]; the error that comes back is that of the last try.

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

pub use admin::{Admin, ClusterStatus};
pub use client::Client;
pub use scan::Scanner;
pub use settings::Settings;
pub use table::Table;
pub use target::Target;
