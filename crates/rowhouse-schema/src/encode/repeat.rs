//! `repeat(T T …)`: groups with fixed width, repeated up to the key's end.

use super::Codec;
use crate::error::KeyMismatch;
use crate::value::Value;

/// The codec for a `repeat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// One group's codecs, each with fixed width.
    pub(crate) group: Vec<Codec>,
}

impl Repeat {
    /// How wide one group is, in bytes.
    pub(crate) fn group_width(&self) -> usize {
        self.group.iter().filter_map(Codec::width).sum()
    }

    pub(crate) fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        let Value::List(groups) = value else {
            return Err(format!("takes a list, not {}", value.described()));
        };
        groups.iter().try_for_each(|group| self.encode_group(group, out))
    }

    fn encode_group(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        match (&self.group[..], value) {
            ([codec], value) => codec.encode(value, out),
            (codecs, Value::List(values)) if values.len() == codecs.len() => {
                codecs.iter().zip(values).try_for_each(|(codec, value)| codec.encode(value, out))
            }
            (codecs, value) => Err(not_a_group(codecs, value)),
        }
    }

    /// Checks that a value is a list of groups of the right kinds, not whether a key can hold it.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        let Value::List(groups) = value else {
            return Err(format!("takes a list, not {}", value.described()));
        };
        groups.iter().try_for_each(|group| match (&self.group[..], group) {
            ([codec], value) => codec.check_kind(value),
            (codecs, Value::List(values)) if values.len() == codecs.len() => {
                codecs.iter().zip(values).try_for_each(|(codec, value)| codec.check_kind(value))
            }
            (codecs, value) => Err(not_a_group(codecs, value)),
        })
    }

    pub(crate) fn decode(&self, key: &[u8], at: usize) -> Result<(Value, usize), KeyMismatch> {
        let width = self.group_width();
        if !(key.len() - at).is_multiple_of(width) {
            let why = format!("not a multiple of {width} bytes are left: len={}", key.len() - at);
            return Err(KeyMismatch::new(at, why));
        }
        let mut groups = Vec::with_capacity((key.len() - at) / width);
        let mut next = at;
        while next < key.len() {
            let mut values = Vec::with_capacity(self.group.len());
            for codec in &self.group {
                let (value, end) = codec.decode(key, next)?;
                values.push(value);
                next = end;
            }
            groups.push(match values.len() {
                1 => values.swap_remove(0),
                _ => Value::List(values),
            });
        }
        Ok((Value::List(groups), next))
    }
}

fn not_a_group(codecs: &[Codec], value: &Value) -> String {
    format!("takes groups of {} values each, not {}", codecs.len(), value.described())
}
