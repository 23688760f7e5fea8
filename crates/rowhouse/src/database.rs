//! An open database.

mod snapshots;

use std::sync::Arc;

use rowhouse_client::ClusterStatus;
use rowhouse_model::{
    Bytes, CompactionState, Error, ErrorKind, Mutation, MutationOutcome, Namespace, RegionInfo,
    RegionSwitch, Result, TableDescriptor, TableName, TableState,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, ColumnSchema, KEY_ATTRIBUTE, KeySchema};
use rowhouse_store::CompactionKind;

use crate::backend::Backend;
use crate::fit::Fit;
use crate::location::Location;
use crate::spec::{TableSpec, check_columns};
use crate::table::Table;
use crate::transaction::Transaction;

/// Opens a database.
///
/// | `url` | opens |
/// |---|---|
/// | a path, or `file:PATH` | the store in that directory, which is created if it does not exist |
/// | `hbase://HOST:PORT,…` | the cluster of these servers (region servers or masters) |
/// | `hbase+zk://HOST:PORT,…/ZNODE` | the cluster registered with this ZooKeeper ensemble |
///
/// # Errors
/// `InvalidRequest` for any other URL; `InUse`, naming the holder, if another process has the
/// directory open; `Corruption`; `Unsupported` for a directory written by a newer version;
/// `Connection` and `Timeout` for a cluster that does not answer.
pub async fn open(url: impl AsRef<str>) -> Result<Database> {
    let backend = Backend::open(Location::parse(url.as_ref())?).await?;
    Ok(Database { backend: Arc::new(backend) })
}

/// Checks the syntax of a URL for [`open`], without opening or reading anything.
///
/// # Errors
/// `InvalidRequest` if the URL has none of the forms listed there.
pub fn check_url(url: &str) -> Result<()> {
    Location::parse(url).map(|_| ())
}

/// An open database with its tables and namespaces. A clone is another handle of the same database.
#[derive(Clone)]
pub struct Database {
    backend: Arc<Backend>,
}

impl Database {
    /// Creates a table.
    ///
    /// # Errors
    /// `TableExists`, `NamespaceNotFound`, and the errors of [`TableSpec::check`].
    pub async fn create_table(&self, spec: TableSpec) -> Result<Table> {
        let (descriptor, splits) = spec.into_parts()?;
        self.backend.create_table(descriptor.clone(), splits).await?;
        Ok(Table::new(Arc::clone(&self.backend), &descriptor))
    }

    /// Creates a table `to` with the declaration of table `from` and without its rows. With
    /// `keep_splits` it gets the region boundaries of `from`, otherwise a single region.
    ///
    /// # Errors
    /// `TableNotFound`; `TableExists`; `NamespaceNotFound`.
    pub async fn clone_table_schema(
        &self,
        from: &str,
        to: &str,
        keep_splits: bool,
    ) -> Result<Table> {
        let declared = self.describe(from).await?;
        let regions = match keep_splits {
            true => self.backend.regions(declared.name()).await?,
            false => Vec::new(),
        };
        let starts = regions.into_iter().map(|(region, _)| region.range.start);
        let splits = starts.filter(|start| !start.is_empty()).collect();
        let declared = declared.with_name(TableName::parse(to)?);
        self.backend.create_table(declared.clone(), splits).await?;
        Ok(Table::new(Arc::clone(&self.backend), &declared))
    }

