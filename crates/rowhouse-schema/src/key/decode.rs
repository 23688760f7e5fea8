//! Decoding keys.

use rowhouse_model::escape;

use super::reader::KeyReader;
use super::schema::KeySchema;
use super::values::Values;
use crate::computed::{Computed, Operands};
use crate::encode::{Encodable, ValueForm};
use crate::error::KeyMismatch;
use crate::value::Value;

impl KeySchema {
    /// Decodes a key, or returns why it does not fit the template. Never panics; the returned
    /// values encode to the same bytes again.
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
    pub fn decode(&self, key: &[u8]) -> Result<Values, KeyMismatch> {
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

    /// Decodes a key's stored fields, in order, into `values`, whose previous contents are replaced
    /// and whose memory, including the texts' memory, is reused. Once that memory is large enough,
    /// nothing is allocated for fields that are numbers, times, `string` or `text N`, without
    /// computed fields or with only buckets of a single text or of the rest of the key.
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
    pub fn decode_into(&self, key: &[u8], values: &mut Vec<Value>) -> Result<(), KeyMismatch> {
        if self.decode_quickly(key, values, false) {
            return Ok(());
        }
        values.clear();
        self.read(key, values, &mut Vec::new())
    }

    /// Decodes a key on the fast path. Returns false if there is none or it does not reach the
    /// key's end; `values` is then unspecified. With `with_computed`, computed field values follow
    /// the others.
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
    ) -> Result<(), KeyMismatch> {
        let mut reader = KeyReader::new(self, key)?;
        for _ in self.fields() {
            let mut keep = |value| computed.push(value);
            reader.next(ValueForm::Own, &mut keep, |_, value| values.push(value.into_value()))?;
        }
        reader.end(|value| computed.push(value), |at| &values[at])
    }

    /// Checks that a computed field holds the value computed from the others, if their values can
    /// be recovered from the key.
    pub(super) fn check_computed<V: Encodable>(
        &self,
        computed: &Computed,
        place: usize,
        key: &[u8],
        value_of: impl Fn(usize) -> V,
    ) -> Result<(), KeyMismatch> {
        if self.is_lossy(computed) {
            return Ok(());
        }
        let end = place + computed.width();
        let mut bytes = Vec::with_capacity(64);
        let digest = match &computed.operands {
            Operands::Chance => return Ok(()),
            Operands::Rest => computed.digest(&key[end..]),
            Operands::Fields(fields) => {
                for at in fields {
                    let codec = &self.fields()[*at].codec;
                    let result = value_of(*at).put_canonical(codec, &mut bytes);
                    result.map_err(|why| KeyMismatch::new(place, why))?;
                }
                computed.digest(&bytes)
            }
        };
        bytes.clear();
        computed.put(digest.as_ref(), &mut bytes);
        let stored = &key[place..end];
        if bytes == stored {
            return Ok(());
        }
        let why = format!("`{computed}`: found={}, computed={}", escape(stored), escape(&bytes));
        Err(KeyMismatch::new(place, why))
    }
}
