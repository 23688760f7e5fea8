//! The backend for clusters, with HBase's protocol.

use super::alteration::Alteration;
use rowhouse_client::{BackupStatus, Client, ClusterStatus, Scanner, Settings, Target};
use rowhouse_model::{
    Bytes, CellHistory, CompactionState, Condition, Error, ErrorKind, Get, Mutation,
    MutationOutcome, Namespace, Put, RegionInfo, RegionSwitch, Result, Row, RowMutations, Scan,
    ServerName, Snapshot, TableDescriptor, TableName, TableState, escape,
};
use rowhouse_schema::{INDEXES_ATTRIBUTE, Index, IndexOf, IndexSchema, IndexState};
use rowhouse_store::CompactionKind;

/// Maximum attempts of an alteration that meets concurrent alterations.
const ALTER_ATTEMPTS_MAX: usize = 100;

/// A connection to a cluster.
pub(crate) struct Cluster {
    client: Client,
}

impl Cluster {
    pub(super) async fn connect(target: &Target, settings: Settings) -> Result<Self> {
        Ok(Self { client: Client::connect_with(target, settings).await? })
    }

    pub(super) async fn status(&self) -> Result<ClusterStatus> {
        self.client.admin().cluster_status().await
    }

    pub(super) async fn cluster_id(&self) -> Result<String> {
        Ok(self.client.cluster_id().to_owned())
    }

    pub(super) async fn tables(&self) -> Result<Vec<TableName>> {
        self.client.admin().tables().await
    }

    pub(super) async fn describe(&self, name: &TableName) -> Result<TableDescriptor> {
        self.client.admin().descriptor(name).await
    }

    pub(super) async fn table_state(&self, name: &TableName) -> Result<TableState> {
        self.client.admin().table_state(name).await
    }

    pub(super) async fn create_table(
        &self,
        descriptor: TableDescriptor,
        splits: Vec<Bytes>,
    ) -> Result<()> {
        self.client.admin().create_table(&descriptor, &splits).await?;
        self.check_kept(&descriptor).await
    }

    /// Checks that the server keeps the indexes of a table: that it has created their tables. The
    /// declaration is removed if it has not, because nobody would write entries.
    async fn check_kept(&self, declared: &TableDescriptor) -> Result<()> {
        let indexes = IndexSchema::of_table(declared)?;
        for index in indexes.iter().flat_map(IndexSchema::indexes) {
            if self.entries_of(declared.name(), index).await?.is_some() {
                continue;
            }
            let name = declared.name();
            let mut without = self.describe(name).await?;
            without.attributes.remove(INDEXES_ATTRIBUTE.as_bytes());
            self.client.admin().modify_table(&without, None).await?;
            return Err(Error::unsupported(format!(
                "the server keeps no indexes, only rowhouse does; table {name} has none now: \
                 index={}",
                index.name()
            )));
        }
        Ok(())
    }

    /// Returns the table of the entries of an index, if the server has it.
    async fn entries_of(
        &self,
        table: &TableName,
        index: &Index,
    ) -> Result<Option<TableDescriptor>> {
        let entries = match self.describe(&index.table_name(table)?).await {
            Err(error) if error.kind() == ErrorKind::TableNotFound => return Ok(None),
            entries => entries?,
        };
        let is_of = |of: IndexOf| of.table == *table && of.index == index.name();
        Ok(IndexOf::of_table(&entries)?.is_some_and(is_of).then_some(entries))
    }

    pub(super) async fn indexes(&self, table: &TableName) -> Result<Option<IndexSchema>> {
        IndexSchema::of_table(&self.describe(table).await?)
    }

    pub(super) async fn index_state(&self, table: &TableName, index: &str) -> Result<IndexState> {
        let indexes = self.indexes(table).await?;
        let indexes =
            indexes.ok_or_else(|| Error::invalid(format!("table {table} declares no indexes")))?;
        match self.entries_of(table, indexes.index(index)?).await? {
            Some(entries) => IndexState::of_table(&entries),
            None => Ok(IndexState::Off("the server keeps no indexes".to_owned())),
        }
    }

    pub(super) async fn explain_cell(&self, table: &TableName, _: &Get) -> Result<CellHistory> {
        Err(Error::unsupported(format!(
            "a cluster cannot explain a cell, only a data directory can: table={table}"
        )))
    }

