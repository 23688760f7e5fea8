//! Tables, namespaces and the cluster itself.

mod backup;
mod regions;
mod snapshots;

use std::time::Duration;

use rowhouse_format::convert::{names, table};
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::Call;
use rowhouse_model::{
    Bytes, Error, ErrorKind, FamilyDescriptor, Namespace, Result, ServerName, TableDescriptor,
    TableName, TableState, escape,
};
use tokio::time::{Instant, sleep};

use crate::Client;
use crate::connection::Question;
use crate::retry::{Attempts, from_now};

/// The first wait for a procedure; each is twice the one before.
const POLL_WAIT_MIN: Duration = Duration::from_millis(20);
/// The longest wait between two questions about a procedure.
const POLL_WAIT_MAX: Duration = Duration::from_secs(1);

/// What is asked of the cluster's master; cheap to clone. Calls that change something return when
/// it is done.
#[derive(Clone)]
pub struct Admin {
    pub(crate) client: Client,
}

/// What a cluster says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterStatus {
    /// The version of the server software, as it prints it.
    pub version: String,
    /// The cluster's id.
    pub cluster_id: String,
    /// The active master.
    pub master: Option<ServerName>,
    /// Masters that wait to become active.
    pub backup_masters: Vec<ServerName>,
    /// Region servers that are alive.
    pub live_servers: Vec<ServerName>,
    /// The same, with what they serve.
    pub loads: Vec<ServerLoad>,
    /// Region servers that are known to be dead.
    pub dead_servers: Vec<ServerName>,
    /// Regions on their way from one server to another.
    pub regions_in_transition: usize,
    /// Whether the balancer moves regions.
    pub balancer_on: bool,
}

/// What a region server serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLoad {
    /// The server.
    pub name: ServerName,
    /// Requests in the last second, where it tells.
    pub requests_per_second: u64,
    /// Its regions, by name.
    pub regions: Vec<RegionLoad>,
}

/// What a region holds and has done since it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionLoad {
    /// Its full name.
    pub name: Bytes,
    /// Families.
    pub stores: u64,
    /// HFiles.
    pub files: u64,
    /// Bytes of HFiles before compression, in MiB, rounded down.
    pub uncompressed_mib: u64,
    /// Bytes of HFiles, in MiB, rounded down.
    pub file_mib: u64,
    /// Bytes of memstores, in MiB, rounded down.
    pub memstore_mib: u64,
    /// Requests that read.
    pub reads: u64,
    /// Requests that wrote.
    pub writes: u64,
}

