//! Faults on demand.

use rowhouse_format::convert::procedure::fault::{self, FaultCall};
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, FaultStatus, Result};

use super::Admin;

impl Admin {
    /// Adds, lists or removes the rules by which a rowhouse server makes calls fail; returns those
    /// that were added, listed or removed, with their counts.
    ///
    /// # Errors
    /// `Unsupported` by a server that does not permit it; `InvalidRequest` for a rule that is none,
    /// an unknown number, and from a server that is not a rowhouse server; `RegionTooBusy` if there
    /// are too many rules; `Protocol` for a malformed answer.
    pub async fn change_faults(&self, call: &FaultCall) -> Result<Vec<FaultStatus>> {
        let procedure = fault::call_to_proto(call);
        let answer = self.call(proto::ExecProcedureRequest { procedure }).await?;
        let statuses = answer
            .return_data
            .ok_or_else(|| Error::new(ErrorKind::Protocol, "the server returns no faults"))?;
        fault::statuses_from_bytes(statuses)
    }
}
