//! Encoding keys.

use rowhouse_model::{Bytes, Error, Result};

use super::compute::KnownValue;
use super::named::NamedValues;
use super::schema::KeySchema;
use crate::computed::{BUCKETS_MAX, Computed};
use crate::value::{FieldValue, Value};

impl KeySchema {
    /// Encodes these values as a key. Every stored field must be given once, in any order; among
    /// the computed fields, only salts have to be given.
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
    ///     "field `blogger`: a value cannot contain the literal after the field, it would \
    ///      end there: value='a_b', literal=_"
    /// );
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Example: where does the salt come from?
    ///
    /// From the caller: this crate uses no randomness. [`KeySchema::encode_salted`] takes a random
    /// number, [`KeySchema::encode_all`] returns the keys with every salt.
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

    /// Appends the key for these values to `out`, which is unchanged if there is an error.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[metric text]#[at millis digits 13]")?;
    /// let mut buffer = Vec::new();
    /// let values = [("metric", "cpu".into()), ("at", 1425330757685_u64.into())];
    /// schema.encode_into(&values, &mut buffer)?;
    /// assert_eq!(buffer, b"cpu#1425330757685");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn encode_into<V: NamedValues + ?Sized>(
        &self,
        values: &V,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.check_names(values)?;
        let value_of = |at: usize| self.value_of(values, at);
        if self.steps().is_some_and(|steps| steps.encode(value_of, out)) {
            return Ok(());
        }
        let decoded = values.computed(self);
        let given = |at: usize| match (self.given(values, at), decoded) {
            (Some(value), _) => KnownValue::Named(value),
            (None, Some(decoded)) => KnownValue::Decoded(&decoded[at]),
            (None, None) => KnownValue::Nothing,
        };
        self.append(value_of, given, out)
    }

    /// Appends the key for these values, given in stored field order, to `out`, which is unchanged
    /// if there is an error. This is the fastest way to encode keys.
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
        let given = values.len();
        let fields = self.fields().len();
        if given != fields {
            return Err(Error::invalid(format!(
                "wrong number of values: fields={fields}, values={given}"
            )));
        }
        self.encode_by(|at| values.get(at), out)
    }

    /// As [`KeySchema::encode_values`], with the values that `value_of` returns for the stored
    /// fields' positions.
    pub(crate) fn encode_by<'v>(
        &self,
        value_of: impl Fn(usize) -> Option<&'v Value> + Copy,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if self.steps().is_some_and(|steps| steps.encode(value_of, out)) {
            return Ok(());
        }
        self.append(value_of, |_| KnownValue::Nothing, out)
    }

    /// Appends the key for values that may be borrowed to `out`, which is unchanged if there is an
    /// error. `field` returns the value for a position in [`KeySchema::fields`].
    ///
    /// ```
    /// use rowhouse_schema::{FieldValue, KeySchema, ToField};
    ///
    /// let schema = KeySchema::parse("[metric text]#[at millis digits 13]")?;
    /// let (metric, at) = ("cpu", 1_425_330_757_685_u64);
    /// let field = |place: usize| if place == 0 { metric.to_field() } else { at.to_field() };
    /// let mut buffer = Vec::new();
    /// schema.encode_fields(field, &mut buffer)?;
    /// assert_eq!(buffer, b"cpu#1425330757685");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    #[inline]
    pub fn encode_fields<'v>(
        &self,
        field: impl Fn(usize) -> FieldValue<'v>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.append(|at| Some(field(at)), |_| KnownValue::Nothing, out)
    }

    /// As [`KeySchema::encode_fields`], with salts derived from `random`.
    pub fn encode_fields_salted<'v>(
        &self,
        field: impl Fn(usize) -> FieldValue<'v>,
        random: u64,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let salts = self.salts(random);
        let given = |at: usize| {
            if self.computed()[at].is_random() {
                KnownValue::Named(&salts[at])
            } else {
                KnownValue::Nothing
            }
        };
        self.append(|at| Some(field(at)), given, out)
    }

    /// Encodes these values as a key; salts that are not given are derived from `random`.
    pub fn encode_salted<V: NamedValues + ?Sized>(&self, values: &V, random: u64) -> Result<Bytes> {
        self.check_names(values)?;
        let salts = self.salts(random);
        let given = |at: usize| match self.given(values, at) {
            Some(value) => KnownValue::Named(value),
            None if self.computed()[at].is_random() => KnownValue::Named(&salts[at]),
            None => KnownValue::Nothing,
        };
        let mut key = Vec::new();
        self.append(|at| self.value_of(values, at), given, &mut key)?;
        Ok(key.into())
    }

    /// Returns the keys for these values with every possible salt, in key order; one key if the
    /// template has no salt. A get by fields reads these keys.
    ///
    /// # Errors
    /// As [`KeySchema::encode`], and for more than 65,536 keys.
    pub fn encode_all<V: NamedValues + ?Sized>(&self, values: &V) -> Result<Vec<Bytes>> {
        let salts = self.computed().iter().filter(|computed| computed.is_random());
        let counts = salts.filter_map(Computed::count).map(u64::from);
        let count = counts.fold(1, u64::saturating_mul);
        if count > u64::from(BUCKETS_MAX) {
            return Err(Error::invalid(format!(
                "too many salts for a key with each: keys={count}, max={BUCKETS_MAX}"
            )));
        }
        let keys = (0..count).map(|random| self.encode_salted(values, random));
        let mut keys: Vec<_> = keys.collect::<Result<_>>()?;
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// Returns a salt for each salt field, and null for the other computed fields.
    fn salts(&self, mut random: u64) -> Vec<Value> {
        let mut salt = |computed: &Computed| {
            let salt = if computed.is_random() { computed.salt(random) } else { Value::Null };
            random /= u64::from(computed.count().filter(|_| computed.is_random()).unwrap_or(1));
            salt
        };
        self.computed().iter().map(&mut salt).collect()
    }

    fn value_of<'v, V: NamedValues + ?Sized>(&self, values: &'v V, at: usize) -> Option<&'v Value> {
        let name = self.fields()[at].name();
        // Values are mostly given in template order.
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
}

fn named<'v, V: NamedValues + ?Sized>(values: &'v V, name: &str) -> Option<&'v Value> {
    (0..values.len()).map(|at| values.pair(at)).find(|pair| pair.0 == name).map(|pair| pair.1)
}
