//! `HASH n [hex]`: a digest's first bytes replace the value, which cannot be recovered.

use super::fixed::Fixed;
use super::plain::read_bytes;
use super::{Body, FieldType};
use crate::error::KeyMismatch;
use crate::transform::{HashFunction, Hashing};
use crate::value::Value;

/// The codec for a field stored as a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hashed {
    /// The codec that the values would have without the hash.
    pub(crate) of: Box<Body>,
    function: HashFunction,
    pub(crate) fixed: Fixed,
}

impl Hashed {
    pub(crate) fn new(of: Body, hashing: Hashing) -> Self {
        let fixed = Fixed { hex: hashing.hex, ..Fixed::new(hashing.len.into()) };
        Self { of: Box::new(of), function: hashing.function, fixed }
    }

    pub(crate) fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        match value {
            Value::Hashed(stored) => {
                self.fixed.check(stored)?;
                self.fixed.put(stored, out);
            }
            value => self.fixed.put(&self.stored(value)?, out),
        }
        Ok(())
    }

    /// Parses a stored hash written as bytes.
    pub(crate) fn read_stored(&self, text: &str) -> Result<Value, String> {
        let stored = read_bytes(text)
            .ok_or_else(|| format!("expected a stored hash such as 0x00ff: text={text}"))?;
        self.fixed.check(&stored)?;
        Ok(Value::Hashed(stored))
    }

    /// Returns a value's stored hash: the digest's first bytes.
    pub(crate) fn stored(&self, value: &Value) -> Result<Vec<u8>, String> {
        let mut canonical = Vec::new();
        self.of.put_canonical(value, &mut canonical)?;
        let digest = self.function.digest(&canonical);
        Ok(digest.as_bytes()[..self.fixed.width.into()].to_vec())
    }

    pub(crate) fn decode(&self, key: &[u8], at: usize) -> Result<(Value, usize), KeyMismatch> {
        let stored = self.fixed.decode(key, at)?;
        Ok((Value::Hashed(stored.into_owned()), at + self.fixed.width()))
    }
}

impl HashFunction {
    /// Returns the function variant for a type's values. Only Java's `hashCode()` has variants;
    /// `None` if it is not defined for the type.
    pub(crate) fn of(self, field_type: &FieldType) -> Option<Self> {
        if !self.is_java() {
            return Some(self);
        }
        match field_type {
            FieldType::Text
            | FieldType::PaddedText { .. }
            | FieldType::String
            | FieldType::Domain
            | FieldType::Hex { .. } => Some(Self::JavaText),
            FieldType::Blob | FieldType::Bytes { .. } => Some(Self::JavaBytes),
            FieldType::Unsigned { bytes: 4 | 8 }
            | FieldType::Signed { bytes: 4 | 8 }
            | FieldType::Time { .. } => Some(Self::JavaInteger),
            FieldType::Foreign(foreign) => match foreign.name() {
                "java.long" | "java.int" => Some(Self::JavaInteger),
                _ => None,
            },
            _ => None,
        }
    }
}
