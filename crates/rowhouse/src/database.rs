//! A database, open.

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
/// | a path, or `file:PATH` | the store in that directory, which is made if it is not there |
/// | `hbase://HOST:PORT,…` | the cluster of these servers (region servers or masters) |
/// | `hbase+zk://HOST:PORT,…/ZNODE` | the cluster that this ZooKeeper ensemble knows |
///
/// # Errors
/// `InvalidRequest` for what is none of these; `InUse` when another process has the directory,
/// naming it; `Corruption`; `Unsupported` for a directory of a newer version; `Connection` and
/// `Timeout` for a cluster that does not answer.
pub async fn open(url: impl AsRef<str>) -> Result<Database> {
    let backend = Backend::open(Location::parse(url.as_ref())?).await?;
    Ok(Database { backend: Arc::new(backend) })
}

/// Whether [`open`] can make anything of a URL. Nothing is opened or looked at.
///
/// # Errors
/// `InvalidRequest` for what is none of those.
pub fn check_url(url: &str) -> Result<()> {
    Location::parse(url).map(|_| ())
}

/// A database, open: tables and namespaces. Cloning it gives another handle on the same one.
#[derive(Clone)]
pub struct Database {
    backend: Arc<Backend>,
}

impl Database {
    /// Makes a table.
    ///
    /// # Errors
    /// `TableExists`, `NamespaceNotFound`, and what is wrong with the spec.
    pub async fn create_table(&self, spec: TableSpec) -> Result<Table> {
        let (descriptor, splits) = spec.into_parts()?;
        self.backend.create_table(descriptor.clone(), splits).await?;
        Ok(Table::new(Arc::clone(&self.backend), &descriptor))
    }

    /// Makes a table `to` that is declared as `from` is, without its rows: with the bounds of its regions if
    /// `keep_splits`, otherwise as one region.
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

