//! The codec for a field's values: the byte before them, null, and the body.

use super::body::Body;
use super::field_type::FieldType;
use super::hashed::Hashed;
use super::lead::{Marker, MarkerRead};
use super::open::End;
use super::ordinal_domain::{OrdinalDomain, ValueForm};
use super::separated::{SEPARATOR_AT_END, Separated};
use super::sequence::{Container, Sequence};
use crate::error::{Fault, KeyMismatch};
use crate::time::TimeZone;
use crate::transform::Modifiers;
use crate::value::{FieldValue, Value};

/// The codec for one field's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Codec {
    /// The byte before the value's own bytes, if there is one, and the byte for null.
    pub(crate) lead: Marker,
    pub(crate) body: Body,
}

impl Codec {
    /// Creates a field's codec. `end` is where the values end if their encoding does not determine
    /// it. Returns an error if the modifiers cannot be applied.
    pub(crate) fn new(
        field_type: &FieldType,
        modifiers: &Modifiers,
        end: End,
    ) -> Result<Self, String> {
        let body = Body::new(field_type, modifiers, end)?;
        if let Some(hashing) = modifiers.hash {
            return Ok(Self::of(Body::Hashed(Hashed::new(body, hashing))));
        }
        let lead = match (field_type, modifiers.null) {
            (FieldType::Foreign(foreign), null) => foreign.lead(null.is_some(), modifiers.desc),
            (_, Some(place)) => Marker::markers(place),
            (_, None) => Marker::default(),
        };
        Ok(Self { lead, body })
    }

    /// Creates a codec whose values are never null and have no byte before them.
    pub(crate) fn of(body: Body) -> Self {
        Self { lead: Marker::default(), body }
    }

    /// Returns true if values may be null.
    pub(crate) fn is_nullable(&self) -> bool {
        self.lead.null.is_some()
    }

    /// How many bytes, if that is constant.
    pub(crate) fn width(&self) -> Option<usize> {
        if self.is_nullable() {
            return None;
        }
        let width = match &self.body {
            Body::Number(number) => number.width(),
            Body::Sequence(sequence) => sequence.width(),
            Body::Hashed(hashed) => Some(hashed.fixed.width()),
            Body::Shortest(_) | Body::Repeat(_) => None,
        };
        width.map(|width| self.lead.len() + width)
    }

    /// Marks a field with a separator as part of the template's tail: only fields with separators
    /// follow it.
    pub(crate) fn in_tail(mut self) -> Self {
        if let Some(separated) = self.separated_mut() {
            separated.in_tail = true;
        }
        self
    }

    /// Returns the codec for the field's separator, if it has one.
    pub(crate) fn separated(&self) -> Option<&Separated> {
        match &self.body {
            Body::Sequence(Sequence { container: Container::Separated(separated), .. }) => {
                Some(separated)
            }
            _ => None,
        }
    }

    fn separated_mut(&mut self) -> Option<&mut Separated> {
        match &mut self.body {
            Body::Sequence(Sequence { container: Container::Separated(separated), .. }) => {
                Some(separated)
            }
            _ => None,
        }
    }

    /// Returns the codec for the field's separator if the field is in the tail, whose separators
    /// are omitted at a key's end.
    pub(crate) fn tail(&self) -> Option<&Separated> {
        self.separated().filter(|separated| separated.in_tail)
    }

    /// Returns true if no encoded value is a prefix of another. If false, no byte FF may follow the
    /// field.
    pub(crate) fn is_prefix_free(&self) -> bool {
        match &self.body {
            Body::Sequence(Sequence { container: Container::Terminated(terminated), .. }) => {
                terminated.is_prefix_free()
            }
            _ => true,
        }
    }

    /// Returns where values end, if their encoding does not determine it.
    pub(crate) fn end(&self) -> Option<&End> {
        match &self.body {
            Body::Sequence(Sequence { container: Container::Open(end), .. }) => Some(end),
            Body::Shortest(shortest) => Some(&shortest.end),
            Body::Repeat(_) => Some(&End::Key),
            _ => None,
        }
    }

