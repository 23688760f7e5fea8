//! Keys to values.

use rowhouse_model::escape;

use super::{KeyReader, KeySchema};
use crate::computed::{Computed, Operands};
use crate::encode::{Encodable, ValueForm};
use crate::error::NotFitting;
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
        let mut values = Vec::with_capacity(self.slots());
        if self.decode_quickly(key, &mut values, true) {
            return Ok(Values::new(self.clone(), values));
        }
        values.clear();
        let mut computed = Vec::with_capacity(self.computed().len());
        self.read(key, &mut values, &mut computed)?;
        values.append(&mut computed);
        Ok(Values::new(self.clone(), values))
    }

    /// The values of a key's stored fields, in their order, in place of what `values` held before: a
    /// buffer that is used again, with the memory of its texts. Where fields are numbers, times, `string` or `text N` and none is
    /// computed, nothing is allocated once that memory is enough; nor for buckets of a single text or of the rest of the key.
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
        if self.decode_quickly(key, values, false) {
            return Ok(());
        }
        values.clear();
        self.read(key, values, &mut Vec::new())
    }

    /// Reads a key the quick way, if there is one and it leads to the end; if not, nothing is known of `values`. The values of
    /// computed fields come behind the others if they are asked for.
    #[inline]
    fn decode_quickly(&self, key: &[u8], values: &mut Vec<Value>, with_computed: bool) -> bool {
        match (self.steps(), &self.template.computed_steps) {
            (Some(steps), _) => steps.decode(key, values),
            (None, Some(steps)) => steps.decode(self, key, values, with_computed),
            (None, None) => false,
        }
    }

    fn read(
        &self,
        key: &[u8],
        values: &mut Vec<Value>,
        computed: &mut Vec<Value>,
    ) -> Result<(), NotFitting> {
        let mut reader = KeyReader::new(self, key)?;
        for _ in self.fields() {
            let mut keep = |value| computed.push(value);
            reader.next(ValueForm::Own, &mut keep, |_, value| values.push(value.into_value()))?;
        }
        reader.end(|value| computed.push(value), |at| &values[at])
    }

    /// Whether a computed field holds what is computed of the others, as far as that can be known.
    pub(super) fn check_computed<V: Encodable>(
        &self,
        computed: &Computed,
        place: usize,
        key: &[u8],
        value_of: impl Fn(usize) -> V,
    ) -> Result<(), NotFitting> {
        if self.is_lossy(computed) {
            return Ok(());
        }
        let behind = place + computed.width();
        let mut bytes = Vec::with_capacity(64);
        let digest = match &computed.operands {
            Operands::Chance => return Ok(()),
            Operands::Rest => computed.digest(&key[behind..]),
            Operands::Fields(fields) => {
                for at in fields {
                    let codec = &self.fields()[*at].codec;
                    let result = value_of(*at).put_canonical(codec, &mut bytes);
                    result.map_err(|why| NotFitting::new(place, why))?;
                }
                computed.digest(&bytes)
            }
        };
        bytes.clear();
        computed.put(digest.as_ref(), &mut bytes);
        let found = &key[place..behind];
        if bytes == found {
            return Ok(());
        }
        let why = format!("`{computed}`: found={}, computed={}", escape(found), escape(&bytes));
        Err(NotFitting::new(place, why))
    }
}
