//! Values to keys.

use rowhouse_model::{Bytes, Error, ROW_LEN_MAX, Result};

use super::KeySchema;
use crate::computed::{Computed, Operands};
use crate::field::Field;
use crate::template::{COMPUTED_MAX, Element};
use crate::value::{NamedValues, Value};

impl KeySchema {
    /// The key of these values. Every stored field must be given, once, in any order; of the computed
    /// ones, only a salt.
    ///
    /// # Example: what is refused?
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[blogger text]_[at millis digits desc]")?;
    /// let error = schema.encode(&[("blogger", "a_b".into()), ("at", 0.into())]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "field `blogger`: a value cannot hold the literal behind the field, it would end there: \
    ///      value='a_b', literal=_"
    /// );
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Example: where does the salt come from?
    ///
    /// From the caller: this crate knows no chance. [`KeySchema::encode_salted`] takes a random number,
    /// [`KeySchema::encode_all`] makes the keys with every salt.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[salt 4 a-d as shard]-[id text]")?;
    /// let given = [("shard", "a".into()), ("id", "foo0003".into())];
    /// assert_eq!(schema.encode(&given)?, "a-foo0003");
    ///
    /// let id = [("id", "foo0003".into())];
    /// assert!(schema.encode(&id).is_err());
    /// assert_eq!(schema.encode_salted(&id, 1_000_003)?, "d-foo0003");
    /// assert_eq!(schema.encode_all(&id)?.len(), 4);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn encode<V: NamedValues + ?Sized>(&self, values: &V) -> Result<Bytes> {
        let mut key = Vec::new();
        self.encode_into(values, &mut key)?;
        Ok(key.into())
    }

    /// Appends the key of these values to `out`, which stays as it was if there is an error.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[metric text]#[at millis digits 13]")?;
    /// let mut buffer = Vec::new();
    /// schema.encode_into(&[("metric", "cpu".into()), ("at", 1425330757685_u64.into())], &mut buffer)?;
    /// assert_eq!(buffer, b"cpu#1425330757685");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn encode_into<V: NamedValues + ?Sized>(
        &self,
        values: &V,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.check_names(values)?;
        let kept = values.computed(self);
        self.append(|at| self.value_of(values, at), |at| self.given(values, at), kept, out)
    }

    /// Appends the key of these values, which stand in the order of the stored fields, to `out`, which
    /// stays as it was if there is an error. The quickest way to make keys.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[metric text]#[at millis digits 13]")?;
    /// let mut buffer = Vec::new();
    /// schema.encode_values(&["cpu".into(), 1425330757685_u64.into()], &mut buffer)?;
    /// assert_eq!(buffer, b"cpu#1425330757685");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn encode_values(&self, values: &[Value], out: &mut Vec<u8>) -> Result<()> {
        let (given, fields) = (values.len(), self.fields().len());
        if given != fields {
            return Err(Error::invalid(format!(
                "the key has {fields} stored fields, not as many values: values={given}"
            )));
        }
        if !self.computed().is_empty() {
            return self.append(|at| values.get(at), |_| None, None, out);
        }
        let start = out.len();
        let mut places = [0; COMPUTED_MAX];
        let result = self.append_stored(|at| values.get(at), &mut places, out);
        let result = result.and_then(|()| check_len(out.len() - start));
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    /// The key of these values; salts that are not given follow from `random`.
    pub fn encode_salted<V: NamedValues + ?Sized>(&self, values: &V, random: u64) -> Result<Bytes> {
        self.encode_with_salts(values, &self.salts(random))
    }

    /// The keys of these values with every salt there is, in ascending order of the salts; one key if
    /// the template has no salt. What a get by fields asks for.
    pub fn encode_all<V: NamedValues + ?Sized>(&self, values: &V) -> Result<Vec<Bytes>> {
        let counts = self.computed().iter().map(|computed| match computed.is_random() {
            true => u64::from(computed.count().unwrap_or(1)),
            false => 1,
        });
        let keys = (0..counts.product()).map(|random| self.encode_salted(values, random));
        let mut keys: Vec<_> = keys.collect::<Result<_>>()?;
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// One salt for each salt field, and null for the other computed ones.
    fn salts(&self, mut random: u64) -> Vec<Value> {
        let mut salt = |computed: &Computed| {
            let salt = if computed.is_random() { computed.salt(random) } else { Value::Null };
            random /= u64::from(computed.count().filter(|_| computed.is_random()).unwrap_or(1));
            salt
        };
        self.computed().iter().map(&mut salt).collect()
    }

    fn encode_with_salts<V: NamedValues + ?Sized>(
        &self,
        values: &V,
        salts: &[Value],
    ) -> Result<Bytes> {
        self.check_names(values)?;
        let mut key = Vec::new();
        let given = |at: usize| {
            self.given(values, at).or_else(|| salts.get(at).filter(|salt| !salt.is_null()))
        };
        self.append(|at| self.value_of(values, at), given, None, &mut key)?;
        Ok(key.into())
    }

    fn value_of<'v, V: NamedValues + ?Sized>(&self, values: &'v V, at: usize) -> Option<&'v Value> {
        let name = self.fields()[at].name();
        // Mostly they are given in the order of the template.
        if at < values.len() && values.pair(at).0 == name {
            return Some(values.pair(at).1);
        }
        named(values, name)
    }

    fn given<'v, V: NamedValues + ?Sized>(&self, values: &'v V, at: usize) -> Option<&'v Value> {
        self.computed()[at].name().and_then(|name| named(values, name))
    }

    fn check_names<V: NamedValues + ?Sized>(&self, values: &V) -> Result<()> {
        let in_order = values.len() == self.fields().len()
            && self
                .fields()
                .iter()
                .enumerate()
                .all(|(at, field)| values.pair(at).0 == field.name());
        if in_order {
            return Ok(());
        }
        for at in 0..values.len() {
            let (name, _) = values.pair(at);
            if self.position(name).or_else(|| self.computed_position(name)).is_none() {
                return Err(Error::invalid(self.no_field_message(name)));
            }
            if (0..at).any(|earlier| values.pair(earlier).0 == name) {
                return Err(Error::invalid(format!("field `{name}`: given twice")));
            }
        }
        Ok(())
    }

    /// Appends a key. `given` are values of computed fields, `kept` what an earlier key held there.
    fn append<'v>(
        &self,
        value_of: impl Fn(usize) -> Option<&'v Value>,
        given: impl Fn(usize) -> Option<&'v Value>,
        kept: Option<&'v [Value]>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let mut places = [0; COMPUTED_MAX];
        let mut result = self.append_stored(&value_of, &mut places, out);
        for (at, computed) in self.computed().iter().enumerate() {
            if result.is_err() {
                break;
            }
            let kept = kept.and_then(|kept| kept.get(at));
            let given = given(at).or(kept);
            result = self
                .fill(computed, places[at], &value_of, given, kept.is_some(), out)
                .map_err(|why| Error::invalid(format!("`{computed}`: {why}")));
        }
        let result = result.and_then(|()| check_len(out.len() - start));
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    /// Appends literals and stored fields, and zeros in the places of computed ones.
    #[inline]
    fn append_stored<'v>(
        &self,
        value_of: impl Fn(usize) -> Option<&'v Value>,
        places: &mut [usize; COMPUTED_MAX],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        for element in self.elements() {
            match element {
                Element::Literal(bytes) => out.extend_from_slice(bytes),
                Element::Computed(at) => {
                    places[*at] = out.len();
                    out.resize(out.len() + self.computed()[*at].width(), 0);
                }
                Element::Field(at) => {
                    let field = &self.fields()[*at];
                    let value = value_of(*at).ok_or_else(|| {
                        Error::invalid(format!("field `{}`: no value given", field.name))
                    })?;
                    field.codec.encode(value, out).map_err(|why| field_error(field, &why))?;
                }
            }
        }
        Ok(())
    }

    /// Puts a computed field into its place.
    fn fill<'v>(
        &self,
        computed: &Computed,
        place: usize,
        value_of: impl Fn(usize) -> Option<&'v Value>,
        given: Option<&Value>,
        is_kept: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let end = out.len();
        let replaced = place..place + computed.width();
        let result = if computed.is_random() {
            match given {
                Some(salt) => computed.codec.encode(salt, out),
                None => {
                    Err("no salt given: name it (`as shard`) and give it, or use a random one"
                        .into())
                }
            }
        } else if let Some(kept) = given.filter(|_| is_kept && self.is_lossy(computed)) {
            computed.codec.encode(kept, out)
        } else {
            self.compute(computed, place, &value_of, out)
        };
        let result = match (result, given) {
            (Err(_), Some(given)) if !computed.is_random() => computed.codec.encode(given, out),
            (Ok(()), Some(given)) => check_given(computed, given, &out[end..]),
            (result, _) => result,
        };
        if result.is_ok() {
            out.copy_within(end.., replaced.start);
        }
        out.truncate(end);
        result
    }

    /// Appends what a computed field is of the values, whose key ends `out`.
    fn compute<'v>(
        &self,
        computed: &Computed,
        place: usize,
        value_of: impl Fn(usize) -> Option<&'v Value>,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let end = out.len();
        let input = match &computed.operands {
            Operands::Chance => end,
            Operands::Rest => place + computed.width(),
            Operands::Fields(fields) => {
                for at in fields {
                    let value = value_of(*at).ok_or("no value given")?;
                    let codec = &self.fields()[*at].codec;
                    if let Err(why) = codec.put_canonical(value, out) {
                        out.truncate(end);
                        return Err(format!(
                            "cannot be computed of `{}`: {why}",
                            self.fields()[*at].name
                        ));
                    }
                }
                end
            }
        };
        let digest = computed.digest(&out[input..]);
        out.truncate(end);
        computed.put(digest.as_ref(), out);
        Ok(())
    }

    /// Whether what the field was computed of cannot be got back from a key.
    pub(super) fn is_lossy(&self, computed: &Computed) -> bool {
        match &computed.operands {
            Operands::Chance => true,
            Operands::Rest => false,
            Operands::Fields(fields) => fields.iter().any(|at| self.fields()[*at].codec.is_lossy()),
        }
    }
}

/// A computed field that is given must be what is computed.
fn check_given(computed: &Computed, given: &Value, bytes: &[u8]) -> Result<(), String> {
    let mut expected = Vec::new();
    computed.codec.encode(given, &mut expected)?;
    if expected == bytes {
        return Ok(());
    }
    Err(format!(
        "the value given is not what is computed: given={given}, computed={}",
        rowhouse_model::escape(bytes)
    ))
}

fn check_len(len: usize) -> Result<()> {
    match len {
        0 => Err(Error::invalid("the values make an empty key, and no row key is empty")),
        len if len > ROW_LEN_MAX => Err(Error::invalid(format!(
            "the values make a key that is too long: len={len}, max={ROW_LEN_MAX}"
        ))),
        _ => Ok(()),
    }
}

fn named<'v, V: NamedValues + ?Sized>(values: &'v V, name: &str) -> Option<&'v Value> {
    (0..values.len()).map(|at| values.pair(at)).find(|pair| pair.0 == name).map(|pair| pair.1)
}

fn field_error(field: &Field, why: &str) -> Error {
    Error::invalid(format!("field `{}`: {why}", field.name))
}
