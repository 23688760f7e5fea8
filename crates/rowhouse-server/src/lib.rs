//! The network front end of a rowhouse store for unmodified HBase clients: HBase's RPC on one port,
//! and on another the few ZooKeeper nodes that clients read to find the cluster.
//!
//! | file | content |
//! |---|---|
//! | `connection/`, `dispatch.rs`, `answer.rs` | a connection's calls, routed and answered |
//! | `memory.rs`, `workers.rs`, `cap.rs` | what calls may hold, the threads, limits on a server |
//! | `access/` | TLS on the ports, users |
//! | `faults/`, `states.rs` | faults on demand and states of all tables, for tests |
//! | `handle/` | one file for each group of methods |
//! | `cluster.rs`, `region_server.rs`, `members.rs` | shared state, one server, live servers |
//! | `lifecycle.rs`, `load_meter.rs`, `balancer/` | starting and stopping, load, moves |
//! | `zookeeper.rs`, `metrics/`, `web/` | discovery, metrics, pages and Solr's clients |
//! | `gateway/` | HBase's calls in other protocols: REST and Thrift |
//!
//! ```no_run
//! # async fn run() -> Result<(), rowhouse_model::Error> {
//! use rowhouse_server::{Options, Server};
//!
//! let server = Server::start(Options::new("rowhouse-data")).await?;
//! println!("clients connect to {}", server.address());
//! server.stop().await
//! # }
//! ```

mod access;
mod answer;
mod backups;
mod balancer;
mod bulk_loads;
mod call;
mod call_metrics;
mod cap;
mod change_waits;
mod cluster;
mod connection;
mod context;
mod descriptors;
mod dispatch;
mod faults;
mod filtered;
#[cfg(any(feature = "rest", feature = "thrift"))]
mod gateway;
mod handle;
#[cfg(feature = "web")]
mod http;
mod index_checks;
mod lifecycle;
mod limits;
mod listener;
mod load_meter;
mod maintenance;
mod members;
mod memory;
mod metrics;
mod options;
mod ports;
mod region_server;
mod replication_sink;
mod requests;
mod scanners;
mod server;
mod simulator;
mod slow_calls;
mod slow_log;
mod states;
mod stop_request;
#[cfg(feature = "web")]
mod web;
mod workers;
mod zookeeper;

/// Entry points for the fuzz targets, which are no part of the interface.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::gateway::rest::fuzz::rest_request;
}

pub use access::{User, UserFile};
pub use options::{CertificateName, Options, Plain, TlsFiles, UserSources, WebPort};
pub use rowhouse_format::token::Token;
pub use server::{Server, ServerBuilder};
pub use simulator::{DesignSimulator, RankedDesign, SimulatedCosts};

/// Observers of changes to tables, for [`ServerBuilder::observer`], and the store that they see.
pub mod observer {
    pub use rowhouse_store::{Additions, Observer, RowChange, Store, Table, TableChange};
}
