//! Backs up a rowhouse server's store.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rowhouse_format::convert::procedure::backup::{self, BackupCall};
use rowhouse_format::proto;
use rowhouse_model::{BackupStatus, Result};
use tokio::time::sleep;

use super::Admin;

/// The interval between two polls for a backup's status.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

impl Admin {
    /// Makes a rowhouse server write a whole-store backup, and waits until the server has verified
    /// it by reading it back. `into` is a name in the server's backup directory, or a path directly
    /// inside it, on the server's machine.
    ///
    /// # Errors
    /// `Unsupported` if the server has no backup directory or is not a rowhouse server;
    /// `InvalidRequest` for a path outside that directory or one that exists; `InUse` while another
    /// backup is under way; `Corruption` if the store is damaged.
    pub async fn backup(
        &self,
        into: &str,
        mut progress: impl FnMut(&BackupStatus),
    ) -> Result<BackupStatus> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let requested_millis = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        let call = BackupCall { into: into.to_owned(), requested_millis };
        let procedure = backup::call_to_proto(&call);
        self.call(proto::ExecProcedureRequest { procedure: procedure.clone() }).await?;
        loop {
            let message = proto::IsProcedureDoneRequest { procedure: Some(procedure.clone()) };
            let status = backup::status_from_proto(&self.call(message).await?)?;
            if status.is_done {
                return Ok(status);
            }
            progress(&status);
            sleep(POLL_INTERVAL).await;
        }
    }
}