    /// Alters a table. A rowhouse server refuses the change if another alteration came in between,
    /// and the change is repeated with the new declaration. An Apache HBase accepts it, so a change
    /// of a single family uses a call for that family, which leaves the others unchanged.
    pub(super) async fn change_table(
        &self,
        name: &TableName,
        change: impl Fn(&TableDescriptor) -> Result<TableDescriptor>,
    ) -> Result<()> {
        let admin = self.client.admin();
        for _ in 0..ALTER_ATTEMPTS_MAX {
            let current = self.describe(name).await?;
            let altered = change(&current)?;
            let done = match Alteration::between(&current, &altered) {
                Alteration::Nothing => return Ok(()),
                Alteration::Added(family) => admin.add_family(name, family).await,
                Alteration::Altered { from, to } => admin.modify_family(name, to, Some(from)).await,
                Alteration::Dropped(family) => admin.delete_family(name, family).await,
                Alteration::Table => admin.modify_table(&altered, Some(&current)).await,
            };
            match done {
                Err(error) if error.kind() == ErrorKind::Conflict => continue,
                Ok(()) if declares_more(&current, &altered) => {
                    return self.check_kept(&altered).await;
                }
                done => return done,
            }
        }
        let message = format!(
            "others altered the table each time: table={name}, attempts={ALTER_ATTEMPTS_MAX}"
        );
        Err(Error::new(ErrorKind::Conflict, message))
    }

    pub(super) async fn truncate_table(&self, name: &TableName, keep_splits: bool) -> Result<()> {
        self.client.admin().truncate_table(name, keep_splits).await
    }

    pub(super) async fn split_region(&self, region: &RegionInfo, at: Option<Bytes>) -> Result<()> {
        self.client.admin().split_region(region, at).await
    }

    pub(super) async fn merge_regions(&self, regions: &[RegionInfo]) -> Result<()> {
        self.client.admin().merge_regions(regions).await
    }

    pub(super) async fn compact(
        &self,
        table: &TableName,
        family: Option<Bytes>,
        kind: CompactionKind,
    ) -> Result<()> {
        self.client.admin().compact_table(table, family, kind == CompactionKind::Major).await
    }

    pub(super) async fn assign_region(&self, region: &RegionInfo) -> Result<()> {
        self.client.admin().assign_region(region).await
    }

    pub(super) async fn unassign_region(&self, region: &RegionInfo) -> Result<()> {
        self.client.admin().unassign_region(region).await
    }

    pub(super) async fn move_region(&self, region: &RegionInfo) -> Result<()> {
        self.client.admin().move_region(region).await
    }

    pub(super) async fn region_switch(&self, switch: RegionSwitch) -> Result<bool> {
        self.client.admin().region_switch(switch).await
    }

    pub(super) async fn set_region_switch(&self, switch: RegionSwitch, on: bool) -> Result<bool> {
        self.client.admin().set_region_switch(switch, on).await
    }

    pub(super) async fn snapshot_cleanup(&self) -> Result<bool> {
        self.client.admin().snapshot_cleanup().await
    }

    pub(super) async fn set_snapshot_cleanup(&self, on: bool) -> Result<bool> {
        self.client.admin().set_snapshot_cleanup(on).await
    }

    pub(super) async fn enable_table(&self, name: &TableName) -> Result<()> {
        self.client.admin().enable_table(name).await
    }

    pub(super) async fn disable_table(&self, name: &TableName) -> Result<()> {
        self.client.admin().disable_table(name).await
    }

    pub(super) async fn drop_table(&self, name: &TableName) -> Result<()> {
        self.client.admin().delete_table(name).await
    }

    pub(super) async fn take_snapshot(&self, snapshot: Snapshot) -> Result<()> {
        self.client.admin().take_snapshot(&snapshot).await
    }

    pub(super) async fn backup(
        &self,
        into: &str,
        progress: impl FnMut(&BackupStatus),
    ) -> Result<BackupStatus> {
        self.client.admin().backup(into, progress).await
    }

    pub(super) async fn snapshots(&self) -> Result<Vec<Snapshot>> {
        self.client.admin().snapshots().await
    }

    pub(super) async fn delete_snapshot(&self, name: &str) -> Result<()> {
        self.client.admin().delete_snapshot(name).await
    }

    pub(super) async fn clone_snapshot(&self, name: &str, table: &TableName) -> Result<()> {
        self.client.admin().clone_snapshot(name, table).await
    }

    pub(super) async fn restore_snapshot(&self, name: &str) -> Result<()> {
        self.client.admin().restore_snapshot(name).await
    }

