//! Procedures that clients start by signature (`ExecProcedure`) and query (`IsProcedureDone`).
//! Every HBase client can call them, so rowhouse's own calls are procedures, each in a file with
//! both message directions.

pub mod backup;
pub mod fault;
pub mod follower;
pub mod heat;
pub mod index;
pub mod promotion;
pub mod query_index;
pub mod region_server;
pub mod state;

mod pairs;

use rowhouse_model::{Error, Result, TableName};

use crate::proto;
use backup::BackupCall;
use fault::FaultCall;
use follower::FollowerCall;
use heat::HeatCall;
use index::IndexCall;
use pairs::value;
use promotion::PromotionCall;
use query_index::QueryIndexCall;
use region_server::RegionServerCall;
use state::StateCall;

/// HBase's `MasterFlushTableProcedureManager`, which `Admin.flush` calls in clients before 2.6.
const FLUSH: &str = "flush-table-proc";
/// HBase's `SnapshotManager`, started as a procedure.
const SNAPSHOT: &str = "online-snapshot";

/// A procedure call, identified by the signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcedureCall {
    /// Flushes a table: the named families, or all if none are named.
    Flush {
        /// The table.
        table: TableName,
        /// Family names.
        families: Vec<String>,
    },
    /// Takes a table snapshot, memstores included.
    Snapshot {
        /// The table.
        table: TableName,
        /// The snapshot's name.
        name: String,
    },
    /// Makes a backup; rowhouse's own procedure.
    Backup(BackupCall),
    /// Checks or repairs an index; rowhouse's own procedure.
    Index(IndexCall),
    /// Swaps a table with one of its indexes; rowhouse's own procedure.
    Promotion(PromotionCall),
    /// Adds, lists or removes faults; rowhouse's own procedure.
    Fault(FaultCall),
    /// Lists or removes followers of changes; rowhouse's own procedure.
    Follower(FollowerCall),
    /// Returns a table's heat; rowhouse's own procedure.
    Heat(HeatCall),
    /// Returns the index by which a query is answered; rowhouse's own procedure.
    QueryIndex(QueryIndexCall),
    /// Starts or ends a region server; rowhouse's own procedure.
    RegionServer(RegionServerCall),
    /// Resets, saves or restores all tables; rowhouse's own procedure.
    State(StateCall),
}

impl ProcedureCall {
    /// Decodes a procedure call.
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid table name, time or region server, and with HBase's message
    /// for an unknown signature or a snapshot without a name or table.
    pub fn from_proto(procedure: &proto::ProcedureDescription) -> Result<Self> {
        let value = |name: &str| value(procedure, name);
        match procedure.signature.as_str() {
            FLUSH => Ok(Self::Flush {
                table: TableName::parse(procedure.instance())?,
                families: value("family")
                    .map(|families| families.split(',').map(str::to_owned).collect())
                    .unwrap_or_default(),
            }),
            SNAPSHOT => {
                let unsaid = |what| Error::invalid(format!("Snapshot {what} is not defined"));
                let name = procedure.instance.clone().ok_or_else(|| unsaid("name"))?;
                let table = TableName::parse(value("table").ok_or_else(|| unsaid("table"))?)?;
                Ok(Self::Snapshot { table, name })
            }
            backup::SIGNATURE => Ok(Self::Backup(backup::call_from_proto(procedure))),
            index::SIGNATURE => Ok(Self::Index(index::call_from_proto(procedure)?)),
            promotion::SIGNATURE => Ok(Self::Promotion(promotion::call_from_proto(procedure)?)),
            fault::SIGNATURE => Ok(Self::Fault(fault::call_from_proto(procedure)?)),
            follower::SIGNATURE => Ok(Self::Follower(follower::call_from_proto(procedure)?)),
            heat::SIGNATURE => Ok(Self::Heat(heat::call_from_proto(procedure)?)),
            query_index::SIGNATURE => {
                Ok(Self::QueryIndex(query_index::call_from_proto(procedure)?))
            }
            region_server::SIGNATURE => {
                Ok(Self::RegionServer(region_server::call_from_proto(procedure)?))
            }
            state::SIGNATURE => Ok(Self::State(state::call_from_proto(procedure)?)),
            other => {
                let message = format!("The procedure is not registered: {other}");
                Err(Error::invalid(message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn procedure(
        signature: &str,
        instance: Option<&str>,
        configuration: &[(&str, &str)],
    ) -> proto::ProcedureDescription {
        let pair = |&(name, value): &(&str, &str)| proto::NameStringPair {
            name: name.into(),
            value: value.into(),
        };
        proto::ProcedureDescription {
            signature: signature.into(),
            instance: instance.map(str::to_owned),
            configuration: configuration.iter().map(pair).collect(),
            ..Default::default()
        }
    }

    #[test]
    fn a_flush_names_its_table_and_families() {
        let flush = |configuration: &[(&str, &str)]| {
            ProcedureCall::from_proto(&procedure(FLUSH, Some("ns:t"), configuration)).unwrap()
        };
        let table = TableName::parse("ns:t").unwrap();
        let all = ProcedureCall::Flush { table: table.clone(), families: vec![] };
        assert_eq!(flush(&[]), all);
        let families = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(flush(&[("family", "a,b")]), ProcedureCall::Flush { table, families });
    }

    #[test]
    fn a_snapshot_needs_a_name_and_a_table() {
        let table = [("table", "t")];
        let read = |instance, configuration: &[(&str, &str)]| {
            ProcedureCall::from_proto(&procedure(SNAPSHOT, instance, configuration))
        };
        assert!(
            matches!(read(Some("s"), &table), Ok(ProcedureCall::Snapshot { name, .. }) if name == "s")
        );
        assert_eq!(read(None, &table).unwrap_err().message(), "Snapshot name is not defined");
        assert_eq!(read(Some("s"), &[]).unwrap_err().message(), "Snapshot table is not defined");
    }

    #[test]
    fn an_unknown_signature_is_refused_by_name() {
        let error = ProcedureCall::from_proto(&procedure("rolllog-proc", None, &[])).unwrap_err();
        assert_eq!(error.message(), "The procedure is not registered: rolllog-proc");
    }
}
