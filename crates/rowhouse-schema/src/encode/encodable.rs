//! Codec input: owned values, and borrowed texts and bytes.

use super::{Body, Codec};
use crate::value::{FieldValue, Value};

/// A value that a codec can encode.
pub(crate) trait Encodable {
    /// Appends the value bytes, or returns why the value does not fit.
    fn encode(&self, codec: &Codec, out: &mut Vec<u8>) -> Result<(), String>;

    /// Appends the value bytes before any modifier.
    fn put_canonical(&self, codec: &Codec, out: &mut Vec<u8>) -> Result<(), String>;
}

impl Encodable for &Value {
    #[inline]
    fn encode(&self, codec: &Codec, out: &mut Vec<u8>) -> Result<(), String> {
        codec.encode(self, out)
    }

    fn put_canonical(&self, codec: &Codec, out: &mut Vec<u8>) -> Result<(), String> {
        codec.put_canonical(self, out)
    }
}

impl Encodable for FieldValue<'_> {
    #[inline]
    fn encode(&self, codec: &Codec, out: &mut Vec<u8>) -> Result<(), String> {
        let (bytes, sequence) = match (self, &codec.body) {
            (FieldValue::Other(value), _) => return codec.encode(value, out),
            (FieldValue::Text(text), Body::Sequence(sequence)) => {
                (sequence.content.text_bytes(text)?, sequence)
            }
            (FieldValue::Bytes(bytes), Body::Sequence(sequence)) => {
                (sequence.content.raw_bytes(bytes)?, sequence)
            }
            (given, _) => return codec.encode(&given.clone().into_value(), out),
        };
        codec.mark_value(out);
        sequence.put(bytes, out)
    }

    fn put_canonical(&self, codec: &Codec, out: &mut Vec<u8>) -> Result<(), String> {
        let bytes = match (self, &codec.body) {
            (FieldValue::Other(value), _) => return codec.put_canonical(value, out),
            (FieldValue::Text(text), Body::Sequence(sequence)) => {
                sequence.content.text_bytes(text)?
            }
            (FieldValue::Bytes(bytes), Body::Sequence(sequence)) => {
                sequence.content.raw_bytes(bytes)?
            }
            (given, _) => return codec.put_canonical(&given.clone().into_value(), out),
        };
        out.extend_from_slice(&bytes);
        Ok(())
    }
}