    pub(super) async fn namespaces(&self) -> Result<Vec<Namespace>> {
        self.client.admin().namespaces().await
    }

    pub(super) async fn create_namespace(&self, namespace: Namespace) -> Result<()> {
        self.client.admin().create_namespace(&namespace).await
    }

    pub(super) async fn modify_namespace(&self, namespace: Namespace) -> Result<()> {
        self.client.admin().modify_namespace(&namespace).await
    }

    pub(super) async fn drop_namespace(&self, name: &str) -> Result<()> {
        self.client.admin().delete_namespace(name).await
    }

    pub(super) async fn flush(&self, name: &TableName) -> Result<()> {
        self.client.admin().flush_table(name).await
    }

    pub(super) async fn flush_family(&self, name: &TableName, family: &[u8]) -> Result<()> {
        self.client.admin().flush_family(name, family).await
    }

    pub(super) async fn compaction_state(&self, table: &TableName) -> Result<CompactionState> {
        self.client.admin().compaction_state(table).await
    }

    pub(super) async fn regions(
        &self,
        table: &TableName,
    ) -> Result<Vec<(RegionInfo, Option<ServerName>)>> {
        self.client.table(table).regions().await
    }

    pub(super) async fn get(&self, table: &TableName, get: &Get) -> Result<Row> {
        self.client.table(table).get(get).await
    }

    pub(super) async fn exists(&self, table: &TableName, get: &Get) -> Result<bool> {
        self.client.table(table).exists(get).await
    }

    pub(super) async fn get_many(&self, table: &TableName, gets: Vec<Get>) -> Vec<Result<Row>> {
        self.client.table(table).get_many(gets).await
    }

    pub(super) async fn mutate(
        &self,
        table: &TableName,
        mutation: Mutation,
    ) -> Result<MutationOutcome> {
        self.client.table(table).mutate(mutation).await
    }

    pub(super) async fn mutate_if(
        &self,
        table: &TableName,
        condition: Condition,
        mutation: Mutation,
    ) -> Result<Option<MutationOutcome>> {
        self.client.table(table).mutate_if(&condition, mutation).await
    }

    pub(super) async fn mutate_row(
        &self,
        table: &TableName,
        condition: Option<Condition>,
        mutations: RowMutations,
    ) -> Result<Option<MutationOutcome>> {
        let table = self.client.table(table);
        match condition {
            Some(condition) => table.mutate_row_if(&condition, &mutations).await,
            None => table.mutate_row(&mutations).await.map(Some),
        }
    }

    /// Inserts a row. HBase can check only one column atomically with a write, and treats an empty
    /// value as absent. So the whole row is read first, and the write checks its first column: of
    /// concurrent inserts of a row with the same first column exactly one succeeds.
    pub(super) async fn insert(&self, table: &TableName, put: Put) -> Result<bool> {
        let Some(first) = put.cells().iter().min_by_key(|cell| (cell.family(), cell.qualifier()))
        else {
            return Err(Error::invalid("No columns to insert"));
        };
        if first.value().is_empty() {
            return Err(Error::unsupported(format!(
                "a cluster treats an empty value as absent, so the first column of an inserted row \
                 must have a value: column={}:{}",
                escape(first.family()),
                escape(first.qualifier())
            )));
        }
        let absent = Condition::no_value(first.family().to_vec(), first.qualifier().to_vec());
        let table = self.client.table(table);
        if table.exists(&Get::new(put.row().clone())?).await? {
            return Ok(false);
        }
        Ok(table.mutate_if(&absent, put).await?.is_some())
    }

    pub(super) async fn batch(
        &self,
        table: &TableName,
        mutations: Vec<Mutation>,
    ) -> Vec<Result<MutationOutcome>> {
        self.client.table(table).batch(mutations).await
    }

    pub(super) fn scan(&self, table: &TableName, scan: Scan) -> Scanner {
        self.client.table(table).scan(scan)
    }

    /// Does nothing: the cluster keeps no state for this client, and the connections close with the
    /// last handle.
    pub(super) async fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// Whether an alteration declares indexes that were not declared before.
fn declares_more(current: &TableDescriptor, altered: &TableDescriptor) -> bool {
    let declared =
        |table: &TableDescriptor| table.attributes.get(INDEXES_ATTRIBUTE.as_bytes()).cloned();
    declared(altered).is_some_and(|text| declared(current) != Some(text))
}
