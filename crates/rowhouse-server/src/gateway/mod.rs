//! Gateways: HBase's calls in other protocols (`docs/hbase.md`).
//!
//! Each gateway turns requests into HBase's protobuf calls and answers with their results. The
//! calls take the RPC port's path, through [`Session`]: memory, worker threads, limits, metrics,
//! slow calls and faults are the same, and nothing is read or written in a second way.
//!
//! | module | content |
//! |---|---|
//! | [`session`] | a client's calls, to the server that has the region, and their repetition |
//! | [`rows`] | gets, mutations and batches |
//! | [`scan`] | scans over all regions |
//! | `rest/`, `thrift/` | the two protocols |

#[cfg(feature = "rest")]
pub(crate) mod rest;
mod rows;
mod scan;
mod session;
#[cfg(feature = "thrift")]
pub(crate) mod thrift;

#[cfg(feature = "rest")]
pub(crate) use self::rows::BatchAnswers;
#[cfg(feature = "thrift")]
pub(crate) use self::rows::Mutated;
pub(crate) use self::rows::RowAction;
#[cfg(feature = "rest")]
pub(crate) use self::scan::ScannedRows;
pub(crate) use self::scan::{GatewayScan, ScanOptions};
#[cfg(feature = "thrift")]
pub(crate) use self::session::exception;
pub(crate) use self::session::{Gateway, Session};
