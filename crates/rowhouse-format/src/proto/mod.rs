//! HBase's protobuf messages: names, numbers and types as in Apache HBase 2.6.
//!
//! The `.proto` files are in `proto/`, the compiled code in `generated/`. A test fails if they
//! differ; `UPDATE_GENERATED=1 cargo test -p rowhouse-format` regenerates the code. The test is
//! built with this crate, so regenerate before using new names. A message is either declared with
//! all of its fields or not at all: an undeclared field would be dropped silently.

#[allow(missing_docs, clippy::all, clippy::pedantic, unreachable_pub, unused_qualifications)]
mod generated {
    include!("generated/hbase.pb.rs");
}

pub use generated::*;
