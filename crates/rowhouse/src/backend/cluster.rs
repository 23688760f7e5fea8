//! The backend for clusters, with HBase's protocol.

use super::alteration::Alteration;
use super::keeping::Keeper;
use rowhouse_client::{BackupStatus, Client, ClusterStatus, Scanner, Settings, Target};
use rowhouse_model::{
    Bytes, CellHistory, CompactionState, Condition, Error, ErrorKind, Get, HeatReport, Mutation,
    MutationOutcome, Namespace, Put, RegionInfo, RegionSwitch, Result, Row, RowMutations, Scan,
    ServerName, Snapshot, TableDescriptor, TableName, TableState, escape,
};
use rowhouse_schema::{INDEXES_ATTRIBUTE, IndexOf, IndexSchema, IndexState, layout_of};
use rowhouse_store::{CompactionKind, IndexReport};

/// Maximum attempts of an alteration that meets concurrent alterations.
const ALTER_ATTEMPTS_MAX: usize = 100;

/// A connection to a cluster.
pub(crate) struct Cluster {
    client: Client,
    /// Keeps the indexes if the server does not.
    keeper: Keeper,
}

impl Cluster {
    pub(super) async fn connect(target: &Target, settings: Settings) -> Result<Self> {
        let client = Client::connect_with(target, settings).await?;
        let keeper = Keeper::new(client.clone());
        Ok(Self::of(client, keeper))
    }

    pub(super) fn of(client: Client, keeper: Keeper) -> Self {
        Self { client, keeper }
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
        self.keeper.describe(name).await
    }

    pub(super) async fn table_state(&self, name: &TableName) -> Result<TableState> {
        self.client.admin().table_state(name).await
    }

    pub(super) async fn create_table(
        &self,
        descriptor: TableDescriptor,
        splits: Vec<Bytes>,
    ) -> Result<()> {
        self.keeper.create_table(&descriptor, &splits).await
    }

    pub(super) async fn indexes(&self, table: &TableName) -> Result<Option<IndexSchema>> {
        IndexSchema::of_table(&self.describe(table).await?)
    }

    pub(super) async fn index_state(&self, table: &TableName, index: &str) -> Result<IndexState> {
        let indexes = self.indexes(table).await?;
        let indexes =
            indexes.ok_or_else(|| Error::invalid(format!("table {table} declares no indexes")))?;
        let index = indexes.index(index)?;
        let of = IndexOf {
            table: table.clone(),
            index: index.name().to_owned(),
            is_copy: index.is_copy(),
        };
        let no_table = || IndexState::Off("it has no table, repair_index makes it".to_owned());
        match self.describe(&index.table_name(table)?).await {
            Ok(entries) if IndexOf::of_table(&entries)? == Some(of) => {
                IndexState::of_table(&entries)
            }
            Ok(_) => Ok(no_table()),
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(no_table()),
            Err(error) => Err(error),
        }
    }

    /// Compares an index with the rows of its table.
    pub(super) async fn verify_index(&self, table: &TableName, index: &str) -> Result<IndexReport> {
        if !self.keeper.server_keeps().await? {
            return self.keeper.verify(table, index).await;
        }
        let status = self.client.admin().verify_index(table, index).await?;
        let mut report = IndexReport::default();
        (report.rows, report.unfit_rows) = (status.rows, status.unfit_rows);
        (report.entries, report.missing) = (status.entries, status.missing);
        report.stale = status.stale;
        Ok(report)
    }

    /// Repairs an index. One that clients keep is repaired here, and its build finished.
    pub(super) async fn repair_index(&self, table: &TableName, index: &str) -> Result<()> {
        match self.keeper.server_keeps().await? {
            true => self.client.admin().repair_index(table, index).await,
            false => self.keeper.repair(table, index).await,
        }
    }

    /// Whether the server keeps the indexes: then it promotes them, and answers scans that carry a
    /// query.
    pub(super) async fn server_keeps_indexes(&self) -> Result<bool> {
        self.keeper.server_keeps().await
    }

