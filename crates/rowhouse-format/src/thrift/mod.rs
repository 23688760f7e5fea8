//! HBase's interface Thrift 1, in both of Thrift's protocols (`docs/formats/thrift.md`).
//!
//! [`Carriage`] tells from a connection's first bytes how messages are encoded and delimited,
//! [`Extent`] where a message ends. [`Args::read`] reads a call, [`write_answer`] writes what it
//! returns. Structures, methods and arguments are tables in `record.rs` and `method.rs`.

mod answer;
mod carriage;
mod extent;
mod method;
mod reader;
mod record;
#[cfg(test)]
mod tests;
mod wire;
mod writer;

pub use answer::{Answer, ApplicationKind, Failure, write_answer};
pub use carriage::Carriage;
pub use extent::{Extent, MESSAGE_BYTES_MAX};
pub use method::{Args, Method};
pub use reader::Reader;
pub use record::{
    BatchMutation, ColumnDescriptor, Member, Mutation, Pairs, TAppend, TCell, TIncrement,
    TRegionInfo, TScan, Value,
};
pub use wire::{MessageHead, MessageKind, Protocol, Type};
pub use writer::Writer;
