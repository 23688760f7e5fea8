//! The backend for clusters, with HBase's protocol.

use super::alteration::Alteration;
use super::keeping::Maintainer;
use rowhouse_client::{Client, QueryIndexCall, Scanner, Settings, Target};
use rowhouse_model::{
    Bytes, CellHistory, Condition, DeleteRows, DeletedRows, Error, ErrorKind, Get, Mutation,
    MutationOutcome, Put, RegionInfo, Result, Row, RowMutations, Scan, ServerName, TableDescriptor,
    TableName, TableState, escape,
};
use rowhouse_schema::{INDEXES_ATTRIBUTE, IndexOf, IndexSchema, IndexState};

/// Maximum attempts for an alteration that meets concurrent alterations.
const ALTER_ATTEMPTS_MAX: usize = 100;

/// A connection to a cluster.
pub(crate) struct Cluster {
    client: Client,
    /// Maintains the indexes if the server does not.
    maintainer: Maintainer,
}

impl Cluster {
    pub(super) async fn connect(target: &Target, settings: Settings) -> Result<Self> {
        let client = Client::connect_with(target, settings).await?;
        let maintainer = Maintainer::new(client.clone());
        Ok(Self::of(client, maintainer))
    }

    pub(super) fn of(client: Client, maintainer: Maintainer) -> Self {
        Self { client, maintainer }
    }

    /// Returns the calls to the cluster's master.
    pub(crate) fn admin(&self) -> rowhouse_client::Admin {
        self.client.admin()
    }

    /// Returns the cluster id.
    pub(crate) fn id(&self) -> &str {
        self.client.cluster_id()
    }

    /// Returns the part that maintains the indexes if the server does not.
    pub(crate) fn maintainer(&self) -> &Maintainer {
        &self.maintainer
    }

    pub(crate) async fn describe(&self, name: &TableName) -> Result<TableDescriptor> {
        self.maintainer.describe(name).await
    }

