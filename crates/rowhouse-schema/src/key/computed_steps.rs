//! The fast path for decoding keys with computed fields. It decodes the steps between the computed
//! fields and checks these last, because they may depend on bytes after them.

use rowhouse_model::ROW_LEN_MAX;

use super::schema::KeySchema;
use super::steps::FastPath;
use crate::computed::{Computed, Operands};
use crate::encode::{Body, Codec, Content, Sequence};
use crate::field::Field;
use crate::template::{COMPUTED_MAX, Element};
use crate::value::Value;

/// The steps before each computed field, in template order, and the steps after the last one.
#[derive(Debug)]
pub(super) struct ComputedFastPath {
    before: Box<[(FastPath, ComputedField)]>,
    after: FastPath,
}

/// A computed field.
#[derive(Clone, Copy, Debug)]
struct ComputedField {
    /// The position among the computed fields.
    nth: usize,
    width: usize,
}

impl ComputedFastPath {
    /// Returns the steps for a template with computed fields, if the fast path supports it.
    pub(super) fn new(
        elements: &[Element],
        fields: &[Field],
        computed: &[Computed],
    ) -> Option<Self> {
        let mut before = Vec::new();
        let mut start = 0;
        for (at, element) in elements.iter().enumerate() {
            if let Element::Computed(nth) = *element {
                let place = ComputedField { nth, width: computed[nth].codec.width()? };
                before.push((FastPath::new(&elements[start..at], fields)?, place));
                start = at + 1;
            }
        }
        let after = FastPath::new(&elements[start..], fields)?;
        Some(Self { before: before.into(), after })
    }

    /// Decodes a key's stored fields into `values`, reusing the memory that its texts hold, and
    /// checks the computed fields. `schema` is the one from which the steps were made. With
    /// `with_computed`, the computed fields' values follow the others. Returns false if the fast
    /// path fails; `values` is then unspecified.
    pub(super) fn decode(
        &self,
        schema: &KeySchema,
        key: &[u8],
        values: &mut Vec<Value>,
        with_computed: bool,
    ) -> bool {
        if key.is_empty() || key.len() > ROW_LEN_MAX {
            return false;
        }
        let mut places = [0; COMPUTED_MAX];
        let mut at = 0;
        let mut field = 0;
        for (steps, place) in &self.before {
            let Some(next) = steps.take(key, at, values, &mut field) else { return false };
            places[place.nth] = next;
            at = next + place.width;
            if at > key.len() {
                return false;
            }
        }
        let end = self.after.take(key, at, values, &mut field);
        values.truncate(field);
        if end != Some(key.len()) {
            return false;
        }
        for (computed, at) in schema.computed().iter().zip(places) {
            let Some(value) = take_computed(schema, computed, key, at, values) else {
                return false;
            };
            if with_computed {
                values.push(value);
            }
        }
        true
    }
}

/// Decodes the computed field at `at`; `None` if it differs from the value computed from the
/// others.
#[inline(always)]
fn take_computed(
    schema: &KeySchema,
    computed: &Computed,
    key: &[u8],
    at: usize,
    values: &[Value],
) -> Option<Value> {
    let input = match &computed.operands {
        Operands::Rest => key.get(at + computed.width()..),
        Operands::Fields(fields) => match fields[..] {
            [field] => text_of(&schema.fields()[field].codec, &values[field]),
            _ => None,
        },
        Operands::Chance => None,
    };
    if let (Some(input), Some((domain, number, _))) =
        (input, computed.codec.decode_quickly(key, at))
        && computed.is_bucket(number, input)
    {
        return Some(domain.value(number));
    }
    let (value, _) = computed.codec.decode(key, at).ok()?;
    schema.check_computed(computed, at, key, |field| &values[field]).ok()?;
    Some(value)
}

/// A text's bytes, which are the input for buckets without conversion.
#[inline(always)]
fn text_of<'v>(codec: &Codec, value: &'v Value) -> Option<&'v [u8]> {
    match (&codec.body, value) {
        (Body::Sequence(Sequence { content: Content::Text, .. }), Value::Text(text)) => {
            Some(text.as_bytes())
        }
        _ => None,
    }
}
