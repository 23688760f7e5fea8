//! The tokens of both protocols: heads of messages, fields and collections, and lengths.
//!
//! A token is read from the beginning of a slice. `None` means that the slice ends within it.

use rowhouse_model::Result;

use crate::exception::malformed;

/// The longest method name in bytes.
const NAME_LEN_MAX: usize = 1_024;
/// A strict binary message's version, in the first two bytes.
const BINARY_VERSION: u32 = 0x8001;
/// A compact message's first byte, and the version in the second.
const COMPACT_ID: u8 = 0x82;
const COMPACT_VERSION: u8 = 1;

/// How values are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Fixed widths, big-endian.
    Binary,
    /// Numbers as varints, field numbers as differences.
    Compact,
}

/// A value's type, numbered as in the binary protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Type {
    /// A boolean.
    Bool = 2,
    /// A byte.
    I8 = 3,
    /// Eight bytes of a floating-point number, which no message of HBase has.
    Double = 4,
    /// A number of two bytes, which no message of HBase has.
    I16 = 6,
    /// A number of four bytes.
    I32 = 8,
    /// A number of eight bytes.
    I64 = 10,
    /// Bytes, or text.
    Binary = 11,
    /// Numbered fields.
    Struct = 12,
    /// Pairs.
    Map = 13,
    /// A list without an order.
    Set = 14,
    /// Values of one type.
    List = 15,
    /// Sixteen bytes.
    Uuid = 16,
}

/// All types, with their numbers in the compact protocol, in which a boolean has a number for each
/// value.
const TYPES: [(Type, u8); 12] = [
    (Type::Bool, 1),
    (Type::I8, 3),
    (Type::Double, 7),
    (Type::I16, 4),
    (Type::I32, 5),
    (Type::I64, 6),
    (Type::Binary, 8),
    (Type::Struct, 12),
    (Type::Map, 11),
    (Type::Set, 10),
    (Type::List, 9),
    (Type::Uuid, 13),
];
/// The compact protocol's type of a boolean field that is false.
pub(super) const COMPACT_FALSE: u8 = 2;

impl Type {
    fn from_number(protocol: Protocol, number: u8) -> Result<Self> {
        let same = |&&(type_, compact): &&(Self, u8)| match protocol {
            Protocol::Binary => type_ as u8 == number,
            Protocol::Compact => {
                compact == number || number == COMPACT_FALSE && type_ == Self::Bool
            }
        };
        let known = TYPES.iter().find(same);
        known.map(|(type_, _)| *type_).ok_or_else(|| malformed(format!("unknown type: {number}")))
    }

    /// Returns the type's number in a protocol; of a boolean the one for true.
    pub(super) fn number(self, protocol: Protocol) -> u8 {
        match protocol {
            Protocol::Binary => self as u8,
            Protocol::Compact => {
                TYPES.iter().find(|(type_, _)| *type_ == self).map_or(0, |(_, compact)| *compact)
            }
        }
    }
}

/// A message's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// A call that is answered.
    Call = 1,
    /// An answer.
    Reply = 2,
    /// An exception in place of an answer.
    Exception = 3,
    /// A call without an answer, which HBase's interface does not have.
    Oneway = 4,
}

impl MessageKind {
    fn from_number(number: u8) -> Result<Self> {
        [Self::Call, Self::Reply, Self::Exception, Self::Oneway]
            .into_iter()
            .find(|kind| *kind as u8 == number)
            .ok_or_else(|| malformed(format!("unknown kind of message: {number}")))
    }
}

/// The beginning of a message, before the arguments or the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageHead {
    /// The method.
    pub name: String,
    /// Whether it is a call.
    pub kind: MessageKind,
    /// The client's number for the call, which the answer repeats.
    pub sequence: i32,
}

/// A field's beginning.
pub(super) struct FieldHead {
    /// The field's number, or in the compact protocol the difference to the previous one.
    pub(super) id: FieldId,
    pub(super) type_: Type,
    /// The value, if that is part of the head.
    pub(super) boolean: Option<bool>,
}

pub(super) enum FieldId {
    Number(i16),
    Difference(u8),
}