impl Admin {
    /// Creates a table, split at `splits` (the start keys of all regions but the first, in any
    /// order), and waits until it takes reads and writes.
    ///
    /// # Errors
    /// `TableExists`, `NamespaceNotFound`; `InvalidRequest` for a table without families, and for
    /// a split key that is empty or named twice.
    pub async fn create_table(&self, table: &TableDescriptor, splits: &[Bytes]) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let message = proto::CreateTableRequest {
            table_schema: table::to_proto(table),
            split_keys: sorted(splits)?,
            nonce_group,
            nonce,
        };
        let answer = self.ask(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Declares a table anew, as all of `table` says: what is not in it is no longer declared. The cluster
    /// refuses it where the table is not declared as `expected`, if that is given; an Apache HBase does not
    /// look at that, and the last of two alterations at one time undoes the other.
    ///
    /// # Errors
    /// `TableNotFound`; `Conflict` when the table is not as expected; what the cluster does not change.
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
        let answer = self.ask(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Adds a family. Alterations of other families at the same time stand beside it.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidFamily` where there is one of the name; what the cluster cannot keep.
    pub async fn add_family(&self, table: &TableName, family: &FamilyDescriptor) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let message = proto::AddColumnRequest {
            table_name: names::table_to_proto(table),
            column_families: table::family_to_proto(family),
            nonce_group,
            nonce,
        };
        let answer = self.ask(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Declares a family anew, as all of `family` says. Alterations of other families at the same time stand
    /// beside it. `expected` is as for [`Admin::modify_table`].
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidFamily` where there is none of the name; `Conflict` when the family is not as
    /// expected; what the cluster does not change.
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
        let answer = self.ask(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Drops a family with its cells.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidFamily` where there is none of the name, or no other.
    pub async fn delete_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let message = proto::DeleteColumnRequest {
            table_name: names::table_to_proto(table),
            column_name: Bytes::copy_from_slice(family),
            nonce_group,
            nonce,
        };
        let answer = self.ask(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Drops all cells of a disabled table, and takes it into service again: with the bounds of its regions
    /// if `keep_splits`, otherwise as one region.
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
        let answer = self.ask(message).await?;
        self.wait_for(answer.proc_id).await?;
        self.client.locator().forget_table(table);
        Ok(())
    }

    /// Drops a disabled table and its data.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`.
    pub async fn delete_table(&self, table: &TableName) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let table_name = names::table_to_proto(table);
        let message = proto::DeleteTableRequest { table_name, nonce_group, nonce };
        let answer = self.ask(message).await?;
        self.wait_for(answer.proc_id).await?;
        self.client.locator().forget_table(table);
        Ok(())
    }

    /// Takes a table out of service.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`.
    pub async fn disable_table(&self, table: &TableName) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let table_name = names::table_to_proto(table);
        let message = proto::DisableTableRequest { table_name, nonce_group, nonce };
        let answer = self.ask(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Takes a disabled table into service again.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`.
    pub async fn enable_table(&self, table: &TableName) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let table_name = names::table_to_proto(table);
        let message = proto::EnableTableRequest { table_name, nonce_group, nonce };
        let answer = self.ask(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Writes the table's memstores to files.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`.
    pub async fn flush_table(&self, table: &TableName) -> Result<()> {
        self.flush(table, Vec::new()).await
    }

    /// The same of one family.
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
        let answer = self.ask(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// The names of all tables but HBase's own, sorted.
    ///
    /// # Errors
    /// What is left when repeating did not help.
    pub async fn tables(&self) -> Result<Vec<TableName>> {
        let answer = self.ask(proto::GetTableNamesRequest::default()).await?;
        table_names(answer.table_names)
    }

    /// The names of the tables in a namespace, sorted.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub async fn tables_in(&self, namespace: &str) -> Result<Vec<TableName>> {
        let namespace_name = namespace.to_owned();
        let answer = self.ask(proto::ListTableNamesByNamespaceRequest { namespace_name }).await?;
        table_names(answer.table_name)
    }

    /// All tables but HBase's own, as declared, sorted by name.
    ///
    /// # Errors
    /// As [`Admin::tables`].
    pub async fn descriptors(&self) -> Result<Vec<TableDescriptor>> {
        let answer = self.ask(proto::GetTableDescriptorsRequest::default()).await?;
        let tables = answer.table_schema.into_iter().map(table::from_proto);
        let mut tables = tables.collect::<Result<Vec<_>>>()?;
        tables.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(tables)
    }

    /// A table as declared.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn descriptor(&self, table: &TableName) -> Result<TableDescriptor> {
        let message = proto::GetTableDescriptorsRequest {
            table_names: vec![names::table_to_proto(table)],
            ..Default::default()
        };
        // The answer about a table that does not exist is empty.
        let schema = self.ask(message).await?.table_schema.into_iter().next();
        table::from_proto(schema.ok_or_else(|| not_found(table))?)
    }

    /// Whether there is such a table.
    ///
    /// # Errors
    /// As [`Admin::tables`].
    pub async fn table_exists(&self, table: &TableName) -> Result<bool> {
        Ok(self.client.table_state(table).await?.is_some())
    }

    /// Whether a table takes reads and writes. One on its way from one state to the other does
    /// not.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn table_state(&self, table: &TableName) -> Result<TableState> {
        self.client.table_state(table).await?.ok_or_else(|| not_found(table))
    }

    /// Whether a table is enabled.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn is_enabled(&self, table: &TableName) -> Result<bool> {
        Ok(self.table_state(table).await? == TableState::Enabled)
    }