    /// The table `name`: `table`, or `namespace:table`.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn table(&self, name: &str) -> Result<Table> {
        let descriptor = self.describe(name).await?;
        Ok(Table::new(Arc::clone(&self.backend), &descriptor))
    }

    /// Declares another template for the key of a table, or the first one. No row is changed: it says how
    /// keys are read and made from now on. Handles that were got before keep the template they had.
    ///
    /// Rows are looked at first: up to 500 from the beginning of the table, and 4 from the beginning of each
    /// region (of up to 256 of them) and from each first byte. What is written meanwhile, or later through a
    /// handle that was got before, is not looked at.
    ///
    /// Beside other alterations it stands as [`Database::alter_table`] does.
    ///
    /// # Errors
    /// `InvalidRequest` for a template that is none, and where a row does not fit it: how many of how many,
    /// and the first; the table then keeps what it has. `TableNotFound`, `TableNotEnabled`.
    pub async fn alter_key(&self, name: &str, template: &str) -> Result<Fit> {
        let schema = KeySchema::parse(template)?;
        let fit = Fit::of(&self.table(name).await?, &schema).await?;
        if fit.misfits > 0 {
            return Err(Error::invalid(format!(
                "the key of table {name} is left as it is, rows do not fit the template: {fit}"
            )));
        }
        self.set_key(name, &schema).await?;
        Ok(fit)
    }

    /// As [`Database::alter_key`], without a look at the rows. Those whose keys do not fit are read by their
    /// bytes; they never fail a query.
    ///
    /// # Errors
    /// `InvalidRequest` for a template that is none; `TableNotFound`.
    pub async fn alter_key_unchecked(&self, name: &str, template: &str) -> Result<()> {
        self.set_key(name, &KeySchema::parse(template)?).await
    }

    async fn set_key(&self, name: &str, schema: &KeySchema) -> Result<()> {
        self.set_attribute(name, KEY_ATTRIBUTE, schema.to_stored()).await
    }

    /// Declares other columns of a table, or the first ones. No cell is changed or looked at: those that do not
    /// fit are read by their bytes. Handles that were got before keep the columns they had. Beside other
    /// alterations it stands as [`Database::alter_key`] does.
    ///
    /// # Errors
    /// `InvalidRequest` for what is no declaration, for columns in families that the table does not have, and for
    /// the name of a field of the key; `TableNotFound`.
    pub async fn alter_columns(&self, name: &str, text: &str) -> Result<()> {
        let columns = ColumnSchema::parse(text)?;
        self.set_attribute(name, COLUMNS_ATTRIBUTE, columns.to_stored()).await
    }

    /// Declares a table anew with this attribute, if key and columns then agree.
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

    /// Declares a table anew: families come, go and change, and so do attributes and configuration. `change`
    /// makes the new declaration from the present one, and must have no other effects: it is asked again when
    /// somebody else altered the table meanwhile. Readers and writers go on; a family that is not declared any
    /// more goes with its cells.
    ///
    /// Alterations at one time all come to stand, one after the other. Only on an Apache HBase may the last of
    /// them undo another, unless both change a single family each: HBase has no call that would say what was
    /// meant to be altered.
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
    /// `TableNotFound`; what `change` refuses; what the store or cluster cannot keep; `InvalidRequest` where
    /// declared columns would be in a family that the table does not have; `Conflict` when others altered the
    /// table each of 100 times.
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

    /// Drops all cells of a disabled table, and has it take reads and writes again: with the bounds of its
    /// regions if `keep_splits`, otherwise as one region.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled`.
    pub async fn truncate_table(&self, name: &str, keep_splits: bool) -> Result<()> {
        self.backend.truncate_table(&TableName::parse(name)?, keep_splits).await
    }

    /// Splits a region of a table in two at row `at`, the first of the second, or in the middle of what the
    /// region holds. Who reads and writes the table goes on meanwhile. [`Table::regions`] gives regions.
    ///
    /// # Errors
    /// `UnknownRegion` for one that is not there any more; `TableNotEnabled`; `InvalidRequest` for a row that
    /// is not behind the first of the region, and for a region without two rows to split between. A cluster
    /// does not split what it has split and not yet written anew.
    pub async fn split_region(&self, region: &RegionInfo, at: Option<Bytes>) -> Result<()> {
        self.backend.split_region(region, at).await
    }

    /// Merges neighbouring regions of a table into one. Who reads and writes the table goes on meanwhile.
    ///
    /// # Errors
    /// As [`Database::split_region`]; `InvalidRequest` for fewer than two, and for such as are no neighbours.
    pub async fn merge_regions(&self, regions: &[RegionInfo]) -> Result<()> {
        self.backend.merge_regions(regions).await
    }

    /// Has a region be served that was unassigned.
    ///
    /// # Errors
    /// `UnknownRegion`; `TableNotEnabled`; `Connection` of a cluster.
    pub async fn assign_region(&self, region: &RegionInfo) -> Result<()> {
        self.backend.assign_region(region).await
    }

    /// Has a region not be served until it is assigned: who reads or writes its rows is refused. A database in
    /// this process, and a rowhouse server, serve it again when they are opened again.
    ///
    /// # Errors
    /// As [`Database::assign_region`].
    pub async fn unassign_region(&self, region: &RegionInfo) -> Result<()> {
        self.backend.unassign_region(region).await
    }

    /// Has a region be served by another server of a cluster, which picks it. Where there is no other it stays.
    ///
    /// # Errors
    /// As [`Database::assign_region`]; `NotServingRegion` for one that is not assigned.
    pub async fn move_region(&self, region: &RegionInfo) -> Result<()> {
        self.backend.move_region(region).await
    }

    /// Whether regions may be split or merged, in all tables.
    ///
    /// # Errors
    /// `Unsupported` and `Connection` of a cluster.
    pub async fn region_switch(&self, switch: RegionSwitch) -> Result<bool> {
        self.backend.region_switch(switch).await
    }

    /// Says whether regions may be split or merged, by themselves or when somebody asks, in all tables and until it is
    /// said otherwise; whether they might before.
    ///
    /// # Errors
    /// As [`Database::region_switch`]; `Io`.
    pub async fn set_region_switch(&self, switch: RegionSwitch, on: bool) -> Result<bool> {
        self.backend.set_region_switch(switch, on).await
    }

    /// Reads and writes rows of any tables as if nobody else did meanwhile. `run` reads at one moment and
    /// sees its own writes; when it returns they are made, all as one, unless somebody else has written
    /// meanwhile a row or range that it has read, or a row that it has written: then it is run again, at a
    /// later moment. So it must have no other effects than those on the transaction. An error of `run` ends
    /// it and leaves nothing.
    ///
    /// It runs on a thread that may wait. Nobody waits for it before it is committed; one that reads what
    /// others write all the time may never come to that.
    ///
    /// ```
    /// # use rowhouse::{Database, Delete, Get, Put, Result, Table};
    /// # async fn example(database: Database, drafts: Table, posts: Table) -> Result<()> {
    /// let published = database
    ///     .transact(move |transaction| {
    ///         let Some(text) = transaction.get(&drafts, &Get::new("7")?)?.value("cf", "text") else {
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
    /// What `run` gives; `Unsupported` on a cluster; `Conflict` when others were faster 100 times; as
    /// [`Table::mutate`] for the commit.
    pub async fn transact<T: Send + 'static>(
        &self,
        run: impl FnMut(&mut Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.backend.transact(run).await
    }

    /// Changes rows of any tables as one: all of it is seen, and survives, or none. One outcome for each
    /// mutation, in their order. For changes that depend on what is there: [`Database::transact`].
    ///
    /// # Errors
    /// `Unsupported` on a cluster. As [`Table::mutate`], for the first that cannot be done; then nothing is
    /// changed. `InvalidRequest` for an increment or append of a row, or a delete of its newest version,
    /// behind another mutation of that row.
    pub async fn commit(
        &self,
        mutations: impl IntoIterator<Item = (Table, Mutation)>,
    ) -> Result<Vec<MutationOutcome>> {
        let named = mutations.into_iter().map(|(table, mutation)| (table.name().clone(), mutation));
        self.backend.commit(named.collect()).await
    }

    /// The names of all tables of users, in order.
    pub async fn tables(&self) -> Result<Vec<TableName>> {
        self.backend.tables().await
    }

    /// Whether there is a table `name`.
    ///
    /// # Errors
    /// `InvalidRequest` when it cannot be a table's name.
    pub async fn table_exists(&self, name: &str) -> Result<bool> {
        match self.describe(name).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// How the table was declared.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn describe(&self, name: &str) -> Result<TableDescriptor> {
        self.backend.describe(&TableName::parse(name)?).await
    }

    /// Whether the table takes reads and writes.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn table_state(&self, name: &str) -> Result<TableState> {
        self.backend.table_state(&TableName::parse(name)?).await
    }

    /// Has a table take reads and writes again.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled` when it does already.
    pub async fn enable_table(&self, name: &str) -> Result<()> {
        self.backend.enable_table(&TableName::parse(name)?).await
    }

    /// Has a table take no more reads and writes; it can then be dropped.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotEnabled` when it takes none already.
    pub async fn disable_table(&self, name: &str) -> Result<()> {
        self.backend.disable_table(&TableName::parse(name)?).await
    }

    /// Drops a disabled table and all it holds.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled`.
    pub async fn drop_table(&self, name: &str) -> Result<()> {
        self.backend.drop_table(&TableName::parse(name)?).await
    }

    /// All namespaces, in order.
    pub async fn namespaces(&self) -> Result<Vec<Namespace>> {
        self.backend.namespaces().await
    }

    /// Makes a namespace.
    ///
    /// # Errors
    /// `NamespaceExists`.
    pub async fn create_namespace(&self, namespace: Namespace) -> Result<()> {
        self.backend.create_namespace(namespace).await
    }

    /// Gives a namespace another configuration, as all of `namespace` says.
    ///
    /// # Errors
    /// `NamespaceNotFound`; `Unsupported` for quotas.
    pub async fn modify_namespace(&self, namespace: Namespace) -> Result<()> {
        self.backend.modify_namespace(namespace).await
    }

    /// Drops an empty namespace.
    ///
    /// # Errors
    /// `NamespaceNotFound`; `NamespaceConstraint` for one that holds tables or is HBase's own.
    pub async fn drop_namespace(&self, name: &str) -> Result<()> {
        self.backend.drop_namespace(name).await
    }

    /// Writes what a table has in memory to files.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotEnabled`.
    pub async fn flush(&self, name: &str) -> Result<()> {
        self.backend.flush(&TableName::parse(name)?).await
    }

    /// The same of one family.
    ///
    /// # Errors
    /// As [`Database::flush`]; `NoSuchColumnFamily`.
    pub async fn flush_family(&self, name: &str, family: &str) -> Result<()> {
        self.backend.flush_family(&TableName::parse(name)?, family.as_bytes()).await
    }

    /// Asks for a merge of the files of a table, or of one of its families, and does not wait for it. A minor one is the
    /// one that is due, if one is; a major one merges all files of each region and drops what nobody can see any more.
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

    /// Which merges of the files of a table run or wait, of its regions together.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn compaction_state(&self, name: &str) -> Result<CompactionState> {
        self.backend.compaction_state(&TableName::parse(name)?).await
    }

    /// Servers and regions, and what they hold and have done. A database in this process is one server by the name of
    /// `localhost`, port 0.
    ///
    /// # Errors
    /// `Connection` and `Timeout` of a cluster.
    pub async fn status(&self) -> Result<ClusterStatus> {
        self.backend.status().await
    }

    /// The UUID that the database was given when it was made.
    pub async fn cluster_id(&self) -> Result<String> {
        self.backend.cluster_id().await
    }

    /// Ends it: writes under way are finished, the directory is free for others. Other handles,
    /// and tables, refuse everything from then on.
    pub async fn close(self) -> Result<()> {
        self.backend.close().await
    }
}
