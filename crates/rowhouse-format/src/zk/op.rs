//! Operations and error codes.

/// ZooKeeper's error codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum ZkError {
    /// The record is malformed.
    Marshalling = -5,
    /// The operation is not supported.
    Unimplemented = -6,
    /// The path is invalid.
    BadArguments = -8,
    /// The node does not exist.
    NoNode = -101,
    /// The client lacks permission; no client may write.
    NoAuth = -102,
    /// The node already exists.
    NodeExists = -110,
    /// The authentication scheme is not supported.
    AuthFailed = -115,
}

impl ZkError {
    /// Returns the code on the wire.
    pub const fn code(self) -> i32 {
        self as i32
    }
}

/// The operation kinds that are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Exists,
    GetData,
    GetAcl,
    GetChildren,
    Sync,
    Ping,
    GetChildren2,
    Auth,
    SetWatches,
    SetWatches2,
    CloseSession,
    /// Creates a node.
    Create,
    /// Any other write.
    Write,
    Unknown,
}

impl Op {
    pub(super) fn from_code(code: i32) -> Self {
        match code {
            3 => Self::Exists,
            4 => Self::GetData,
            6 => Self::GetAcl,
            8 => Self::GetChildren,
            9 => Self::Sync,
            11 => Self::Ping,
            12 => Self::GetChildren2,
            100 => Self::Auth,
            101 => Self::SetWatches,
            105 => Self::SetWatches2,
            -11 => Self::CloseSession,
            // create, create2, createContainer, createTTL
            1 | 15 | 19 | 21 => Self::Create,
            // delete, setData, setACL, check, multi, reconfig, deleteContainer
            2 | 5 | 7 | 13 | 14 | 16 | 20 => Self::Write,
            _ => Self::Unknown,
        }
    }
}

/// The operation codes that this crate's client sends.
pub(super) mod code {
    pub(in super::super) const GET_DATA: i32 = 4;
    pub(in super::super) const GET_CHILDREN: i32 = 8;
    pub(in super::super) const PING: i32 = 11;
    pub(in super::super) const CLOSE_SESSION: i32 = -11;
}

/// The xid in messages that answer no request.
pub(super) const EVENT_XID: i32 = -1;
/// The xid in pings.
pub(super) const PING_XID: i32 = -2;