    pub(super) async fn table_state(&self, name: &TableName) -> Result<TableState> {
        self.client.admin().table_state(name).await
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
            is_in_memory: index.is_in_memory(),
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

    /// Whether the server maintains the indexes: then it promotes them, and answers scans that
    /// carry a query.
    pub(crate) async fn server_keeps_indexes(&self) -> Result<bool> {
        self.maintainer.server_keeps().await
    }

    /// Returns the index by which the server reads a query.
    pub(super) async fn query_index(&self, call: &QueryIndexCall) -> Result<Option<String>> {
        self.client.admin().query_index(call).await
    }

    /// Returns the rows whose entries may not be right, because a client is writing them; `None` if
    /// the server maintains the indexes.
    pub(super) async fn unsettled_rows(&self, table: &TableName) -> Result<Option<Vec<Bytes>>> {
        if self.maintainer.server_keeps().await? {
            Ok(None)
        } else {
            self.maintainer.unsettled(table).await.map(Some)
        }
    }

    pub(super) async fn explain_cell(&self, table: &TableName, _: &Get) -> Result<CellHistory> {
        Err(Error::unsupported(format!(
            "a cluster cannot explain a cell, only a data directory can: table={table}"
        )))
    }

    /// Alters a table. A rowhouse server refuses the change if another alteration came in between,
    /// and the change is repeated with the new declaration. An Apache HBase accepts it, so a change
    /// to a single family uses a call for that family, which leaves the others unchanged.
    pub(crate) async fn change_table(
        &self,
        name: &TableName,
        change: impl Fn(&TableDescriptor) -> Result<TableDescriptor>,
    ) -> Result<()> {
        for _ in 0..ALTER_ATTEMPTS_MAX {
            let current = self.describe(name).await?;
            let altered = change(&current)?;
            self.maintainer.refuse_buffered(Some(&current), &altered).await?;
            let declares =
                |it: &TableDescriptor| it.attributes.contains_key(INDEXES_ATTRIBUTE.as_bytes());
            let done = match declares(&current) || declares(&altered) {
                true if !self.maintainer.server_keeps().await? => {
                    let alter = |from, to| async move { self.alter(&from, &to).await };
                    self.maintainer.alter_table(&current, &altered, alter).await
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
        let admin = self.client.admin();
        let name = current.name();
        match Alteration::between(current, altered) {
            Alteration::Nothing => Ok(()),
            Alteration::Added(family) => admin.add_family(name, family).await,
            Alteration::Altered { from, to } => admin.modify_family(name, to, Some(from)).await,
            Alteration::Dropped(family) => admin.delete_family(name, family).await,
            Alteration::Table => {
                let [current, altered] =
                    [current, altered].map(|it| self.maintainer.stored(it.clone()));
                admin.modify_table(&altered, Some(&current)).await
            }
        }
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
        let write = self.maintainer.begin(table, std::slice::from_mut(&mut mutation)).await?;
        let done = self.client.table(table).mutate(mutation).await;
        self.maintainer.end_write(write, done.as_ref().err()).await;
        done
    }

    pub(super) async fn mutate_if(
        &self,
        table: &TableName,
        condition: Condition,
        mut mutation: Mutation,
    ) -> Result<Option<MutationOutcome>> {
        let write = self.maintainer.begin(table, std::slice::from_mut(&mut mutation)).await?;
        let done = self.client.table(table).mutate_if(&condition, mutation).await;
        self.maintainer.end_write(write, done.as_ref().err()).await;
        done
    }

    pub(super) async fn mutate_row(
        &self,
        table: &TableName,
        condition: Option<Condition>,
        mutations: RowMutations,
    ) -> Result<Option<MutationOutcome>> {
        let mut parts = mutations.mutations().to_vec();
        let write = self.maintainer.begin(table, &mut parts).await?;
        let row = mutations.row().clone();
        let mutations = parts.into_iter().try_fold(RowMutations::new(row)?, RowMutations::with)?;
        let table = self.client.table(table);
        let done = match condition {
            Some(condition) => table.mutate_row_if(&condition, &mutations).await,
            None => table.mutate_row(&mutations).await.map(Some),
        };
        self.maintainer.end_write(write, done.as_ref().err()).await;
        done
    }

    /// Inserts a row. HBase can check only one column atomically with a write, and treats an empty
    /// value as absent. So the whole row is read first, and the write checks the row's first
    /// column: among concurrent inserts for a row with the same first column exactly one succeeds.
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
        let parts = match self.maintainer.parts(table, &mutations).await {
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
        let write = match self.maintainer.begin_part(table, mutations, &mut refused).await {
            Ok(write) => write,
            Err(error) => return mutations.iter().map(|_| Err(error.clone())).collect(),
        };
        let allowed = mutations.iter().zip(&refused).filter(|(_, refused)| refused.is_none());
        let allowed = allowed.map(|(mutation, _)| mutation.clone()).collect();
        let done = self.client.table(table).batch(allowed).await;
        self.maintainer.end_write(write, done.iter().filter_map(|done| done.as_ref().err())).await;
        let mut done = done.into_iter();
        let outcome = |refused| match refused {
            Some(error) => Some(Err(error)),
            None => done.next(),
        };
        refused.into_iter().filter_map(outcome).collect()
    }

    pub(super) async fn delete_rows(
        &self,
        table: &TableName,
        request: DeleteRows,
    ) -> Result<DeletedRows> {
        self.client.table(table).delete_rows(&request).await
    }

    pub(crate) fn scan(&self, table: &TableName, scan: Scan) -> Scanner {
        self.client.table(table).scan(scan)
    }

    /// Returns the client's table handle.
    pub(crate) fn table(&self, table: &TableName) -> rowhouse_client::Table {
        self.client.table(table)
    }

    /// Scans the rows that match a query.
    pub(crate) fn scan_matching(&self, table: &TableName, scan: Scan, query: &str) -> Scanner {
        self.client.table(table).scan_matching(scan, query.to_owned())
    }

    /// Removes what this client has noted to maintain indexes. The connections close with the last
    /// handle.
    pub(super) async fn close(&self) -> Result<()> {
        self.maintainer.end().await;
        Ok(())
    }
}
