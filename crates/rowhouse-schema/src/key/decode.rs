//! Keys to values.

use rowhouse_model::{ROW_LEN_MAX, escape};

use super::KeySchema;
use super::compute::NO_VALUE;
use crate::computed::{Computed, Operands};
use crate::error::NotFitting;
use crate::field::Field;
use crate::template::{COMPUTED_MAX, Element};
use crate::value::{Value, Values};

impl KeySchema {
    /// The values of a key, or why the key does not fit the template. Never panics, and what it
    /// gives encodes to the same bytes again.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[user text][at millis desc]")?;
    /// assert!(schema.decode(b"bob").is_err());
    /// let values = schema.decode(b"bob\x7f\xff\xfe\x7b\x34\x5e\xbf\xff")?;
    /// assert_eq!(values["user"].as_str(), Some("bob"));
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn decode(&self, key: &[u8]) -> Result<Values, NotFitting> {
        let mut values = Vec::with_capacity(self.fields().len());
        let mut computed = Vec::with_capacity(self.computed().len());
        self.read(key, &mut values, &mut computed)?;
        Ok(Values::new(self.clone(), values, computed))
    }

    /// The values of a key's stored fields, in their order, in place of what `values` held before: a
    /// buffer that is used again. Without allocating, where fields hold no texts or bytes and none is computed.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[user u64][at millis desc]")?;
    /// let key = schema.encode(&[("user", 7.into()), ("at", "2022-12-01".into())])?;
    /// let mut values = Vec::new();
    /// schema.decode_into(&key, &mut values)?;
    /// assert_eq!(values[0].as_u64(), Some(7));
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn decode_into(&self, key: &[u8], values: &mut Vec<Value>) -> Result<(), NotFitting> {
        values.clear();
        self.read(key, values, &mut Vec::new())
    }

    fn read(
        &self,
        key: &[u8],
        values: &mut Vec<Value>,
        computed: &mut Vec<Value>,
    ) -> Result<(), NotFitting> {
        check_len(key)?;
        let mut places = [0; COMPUTED_MAX];
        let mut at = 0;
        for element in self.elements() {
            match element {
                Element::Literal(bytes) => at = literal(bytes, key, at)?,
                Element::Field(nth) => {
                    let field = &self.fields()[*nth];
                    if *nth == 0 && at == key.len() && field.codec.tail().is_some() {
                        return Err(NotFitting::new(at, NO_VALUE));
                    }
                    let (value, next) = match field.codec.decode_quickly(key, at) {
                        Some(decoded) => decoded,
                        None => field.codec.decode(key, at).map_err(|why| in_field(field, why))?,
                    };
                    values.push(value);
                    at = next;
                }
                Element::Computed(nth) => {
                    let field = &self.computed()[*nth];
                    let (value, next) = field.codec.decode(key, at).map_err(|why| {
                        NotFitting::new(why.at, format!("`{field}`: {}", why.why))
                    })?;
                    computed.push(value);
                    places[*nth] = at;
                    at = next;
                }
            }
        }
        if at < key.len() {
            return Err(NotFitting::new(at, "the key goes on behind its last field"));
        }
        let checks = self.computed().iter().zip(places);
        checks
            .into_iter()
            .try_for_each(|(field, place)| self.check_computed(field, place, key, values))
    }

    /// Whether a computed field holds what is computed of the others, as far as that can be known.
    fn check_computed(
        &self,
        computed: &Computed,
        place: usize,
        key: &[u8],
        values: &[Value],
    ) -> Result<(), NotFitting> {
        if self.is_lossy(computed) {
            return Ok(());
        }
        let behind = place + computed.width();
        let digest = match &computed.operands {
            Operands::Chance => return Ok(()),
            Operands::Rest => computed.digest(&key[behind..]),
            Operands::Fields(fields) => {
                let mut input = Vec::with_capacity(64);
                for at in fields {
                    let codec = &self.fields()[*at].codec;
                    let result = codec.put_canonical(&values[*at], &mut input);
                    result.map_err(|why| NotFitting::new(place, why))?;
                }
                computed.digest(&input)
            }
        };
        let mut expected = Vec::with_capacity(64);
        computed.put(digest.as_ref(), &mut expected);
        let found = &key[place..behind];
        if expected == found {
            return Ok(());
        }
        let why = format!("`{computed}`: found={}, computed={}", escape(found), escape(&expected));
        Err(NotFitting::new(place, why))
    }
}

#[cold]
fn in_field(field: &Field, why: NotFitting) -> NotFitting {
    NotFitting::new(why.at, format!("field `{}`: {}", field.name, why.why))
}

/// The offset behind a literal that must stand at `at`.
pub(super) fn literal(bytes: &[u8], key: &[u8], at: usize) -> Result<usize, NotFitting> {
    match key[at..].starts_with(bytes) {
        true => Ok(at + bytes.len()),
        false => Err(NotFitting::new(at, format!("expected the literal `{}`", escape(bytes)))),
    }
}

fn check_len(key: &[u8]) -> Result<(), NotFitting> {
    match key.len() {
        0 => Err(NotFitting::new(0, "a row key is never empty")),
        len if len > ROW_LEN_MAX => {
            let why = format!("longer than a row key can be: max={ROW_LEN_MAX}");
            Err(NotFitting::new(ROW_LEN_MAX, why))
        }
        _ => Ok(()),
    }
}
