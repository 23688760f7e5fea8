//! Administration: [`Admin`], and the types for regions, snapshots, namespaces and status.
//!
//! How is a table altered, and how is its earlier state retained?
//!
//! ```
//! use rowhouse::TableSpec;
//! use rowhouse::admin::Snapshot;
//! use rowhouse::schema::{FamilyDescriptor, TableName};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> rowhouse::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! let database = rowhouse::open(dir.path().to_string_lossy()).await?;
//! database.create_table(TableSpec::new("blog").family("cf")).await?;
//!
//! let admin = database.admin();
//! admin.take_snapshot(Snapshot::new("before", TableName::parse("blog")?)?).await?;
//! let tags = FamilyDescriptor::new("tags")?;
//! admin.alter_table("blog", move |blog| Ok(blog.clone().family(tags.clone()))).await?;
//! assert_eq!(admin.describe("blog").await?.families().len(), 2);
//!
//! admin.clone_snapshot("before", "blog_before").await?;
//! assert_eq!(admin.describe("blog_before").await?.families().len(), 1);
//! # database.close().await
//! # }
//! ```

mod backups;
mod comparison;
mod followers;
mod heat;
mod namespaces;
mod regions;
mod servers;
mod snapshots;
mod storage;
mod tables;

use rowhouse_model::Result;

use crate::Database;
use crate::backend::{Backend, Side};

pub use self::comparison::IndexComparison;
pub use crate::fit::Fit;
pub use rowhouse_model::{
    BackupStatus, Balanced, ClusterStatus, CompactionState, HeatBucket, HeatColumn, HeatReport,
    HeatSample, HotColumns, HotRow, IndexReport, Namespace, RegionInfo, RegionLoad, RegionName,
    RegionSwitch, ServerLoad, ServerName, ServerTask, Snapshot, SnapshotKind, TableState,
};
pub use rowhouse_schema::{
    BusiestServer, ColumnGroup, ColumnGroups, HotPrefix, LoadCause, LoadKind, LoadProfile,
    LoadVerdict, MissingEvidence, Placement, Remedy, RemedyKind, RowLoad,
};
pub use rowhouse_store::CompactionKind;

/// Administers a database, from [`Database::admin`]. It borrows the database, and a copy costs
/// nothing. A task that outlives the borrow takes a clone of the [`Database`].
///
/// Tables are named `table` or `namespace:table`.
///
/// ```
/// # use rowhouse::{Database, Result};
/// // How large are the regions of each server?
/// # async fn example(database: Database) -> Result<()> {
/// for server in database.admin().status().await?.loads {
///     let mib: u64 = server.regions.iter().map(|region| region.file_mib).sum();
///     println!("{}: regions={}, MiB={mib}", server.name, server.regions.len());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Admin<'d> {
    database: &'d Database,
}

impl Database {
    /// Returns the administration for tables, regions, snapshots, namespaces and backups. It costs
    /// nothing.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let admin = database.admin();
    /// admin.disable_table("drafts").await?;
    /// admin.drop_table("drafts").await
    /// # }
    /// ```
    pub fn admin(&self) -> Admin<'_> {
        Admin::new(self)
    }
}

impl<'d> Admin<'d> {
    pub(crate) fn new(database: &'d Database) -> Self {
        Self { database }
    }

    fn backend(self) -> &'d Backend {
        self.database.backend()
    }

    fn side(self) -> &'d Side {
        self.backend().side()
    }

    /// Returns the servers and regions with their sizes and request counts. An embedded database is
    /// one server named `localhost`, port 0.
    ///
    /// ```
    /// # use rowhouse::{Database, Result};
    /// // Is every region served?
    /// # async fn example(database: Database) -> Result<()> {
    /// let status = database.admin().status().await?;
    /// println!("dead={:?}, moving={}", status.dead_servers, status.regions_in_transition);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Connection` and `Timeout` from a cluster.
    pub async fn status(self) -> Result<ClusterStatus> {
        match self.side() {
            Side::Embedded(it) => Ok(it.status()),
            Side::Cluster(it) => it.admin().cluster_status().await,
        }
    }

    /// Returns the UUID that was assigned when the database was created.
    ///
    /// ```
    /// # use rowhouse::{Database, Result};
    /// // Do two URLs name the same database?
    /// # async fn example(one: Database, other: Database) -> Result<bool> {
    /// Ok(one.admin().cluster_id().await? == other.admin().cluster_id().await?)
    /// # }
    /// ```
    pub async fn cluster_id(self) -> Result<String> {
        match self.side() {
            Side::Embedded(it) => Ok(it.store().cluster_id()),
            Side::Cluster(it) => Ok(it.id().to_owned()),
        }
    }
}
