//! HBase's protobuf messages: names, numbers and types as Apache HBase 2.6 defines them.
//!
//! The `.proto` files lie in `proto/`, what is compiled from them in `generated/`, and a test fails
//! when the two disagree (`UPDATE_GENERATED=1 cargo test -p rowhouse-format` writes them anew; since the
//! test is built with this crate, do that before naming what is new).
//! A message is either here with all of its fields or not at all: a field that nobody declared would
//! be dropped on the way through without anybody noticing.

#[allow(missing_docs, clippy::all, clippy::pedantic, unreachable_pub, unused_qualifications)]
mod generated {
    include!("generated/hbase.pb.rs");
}

pub use generated::*;
