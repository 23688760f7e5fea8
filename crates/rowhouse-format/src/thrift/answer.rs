//! Answers, and exceptions in their place.

use bytes::Bytes;
use rowhouse_model::{KeyValue, Row};

use super::record::{ColumnDescriptor, Member, Pairs, TCell, TRegionInfo, Value};
use super::wire::{MessageHead, MessageKind, Type};
use super::writer::Writer;

/// A method's result.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Nothing.
    Void,
    /// A boolean.
    Bool(bool),
    /// A scanner's number, or the kind of server.
    I32(i32),
    /// A counter.
    I64(i64),
    /// Text.
    Text(String),
    /// Names of tables.
    Names(Vec<Bytes>),
    /// Names of tables, and whether they are enabled.
    States(Pairs<Bytes, bool>),
    /// Families, by their names with a colon.
    Families(Pairs<Bytes, ColumnDescriptor>),
    /// A region.
    Region(TRegionInfo),
    /// Regions.
    Regions(Vec<TRegionInfo>),
    /// The values and times of a row's cells.
    Cells(Vec<TCell>),
    /// Rows, which are not empty.
    Rows {
        /// The rows.
        rows: Vec<Row>,
        /// Whether the columns are sent as a list in their order, or as a map.
        is_sorted: bool,
    },
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// HBase's `IOError`.
    Io {
        /// The Java exception's class and message.
        message: String,
        /// Whether a repeated call may succeed.
        can_retry: bool,
    },
    /// HBase's `IllegalArgument`.
    IllegalArgument(String),
    /// HBase's `AlreadyExists`.
    AlreadyExists(String),
    /// Thrift's own `TApplicationException`.
    Application {
        /// The kind.
        kind: ApplicationKind,
        /// The message.
        message: String,
    },
}

/// A kind of `TApplicationException`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplicationKind {
    /// No such method.
    UnknownMethod = 1,
    /// The message is no call.
    InvalidMessageType = 2,
    /// The call failed in a way that the method does not declare.
    InternalError = 6,
    /// The message is malformed.
    ProtocolError = 7,
}

impl Failure {
    /// Returns the failure that Apache's library answers if a method throws what it does not
    /// declare.
    pub fn internal(method: super::Method) -> Self {
        let message = format!("Internal error processing {}", method.name());
        Self::Application { kind: ApplicationKind::InternalError, message }
    }
}

/// Writes the answer to the call with this head.
pub fn write_answer(call: &MessageHead, answer: &Result<Answer, Failure>, writer: &mut Writer<'_>) {
    if let Err(Failure::Application { kind, message }) = answer {
        writer.head(&call.answer(MessageKind::Exception));
        return writer.structure(|writer| {
            Some(message.clone()).write_member(1, writer);
            (*kind as i32).write_member(2, writer);
        });
    }
    writer.head(&call.answer(MessageKind::Reply));
    writer.structure(|writer| match answer {
        Ok(answer) => write_success(answer, writer),
        Err(failure) => write_failure(failure, writer),
    });
}

fn write_failure(failure: &Failure, writer: &mut Writer<'_>) {
    let (id, message, can_retry) = match failure {
        Failure::Io { message, can_retry } => (1, message, Some(*can_retry)),
        Failure::IllegalArgument(message) => (2, message, None),
        Failure::AlreadyExists(message) => (3, message, None),
        Failure::Application { message, .. } => (0, message, None),
    };
    writer.field(id, Type::Struct);
    writer.structure(|writer| {
        writer.field(1, Type::Binary);
        writer.bytes(message.as_bytes());
        can_retry.write_member(2, writer);
    });
}

/// The answer's field in the structure of a reply.
const SUCCESS: i16 = 0;

fn write_success(answer: &Answer, writer: &mut Writer<'_>) {
    fn write(value: &impl Value, writer: &mut Writer<'_>) {
        fn type_of<T: Value>(_: &T) -> Type {
            T::TYPE
        }
        writer.field(SUCCESS, type_of(value));
        value.write(writer);
    }
    match answer {
        Answer::Void => {}
        Answer::Bool(value) => write(value, writer),
        Answer::I32(value) => write(value, writer),
        Answer::I64(value) => write(value, writer),
        Answer::Text(text) => write(text, writer),
        Answer::Names(names) => write(names, writer),
        Answer::States(states) => write(states, writer),
        Answer::Families(families) => write(families, writer),
        Answer::Region(region) => write(region, writer),
        Answer::Regions(regions) => write(regions, writer),
        Answer::Cells(cells) => write(cells, writer),
        Answer::Rows { rows, is_sorted } => {
            writer.field(SUCCESS, Type::List);
            writer.list(Type::Struct, rows.len());
            rows.iter().for_each(|row| write_row(row, *is_sorted, writer));
        }
    }
}

/// Writes a `TRowResult`, from the row's cells as they are.
fn write_row(row: &Row, is_sorted: bool, writer: &mut Writer<'_>) {
    writer.structure(|writer| {
        writer.field(1, Type::Binary);
        writer.bytes(row.key());
        if is_sorted {
            writer.field(3, Type::List);
            writer.list(Type::Struct, row.len());
            for cell in row.cells() {
                writer.structure(|writer| {
                    writer.field(1, Type::Binary);
                    write_column(&cell, writer);
                    writer.field(2, Type::Struct);
                    write_cell(&cell, writer);
                });
            }
            return;
        }
        let columns = columns_in_javas_order(row);
        writer.field(2, Type::Map);
        writer.map(Type::Binary, Type::Struct, columns.len());
        for cell in &columns {
            write_column(cell, writer);
            write_cell(cell, writer);
        }
    });
}

/// Returns one cell of each column, the oldest, in the order of Java's `ByteBuffer`, which compares
/// bytes with their sign.
fn columns_in_javas_order(row: &Row) -> Vec<KeyValue<'_>> {
    fn column<'a>(cell: &KeyValue<'a>) -> impl Iterator<Item = i8> + use<'a> {
        let bytes = cell.family().iter().chain(b":").chain(cell.qualifier());
        bytes.map(|&byte| byte as i8)
    }
    let mut cells: Vec<_> = row.cells().collect();
    cells.sort_by(|a, b| column(a).cmp(column(b)));
    cells.reverse();
    cells.dedup_by(|a, b| a.family() == b.family() && a.qualifier() == b.qualifier());
    cells.reverse();
    cells
}

fn write_column(cell: &KeyValue<'_>, writer: &mut Writer<'_>) {
    writer.joined(&[cell.family(), b":", cell.qualifier()]);
}

fn write_cell(cell: &KeyValue<'_>, writer: &mut Writer<'_>) {
    writer.structure(|writer| {
        writer.field(1, Type::Binary);
        writer.bytes(cell.value());
        cell.timestamp().as_millis().write_member(2, writer);
    });
}