/// The beginning of a list, set or map.
pub(super) struct CollectionHead {
    /// The types of the elements; of a map, keys and values. `None` in an empty collection.
    pub(super) types: (Option<Type>, Option<Type>),
    /// Elements, or pairs.
    pub(super) len: usize,
}

/// A token and the bytes it has.
pub(super) type Token<T> = Result<Option<(T, usize)>>;

/// Returns `count` bytes at `at`.
fn bytes_at(input: &[u8], at: usize, count: usize) -> Option<&[u8]> {
    input.get(at..at.checked_add(count)?)
}

fn i32_at(input: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_be_bytes(bytes_at(input, at, 4)?.try_into().ok()?))
}

/// Returns a varint.
pub(super) fn varint(input: &[u8]) -> Token<u64> {
    let mut value = 0;
    for (at, &byte) in input.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            return Ok(Some((value, at + 1)));
        }
    }
    if input.len() >= 10 { Err(malformed("a varint has more than 10 bytes")) } else { Ok(None) }
}

/// Undoes the zigzag coding, by which small negative numbers are short.
pub(super) fn from_zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn to_len(len: i64) -> Result<usize> {
    let checked = i32::try_from(len).ok().and_then(|len| usize::try_from(len).ok());
    checked.ok_or_else(|| malformed(format!("invalid length: {len}")))
}

/// Returns a length of bytes.
pub(super) fn length(protocol: Protocol, input: &[u8]) -> Token<usize> {
    match protocol {
        Protocol::Binary => {
            let Some(len) = i32_at(input, 0) else { return Ok(None) };
            Ok(Some((to_len(len.into())?, 4)))
        }
        Protocol::Compact => {
            let Some((len, used)) = varint(input)? else { return Ok(None) };
            Ok(Some((to_len(i64::try_from(len).unwrap_or(-1))?, used)))
        }
    }
}

/// Returns a message's head.
pub(super) fn message_head(protocol: Protocol, input: &[u8]) -> Token<MessageHead> {
    let head = match protocol {
        Protocol::Binary => binary_head(input)?,
        Protocol::Compact => compact_head(input)?,
    };
    let Some((name_at, kind, before, after)) = head else { return Ok(None) };
    let Some((len, used)) = length(protocol, &input[name_at..])? else { return Ok(None) };
    if len > NAME_LEN_MAX {
        return Err(malformed(format!("method name too long: len={len}, max={NAME_LEN_MAX}")));
    }
    let name_at = name_at + used;
    let Some(name) = bytes_at(input, name_at, len) else { return Ok(None) };
    let name = String::from_utf8_lossy(name).into_owned();
    let rest = name_at + len;
    let Some(tail) = bytes_at(input, rest, after) else { return Ok(None) };
    let kind = match (kind, tail.len()) {
        (Some(kind), _) => kind,
        (None, 0) => return Ok(None),
        (None, _) => tail[0],
    };
    let sequence = match before {
        Some(sequence) => sequence,
        None => i32_at(tail, after - 4).unwrap_or_default(),
    };
    let head = MessageHead { name, kind: MessageKind::from_number(kind)?, sequence };
    Ok(Some((head, rest + after)))
}

/// The bytes before a message's name: where the name's length is, the kind and the sequence
/// number if they stand before it, and the bytes after the name.
type HeadStart = Option<(usize, Option<u8>, Option<i32>, usize)>;

fn binary_head(input: &[u8]) -> Result<HeadStart> {
    let Some(first) = i32_at(input, 0) else { return Ok(None) };
    if first >= 0 {
        // Without a version: name, kind, sequence number.
        return Ok(Some((0, None, None, 5)));
    }
    if first as u32 >> 16 != BINARY_VERSION {
        return Err(malformed(format!("unknown version of the binary protocol: {first:#010x}")));
    }
    Ok(Some((4, Some(first as u8), None, 4)))
}

fn compact_head(input: &[u8]) -> Result<HeadStart> {
    let Some(&[id, second]) = bytes_at(input, 0, 2) else { return Ok(None) };
    if id != COMPACT_ID || second & 0x1F != COMPACT_VERSION {
        let message = format!("unknown version of the compact protocol: {id:02x} {second:02x}");
        return Err(malformed(message));
    }
    let Some((sequence, used)) = varint(&input[2..])? else { return Ok(None) };
    Ok(Some((2 + used, Some(second >> 5), Some(sequence as i32), 0)))
}

