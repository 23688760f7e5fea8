//! The ZooKeeper protocol part that HBase clients use (`docs/formats/zookeeper.md`).
//!
//! Server side: a [`Session`] answers one connection from [`Znodes`]. Client side: [`client`].

pub mod client;

mod jute;
mod op;
mod payload;
mod session;
mod znodes;

pub use op::ZkError;
pub use payload::{
    Cluster, read_cluster_id, read_master, read_meta_server, read_table_state, set_servers,
    set_table_states, znodes,
};
pub use session::{Session, SessionStatus};
pub use znodes::{Znode, Znodes};

/// The longest frame from either side, in bytes; ZooKeeper's `jute.maxbuffer`.
pub const FRAME_LEN_MAX: usize = 0xF_FFFF;
