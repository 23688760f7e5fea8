//! Administers tables, namespaces and the cluster.

mod backup;
mod faults;
mod followers;
mod heat;
mod indexes;
mod regions;
mod servers;
mod snapshots;

use std::time::Duration;

use rowhouse_format::convert::{names, table};
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::Call;
use rowhouse_model::{
    Bytes, ClusterStatus, Error, ErrorKind, FamilyDescriptor, Namespace, RegionLoad, Result,
    ServerLoad, ServerTask, TableDescriptor, TableName, TableState, escape,
};
use tokio::time::{Instant, sleep};

use crate::Client;
use crate::connection::CallRequest;
use crate::retry::{Attempts, from_now};

/// The first wait between procedure polls; each later wait is twice the previous one.
const POLL_WAIT_MIN: Duration = Duration::from_millis(20);
/// The longest wait between two procedure polls.
const POLL_WAIT_MAX: Duration = Duration::from_secs(1);

/// Calls to the cluster's master; cheap to clone. Calls that change something return when the
/// change is complete.
#[derive(Clone)]
pub struct Admin {
    pub(crate) client: Client,
}

impl Client {
    /// Returns the handle that administers tables, namespaces and the cluster.
    pub fn admin(&self) -> Admin {
        Admin { client: self.clone() }
    }
}

