//! Procedures that clients start by a signature (`ExecProcedure`), and ask about (`IsProcedureDone`).

use rowhouse_model::{Error, Result, TableName};

use super::backup::{self, BackupCall};
use crate::proto;

/// HBase's `MasterFlushTableProcedureManager`: what `Admin.flush` of clients before 2.6 calls.
const FLUSH: &str = "flush-table-proc";
/// HBase's `SnapshotManager`, where a client starts it as a procedure.
const SNAPSHOT: &str = "online-snapshot";

/// A procedure, by its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcedureCall {
    /// Flushes a table: some of its families, or all where none are named.
    Flush {
        /// The table.
        table: TableName,
        /// Names of families.
        families: Vec<String>,
    },
    /// Takes a snapshot of a table, with what its memstores hold.
    Snapshot {
        /// The table.
        table: TableName,
        /// The snapshot's name.
        name: String,
    },
    /// Makes a backup: rowhouse's own.
    Backup(BackupCall),
}

impl ProcedureCall {
    /// Reads a procedure.
    ///
    /// # Errors
    /// `InvalidRequest`, in HBase's words, for a signature that is not known and for a snapshot without a name or
    /// table; for a table's name that is none.
    pub fn from_proto(procedure: &proto::ProcedureDescription) -> Result<Self> {
        let value = |name: &str| {
            let named = procedure.configuration.iter().find(|pair| pair.name == name);
            named.map(|pair| pair.value.as_str())
        };
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