    /// Returns true if the value cannot be recovered from the bytes.
    pub(crate) fn is_lossy(&self) -> bool {
        match &self.body {
            Body::Number(number) => number.is_floored(),
            Body::Hashed(_) => true,
            _ => false,
        }
    }

    /// Appends a value's bytes, or returns why the value does not fit.
    #[inline]
    pub(crate) fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        if let Body::Number(number) = &self.body
            && self.lead.is_none()
            && number.encode_quickly(value, out)
        {
            return Ok(());
        }
        self.encode_any(value, out)
    }

    fn encode_any(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        match (self.lead.null, value) {
            (None, Value::Null) => {
                return Err("is never null: add null first or null last".into());
            }
            (Some(null), Value::Null) => {
                out.push(null);
                return Ok(());
            }
            _ => self.mark_value(out),
        }
        self.body.encode(value, out)
    }

    /// Appends the byte before a value.
    #[inline]
    pub(super) fn mark_value(&self, out: &mut Vec<u8>) {
        out.extend(self.lead.value);
    }

    /// Checks a value's kind, not whether a key can hold it.
    pub(super) fn check_kind(&self, value: &Value) -> Result<(), String> {
        match &self.body {
            Body::Sequence(Sequence { content, .. }) if content.is_restricted() => {
                content.part(value).map(|_| ())
            }
            Body::Sequence(sequence) => sequence.content.bytes(value).map(|_| ()),
            body => match body.domain() {
                Some(domain) => domain.point(value, &TimeZone::UTC).map(|_| ()),
                None => Ok(()),
            },
        }
    }

    /// Decodes the value at `at`; returns it and the end offset.
    pub(crate) fn decode(&self, key: &[u8], at: usize) -> Result<(Value, usize), KeyMismatch> {
        let (value, next) = self.decode_as(ValueForm::Own, key, at)?;
        Ok((value.into_value(), next))
    }

    /// Decodes the number at `at`, if the codec has a fast path.
    #[inline(always)]
    pub(crate) fn decode_quickly(
        &self,
        key: &[u8],
        at: usize,
    ) -> Option<(&OrdinalDomain, i128, usize)> {
        match &self.body {
            Body::Number(number) if self.lead.is_none() => {
                let (read, next) = number.decode_quickly(key, at)?;
                Some((&number.domain, read, next))
            }
            _ => None,
        }
    }

    /// As [`Codec::decode`], with numbers in the requested form, and borrowing from the key where
    /// possible.
    pub(crate) fn decode_as<'k>(
        &self,
        form: ValueForm,
        key: &'k [u8],
        at: usize,
    ) -> Result<(FieldValue<'k>, usize), KeyMismatch> {
        let in_tail = self.is_nullable() && self.tail().is_some();
        if in_tail && at == key.len() {
            return Ok((FieldValue::NULL, at));
        }
        match self.lead.read(key, at)? {
            MarkerRead::Value(at) => self.body.decode(form, key, at),
            MarkerRead::Null(next) if in_tail && next == key.len() => {
                Err(KeyMismatch::new(at, SEPARATOR_AT_END))
            }
            MarkerRead::Null(next) => Ok((FieldValue::NULL, next)),
        }
    }

    /// Appends a value's canonical bytes: those without modifiers, which buckets and hashes take as
    /// input. Appends nothing for null.
    pub(crate) fn put_canonical(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        match value {
            Value::Null => Ok(()),
            value => self.body.put_canonical(value, out),
        }
    }

    /// Parses a value from plain text, without quotes.
    pub(crate) fn read(&self, text: &str) -> Result<Value, Fault> {
        if self.is_nullable() && text == "null" {
            return Ok(Value::Null);
        }
        self.body.read(text)
    }
}
