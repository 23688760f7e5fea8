//! Decoding key prefixes: region and range bounds are often not whole keys.

use std::fmt;

use rowhouse_model::escape;

use super::reader::literal;
use super::schema::KeySchema;
use crate::template::Element;
use crate::value::{Shown, Value};

/// The fields that can be decoded from a key's beginning.
///
/// ```
/// use rowhouse_schema::KeySchema;
///
/// let schema = KeySchema::parse("[bucket 16 of user][user string][at millis desc]")?;
/// assert_eq!(schema.read_prefix(b"\x04").to_string(), "bucket=4, …");
/// let prefix = schema.read_prefix(b"\x04bob\x00\x01\x7f");
/// assert_eq!(prefix.to_string(), "bucket=4, user='bob', \\x7F…");
/// assert_eq!(schema.read_prefix(b"").to_string(), "…");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPrefix {
    schema: KeySchema,
    values: Vec<(String, Value)>,
    rest: Vec<u8>,
    is_whole: bool,
}

impl KeyPrefix {
    /// The complete fields' names and values, computed ones included, in template order. A computed
    /// field without a name is listed by the formula.
    pub fn values(&self) -> &[(String, Value)] {
        &self.values
    }

    /// The bytes after these fields.
    pub fn rest(&self) -> &[u8] {
        &self.rest
    }
}

impl KeySchema {
    /// Decodes as many fields from `bytes` as are complete. Never fails: the bytes after them are
    /// the rest. Computed fields are not checked, because their input may be missing.
    pub fn read_prefix(&self, bytes: &[u8]) -> KeyPrefix {
        let mut values = Vec::new();
        let mut at = 0;
        let mut elements = self.elements().iter();
        // A field that takes no bytes from an empty rest counts as missing.
        let mut is_whole = true;
        for element in elements.by_ref() {
            let next = if at == bytes.len() { None } else { self.read_element(element, bytes, at) };
            let Some((value, next)) = next else {
                is_whole = false;
                break;
            };
            values.extend(value);
            at = next;
        }
        let rest = bytes[at..].to_vec();
        KeyPrefix { schema: self.clone(), values, is_whole: is_whole && rest.is_empty(), rest }
    }

    /// Returns the slots of the fields that are complete at a key's beginning, computed ones
    /// included, and where each ends.
    pub(crate) fn field_ends(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut ends = Vec::new();
        let mut at = 0;
        for element in self.elements() {
            if at == bytes.len() {
                break;
            }
            let Some((_, next)) = self.read_element(element, bytes, at) else { break };
            at = next;
            ends.extend(self.slot_of(element).map(|slot| (slot, at)));
        }
        ends
    }

    /// Decodes the element at `at`; returns the value and the next element's offset.
    fn read_element(
        &self,
        element: &Element,
        bytes: &[u8],
        at: usize,
    ) -> Option<(Option<(String, Value)>, usize)> {
        match element {
            Element::Literal(expected) => Some((None, literal(expected, bytes, at).ok()?)),
            Element::Field(nth) => {
                let field = &self.fields()[*nth];
                let (value, next) = field.codec.decode(bytes, at).ok()?;
                Some((Some((field.name().to_owned(), value)), next))
            }
            Element::Computed(nth) => {
                let computed = &self.computed()[*nth];
                let (value, next) = computed.codec.decode(bytes, at).ok()?;
                let kind = computed.to_string();
                let kind = kind.split(' ').next().unwrap_or_default();
                let name = computed.name().unwrap_or(kind);
                Some((Some((name.to_owned(), value)), next))
            }
        }
    }
}

impl fmt::Display for KeyPrefix {
    /// Writes the fields as a whole key prints them, with `…` for the missing part.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (name, value)) in self.values.iter().enumerate() {
            let comma = if nth == 0 { "" } else { ", " };
            let zone = self.schema.field(name).and_then(|field| field.modifiers.zone);
            write!(f, "{comma}{}={}", value.written_name(name), Shown(value, zone))?;
        }
        if self.is_whole {
            return Ok(());
        }
        let comma = if self.values.is_empty() { "" } else { ", " };
        write!(f, "{comma}{}…", escape(&self.rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(template: &str, bytes: &[u8]) -> String {
        KeySchema::parse(template).unwrap().read_prefix(bytes).to_string()
    }

    #[test]
    fn a_prefix_gives_the_fields_that_are_whole() {
        for (template, bytes, fields) in [
            ("[blogger text]_[at millis digits desc]", &b"5"[..], "5…"),
            ("[blogger text]_[at millis digits desc]", b"123_", "blogger='123', …"),
            ("[blogger text]_[at millis digits desc]", b"123_92", "blogger='123', 92…"),
            (
                "[blogger text]_[at millis digits desc]",
                b"123_9223370367001975807",
                "blogger='123', at=2022-12-01T00:00:00.000Z",
            ),
            ("[phone digits 11 reverse]", b"25", "25…"),
            ("[salt 4 a-d as shard]-[id text]", b"c", "shard='c', …"),
            ("[n u8][m u8]", b"\x01\x02\x03", "n=1, m=2, \\x03…"),
        ] {
            assert_eq!(read(template, bytes), fields, "{template}");
        }
    }
}
