//! Checks, repairs and promotes the indexes that a rowhouse server keeps.

use rowhouse_format::convert::procedure::index::{self, IndexCall, IndexOperation};
use rowhouse_format::convert::procedure::promotion::{self, PromotionCall};
use rowhouse_format::convert::procedure::query_index::{self, QueryIndexCall};
use rowhouse_format::proto;
use rowhouse_model::{Bytes, Error, ErrorKind, IndexReport, Result, TableName};
use tokio::time::sleep;
use uuid::Uuid;

use super::{Admin, POLL_WAIT_MAX, POLL_WAIT_MIN};

impl Admin {
    /// Makes a rowhouse server compare an index with the table's rows, and waits for the result. A
    /// check on the same index that is under way is waited for.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`; `InvalidRequest` if the table has no such index, and if
    /// the server is not a rowhouse server.
    pub async fn verify_index(&self, table: &TableName, index: &str) -> Result<IndexReport> {
        let procedure = self.exec_index(table, index, IndexOperation::Verify).await?;
        let mut wait = POLL_WAIT_MIN;
        loop {
            let message = proto::IsProcedureDoneRequest { procedure: Some(procedure.clone()) };
            let status = index::status_from_proto(&self.call(message).await?)?;
            if status.is_done {
                return Ok(status.report);
            }
            sleep(wait).await;
            wait = (wait * 2).min(POLL_WAIT_MAX);
        }
    }

    /// Requests that a rowhouse server repairs an index. The index state is `repairing` when this
    /// returns, until the repair is complete.
    ///
    /// # Errors
    /// As [`Admin::verify_index`].
    pub async fn repair_index(&self, table: &TableName, index: &str) -> Result<()> {
        self.exec_index(table, index, IndexOperation::Repair).await.map(|_| ())
    }

    /// Makes a rowhouse server swap a table with an index on it that `covers *`, and waits until
    /// that is done. `layout` is the attribute `rowhouse.layout` that the table has before, if it
    /// has one. However often the call is repeated after a lost answer, the server swaps once.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`; `InvalidRequest` if the index cannot be promoted, and if
    /// the server is not a rowhouse server; a `DoNotRetryIOException` error from HBase if the table
    /// has another layout than `layout`.
    pub async fn promote_index(
        &self,
        table: &TableName,
        index: &str,
        layout: Option<&Bytes>,
    ) -> Result<()> {
        let table = table.clone();
        let index = index.to_owned();
        let before = layout.cloned();
        // No other call has it.
        let after = Uuid::new_v4().simple().to_string().into();
        let call = PromotionCall { table, index, before, after };
        let procedure = promotion::call_to_proto(&call);
        self.call(proto::ExecProcedureRequest { procedure }).await.map(|_| ())
    }

    /// Returns the name of the index by which a rowhouse server answers a query; `None` if it reads
    /// by the key.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` for a query that is wrong, and if the server is not a
    /// rowhouse server or an older one.
    pub async fn query_index(&self, call: &QueryIndexCall) -> Result<Option<String>> {
        let procedure = query_index::call_to_proto(call);
        let answer = self.call(proto::ExecProcedureRequest { procedure }).await?;
        let answer = answer.return_data.ok_or_else(|| {
            Error::new(ErrorKind::Protocol, "the server returns no index of the query")
        })?;
        Ok(query_index::answer_from_bytes(&answer))
    }

    async fn exec_index(
        &self,
        table: &TableName,
        index: &str,
        operation: IndexOperation,
    ) -> Result<proto::ProcedureDescription> {
        let call = IndexCall { table: table.clone(), index: index.to_owned(), operation };
        let procedure = index::call_to_proto(&call);
        self.call(proto::ExecProcedureRequest { procedure: procedure.clone() }).await?;
        Ok(procedure)
    }
}
