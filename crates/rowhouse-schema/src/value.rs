//! The values of a key's fields.

use std::fmt;
use std::ops::Index;

use rowhouse_model::Bytes;
use rowhouse_model::Result;

use crate::KeySchema;
use crate::time::Time;

/// One value of one field.
///
/// # Example: how do I make one?
///
/// From a `&str`, a `String`, any integer, or a [`Time`]:
///
/// ```
/// use rowhouse_schema::{Time, Value};
///
/// assert_eq!(Value::from("123"), Value::Text("123".into()));
/// assert_eq!(Value::from(7_u8), Value::Unsigned(7));
/// assert_eq!(Value::from(-7), Value::Signed(-7));
/// assert_eq!(Value::from(Time::from_millis(0)).to_string(), "1970-01-01T00:00:00.000Z");
/// ```
///
/// # Example: what does a time field take?
///
/// A [`Time`], a number (so many of the field's own units since 1970), or a text that is a time
/// literal. What a key gives back is always a [`Time`].
///
/// ```
/// use rowhouse_schema::{KeySchema, Time};
///
/// let schema = KeySchema::parse("[at millis]")?;
/// let key = schema.encode(&[("at", "2022-12-01".into())])?;
/// assert_eq!(key, schema.encode(&[("at", 1_669_852_800_000_u64.into())])?);
/// assert_eq!(schema.decode(&key)?["at"], Time::parse("2022-12-01")?.into());
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Value {
    /// The value of a `text` or `string` field.
    Text(String),
    /// The value of an unsigned number or of `digits N`.
    Unsigned(u128),
    /// The value of a signed number.
    Signed(i128),
    /// The value of a time field.
    Time(Time),
}

impl Value {
    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is one and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_integer()?.try_into().ok()
    }

    /// The number, if it is one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_integer()?.try_into().ok()
    }

    /// The time, if it is one.
    pub fn as_time(&self) -> Option<Time> {
        match self {
            Self::Time(time) => Some(*time),
            _ => None,
        }
    }

    pub(crate) fn as_integer(&self) -> Option<i128> {
        match self {
            // A number above the largest i128 is outside every field's domain, and so is that one.
            Self::Unsigned(number) => Some(i128::try_from(*number).unwrap_or(i128::MAX)),
            Self::Signed(number) => Some(*number),
            Self::Text(_) | Self::Time(_) => None,
        }
    }

    /// What the value is, for messages.
    pub(crate) fn described(&self) -> String {
        match self {
            Self::Text(_) => format!("the text {}", Quoted(self)),
            Self::Unsigned(_) | Self::Signed(_) => format!("the number {self}"),
            Self::Time(_) => format!("the time {self}"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Unsigned(number) => write!(f, "{number}"),
            Self::Signed(number) => write!(f, "{number}"),
            Self::Time(time) => write!(f, "{time}"),
        }
    }
}

/// A value as queries write it: texts in single quotes, `''` for a quote.
pub(crate) struct Quoted<'a>(pub(crate) &'a Value);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            other => write!(f, "{other}"),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

macro_rules! from_integers {
    ($variant:ident: $($integer:ty),*) => {
        $(impl From<$integer> for Value {
            fn from(number: $integer) -> Self {
                Self::$variant(number as _)
            }
        })*
    };
}

from_integers!(Unsigned: u8, u16, u32, u64, usize, u128);
from_integers!(Signed: i8, i16, i32, i64, isize, i128);

impl From<Time> for Value {
    fn from(time: Time) -> Self {
        Self::Time(time)
    }
}

impl From<jiff::Timestamp> for Value {
    fn from(timestamp: jiff::Timestamp) -> Self {
        Self::Time(timestamp.into())
    }
}

impl From<rowhouse_model::Timestamp> for Value {
    fn from(timestamp: rowhouse_model::Timestamp) -> Self {
        Self::Time(timestamp.into())
    }
}

/// The values of one key, in the order of the template's fields: what decoding gives.
///
/// ```
/// use rowhouse_schema::KeySchema;
///
/// let schema = KeySchema::parse("[metric text]#[at millis digits 13]")?;
/// let values = schema.decode(b"cpu#1425330757685")?;
/// assert_eq!(values["metric"].as_str(), Some("cpu"));
/// assert_eq!(values.get("host"), None);
/// assert_eq!(values.to_string(), "metric='cpu', at=2015-03-02T21:12:37.685Z");
/// assert_eq!(values.encode()?, "cpu#1425330757685");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Values {
    schema: KeySchema,
    values: Vec<Value>,
}

impl Values {
    pub(crate) fn new(schema: KeySchema, values: Vec<Value>) -> Self {
        debug_assert_eq!(schema.fields().len(), values.len());
        Self { schema, values }
    }

    /// The value of the field of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.schema.position(name).map(|at| &self.values[at])
    }

    /// Names and values, in the order of the template.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.schema.fields().iter().map(|field| field.name()).zip(&self.values)
    }

    /// The template the values belong to.
    pub fn schema(&self) -> &KeySchema {
        &self.schema
    }

    /// The key of these values: the very bytes they were decoded from.
    pub fn encode(&self) -> Result<Bytes> {
        self.schema.encode(self)
    }

    /// The values, in the order of the template.
    pub fn as_slice(&self) -> &[Value] {
        &self.values
    }
}

impl Index<&str> for Values {
    type Output = Value;

    /// The value of the field of that name.
    ///
    /// # Panics
    ///
    /// If the template has no such field; [`Values::get`] does not panic.
    fn index(&self, name: &str) -> &Value {
        self.get(name).unwrap_or_else(|| panic!("no field `{name}` in {}", self.schema))
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (name, value)) in self.iter().enumerate() {
            let comma = if nth == 0 { "" } else { ", " };
            write!(f, "{comma}{name}={}", Quoted(value))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// What [`KeySchema::encode`] takes: pairs of a field's name and its value, in any order, in an
/// array, a slice or a `Vec`; or [`Values`].
pub trait NamedValues: sealed::Sealed {
    /// How many pairs there are.
    fn len(&self) -> usize;

    /// The pair at a position below [`NamedValues::len`].
    fn pair(&self, at: usize) -> (&str, &Value);

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<N: AsRef<str>> NamedValues for [(N, Value)] {
    fn len(&self) -> usize {
        self.len()
    }

    fn pair(&self, at: usize) -> (&str, &Value) {
        (self[at].0.as_ref(), &self[at].1)
    }
}

impl<N: AsRef<str>, const K: usize> NamedValues for [(N, Value); K] {
    fn len(&self) -> usize {
        K
    }

    fn pair(&self, at: usize) -> (&str, &Value) {
        (self[at].0.as_ref(), &self[at].1)
    }
}

impl<N: AsRef<str>> NamedValues for Vec<(N, Value)> {
    fn len(&self) -> usize {
        self.len()
    }

    fn pair(&self, at: usize) -> (&str, &Value) {
        (self[at].0.as_ref(), &self[at].1)
    }
}

impl NamedValues for Values {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn pair(&self, at: usize) -> (&str, &Value) {
        (self.schema.fields()[at].name(), &self.values[at])
    }
}

mod sealed {
    pub trait Sealed {}
    impl<N: AsRef<str>> Sealed for [(N, super::Value)] {}
    impl<N: AsRef<str>, const K: usize> Sealed for [(N, super::Value); K] {}
    impl<N: AsRef<str>> Sealed for Vec<(N, super::Value)> {}
    impl Sealed for super::Values {}
}
