//! Where a message ends in the bytes that have come so far.
//!
//! Without frames a message has no length: its end is known only when all its fields have been
//! passed. [`Extent`] passes them once, however often it is called with more bytes, and makes no
//! values.

use rowhouse_model::Result;

use super::wire::{self, Protocol, Type};
use crate::exception::malformed;

/// The most bytes in a message; Apache's libraries have the same.
pub const MESSAGE_BYTES_MAX: usize = 100 << 20;
/// The most structures and collections inside each other; Apache's libraries have the same.
pub(super) const DEPTH_MAX: usize = 64;
/// The bytes that a value of an element takes, at most, besides its contents.
const ELEMENT_BYTES: usize = 64;
/// The most bytes that the elements of a message may take so: 4 million small ones.
const ELEMENTS_BYTES_MAX: usize = 256 << 20;

/// How far a message has been passed.
#[derive(Debug)]
pub struct Extent {
    protocol: Protocol,
    /// Everything before is passed.
    at: usize,
    has_head: bool,
    open: Vec<Open>,
    /// A value whose head is not passed.
    pending: Option<Type>,
    /// Elements of collections.
    elements: usize,
}

#[derive(Debug)]
enum Open {
    Struct,
    /// The types of the next value and of the one after it, and how many values there are.
    Values {
        types: (Type, Type),
        left: usize,
    },
}

impl Extent {
    /// Returns the extent of a message of which nothing has come.
    pub fn new(protocol: Protocol) -> Self {
        Self { protocol, at: 0, has_head: false, open: Vec::new(), pending: None, elements: 0 }
    }

    /// Returns the message's length once `input`, which begins with it, has all of it. Each call
    /// has the bytes of the last one and more.
    ///
    /// # Errors
    /// `Protocol` if the bytes are no message, or one above [`MESSAGE_BYTES_MAX`], or have more
    /// than 4 million elements.
    pub fn pass(&mut self, input: &[u8]) -> Result<Option<usize>> {
        while self.at <= input.len() {
            if !self.has_head {
                let head = wire::message_head(self.protocol, input)?;
                let Some((_, used)) = head else { return Ok(None) };
                self.has_head = true;
                self.at = used;
                self.open.push(Open::Struct);
            }
            if self.pending.is_none() {
                match self.next_type(input)? {
                    Next::Value(type_) => self.pending = Some(type_),
                    Next::Passed => {}
                    Next::Missing => return Ok(None),
                    Next::End => return Ok(Some(self.at)),
                }
            }
            if let Some(type_) = self.pending
                && !self.pass_value(type_, input)?
            {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Returns how many bytes are missing at least, after [`Extent::pass`] returned `None` for
    /// `input`.
    pub fn missing(&self, input: &[u8]) -> usize {
        (self.at + 1).saturating_sub(input.len()).max(1)
    }

    /// Returns how many bytes the values of the elements that were passed take, at most, beside the
    /// message.
    pub fn value_bytes(&self) -> usize {
        self.elements * ELEMENT_BYTES
    }

    /// Passes the head of the next field or the place of the next element.
    fn next_type(&mut self, input: &[u8]) -> Result<Next> {
        match self.open.last_mut() {
            None => Ok(Next::End),
            Some(Open::Struct) => {
                let Some((field, used)) = wire::field_head(self.protocol, &input[self.at..])?
                else {
                    return Ok(Next::Missing);
                };
                self.advance(used)?;
                match field {
                    None => {
                        self.open.pop();
                        Ok(Next::Passed)
                    }
                    Some(field) if field.boolean.is_some() => Ok(Next::Passed),
                    Some(field) => Ok(Next::Value(field.type_)),
                }
            }
            Some(Open::Values { left: 0, .. }) => {
                self.open.pop();
                Ok(Next::Passed)
            }
            Some(Open::Values { types, left }) => {
                *left -= 1;
                let next = types.0;
                *types = (types.1, types.0);
                Ok(Next::Value(next))
            }
        }
    }

    /// Passes a value, or its head; returns false if that has not come.
    fn pass_value(&mut self, type_: Type, input: &[u8]) -> Result<bool> {
        let protocol = self.protocol;
        let rest = &input[self.at..];
        let used = match type_ {
            Type::Struct => {
                self.enter(Open::Struct)?;
                0
            }
            Type::List | Type::Set | Type::Map => {
                let head = match type_ {
                    Type::Map => wire::map_head(protocol, rest)?,
                    _ => wire::list_head(protocol, rest)?,
                };
                let Some((head, used)) = head else { return Ok(false) };
                if let (Some(first), second) = head.types {
                    let per_element = if second.is_some() { 2 } else { 1 };
                    // Every value has a byte at least.
                    let left = head.len * per_element;
                    self.check_len(self.at.saturating_add(left))?;
                    self.elements += left;
                    if self.value_bytes() > ELEMENTS_BYTES_MAX {
                        let max = ELEMENTS_BYTES_MAX / ELEMENT_BYTES;
                        let message =
                            format!("too many elements: elements={}, max={max}", self.elements);
                        return Err(malformed(message));
                    }
                    self.enter(Open::Values { types: (first, second.unwrap_or(first)), left })?;
                }
                used
            }
            Type::Binary => {
                let Some((len, used)) = wire::length(protocol, rest)? else { return Ok(false) };
                used.saturating_add(len)
            }
            type_ => match wire::fixed_len(protocol, type_) {
                Some(len) => len,
                None => {
                    let Some((_, used)) = wire::varint(rest)? else { return Ok(false) };
                    used
                }
            },
        };
        self.pending = None;
        self.advance(used)?;
        Ok(true)
    }

    fn enter(&mut self, open: Open) -> Result<()> {
        if self.open.len() >= DEPTH_MAX {
            return Err(malformed(format!("structures nested too deep: max={DEPTH_MAX}")));
        }
        self.open.push(open);
        Ok(())
    }

    fn advance(&mut self, bytes: usize) -> Result<()> {
        self.at = self.at.saturating_add(bytes);
        self.check_len(self.at)
    }

    fn check_len(&self, len: usize) -> Result<()> {
        if len > MESSAGE_BYTES_MAX {
            let max = MESSAGE_BYTES_MAX;
            return Err(malformed(format!("message too long: len={len} at least, max={max}")));
        }
        Ok(())
    }
}

enum Next {
    Value(Type),
    Passed,
    Missing,
    End,
}
