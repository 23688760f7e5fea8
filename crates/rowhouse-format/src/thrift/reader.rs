//! Reads a message's values.

use bytes::{Buf, Bytes};
use rowhouse_model::Result;

use super::extent::DEPTH_MAX;
use super::wire::{self, CollectionHead, FieldId, MessageHead, Protocol, Token, Type};
use crate::exception::malformed;

/// Reads the values of a message that is in memory as a whole. Bytes are slices of the message.
#[derive(Debug)]
pub struct Reader {
    rest: Bytes,
    protocol: Protocol,
    /// The last field's number in each open structure.
    fields: Vec<i16>,
    /// The value of the boolean field that was begun last, in the compact protocol.
    boolean: Option<bool>,
}

impl Reader {
    /// Returns a reader of these bytes.
    pub fn new(bytes: Bytes, protocol: Protocol) -> Self {
        Self { rest: bytes, protocol, fields: Vec::new(), boolean: None }
    }

    /// Reads the message's head; the arguments, or the answer, follow as a structure.
    pub fn head(&mut self) -> Result<MessageHead> {
        self.token(wire::message_head)
    }

    /// Returns true if everything is read.
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads a structure: calls `field` for each field, with the number and type, and `field`
    /// reads the value or returns false, whereupon it is skipped.
    pub fn structure(
        &mut self,
        mut field: impl FnMut(&mut Self, i16, Type) -> Result<bool>,
    ) -> Result<()> {
        self.enter()?;
        while let Some((id, type_)) = self.field()? {
            if !field(self, id, type_)? {
                self.skip(type_)?;
            }
        }
        self.fields.pop();
        Ok(())
    }

    /// Reads a list or set: calls `element` for each element, with its type.
    pub fn list(&mut self, mut element: impl FnMut(&mut Self, Type) -> Result<()>) -> Result<()> {
        let CollectionHead { types, len } = self.token(wire::list_head)?;
        self.elements(|reader| {
            (0..len).try_for_each(|_| types.0.map_or(Ok(()), |type_| element(reader, type_)))
        })
    }

    /// Reads a map: calls `pair` for each pair, with the types.
    pub fn map(&mut self, mut pair: impl FnMut(&mut Self, Type, Type) -> Result<()>) -> Result<()> {
        let CollectionHead { types, len } = self.token(wire::map_head)?;
        let (Some(key), Some(value)) = types else { return Ok(()) };
        self.elements(|reader| (0..len).try_for_each(|_| pair(reader, key, value)))
    }

    /// Reads a boolean.
    pub fn boolean(&mut self) -> Result<bool> {
        match self.boolean.take() {
            Some(value) => Ok(value),
            None => Ok(self.take::<1>()? == [1]),
        }
    }

    /// Reads a byte.
    pub fn i8(&mut self) -> Result<i8> {
        Ok(i8::from_be_bytes(self.take()?))
    }

    /// Reads a number of two bytes.
    pub fn i16(&mut self) -> Result<i16> {
        match self.protocol {
            Protocol::Binary => Ok(i16::from_be_bytes(self.take()?)),
            Protocol::Compact => Ok(self.zigzag()? as i16),
        }
    }

    /// Reads a number of four bytes.
    pub fn i32(&mut self) -> Result<i32> {
        match self.protocol {
            Protocol::Binary => Ok(i32::from_be_bytes(self.take()?)),
            Protocol::Compact => Ok(self.zigzag()? as i32),
        }
    }

    /// Reads a number of eight bytes.
    pub fn i64(&mut self) -> Result<i64> {
        match self.protocol {
            Protocol::Binary => Ok(i64::from_be_bytes(self.take()?)),
            Protocol::Compact => self.zigzag(),
        }
    }

    /// Reads bytes, or text.
    pub fn bytes(&mut self) -> Result<Bytes> {
        let len = self.token(wire::length)?;
        self.split_to(len)
    }

    /// Skips a value of this type.
    pub fn skip(&mut self, type_: Type) -> Result<()> {
        match type_ {
            Type::Bool => self.boolean().map(drop),
            Type::Binary => self.bytes().map(drop),
            Type::Struct => self.structure(|_, _, _| Ok(false)),
            Type::List | Type::Set => self.list(Self::skip),
            Type::Map => self.map(|reader, key, value| {
                reader.skip(key)?;
                reader.skip(value)
            }),
            type_ => match wire::fixed_len(self.protocol, type_) {
                Some(len) => self.split_to(len).map(drop),
                None => self.zigzag().map(drop),
            },
        }
    }

    fn field(&mut self) -> Result<Option<(i16, Type)>> {
        let Some(head) = self.token(wire::field_head)? else { return Ok(None) };
        let last = self.fields.last_mut().expect("a field is in a structure");
        *last = match head.id {
            FieldId::Number(id) => id,
            FieldId::Difference(more) => last.wrapping_add(more.into()),
        };
        self.boolean = head.boolean;
        Ok(Some((*last, head.type_)))
    }

    fn enter(&mut self) -> Result<()> {
        if self.fields.len() >= DEPTH_MAX {
            return Err(malformed(format!("structures nested too deep: max={DEPTH_MAX}")));
        }
        self.fields.push(0);
        Ok(())
    }

    /// Reads a collection's elements, which count as a structure for the depth.
    fn elements(&mut self, read: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.enter()?;
        read(self)?;
        self.fields.pop();
        Ok(())
    }

    fn zigzag(&mut self) -> Result<i64> {
        self.token(|_, input| wire::varint(input)).map(wire::from_zigzag)
    }

    fn token<T>(&mut self, read: impl FnOnce(Protocol, &[u8]) -> Token<T>) -> Result<T> {
        let (value, used) = read(self.protocol, &self.rest)?.ok_or_else(ends_early)?;
        self.rest.advance(used);
        Ok(value)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = *self.rest.first_chunk().ok_or_else(ends_early)?;
        self.rest.advance(N);
        Ok(bytes)
    }

    fn split_to(&mut self, len: usize) -> Result<Bytes> {
        if len > self.rest.len() {
            return Err(ends_early());
        }
        Ok(self.rest.split_to(len))
    }
}

fn ends_early() -> rowhouse_model::Error {
    malformed("the message ends within a value")
}