/// Returns a field's head, or `None` at the end of the fields.
pub(super) fn field_head(protocol: Protocol, input: &[u8]) -> Token<Option<FieldHead>> {
    let Some(&first) = input.first() else { return Ok(None) };
    if first == 0 {
        return Ok(Some((None, 1)));
    }
    match protocol {
        Protocol::Binary => {
            let type_ = Type::from_number(protocol, first)?;
            let Some(&[high, low]) = bytes_at(input, 1, 2) else { return Ok(None) };
            let id = FieldId::Number(i16::from_be_bytes([high, low]));
            Ok(Some((Some(FieldHead { id, type_, boolean: None }), 3)))
        }
        Protocol::Compact => {
            let number = first & 0x0F;
            let type_ = Type::from_number(protocol, number)?;
            let boolean = (type_ == Type::Bool).then_some(number != COMPACT_FALSE);
            let difference = first >> 4;
            if difference > 0 {
                let id = FieldId::Difference(difference);
                return Ok(Some((Some(FieldHead { id, type_, boolean }), 1)));
            }
            let Some((id, used)) = varint(&input[1..])? else { return Ok(None) };
            let id = i16::try_from(from_zigzag(id));
            let id = FieldId::Number(id.map_err(|_| malformed("invalid number of a field"))?);
            Ok(Some((Some(FieldHead { id, type_, boolean }), 1 + used)))
        }
    }
}

/// Returns the head of a list or set.
pub(super) fn list_head(protocol: Protocol, input: &[u8]) -> Token<CollectionHead> {
    let Some(&first) = input.first() else { return Ok(None) };
    let (number, len) = match protocol {
        Protocol::Binary => (first, length(protocol, &input[1..])?),
        Protocol::Compact if first >> 4 == 15 => (first & 0x0F, length(protocol, &input[1..])?),
        Protocol::Compact => (first & 0x0F, Some(((first >> 4).into(), 0))),
    };
    let Some((len, used)) = len else { return Ok(None) };
    // An empty list's type may be any.
    let type_ = if len == 0 { None } else { Some(Type::from_number(protocol, number)?) };
    Ok(Some((CollectionHead { types: (type_, None), len }, 1 + used)))
}

/// Returns the head of a map.
pub(super) fn map_head(protocol: Protocol, input: &[u8]) -> Token<CollectionHead> {
    let empty = CollectionHead { types: (None, None), len: 0 };
    let (numbers, len, used) = match protocol {
        Protocol::Binary => {
            let Some(&[key, value]) = bytes_at(input, 0, 2) else { return Ok(None) };
            let Some((len, used)) = length(protocol, &input[2..])? else { return Ok(None) };
            ((key, value), len, 2 + used)
        }
        Protocol::Compact => {
            let Some((len, used)) = length(protocol, input)? else { return Ok(None) };
            if len == 0 {
                return Ok(Some((empty, used)));
            }
            let Some(&types) = input.get(used) else { return Ok(None) };
            ((types >> 4, types & 0x0F), len, used + 1)
        }
    };
    if len == 0 {
        return Ok(Some((empty, used)));
    }
    let key = Type::from_number(protocol, numbers.0)?;
    let value = Type::from_number(protocol, numbers.1)?;
    Ok(Some((CollectionHead { types: (Some(key), Some(value)), len }, used)))
}

/// Returns how many bytes a value of a type without a head has, or `None` if that depends on the
/// value.
pub(super) fn fixed_len(protocol: Protocol, type_: Type) -> Option<usize> {
    match (type_, protocol) {
        (Type::Bool | Type::I8, _) => Some(1),
        (Type::I16, Protocol::Binary) => Some(2),
        (Type::I32, Protocol::Binary) => Some(4),
        (Type::I64, Protocol::Binary) | (Type::Double, _) => Some(8),
        (Type::Uuid, _) => Some(16),
        _ => None,
    }
}