    /// Whether a table is disabled.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn is_disabled(&self, table: &TableName) -> Result<bool> {
        Ok(self.table_state(table).await? == TableState::Disabled)
    }

    /// All namespaces, HBase's own included, sorted by name.
    ///
    /// # Errors
    /// As [`Admin::tables`].
    pub async fn namespaces(&self) -> Result<Vec<Namespace>> {
        let answer = self.ask(proto::ListNamespaceDescriptorsRequest {}).await?;
        let namespaces = answer.namespace_descriptor.into_iter().map(names::namespace_from_proto);
        let mut namespaces = namespaces.collect::<Result<Vec<_>>>()?;
        namespaces.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(namespaces)
    }

    /// A namespace by name.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub async fn namespace(&self, name: &str) -> Result<Namespace> {
        let namespace_name = name.to_owned();
        let answer = self.ask(proto::GetNamespaceDescriptorRequest { namespace_name }).await?;
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
        let answer = self.ask(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// Gives a namespace another configuration, as all of `namespace` says.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub async fn modify_namespace(&self, namespace: &Namespace) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let namespace_descriptor = names::namespace_to_proto(namespace);
        let message = proto::ModifyNamespaceRequest { namespace_descriptor, nonce_group, nonce };
        let answer = self.ask(message).await?;
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
        let answer = self.ask(message).await?;
        self.wait_for(answer.proc_id).await
    }

    /// What the cluster says about itself.
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
        let status = self.ask(proto::GetClusterStatusRequest { options }).await?.cluster_status;
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

    /// Asks the active master until it answers. Calls that change something carry a nonce, so that
    /// they can be repeated like the others.
    async fn ask<M: Call + Clone>(&self, message: M) -> Result<M::Answer> {
        let locator = self.client.locator();
        let mut attempts = Attempts::new(self.client.settings());
        loop {
            let deadline = attempts.deadline();
            let failure = match locator.master(deadline).await {
                Err(failure) => failure,
                Ok(master) => {
                    let message = message.clone();
                    let question = Question { message, cells: &[], about_meta: false, deadline };
                    match self.client.connections().call(&master, question).await {
                        Ok((answer, _)) => return Ok(answer),
                        Err(failure) => {
                            if failure.is_misplaced() {
                                locator.forget_master(&master).await;
                            }
                            failure
                        }
                    }
                }
            };
            attempts.wait(failure, true).await?;
        }
    }

    /// Waits for the end of a procedure; without one there is nothing to wait for.
    async fn wait_for(&self, procedure: Option<u64>) -> Result<()> {
        use proto::get_procedure_result_response::State;
        let Some(proc_id) = procedure else { return Ok(()) };
        let limit = self.client.settings().procedure_timeout;
        let end = from_now(limit);
        let mut wait = POLL_WAIT_MIN;
        loop {
            let answer = self.ask(proto::GetProcedureResultRequest { proc_id }).await?;
            // One that is not found was done, and forgotten since.
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
    Ok(ServerLoad { name, requests_per_second, regions })
}

fn region(load: proto::RegionLoad) -> RegionLoad {
    RegionLoad {
        stores: load.stores().into(),
        files: load.storefiles().into(),
        uncompressed_mib: load.store_uncompressed_size_mb().into(),
        file_mib: load.storefile_size_mb().into(),
        memstore_mib: load.mem_store_size_mb().into(),
        reads: load.read_requests_count(),
        writes: load.write_requests_count(),
        name: load.region_specifier.value,
    }
}

/// Split keys in order; servers take them as they come, and would make regions that overlap.
fn sorted(splits: &[Bytes]) -> Result<Vec<Bytes>> {
    let mut splits = splits.to_vec();
    splits.sort();
    if splits.first().is_some_and(Bytes::is_empty) {
        return Err(Error::invalid("a split key must not be empty"));
    }
    match splits.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(splits),
        Some(pair) => {
            Err(Error::invalid(format!("split keys must differ: twice={}", escape(&pair[0]))))
        }
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
        assert!(splits(&["b", "a", "b"]).unwrap_err().message().ends_with("twice=b"));
    }
}
