//! Registered followers of changes.

use rowhouse_format::convert::procedure::follower::{self, FollowerCall};
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, FollowerStatus, Result};

use super::Admin;

impl Admin {
    /// Returns the followers of changes that are registered on a rowhouse server, by name.
    ///
    /// # Errors
    /// `InvalidRequest` from a server that is not a rowhouse server; `Protocol` for a malformed
    /// answer.
    pub async fn list_followers(&self) -> Result<Vec<FollowerStatus>> {
        let procedure = follower::call_to_proto(&FollowerCall::List);
        let answer = self.call(proto::ExecProcedureRequest { procedure }).await?;
        let followers = answer
            .return_data
            .ok_or_else(|| Error::new(ErrorKind::Protocol, "the server returns no followers"))?;
        follower::followers_from_bytes(followers)
    }

    /// Removes a registered follower of changes from a rowhouse server.
    ///
    /// # Errors
    /// `InvalidRequest` if there is none with this name, and from a server that is not a rowhouse
    /// server.
    pub async fn drop_follower(&self, name: &str) -> Result<()> {
        let procedure = follower::call_to_proto(&FollowerCall::Drop(name.to_owned()));
        self.call(proto::ExecProcedureRequest { procedure }).await.map(|_| ())
    }
}
