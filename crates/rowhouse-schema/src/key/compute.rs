//! Assembles a key: literals and stored fields from left to right, then the computed fields into
//! the gaps left for them.

use rowhouse_model::{Error, ROW_LEN_MAX, Result, escape};

use super::schema::KeySchema;
use crate::computed::{Computed, Operands};
use crate::encode::Encodable;
use crate::field::Field;
use crate::template::{COMPUTED_MAX, Element};
use crate::value::Value;

/// A computed field's value that is known before it is computed.
#[derive(Clone, Copy)]
pub(super) enum KnownValue<'v> {
    Nothing,
    /// A value that the caller gave by the field's name, or a salt.
    Named(&'v Value),
    /// The value decoded from the key that the other values were decoded from.
    Decoded(&'v Value),
}

impl KeySchema {
    /// Appends a key to `out`, which is unchanged if there is an error.
    pub(super) fn append<'v, V: Encodable>(
        &self,
        value_of: impl Fn(usize) -> Option<V>,
        given: impl Fn(usize) -> KnownValue<'v>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let result = self.append_all(value_of, given, out);
        let result = result.and_then(|()| check_len(out.len() - start));
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    #[inline]
    fn append_all<'v, V: Encodable>(
        &self,
        value_of: impl Fn(usize) -> Option<V>,
        given: impl Fn(usize) -> KnownValue<'v>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut places = [0; COMPUTED_MAX];
        // The length after which the rest of the key is only separators.
        let mut retained = None;
        let mut tail = None;
        for element in self.elements() {
            match element {
                Element::Literal(bytes) => out.extend_from_slice(bytes),
                Element::Field(at) => {
                    let field = &self.fields()[*at];
                    let value =
                        value_of(*at).ok_or_else(|| field_error(field, "no value given"))?;
                    let start = out.len();
                    value.encode(&field.codec, out).map_err(|why| field_error(field, &why))?;
                    if let Some(separated) = field.codec.tail() {
                        tail = tail.or(Some((*at, start)));
                        retained = match separated.retained_len(&out[start..]) {
                            0 => retained.or(Some(start)),
                            len => Some(start + len),
                        };
                    }
                }
                Element::Computed(at) => {
                    places[*at] = out.len();
                    out.resize(out.len() + self.computed()[*at].width(), 0);
                }
            }
        }
        if let (Some((0, start)), Some(retained)) = (tail, retained)
            && start == retained
        {
            return Err(Error::invalid(NO_VALUE));
        }
        out.truncate(retained.unwrap_or(out.len()));
        for (at, computed) in self.computed().iter().enumerate() {
            let end = out.len();
            self.append_computed(computed, places[at], &value_of, given(at), out)
                .map_err(|why| Error::invalid(format!("`{computed}`: {why}")))?;
            out.copy_within(end.., places[at]);
            out.truncate(end);
        }
        Ok(())
    }

    /// Inserts a computed field's bytes; `place` is where its gap is in the key.
    fn append_computed<V: Encodable>(
        &self,
        computed: &Computed,
        place: usize,
        value_of: impl Fn(usize) -> Option<V>,
        given: KnownValue<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let end = out.len();
        match given {
            // The field's input cannot be recovered from a key.
            KnownValue::Decoded(value) if self.is_lossy(computed) => {
                computed.codec.encode(value, out)
            }
            KnownValue::Named(salt) if computed.is_random() => computed.codec.encode(salt, out),
            _ if computed.is_random() => {
                Err("no salt given: name it (`as shard`) and give it, or use a random one".into())
            }
            KnownValue::Nothing | KnownValue::Decoded(_) => {
                self.compute(computed, place, value_of, out)
            }
            KnownValue::Named(named) => match self.compute(computed, place, value_of, out) {
                Ok(()) => check_named(computed, named, &out[end..]),
                // A bucket cannot be computed from a field that is given by hash, so the given
                // value counts.
                Err(_) => computed.codec.encode(named, out),
            },
        }
    }

    /// Computes a field from the values, whose key is at the end of `out`, and appends the field's
    /// bytes.
    fn compute<V: Encodable>(
        &self,
        computed: &Computed,
        place: usize,
        value_of: impl Fn(usize) -> Option<V>,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let end = out.len();
        let input = match &computed.operands {
            Operands::Rest => place + computed.width(),
            Operands::Chance | Operands::Fields(_) => end,
        };
        if let Operands::Fields(fields) = &computed.operands {
            for at in fields {
                let field = &self.fields()[*at];
                let value = value_of(*at).ok_or("no value given")?;
                if let Err(why) = value.put_canonical(&field.codec, out) {
                    out.truncate(end);
                    return Err(format!("cannot be computed from `{}`: {why}", field.name));
                }
            }
        }
        let digest = computed.digest(&out[input..]);
        out.truncate(end);
        computed.put(digest.as_ref(), out);
        Ok(())
    }

    /// Returns true if the field's input cannot be recovered from a key.
    pub(super) fn is_lossy(&self, computed: &Computed) -> bool {
        match &computed.operands {
            Operands::Chance => true,
            Operands::Rest => false,
            Operands::Fields(fields) => fields.iter().any(|at| self.fields()[*at].codec.is_lossy()),
        }
    }
}

/// The error for a key whose fields have separators, when no field has a value.
pub(super) const NO_VALUE: &str = "no field has a value, and a key cannot consist of separators";

/// Checks that the value given for a computed field equals the computed one.
fn check_named(computed: &Computed, named: &Value, bytes: &[u8]) -> Result<(), String> {
    let mut expected = Vec::new();
    computed.codec.encode(named, &mut expected)?;
    if expected == bytes {
        return Ok(());
    }
    let computed = escape(bytes);
    Err(format!("the given value is not the computed one: given={named}, computed={computed}"))
}

fn check_len(len: usize) -> Result<()> {
    match len {
        0 => Err(Error::invalid("the values encode to no bytes: min=1")),
        len if len > ROW_LEN_MAX => Err(Error::invalid(format!(
            "the values encode to too many bytes: len={len}, max={ROW_LEN_MAX}"
        ))),
        _ => Ok(()),
    }
}

fn field_error(field: &Field, why: &str) -> Error {
    Error::invalid(format!("field `{}`: {why}", field.name))
}