    /// Swaps a table with one of its indexes, if the server keeps it.
    pub(super) async fn promote_index(&self, table: &TableName, index: &str) -> Result<()> {
        if !self.server_keeps_indexes().await? {
            return Err(Error::unsupported(format!(
                "an index that clients keep cannot be promoted: table={table}, index={index}"
            )));
        }
        let descriptor = self.describe(table).await?;
        self.client.admin().promote_index(table, index, layout_of(&descriptor)).await
    }

    /// Returns the rows whose entries may not be right, because a client is writing them; `None` if
    /// the server keeps the indexes.
    pub(super) async fn unsettled_rows(&self, table: &TableName) -> Result<Option<Vec<Bytes>>> {
        match self.keeper.server_keeps().await? {
            true => Ok(None),
            false => self.keeper.unsettled(table).await.map(Some),
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
        for _ in 0..ALTER_ATTEMPTS_MAX {
            let current = self.describe(name).await?;
            let altered = change(&current)?;
            let declares =
                |it: &TableDescriptor| it.attributes.contains_key(INDEXES_ATTRIBUTE.as_bytes());
            let done = match declares(&current) || declares(&altered) {
                true if !self.keeper.server_keeps().await? => {
                    let alter = |from, to| async move { self.alter(&from, &to).await };
                    self.keeper.alter_table(&current, &altered, alter).await
                }
                _ => self.alter(&current, &altered).await,
            };
            match done {
                Err(error) if error.kind() == ErrorKind::Conflict => continue,
                done => return done,
            }
        }
        let message = format!(
            "others altered the table each time: table={name}, attempts={ALTER_ATTEMPTS_MAX}"
        );
        Err(Error::new(ErrorKind::Conflict, message))
    }

    /// Alters a table by the smallest call.
    async fn alter(&self, current: &TableDescriptor, altered: &TableDescriptor) -> Result<()> {
        let (admin, name) = (self.client.admin(), current.name());
        match Alteration::between(current, altered) {
            Alteration::Nothing => Ok(()),
            Alteration::Added(family) => admin.add_family(name, family).await,
            Alteration::Altered { from, to } => admin.modify_family(name, to, Some(from)).await,
            Alteration::Dropped(family) => admin.delete_family(name, family).await,
            Alteration::Table => {
                let [current, altered] =
                    [current, altered].map(|it| self.keeper.stored(it.clone()));
                admin.modify_table(&altered, Some(&current)).await
            }
        }
    }

    /// Truncates a disabled table. Its indexes are emptied first: until both are done they are
    /// being built, and no query reads them.
    pub(super) async fn truncate_table(&self, name: &TableName, keep_splits: bool) -> Result<()> {
        let has_indexes = self.keeper.suspend(name).await?;
        if has_indexes {
            self.keeper.truncate_entries(name).await?;
        }
        self.client.admin().truncate_table(name, keep_splits).await?;
        if has_indexes {
            self.keeper.resume(name).await?;
        }
        Ok(())
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

    pub(super) async fn heat(&self, table: &TableName, from: i64, to: i64) -> Result<HeatReport> {
        let admin = self.client.admin();
        match self.keeper.server_keeps().await? {
            true => admin.heat(table, from, to).await,
            false => admin.heat_by_region(table).await,
        }
    }

    pub(super) fn admin(&self) -> rowhouse_client::Admin {
        self.client.admin()
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
        self.keeper.enable_entries(name).await?;
        self.client.admin().enable_table(name).await
    }

    pub(super) async fn disable_table(&self, name: &TableName) -> Result<()> {
        self.client.admin().disable_table(name).await?;
        self.keeper.disable_entries(name).await
    }

    pub(super) async fn drop_table(&self, name: &TableName) -> Result<()> {
        self.keeper.drop_all_entries(name).await?;
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
        self.client.admin().clone_snapshot(name, table).await?;
        self.keeper.build_all(table).await
    }

    pub(super) async fn restore_snapshot(&self, name: &str) -> Result<()> {
        let snapshots = self.snapshots().await?;
        if let Some(snapshot) = snapshots.iter().find(|snapshot| snapshot.name() == name) {
            self.keeper.suspend(&snapshot.table).await?;
        }
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
        mut mutation: Mutation,
    ) -> Result<MutationOutcome> {
        let write = self.keeper.begin(table, std::slice::from_mut(&mut mutation)).await?;
        let done = self.client.table(table).mutate(mutation).await;
        self.keeper.end_write(write, done.as_ref().err()).await;
        done
    }

    pub(super) async fn mutate_if(
        &self,
        table: &TableName,
        condition: Condition,
        mut mutation: Mutation,
    ) -> Result<Option<MutationOutcome>> {
        let write = self.keeper.begin(table, std::slice::from_mut(&mut mutation)).await?;
        let done = self.client.table(table).mutate_if(&condition, mutation).await;
        self.keeper.end_write(write, done.as_ref().err()).await;
        done
    }

    pub(super) async fn mutate_row(
        &self,
        table: &TableName,
        condition: Option<Condition>,
        mutations: RowMutations,
    ) -> Result<Option<MutationOutcome>> {
        let mut parts = mutations.mutations().to_vec();
        let write = self.keeper.begin(table, &mut parts).await?;
        let row = mutations.row().clone();
        let mutations = parts.into_iter().try_fold(RowMutations::new(row)?, RowMutations::with)?;
        let table = self.client.table(table);
        let done = match condition {
            Some(condition) => table.mutate_row_if(&condition, &mutations).await,
            None => table.mutate_row(&mutations).await.map(Some),
        };
        self.keeper.end_write(write, done.as_ref().err()).await;
        done
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
        if self.client.table(table).exists(&Get::new(put.row().clone())?).await? {
            return Ok(false);
        }
        Ok(self.mutate_if(table, absent, put.into()).await?.is_some())
    }

    pub(super) async fn batch(
        &self,
        table: &TableName,
        mut mutations: Vec<Mutation>,
    ) -> Vec<Result<MutationOutcome>> {
        let parts = match self.keeper.parts(table, &mutations).await {
            Ok(parts) => parts,
            Err(error) => return mutations.iter().map(|_| Err(error.clone())).collect(),
        };
        let mut outcomes = Vec::with_capacity(mutations.len());
        for part in parts {
            outcomes.extend(self.batch_part(table, &mut mutations[part]).await);
        }
        outcomes
    }

    /// Writes a part of a batch under one look at the declared indexes.
    async fn batch_part(
        &self,
        table: &TableName,
        mutations: &mut [Mutation],
    ) -> Vec<Result<MutationOutcome>> {
        let mut refused: Vec<Option<Error>> = mutations.iter().map(|_| None).collect();
        let write = match self.keeper.begin_part(table, mutations, &mut refused).await {
            Ok(write) => write,
            Err(error) => return mutations.iter().map(|_| Err(error.clone())).collect(),
        };
        let allowed = mutations.iter().zip(&refused).filter(|(_, refused)| refused.is_none());
        let allowed = allowed.map(|(mutation, _)| mutation.clone()).collect();
        let done = self.client.table(table).batch(allowed).await;
        self.keeper.end_write(write, done.iter().filter_map(|done| done.as_ref().err())).await;
        let mut done = done.into_iter();
        let outcome = |refused| match refused {
            Some(error) => Some(Err(error)),
            None => done.next(),
        };
        refused.into_iter().filter_map(outcome).collect()
    }

    pub(super) fn scan(&self, table: &TableName, scan: Scan) -> Scanner {
        self.client.table(table).scan(scan)
    }

    /// Returns the client's handle of a table.
    #[cfg(feature = "search")]
    pub(super) fn table(&self, table: &TableName) -> rowhouse_client::Table {
        self.client.table(table)
    }

    /// Scans the rows that match a query.
    pub(super) fn scan_matching(&self, table: &TableName, scan: Scan, query: &str) -> Scanner {
        self.client.table(table).scan_matching(scan, query.to_owned())
    }

    /// Removes what this client has noted to keep indexes. The connections close with the last
    /// handle.
    pub(super) async fn close(&self) -> Result<()> {
        self.keeper.end().await;
        Ok(())
    }
}
