//! Structs that are row keys.

use rowhouse_model::{Bytes, Result};

use crate::error::KeyMismatch;
use crate::key::KeySchema;
use crate::value::FieldValue;

/// A struct whose fields are a template's stored fields. `#[derive(RowKey)]` from `rowhouse-derive`
/// implements it; by hand it takes two functions:
///
/// ```
/// use std::sync::LazyLock;
///
/// use rowhouse_schema::{FieldValue, KeySchema, RowKey, ToField};
///
/// struct Sample {
///     metric: String,
///     millis: u64,
/// }
///
/// static SAMPLE: LazyLock<KeySchema> =
///     LazyLock::new(|| KeySchema::parse("[metric text]#[at millis digits 13]").unwrap());
///
/// impl RowKey for Sample {
///     fn schema() -> &'static KeySchema {
///         &SAMPLE
///     }
///
///     fn field(&self, at: usize) -> FieldValue<'_> {
///         match at {
///             0 => self.metric.to_field(),
///             1 => self.millis.to_field(),
///             _ => FieldValue::NULL,
///         }
///     }
/// }
///
/// let sample = Sample { metric: "cpu".into(), millis: 1_425_330_757_685 };
/// assert_eq!(sample.to_key()?, "cpu#1425330757685");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a row key",
    note = "derive it: #[derive(RowKey)] #[key(\"[user string][at millis desc]\")]"
)]
pub trait RowKey {
    /// The template.
    fn schema() -> &'static KeySchema;

    /// A stored field's value, by position in [`KeySchema::fields`]; null for a position out of
    /// range.
    fn field(&self, at: usize) -> FieldValue<'_>;

    /// Appends the key to `out`, which is unchanged if there is an error.
    ///
    /// # Errors
    /// As [`KeySchema::encode`]: for a value that the template cannot hold, for a key that is too
    /// long, and for a salt, which needs [`RowKey::encode_key_salted`].
    #[inline]
    fn encode_key(&self, out: &mut Vec<u8>) -> Result<()> {
        if self.encode_plain(out) {
            return Ok(());
        }
        Self::schema().encode_fields(|at| self.field(at), out)
    }

    /// Appends the key on the fast path, [`PlainWriter`](super::PlainWriter); returns false if it
    /// does not support these values.
    #[inline]
    fn encode_plain(&self, out: &mut Vec<u8>) -> bool {
        let _ = out;
        false
    }

    /// As [`RowKey::encode_key`], with salts derived from `random`.
    ///
    /// # Errors
    /// As [`RowKey::encode_key`].
    fn encode_key_salted(&self, random: u64, out: &mut Vec<u8>) -> Result<()> {
        Self::schema().encode_fields_salted(|at| self.field(at), random, out)
    }

    /// Returns the key.
    ///
    /// # Errors
    /// As [`RowKey::encode_key`].
    fn to_key(&self) -> Result<Bytes> {
        let mut key = Vec::new();
        self.encode_key(&mut key)?;
        Ok(key.into())
    }
}

/// A [`RowKey`] that can be decoded from a key. `#[derive(RowKey)]` implements it too, if keys hold
/// the struct's values: not a hashed field's text, and no `&str` if the key bytes differ from the
/// text bytes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a row key",
    note = "a key holds only the hash of a hashed field",
    note = "a `&str` can be borrowed from a `text` or `hex` field, `&[u8]` from `bytes`, if the \
            key stores them unchanged: use String, Vec<u8> or Cow"
)]
pub trait FromRowKey<'k>: RowKey + Sized {
    /// Decodes a key, or returns why it does not fit. The result encodes to the same bytes, unless
    /// the template has a salt.
    ///
    /// # Errors
    /// The byte at which the key does not fit the template, and what is required there.
    fn decode_key(key: &'k [u8]) -> Result<Self, KeyMismatch>;
}
