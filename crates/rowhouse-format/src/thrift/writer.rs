//! Writes a message's values.

use bytes::{BufMut, BytesMut};

use super::wire::{COMPACT_FALSE, MessageHead, MessageKind, Protocol, Type};

/// Writes the values of a message.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut BytesMut,
    protocol: Protocol,
    /// The last field's number in each open structure.
    fields: Vec<i16>,
    /// The number of a boolean field that is begun: in the compact protocol its value is part of
    /// the head.
    boolean: Option<i16>,
}

impl<'a> Writer<'a> {
    /// Returns a writer that appends to `out`.
    pub fn new(out: &'a mut BytesMut, protocol: Protocol) -> Self {
        Self { out, protocol, fields: Vec::new(), boolean: None }
    }

    /// Writes a message's head. The name is cut at 1 KiB.
    pub fn head(&mut self, head: &MessageHead) {
        match self.protocol {
            Protocol::Binary => {
                self.out.put_slice(&[0x80, 0x01, 0, head.kind as u8]);
                self.bytes(head.name.as_bytes());
                self.out.put_i32(head.sequence);
            }
            Protocol::Compact => {
                self.out.put_slice(&[0x82, (head.kind as u8) << 5 | 1]);
                self.varint((head.sequence as u32).into());
                self.bytes(head.name.as_bytes());
            }
        }
    }

    /// Writes a structure: `fields` writes the fields.
    pub fn structure(&mut self, fields: impl FnOnce(&mut Self)) {
        self.fields.push(0);
        fields(self);
        self.out.put_u8(0);
        self.fields.pop();
    }

    /// Writes a field's head; the value of this type follows.
    pub fn field(&mut self, id: i16, type_: Type) {
        if self.protocol == Protocol::Compact && type_ == Type::Bool {
            self.boolean = Some(id);
            return;
        }
        self.field_head(id, type_.number(self.protocol));
    }

    /// Writes a list's head; `len` values of this type follow.
    pub fn list(&mut self, type_: Type, len: usize) {
        let number = type_.number(self.protocol);
        match self.protocol {
            Protocol::Binary => {
                self.out.put_u8(number);
                self.len(len);
            }
            Protocol::Compact if len < 15 => self.out.put_u8((len as u8) << 4 | number),
            Protocol::Compact => {
                self.out.put_u8(0xF0 | number);
                self.len(len);
            }
        }
    }

    /// Writes a map's head; `len` pairs of these types follow.
    pub fn map(&mut self, key: Type, value: Type, len: usize) {
        let (key, value) = (key.number(self.protocol), value.number(self.protocol));
        match self.protocol {
            Protocol::Binary => {
                self.out.put_slice(&[key, value]);
                self.len(len);
            }
            Protocol::Compact => {
                self.len(len);
                if len > 0 {
                    self.out.put_u8(key << 4 | value);
                }
            }
        }
    }

    /// Writes a boolean.
    pub fn boolean(&mut self, value: bool) {
        match (self.protocol, self.boolean.take()) {
            (Protocol::Binary, _) => self.out.put_u8(value.into()),
            (Protocol::Compact, None) => self.out.put_u8(compact_boolean(value)),
            (Protocol::Compact, Some(id)) => self.field_head(id, compact_boolean(value)),
        }
    }

    /// Writes a byte.
    pub fn i8(&mut self, value: i8) {
        self.out.put_i8(value);
    }

    /// Writes a number of four bytes.
    pub fn i32(&mut self, value: i32) {
        match self.protocol {
            Protocol::Binary => self.out.put_i32(value),
            Protocol::Compact => self.varint(((value << 1) ^ (value >> 31)) as u32 as u64),
        }
    }

    /// Writes a number of eight bytes.
    pub fn i64(&mut self, value: i64) {
        match self.protocol {
            Protocol::Binary => self.out.put_i64(value),
            Protocol::Compact => self.varint(((value << 1) ^ (value >> 63)) as u64),
        }
    }

    /// Writes bytes, or text.
    pub fn bytes(&mut self, value: &[u8]) {
        self.joined(&[value]);
    }

    /// Writes the bytes of all parts as one value.
    pub fn joined(&mut self, parts: &[&[u8]]) {
        self.len(parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| self.out.put_slice(part));
    }

    fn field_head(&mut self, id: i16, number: u8) {
        let last = self.fields.last_mut().expect("a field is in a structure");
        let difference = id.wrapping_sub(*last);
        *last = id;
        match self.protocol {
            Protocol::Binary => {
                self.out.put_u8(number);
                self.out.put_i16(id);
            }
            Protocol::Compact if (1..=15).contains(&difference) => {
                self.out.put_u8((difference as u8) << 4 | number);
            }
            Protocol::Compact => {
                self.out.put_u8(number);
                self.varint(((id << 1) ^ (id >> 15)) as u16 as u64);
            }
        }
    }

    /// Lengths are below 2 GiB: answers are bounded, and so are requests.
    fn len(&mut self, len: usize) {
        match self.protocol {
            Protocol::Binary => self.out.put_u32(len as u32),
            Protocol::Compact => self.varint(len as u64),
        }
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.out.put_u8(value as u8 | 0x80);
            value >>= 7;
        }
        self.out.put_u8(value as u8);
    }
}

fn compact_boolean(value: bool) -> u8 {
    if value { 1 } else { COMPACT_FALSE }
}

impl MessageHead {
    /// Returns the head of the answer to this call.
    pub fn answer(&self, kind: MessageKind) -> Self {
        Self { name: self.name.clone(), kind, sequence: self.sequence }
    }
}
