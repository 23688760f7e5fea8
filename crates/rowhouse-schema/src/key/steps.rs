//! The fast path for keys whose elements are independent of each other: no computed fields, and no
//! separators that the end of the key omits. It produces the same bytes and values as the generic
//! path, which handles everything else and reports the errors. Keys with computed fields use it for
//! the elements between these: [`ComputedFastPath`](super::computed_steps).

use rowhouse_model::ROW_LEN_MAX;

use crate::encode::{
    Body, Codec, Container, Content, FastNumber, Fixed, OrdinalDomain, Sequence, Terminated,
};
use crate::field::Field;
use crate::template::Element;
use crate::value::Value;

/// A key's elements, in order. Fields are numbered from left to right, as in the schema.
#[derive(Debug)]
pub(super) struct FastPath(Box<[KeyElement]>);

#[derive(Debug)]
enum KeyElement {
    Literal(Box<[u8]>),
    /// A big-endian number or time, for which a whole number may be given.
    Whole(FastNumber, OrdinalDomain),
    /// A big-endian date, float or bool.
    Number(FastNumber, OrdinalDomain),
    /// An ascending `string`.
    Text,
    /// A `text N` that is stored as it is, with padding.
    Padded(Fixed),
    /// An element without a faster implementation than the codec.
    Other(Codec),
}

impl FastPath {
    /// Returns a template's steps, if the fast path supports it.
    pub(super) fn new(elements: &[Element], fields: &[Field]) -> Option<Self> {
        let step = |element: &Element| match element {
            Element::Literal(bytes) => Some(KeyElement::Literal(bytes.as_slice().into())),
            Element::Field(at) => KeyElement::of(&fields[*at].codec),
            Element::Computed(_) => None,
        };
        elements.iter().map(step).collect::<Option<_>>().map(Self)
    }

    /// Appends the key for the values that `value_of` returns for the field positions. Returns
    /// false, with `out` unchanged, if the fast path fails.
    #[inline]
    pub(super) fn encode<'v>(
        &self,
        value_of: impl Fn(usize) -> Option<&'v Value>,
        out: &mut Vec<u8>,
    ) -> bool {
        let start = out.len();
        let mut field = 0;
        for step in &self.0 {
            if let KeyElement::Literal(bytes) = step {
                out.extend_from_slice(bytes);
                continue;
            }
            if !value_of(field).is_some_and(|value| step.put(value, out)) {
                out.truncate(start);
                return false;
            }
            field += 1;
        }
        let len = out.len() - start;
        let fits = 0 < len && len <= ROW_LEN_MAX;
        if !fits {
            out.truncate(start);
        }
        fits
    }

    /// Decodes a key into `values`, reusing the memory that its texts hold. Returns false if the
    /// fast path fails; `values` is then unspecified.
    #[inline]
    pub(super) fn decode(&self, key: &[u8], values: &mut Vec<Value>) -> bool {
        if key.is_empty() || key.len() > ROW_LEN_MAX {
            return false;
        }
        let mut field = 0;
        let end = self.take(key, 0, values, &mut field);
        values.truncate(field);
        end == Some(key.len())
    }

    /// Decodes the values from offset `at`, the first into position `field`; returns their end
    /// offset.
    #[inline(always)]
    pub(super) fn take(
        &self,
        key: &[u8],
        mut at: usize,
        values: &mut Vec<Value>,
        field: &mut usize,
    ) -> Option<usize> {
        for step in &self.0 {
            if let KeyElement::Literal(bytes) = step {
                if !key[at..].starts_with(bytes) {
                    return None;
                }
                at += bytes.len();
                continue;
            }
            let slot = match values.get_mut(*field) {
                Some(slot) => slot,
                None => {
                    values.push(Value::Null);
                    &mut values[*field]
                }
            };
            at = step.take(key, at, slot)?;
            *field += 1;
        }
        Some(at)
    }
}

impl KeyElement {
    fn of(codec: &Codec) -> Option<Self> {
        if codec.tail().is_some() {
            return None;
        }
        let quick = match &codec.body {
            _ if !codec.lead.is_none() => None,
            Body::Number(number) if number.domain.has_labels() => None,
            Body::Number(number) => {
                let is_whole = number.domain.plain_unit().is_some();
                let step = if is_whole { Self::Whole } else { Self::Number };
                number.quick().map(|quick| step(quick, number.domain.clone()))
            }
            Body::Sequence(Sequence { content: Content::Text, arrangement, container })
                if arrangement.is_as_given() =>
            {
                match container {
                    Container::Terminated(Terminated::PLAIN) => Some(Self::Text),
                    Container::Fixed(fixed) if fixed.is_plainly_padded() => {
                        Some(Self::Padded(*fixed))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        Some(quick.unwrap_or_else(|| Self::Other(codec.clone())))
    }

    /// Appends a field's value; returns false if it cannot.
    #[inline(always)]
    fn put(&self, value: &Value, out: &mut Vec<u8>) -> bool {
        match (self, value) {
            (Self::Whole(quick, domain), value) => {
                let number = domain.whole_number(value).or_else(|| domain.quick_number(value));
                match number {
                    Some(number) => quick.put_any(number, out),
                    None => return false,
                }
            }
            (Self::Number(quick, domain), value) => match domain.quick_number(value) {
                Some(number) => quick.put_any(number, out),
                None => return false,
            },
            (Self::Text, Value::Text(text)) => Terminated::PLAIN.put(text.as_bytes(), out),
            (Self::Padded(fixed), Value::Text(text)) => {
                return fixed.put_plainly(text.as_bytes(), out);
            }
            (Self::Other(codec), value) => return codec.encode(value, out).is_ok(),
            (Self::Text | Self::Padded(_) | Self::Literal(_), _) => return false,
        }
        true
    }

    /// Decodes the value at offset `at` into `slot`; returns the end offset.
    #[inline(always)]
    fn take(&self, key: &[u8], at: usize, slot: &mut Value) -> Option<usize> {
        match self {
            Self::Whole(quick, domain) | Self::Number(quick, domain) => {
                let next = at + quick.width();
                let number = quick.read(key.get(at..next)?);
                *slot = domain.contains(number).then(|| domain.value(number))?;
                Some(next)
            }
            Self::Text => {
                let (text, next) = Terminated::PLAIN.decode_plain(key, at)?;
                put_text(text, slot)?;
                Some(next)
            }
            Self::Padded(fixed) => {
                let next = at + fixed.width();
                put_text(fixed.without_padding(key.get(at..next)?), slot)?;
                Some(next)
            }
            Self::Other(codec) => {
                let (value, next) = codec.decode(key, at).ok()?;
                *slot = value;
                Some(next)
            }
            Self::Literal(_) => None,
        }
    }
}

/// Replaces a value by a text, in the previous text's memory.
#[inline(always)]
fn put_text(bytes: &[u8], slot: &mut Value) -> Option<()> {
    let text = std::str::from_utf8(bytes).ok()?;
    match slot {
        Value::Text(held) => {
            held.clear();
            held.push_str(text);
        }
        slot => *slot = Value::Text(text.to_owned()),
    }
    Some(())
}
