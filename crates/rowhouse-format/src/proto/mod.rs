//! HBase's protobuf messages: names, numbers and types as in Apache HBase 2.6; and the messages for
//! rowhouse's own endpoint.
//!
//! The `.proto` files are in `proto/`, the compiled code in `generated/`. A test fails if they
//! differ; `UPDATE_GENERATED=1 cargo test -p rowhouse-format` regenerates the code. The test is
//! built with this crate, so regenerate before using new names. A message is either declared with
//! all its fields or not at all: an undeclared field would be dropped silently.

#[allow(missing_docs, clippy::all, clippy::pedantic, unreachable_pub, unused_qualifications)]
mod generated {
    pub mod hbase {
        pub mod pb {
            include!("generated/hbase.pb.rs");
        }
    }
    pub mod rowhouse {
        include!("generated/rowhouse.rs");
    }
}

pub use generated::hbase::pb::*;
pub use generated::rowhouse::*;