impl Admin {
    /// Creates a table, split at `splits` (the start keys of all regions but the first, in any
    /// order), and waits until it accepts reads and writes.
    ///
    /// # Errors
    /// `TableExists`, `NamespaceNotFound`; `InvalidRequest` for a table without families, and for
    /// an empty or duplicate split key.
    pub async fn create_table(&self, table: &TableDescriptor, splits: &[Bytes]) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let message = proto::CreateTableRequest {
            table_schema: table::to_proto(table),
            split_keys: sorted(splits)?,
            nonce_group,
            nonce,
        };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Replaces a table's declaration with `table`; anything missing in it is removed. If
    /// `expected` is given, the cluster refuses the change unless the current declaration equals
    /// it. Apache HBase ignores `expected`: when two alterations are concurrent, the last
    /// overwrites the other.
    ///
    /// # Errors
    /// `TableNotFound`; `Conflict` if the declaration differs from `expected`; the cluster's error
    /// for a change that it does not support.
    pub async fn modify_table(
        &self,
        table: &TableDescriptor,
        expected: Option<&TableDescriptor>,
    ) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let message = proto::ModifyTableRequest {
            table_name: names::table_to_proto(table.name()),
            table_schema: table::to_proto(table),
            nonce_group,
            nonce,
            rowhouse_expected: expected.map(table::to_proto),
            ..Default::default()
        };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Adds a family. Concurrent alterations to other families are preserved.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidFamily` if the family exists; the cluster's error for a declaration
    /// that it does not support.
    pub async fn add_family(&self, table: &TableName, family: &FamilyDescriptor) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let message = proto::AddColumnRequest {
            table_name: names::table_to_proto(table),
            column_families: table::family_to_proto(family),
            nonce_group,
            nonce,
        };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Replaces a family's declaration with `family`. Concurrent alterations to other families are
    /// preserved. `expected` works as in [`Admin::modify_table`].
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidFamily` if the family does not exist; `Conflict` if the declaration
    /// differs from `expected`; the cluster's error for a change that it does not support.
    pub async fn modify_family(
        &self,
        table: &TableName,
        family: &FamilyDescriptor,
        expected: Option<&FamilyDescriptor>,
    ) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let message = proto::ModifyColumnRequest {
            table_name: names::table_to_proto(table),
            column_families: table::family_to_proto(family),
            nonce_group,
            nonce,
            rowhouse_expected: expected.map(table::family_to_proto),
        };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Drops a family with the cells in it.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidFamily` if the family does not exist, or is the table's only one.
    pub async fn delete_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let message = proto::DeleteColumnRequest {
            table_name: names::table_to_proto(table),
            column_name: Bytes::copy_from_slice(family),
            nonce_group,
            nonce,
        };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Deletes all cells in a disabled table and enables it. With `keep_splits` the table keeps the
    /// region boundaries, otherwise it gets a single region.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`.
    pub async fn truncate_table(&self, table: &TableName, keep_splits: bool) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let message = proto::TruncateTableRequest {
            table_name: names::table_to_proto(table),
            preserve_splits: Some(keep_splits),
            nonce_group,
            nonce,
        };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await?;
        self.client.locator().forget_table(table);
        Ok(())
    }

    /// Drops a disabled table and the data in it.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`.
    pub async fn delete_table(&self, table: &TableName) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let table_name = names::table_to_proto(table);
        let message = proto::DeleteTableRequest { table_name, nonce_group, nonce };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await?;
        self.client.locator().forget_table(table);
        Ok(())
    }

    /// Disables a table.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`.
    pub async fn disable_table(&self, table: &TableName) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let table_name = names::table_to_proto(table);
        let message = proto::DisableTableRequest { table_name, nonce_group, nonce };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Enables a disabled table.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`.
    pub async fn enable_table(&self, table: &TableName) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let table_name = names::table_to_proto(table);
        let message = proto::EnableTableRequest { table_name, nonce_group, nonce };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Flushes the table's memstores to files.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`.
    pub async fn flush_table(&self, table: &TableName) -> Result<()> {
        self.flush(table, Vec::new()).await
    }

    /// Flushes one family's memstores.
    ///
    /// # Errors
    /// As [`Admin::flush_table`]; `NoSuchColumnFamily`.
    pub async fn flush_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        self.flush(table, vec![Bytes::copy_from_slice(family)]).await
    }

    async fn flush(&self, table: &TableName, column_family: Vec<Bytes>) -> Result<()> {
        if self.table_state(table).await? == TableState::Disabled {
            return Err(Error::new(ErrorKind::TableNotEnabled, table.to_string()));
        }
        let (nonce_group, nonce) = self.nonce();
        let table_name = names::table_to_proto(table);
        let message = proto::FlushTableRequest { table_name, nonce_group, nonce, column_family };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Returns all table names except HBase's own, sorted.
    ///
    /// # Errors
    /// The last retry's error.
    pub async fn tables(&self) -> Result<Vec<TableName>> {
        let answer = self.call(proto::GetTableNamesRequest::default()).await?;
        table_names(answer.table_names)
    }

    /// Returns the table names in a namespace, sorted.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub async fn tables_in(&self, namespace: &str) -> Result<Vec<TableName>> {
        let namespace_name = namespace.to_owned();
        let answer = self.call(proto::ListTableNamesByNamespaceRequest { namespace_name }).await?;
        table_names(answer.table_name)
    }

    /// Returns the declarations of all tables except HBase's own, sorted by name.
    ///
    /// # Errors
    /// As [`Admin::tables`].
    pub async fn descriptors(&self) -> Result<Vec<TableDescriptor>> {
        let answer = self.call(proto::GetTableDescriptorsRequest::default()).await?;
        let tables = answer.table_schema.into_iter().map(table::from_proto);
        let mut tables = tables.collect::<Result<Vec<_>>>()?;
        tables.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(tables)
    }

    /// Returns a table's declaration.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn descriptor(&self, table: &TableName) -> Result<TableDescriptor> {
        let message = proto::GetTableDescriptorsRequest {
            table_names: vec![names::table_to_proto(table)],
            ..Default::default()
        };
        // The answer for an unknown table is empty.
        let schema = self.call(message).await?.table_schema.into_iter().next();
        table::from_proto(schema.ok_or_else(|| not_found(table))?)
    }

    /// Returns true if the table exists.
    ///
    /// # Errors
    /// As [`Admin::tables`].
    pub async fn table_exists(&self, table: &TableName) -> Result<bool> {
        Ok(self.client.table_state(table).await?.is_some())
    }

    /// Returns a table's state. While the state is changing, the table accepts neither reads nor
    /// writes.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn table_state(&self, table: &TableName) -> Result<TableState> {
        self.client.table_state(table).await?.ok_or_else(|| not_found(table))
    }

    /// Returns true if a table is enabled.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn is_enabled(&self, table: &TableName) -> Result<bool> {
        Ok(self.table_state(table).await? == TableState::Enabled)
    }

    /// Returns true if a table is disabled.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn is_disabled(&self, table: &TableName) -> Result<bool> {
        Ok(self.table_state(table).await? == TableState::Disabled)
    }

    /// Returns all namespaces, including HBase's own, sorted by name.
    ///
    /// # Errors
    /// As [`Admin::tables`].
    pub async fn namespaces(&self) -> Result<Vec<Namespace>> {
        let answer = self.call(proto::ListNamespaceDescriptorsRequest {}).await?;
        let namespaces = answer.namespace_descriptor.into_iter().map(names::namespace_from_proto);
        let mut namespaces = namespaces.collect::<Result<Vec<_>>>()?;
        namespaces.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(namespaces)
    }

    /// Returns a namespace by name.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub async fn namespace(&self, name: &str) -> Result<Namespace> {
        let namespace_name = name.to_owned();
        let answer = self.call(proto::GetNamespaceDescriptorRequest { namespace_name }).await?;
        names::namespace_from_proto(answer.namespace_descriptor)
    }

    /// Creates a namespace.
    ///
    /// # Errors
    /// `NamespaceExists`.
    pub async fn create_namespace(&self, namespace: &Namespace) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let namespace_descriptor = names::namespace_to_proto(namespace);
        let message = proto::CreateNamespaceRequest { namespace_descriptor, nonce_group, nonce };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Replaces a namespace's configuration with the configuration in `namespace`.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub async fn modify_namespace(&self, namespace: &Namespace) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let namespace_descriptor = names::namespace_to_proto(namespace);
        let message = proto::ModifyNamespaceRequest { namespace_descriptor, nonce_group, nonce };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Drops an empty namespace.
    ///
    /// # Errors
    /// `NamespaceNotFound`, `NamespaceConstraint` while it has tables.
    pub async fn delete_namespace(&self, name: &str) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let namespace_name = name.to_owned();
        let message = proto::DeleteNamespaceRequest { namespace_name, nonce_group, nonce };
        let answer = self.call(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Returns the cluster status.
    ///
    /// # Errors
    /// As [`Admin::tables`].
    pub async fn cluster_status(&self) -> Result<ClusterStatus> {
        use proto::Option::*;
        let options = [
            HbaseVersion,
            ClusterId,
            Master,
            BackupMasters,
            ServersName,
            LiveServers,
            DeadServers,
            RegionsInTransition,
            BalancerOn,
        ];
        let options = options.into_iter().map(i32::from).collect();
        let status = self.call(proto::GetClusterStatusRequest { options }).await?.cluster_status;
        let servers = |servers: Vec<proto::ServerName>| {
            servers.into_iter().map(names::server_from_proto).collect::<Result<Vec<_>>>()
        };
        Ok(ClusterStatus {
            balancer_on: status.balancer_on(),
            version: status.hbase_version.map(|version| version.version).unwrap_or_default(),
            cluster_id: status.cluster_id.map(|id| id.cluster_id).unwrap_or_default(),
            master: status.master.map(names::server_from_proto).transpose()?,
            backup_masters: servers(status.backup_masters)?,
            live_servers: servers(status.servers_name)?,
            loads: status.live_servers.into_iter().map(load).collect::<Result<_>>()?,
            dead_servers: servers(status.dead_servers)?,
            regions_in_transition: status.regions_in_transition.len(),
        })
    }

    /// Returns the names of the coprocessors that the master has loaded. A rowhouse server names
    /// there what it does by itself.
    ///
    /// # Errors
    /// The last retry's error.
    pub async fn master_coprocessors(&self) -> Result<Vec<String>> {
        let options = vec![proto::Option::MasterCoprocessors.into()];
        let status = self.call(proto::GetClusterStatusRequest { options }).await?.cluster_status;
        Ok(status.master_coprocessors.into_iter().map(|it| it.name).collect())
    }

    /// Calls the active master, with retries. Calls that change something carry a nonce, so they
    /// are as safe to retry as the others.
    async fn call<M: Call + Clone>(&self, message: M) -> Result<M::Answer> {
        let locator = self.client.locator();
        let mut attempts = Attempts::new(self.client.settings());
        loop {
            let deadline = attempts.deadline();
            let failure = match locator.master(deadline).await {
                Err(failure) => failure,
                Ok(master) => {
                    let message = message.clone();
                    let request =
                        CallRequest { message, cells: &[], is_meta_call: false, deadline };
                    match self.client.connections().call(&master, request).await {
                        Ok((answer, _)) => return Ok(answer),
                        Err(failure) => {
                            if failure.is_misplaced() {
                                locator.forget_master(&master);
                            }
                            failure
                        }
                    }
                }
            };
            attempts.wait(failure, true).await?;
        }
    }

    /// Waits until a procedure ends; returns immediately without one.
    async fn wait_for(&self, procedure: Option<u64>) -> Result<()> {
        use proto::get_procedure_result_response::State;
        let Some(proc_id) = procedure else { return Ok(()) };
        let limit = self.client.settings().procedure_timeout;
        let end = from_now(limit);
        let mut wait = POLL_WAIT_MIN;
        loop {
            let answer = self.call(proto::GetProcedureResultRequest { proc_id }).await?;
            // An unknown procedure has finished and been forgotten.
            if answer.state() != State::Running {
                return match answer.exception {
                    Some(exception) => Err(Exception::from_foreign(exception).into_error()),
                    None => Ok(()),
                };
            }
            if Instant::now() + wait > end {
                let message =
                    format!("procedure not finished: procedure={proc_id}, limit={limit:?}");
                return Err(Error::new(ErrorKind::Timeout, message));
            }
            sleep(wait).await;
            wait = (wait * 2).min(POLL_WAIT_MAX);
        }
    }

    fn nonce(&self) -> (Option<u64>, Option<u64>) {
        let nonce = self.client.nonce();
        (Some(nonce.group), Some(nonce.number))
    }
}

