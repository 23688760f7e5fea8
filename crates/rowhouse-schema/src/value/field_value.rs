//! Values whose texts and bytes may be borrowed.

use std::borrow::Cow;

use super::Value;

/// A value between a key and a Rust type. Texts and bytes are borrowed where possible.
///
/// ```
/// use rowhouse_schema::{FieldValue, Value};
///
/// assert_eq!(FieldValue::from("bob").into_value(), Value::from("bob"));
/// assert_eq!(FieldValue::from(Value::from(7)).into_value(), Value::from(7));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue<'v> {
    /// A text.
    Text(Cow<'v, str>),
    /// Bytes.
    Bytes(Cow<'v, [u8]>),
    /// Any value.
    Other(Value),
}

impl FieldValue<'_> {
    /// Null: the missing value in a field declared `null first` or `null last`.
    pub const NULL: Self = Self::Other(Value::Null);

    /// Returns the value with owned texts and bytes.
    #[inline]
    pub fn into_value(self) -> Value {
        match self {
            Self::Text(text) => Value::Text(text.into_owned()),
            Self::Bytes(bytes) => Value::Bytes(bytes.into_owned()),
            Self::Other(value) => value,
        }
    }
}

impl<'v> From<&'v str> for FieldValue<'v> {
    fn from(text: &'v str) -> Self {
        Self::Text(text.into())
    }
}

impl<'v> From<&'v [u8]> for FieldValue<'v> {
    fn from(bytes: &'v [u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<Value> for FieldValue<'_> {
    fn from(value: Value) -> Self {
        Self::Other(value)
    }
}