    /// Returns the table `name`, written as `table` or `namespace:table`.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn table(&self, name: &str) -> Result<Table> {
        let descriptor = self.describe(name).await?;
        Ok(Table::new(Arc::clone(&self.backend), &descriptor))
    }

    /// Declares or replaces the key template of a table. No row changes: the template determines
    /// how keys are decoded and encoded from now on. Existing [`Table`] handles keep their
    /// template.
    ///
    /// First a sample of the rows is checked: up to 500 from the start of the table, and 4 from the
    /// start of each region (of at most 256 regions) and from each possible first byte. Rows
    /// written meanwhile, or later through an older handle, are not checked.
    ///
    /// Concurrent alterations are resolved as in [`Database::alter_table`].
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid template, and if a sampled row does not fit it: the message
    /// contains the counts and the first such key, and the table stays unchanged. `TableNotFound`,
    /// `TableNotEnabled`.
    pub async fn alter_key(&self, name: &str, template: &str) -> Result<Fit> {
        let schema = KeySchema::parse(template)?;
        let fit = Fit::of(&self.table(name).await?, &schema).await?;
        if fit.misfits > 0 {
            return Err(Error::invalid(format!(
                "the key of table {name} is unchanged, rows do not fit the template: {fit}"
            )));
        }
        self.set_key(name, &schema).await?;
        Ok(fit)
    }

    /// As [`Database::alter_key`], without checking any rows. Rows whose keys do not fit are
    /// returned with their raw keys; they never fail a query.
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid template; `TableNotFound`.
    pub async fn alter_key_unchecked(&self, name: &str, template: &str) -> Result<()> {
        self.set_key(name, &KeySchema::parse(template)?).await
    }

    async fn set_key(&self, name: &str, schema: &KeySchema) -> Result<()> {
        self.set_attribute(name, KEY_ATTRIBUTE, schema.to_stored()).await
    }

    /// Declares or replaces the columns of a table. No cell is changed or checked: cells that do
    /// not fit are read as bytes. Existing [`Table`] handles keep their columns. Concurrent
    /// alterations are resolved as in [`Database::alter_key`].
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid declaration, for columns in families that the table does not
    /// have, and for a column with the name of a key field; `TableNotFound`.
    pub async fn alter_columns(&self, name: &str, text: &str) -> Result<()> {
        let columns = ColumnSchema::parse(text)?;
        self.set_attribute(name, COLUMNS_ATTRIBUTE, columns.to_stored()).await
    }

    /// Sets an attribute of a table if key and columns are then consistent.
    async fn set_attribute(
        &self,
        name: &str,
        attribute: &'static str,
        value: String,
    ) -> Result<()> {
        self.alter_table(name, move |current| {
            Ok(current.clone().attribute(attribute, value.clone()))
        })
        .await
    }

    /// Alters a table: adds, removes and changes families, attributes and configuration. `change`
    /// returns the new declaration for the current one. It must have no side effects: it is called
    /// again if the table was altered concurrently. Reads and writes continue; removing a family
    /// deletes its cells.
    ///
    /// Concurrent alterations are applied one after the other, and none is lost. Apache HBase is an
    /// exception: there the last of them may overwrite another, unless each changes a single
    /// family, because HBase's call for larger changes replaces the whole declaration.
    ///
    /// ```
    /// # use rowhouse::{Database, FamilyDescriptor, Result};
    /// # async fn example(database: Database) -> Result<()> {
    /// let tags = FamilyDescriptor::new("tags")?.versions(3);
    /// database.alter_table("blog", move |blog| Ok(blog.clone().family(tags.clone()))).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; the errors of `change`; the errors of the store or cluster for a
    /// declaration that it does not support; `InvalidRequest` if declared columns would be in a
    /// family that the table does not have; `Conflict` after 100 attempts that all met concurrent
    /// alterations.
    pub async fn alter_table(
        &self,
        name: &str,
        change: impl Fn(&TableDescriptor) -> Result<TableDescriptor> + Send + 'static,
    ) -> Result<()> {
        let change = move |current: &TableDescriptor| {
            let descriptor = change(current)?;
            if descriptor.families().is_empty() {
                return Err(Error::invalid("Table should have at least one column family."));
            }
            check_columns(&descriptor)?;
            Ok(descriptor)
        };
        self.backend.change_table(&TableName::parse(name)?, change).await
    }

    /// Deletes all cells of a disabled table and enables it. With `keep_splits` it keeps its region
    /// boundaries, otherwise it gets a single region.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled`.
    pub async fn truncate_table(&self, name: &str, keep_splits: bool) -> Result<()> {
        self.backend.truncate_table(&TableName::parse(name)?, keep_splits).await
    }

    /// Splits a region of a table in two at row `at`, which becomes the first row of the second
    /// region, or in the middle of the region's data. Reads and writes continue meanwhile. See
    /// [`Table::regions`] for the regions.
    ///
    /// # Errors
    /// `UnknownRegion` if the region no longer exists; `TableNotEnabled`; `InvalidRequest` if the
    /// row is not greater than the region's start row, and for a region without two rows to split
    /// between. A cluster refuses to split a region that still has reference files of an earlier
    /// split.
    pub async fn split_region(&self, region: &RegionInfo, at: Option<Bytes>) -> Result<()> {
        self.backend.split_region(region, at).await
    }

    /// Merges adjacent regions of a table into one. Reads and writes continue meanwhile.
    ///
    /// # Errors
    /// As [`Database::split_region`]; `InvalidRequest` for fewer than two regions, and for regions
    /// that are not adjacent.
    pub async fn merge_regions(&self, regions: &[RegionInfo]) -> Result<()> {
        self.backend.merge_regions(regions).await
    }

    /// Brings an unassigned region back into service.
    ///
    /// # Errors
    /// `UnknownRegion`; `TableNotEnabled`; `Connection` of a cluster.
    pub async fn assign_region(&self, region: &RegionInfo) -> Result<()> {
        self.backend.assign_region(region).await
    }

    /// Takes a region out of service until it is assigned: reads and writes of its rows are
    /// refused. An embedded database and a rowhouse server serve it again after a restart.
    ///
    /// # Errors
    /// As [`Database::assign_region`].
    pub async fn unassign_region(&self, region: &RegionInfo) -> Result<()> {
        self.backend.unassign_region(region).await
    }

    /// Moves a region to another server of a cluster, chosen by the cluster. Without another server
    /// the region stays.
    ///
    /// # Errors
    /// As [`Database::assign_region`]; `NotServingRegion` for an unassigned region.
    pub async fn move_region(&self, region: &RegionInfo) -> Result<()> {
        self.backend.move_region(region).await
    }

    /// Returns whether regions may be split or merged, a setting for all tables.
    ///
    /// # Errors
    /// `Unsupported` and `Connection` of a cluster.
    pub async fn region_switch(&self, switch: RegionSwitch) -> Result<bool> {
        self.backend.region_switch(switch).await
    }

    /// Sets permanently whether regions may be split or merged, automatically or by request, in all
    /// tables; returns the previous setting.
    ///
    /// # Errors
    /// As [`Database::region_switch`]; `Io`.
    pub async fn set_region_switch(&self, switch: RegionSwitch, on: bool) -> Result<bool> {
        self.backend.set_region_switch(switch, on).await
    }

    /// Runs a serializable transaction over rows of any tables. `run` reads at one read point and
    /// sees its own writes. When it returns `Ok`, its writes commit atomically. If another writer
    /// has meanwhile changed a row or range that `run` has read, or a row that it has written,
    /// `run` is called again with a newer read point, so it must have no side effects beyond the
    /// transaction. If `run` returns an error, the transaction ends without effect.
    ///
    /// `run` executes on a thread for blocking work. It holds no locks before the commit, so no
    /// other writer waits for it; a transaction whose rows others change all the time may never
    /// commit.
    ///
    /// ```
    /// # use rowhouse::{Database, Delete, Get, Put, Result, Table};
    /// # async fn example(database: Database, drafts: Table, posts: Table) -> Result<()> {
    /// let published = database
    ///     .transact(move |transaction| {
    ///         let draft = transaction.get(&drafts, &Get::new("7")?)?;
    ///         let Some(text) = draft.value("cf", "text") else {
    ///             return Ok(false);
    ///         };
    ///         transaction.put(&posts, Put::new("7")?.add("cf", "text", text)?)?;
    ///         transaction.delete(&drafts, Delete::new("7")?)?;
    ///         Ok(true)
    ///     })
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The error of `run`; `Unsupported` on a cluster; `Conflict` after 100 attempts that all met
    /// concurrent changes; for the commit as [`Table::mutate`].
    pub async fn transact<T: Send + 'static>(
        &self,
        run: impl FnMut(&mut Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.backend.transact(run).await
    }

    /// Applies mutations of any tables atomically: all become visible and durable, or none. Returns
    /// one outcome per mutation, in order. For changes that depend on existing values use
    /// [`Database::transact`].
    ///
    /// # Errors
    /// `Unsupported` on a cluster. As [`Table::mutate`], for the first mutation that fails; then
    /// nothing is changed. `InvalidRequest` for an increment, an append or a delete of the newest
    /// version of a row after another mutation of that row.
    pub async fn commit(
        &self,
        mutations: impl IntoIterator<Item = (Table, Mutation)>,
    ) -> Result<Vec<MutationOutcome>> {
        let named = mutations.into_iter().map(|(table, mutation)| (table.name().clone(), mutation));
        self.backend.commit(named.collect()).await
    }

    /// Returns the names of all user tables, in order.
    pub async fn tables(&self) -> Result<Vec<TableName>> {
        self.backend.tables().await
    }

    /// Returns whether the table `name` exists.
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid table name.
    pub async fn table_exists(&self, name: &str) -> Result<bool> {
        match self.describe(name).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the declaration of a table.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn describe(&self, name: &str) -> Result<TableDescriptor> {
        self.backend.describe(&TableName::parse(name)?).await
    }

    /// Returns whether a table is enabled.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn table_state(&self, name: &str) -> Result<TableState> {
        self.backend.table_state(&TableName::parse(name)?).await
    }

    /// Enables a table for reads and writes.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled` if it is already enabled.
    pub async fn enable_table(&self, name: &str) -> Result<()> {
        self.backend.enable_table(&TableName::parse(name)?).await
    }

    /// Disables a table: it refuses reads and writes, and can be dropped.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotEnabled` if it is already disabled.
    pub async fn disable_table(&self, name: &str) -> Result<()> {
        self.backend.disable_table(&TableName::parse(name)?).await
    }

    /// Drops a disabled table with all its cells.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled`.
    pub async fn drop_table(&self, name: &str) -> Result<()> {
        self.backend.drop_table(&TableName::parse(name)?).await
    }

    /// Returns all namespaces, in order.
    pub async fn namespaces(&self) -> Result<Vec<Namespace>> {
        self.backend.namespaces().await
    }

    /// Creates a namespace.
    ///
    /// # Errors
    /// `NamespaceExists`.
    pub async fn create_namespace(&self, namespace: Namespace) -> Result<()> {
        self.backend.create_namespace(namespace).await
    }

    /// Replaces the configuration of a namespace with that of `namespace`.
    ///
    /// # Errors
    /// `NamespaceNotFound`; `Unsupported` for quotas.
    pub async fn modify_namespace(&self, namespace: Namespace) -> Result<()> {
        self.backend.modify_namespace(namespace).await
    }

    /// Drops an empty namespace.
    ///
    /// # Errors
    /// `NamespaceNotFound`; `NamespaceConstraint` for a namespace that has tables or belongs to
    /// HBase.
    pub async fn drop_namespace(&self, name: &str) -> Result<()> {
        self.backend.drop_namespace(name).await
    }

    /// Flushes the memstores of a table to files.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotEnabled`.
    pub async fn flush(&self, name: &str) -> Result<()> {
        self.backend.flush(&TableName::parse(name)?).await
    }

    /// Flushes the memstores of one family.
    ///
    /// # Errors
    /// As [`Database::flush`]; `NoSuchColumnFamily`.
    pub async fn flush_family(&self, name: &str, family: &str) -> Result<()> {
        self.backend.flush_family(&TableName::parse(name)?, family.as_bytes()).await
    }

    /// Requests a compaction of a table, or of one of its families, without waiting for it. A minor
    /// compaction runs only if one is due. A major compaction merges all files of each region and
    /// drops the cells that no reader can see.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotEnabled`; `NoSuchColumnFamily`.
    pub async fn compact(
        &self,
        name: &str,
        family: Option<&str>,
        kind: CompactionKind,
    ) -> Result<()> {
        let family = family.map(|family| Bytes::copy_from_slice(family.as_bytes()));
        self.backend.compact(&TableName::parse(name)?, family, kind).await
    }

    /// Returns the compactions that are running or queued in any region of a table.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn compaction_state(&self, name: &str) -> Result<CompactionState> {
        self.backend.compaction_state(&TableName::parse(name)?).await
    }

    /// Returns the servers and regions with their sizes and request counts. An embedded database is
    /// one server named `localhost`, port 0.
    ///
    /// # Errors
    /// `Connection` and `Timeout` of a cluster.
    pub async fn status(&self) -> Result<ClusterStatus> {
        self.backend.status().await
    }

    /// Returns the UUID that was assigned when the database was created.
    pub async fn cluster_id(&self) -> Result<String> {
        self.backend.cluster_id().await
    }

    /// Closes the database: finishes writes under way and releases the directory. All other
    /// handles, and tables, refuse every call from then on.
    pub async fn close(self) -> Result<()> {
        self.backend.close().await
    }
}