fn load(server: proto::LiveServerInfo) -> Result<ServerLoad> {
    let name = names::server_from_proto(server.server)?;
    let requests_per_second = server.server_load.number_of_requests();
    let mut regions: Vec<_> = server.server_load.region_loads.into_iter().map(region).collect();
    regions.sort_by(|a, b| a.name.cmp(&b.name));
    let tasks = server.server_load.tasks.into_iter().map(task).collect();
    Ok(ServerLoad { name, requests_per_second, regions, tasks })
}

fn task(task: proto::ServerTask) -> ServerTask {
    ServerTask {
        started_millis: task.start_time().cast_signed(),
        description: task.description,
        status: task.status,
    }
}

fn region(load: proto::RegionLoad) -> RegionLoad {
    RegionLoad {
        stores: load.stores().into(),
        files: load.storefiles().into(),
        uncompressed_mib: load.store_uncompressed_size_mb().into(),
        file_mib: load.storefile_size_mb().into(),
        memstore_mib: load.mem_store_size_mb().into(),
        reads: load.read_requests_count(),
        filtered_reads: load.filtered_read_requests_count(),
        writes: load.write_requests_count(),
        name: load.region_specifier.value,
    }
}

/// Returns the split keys sorted. Servers use unsorted keys as they are and would create
/// overlapping regions.
fn sorted(splits: &[Bytes]) -> Result<Vec<Bytes>> {
    let mut splits = splits.to_vec();
    splits.sort();
    if splits.first().is_some_and(Bytes::is_empty) {
        return Err(Error::invalid("a split key must not be empty"));
    }
    match splits.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(splits),
        Some(pair) => Err(Error::invalid(format!(
            "split keys must be distinct: duplicate={}",
            escape(&pair[0])
        ))),
    }
}

fn not_found(table: &TableName) -> Error {
    Error::new(ErrorKind::TableNotFound, table.to_string())
}

fn table_names(tables: Vec<proto::TableName>) -> Result<Vec<TableName>> {
    let mut tables = tables.into_iter().map(names::table_from_proto).collect::<Result<Vec<_>>>()?;
    tables.sort();
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_keys_are_sorted_and_checked() {
        let splits = |keys: &[&'static str]| {
            sorted(&keys.iter().map(|key| Bytes::from(*key)).collect::<Vec<_>>())
        };
        assert_eq!(splits(&["b", "a", "ab"]).unwrap(), ["a", "ab", "b"]);
        assert!(splits(&[]).unwrap().is_empty());
        assert!(splits(&["b", ""]).is_err());
        assert!(splits(&["b", "a", "b"]).unwrap_err().message().ends_with("duplicate=b"));
    }
}
