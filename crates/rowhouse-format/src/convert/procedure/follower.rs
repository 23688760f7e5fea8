//! The registered followers of changes, rowhouse's own call. It is sent as an HBase procedure; the
//! followers are the data that the procedure returns.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{Error, FollowerStatus, Result, TableName, check_follower_name};

use super::pairs::{needed, pair};
use crate::proto;
use crate::rpc::decode_message;

/// The procedure's signature. The instance is the follower to remove.
pub(super) const SIGNATURE: &str = "rowhouse-follower";

const OPERATION: &str = "operation";
const LIST: &str = "list";
const DROP: &str = "drop";

/// A request about registered followers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowerCall {
    /// Returns all.
    List,
    /// Removes the one with this name.
    Drop(String),
}

/// Encodes a request.
pub fn call_to_proto(call: &FollowerCall) -> proto::ProcedureDescription {
    let (instance, operation) = match call {
        FollowerCall::List => (None, LIST),
        FollowerCall::Drop(name) => (Some(name.clone()), DROP),
    };
    proto::ProcedureDescription {
        signature: SIGNATURE.to_owned(),
        instance,
        creation_time: None,
        configuration: vec![pair(OPERATION, operation)],
    }
}

/// Decodes a request.
///
/// # Errors
/// `InvalidRequest` for another operation and for an invalid name.
pub(super) fn call_from_proto(procedure: &proto::ProcedureDescription) -> Result<FollowerCall> {
    match needed(procedure, OPERATION)? {
        LIST => Ok(FollowerCall::List),
        DROP => {
            check_follower_name(procedure.instance())?;
            Ok(FollowerCall::Drop(procedure.instance().to_owned()))
        }
        other => Err(Error::invalid(format!(
            "the operation on followers is {LIST} or {DROP}: {OPERATION}={other}"
        ))),
    }
}

#[derive(Clone, PartialEq, Message)]
struct FollowersMessage {
    #[prost(message, repeated, tag = "1")]
    followers: Vec<FollowerMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct FollowerMessage {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    table: String,
    #[prost(string, tag = "3")]
    position: String,
    #[prost(int64, tag = "4")]
    saved_millis: i64,
    #[prost(uint64, tag = "5")]
    lag_bytes: u64,
    #[prost(uint64, tag = "6")]
    lag_millis: u64,
    #[prost(bool, tag = "7")]
    is_lost: bool,
}

/// Encodes followers.
pub fn followers_to_bytes(followers: Vec<FollowerStatus>) -> Bytes {
    let followers = followers.into_iter().map(|follower| FollowerMessage {
        name: follower.name,
        table: follower.table.to_string(),
        position: follower.position.to_string(),
        saved_millis: follower.saved_millis,
        lag_bytes: follower.lag_bytes,
        lag_millis: follower.lag_millis,
        is_lost: follower.is_lost,
    });
    FollowersMessage { followers: followers.collect() }.encode_to_vec().into()
}

/// Decodes followers.
///
/// # Errors
/// `Protocol` for a malformed message; `InvalidRequest` for an invalid table or position.
pub fn followers_from_bytes(bytes: Bytes) -> Result<Vec<FollowerStatus>> {
    let message: FollowersMessage = decode_message(bytes)?;
    let followers = message.followers.into_iter().map(|follower| {
        Ok(FollowerStatus {
            name: follower.name,
            table: TableName::parse(&follower.table)?,
            position: follower.position.parse()?,
            saved_millis: follower.saved_millis,
            lag_bytes: follower.lag_bytes,
            lag_millis: follower.lag_millis,
            is_lost: follower.is_lost,
        })
    });
    followers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_followers_are_read_as_they_were_written() {
        for call in [FollowerCall::List, FollowerCall::Drop("counts".to_owned())] {
            assert_eq!(call_from_proto(&call_to_proto(&call)).unwrap(), call);
        }
        let unnamed = call_to_proto(&FollowerCall::Drop(String::new()));
        assert!(call_from_proto(&unnamed).is_err());
        let followers = vec![FollowerStatus {
            name: "counts".to_owned(),
            table: TableName::parse("mail").unwrap(),
            position: "1f-3c40-0-00c0ffee00c0ffee".parse().unwrap(),
            saved_millis: 4,
            lag_bytes: 5,
            lag_millis: 6,
            is_lost: true,
        }];
        assert_eq!(followers_from_bytes(followers_to_bytes(followers.clone())).unwrap(), followers);
    }
}
