//! Backups of a rowhouse server's store.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rowhouse_format::convert::backup::{self, BackupCall, BackupStatus};
use rowhouse_format::proto;
use rowhouse_model::Result;
use tokio::time::sleep;

use super::Admin;

/// Between two questions about a backup.
const ASK_EVERY: Duration = Duration::from_millis(100);

impl Admin {
    /// Has a rowhouse server write a backup of its whole store, and waits until it has been read back. `into` is a name in the
    /// directory that the server was given for backups, or a path right in it, on the server's machine.
    ///
    /// # Errors
    /// `Unsupported` by a server that was given no such directory, and by any other than rowhouse's; `InvalidRequest` for
    /// another path, and where there is something; `InUse` while another backup is being made; `Corruption` where the store
    /// is not whole.
    pub async fn backup(
        &self,
        into: &str,
        mut progress: impl FnMut(&BackupStatus),
    ) -> Result<BackupStatus> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let asked_millis = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        let call = BackupCall { into: into.to_owned(), asked_millis };
        let procedure = backup::call_to_proto(&call);
        self.ask(proto::ExecProcedureRequest { procedure: procedure.clone() }).await?;
        loop {
            let message = proto::IsProcedureDoneRequest { procedure: Some(procedure.clone()) };
            let status = backup::status_from_proto(&self.ask(message).await?)?;
            if status.is_done {
                return Ok(status);
            }
            progress(&status);
            sleep(ASK_EVERY).await;
        }
    }
}
