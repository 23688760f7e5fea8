//! The values that key fields have.

mod decimal;
mod field_value;
mod float;
mod uuid;

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv4Addr;

use crate::error::cut;
use crate::time::{Date, FixedZone, InZone, Time};

pub use decimal::Decimal;
pub use field_value::FieldValue;
pub use float::Float;
pub use uuid::Uuid;

/// A field value.
///
/// # Example: how do I make one?
///
/// From a `&str`, a `String`, any integer, an `f64`, a `bool`, bytes, a [`Time`], a [`Date`], a
/// [`Uuid`] or an [`Ipv4Addr`]:
///
/// ```
/// use rowhouse_schema::{Time, Value};
///
/// assert_eq!(Value::from("123"), Value::Text("123".into()));
/// assert_eq!(Value::from(7_u8), Value::Unsigned(7));
/// assert_eq!(Value::from(-7), Value::Signed(-7));
/// assert_eq!(Value::from(0.5).to_string(), "0.5");
/// assert_eq!(Value::from(Time::from_millis(0)).to_string(), "1970-01-01T00:00:00.000Z");
/// ```
///
/// # Example: which values does a time field take?
///
/// A [`Time`], a [`Date`] (its midnight), a number (it counts the field's own units since 1970), or
/// a text that is a time literal. Decoding returns a [`Time`], or a [`Date`] if the field holds
/// only days.
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
    /// Null: the missing value in a field declared `null first` or `null last`.
    Null,
    /// A `bool` value.
    Bool(bool),
    /// An unsigned number, or a `digits N` or `decimal` value.
    Unsigned(u128),
    /// A signed number.
    Signed(i128),
    /// An `f32` or `f64` value.
    Float(Float),
    /// A decimal number from another system.
    Decimal(Decimal),
    /// A text, `domain` or `hex N` value, or an `enum` label.
    Text(String),
    /// A `blob` or `bytes N` value.
    Bytes(Vec<u8>),
    /// A `uuid` value.
    Uuid(Uuid),
    /// An `ipv4` value.
    Ipv4(Ipv4Addr),
    /// A `date` or `ymd` value.
    Date(Date),
    /// A time field's value.
    Time(Time),
    /// A `repeat`'s groups: values if a group has one type, value lists if it has several.
    List(Vec<Value>),
    /// The stored hash, for a field where keys hold only the hash.
    Hashed(Vec<u8>),
}

impl Value {
    /// The text, if the value is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if the value is a whole number and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_integer()?.try_into().ok()
    }

    /// The number, if the value is a whole number and fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_integer()?.try_into().ok()
    }

    /// The number, if the value is a [`Value::Float`].
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Float(float) => Some(float.get()),
            _ => None,
        }
    }

    /// The time, if the value is one; for a date, midnight in UTC.
    pub fn as_time(&self) -> Option<Time> {
        match self {
            Self::Time(time) => Some(*time),
            Self::Date(date) => Some(date.midnight()),
            _ => None,
        }
    }

    /// The bytes, if the value is bytes, a uuid or a stored hash.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) | Self::Hashed(bytes) => Some(bytes),
            Self::Uuid(uuid) => Some(uuid.as_bytes()),
            _ => None,
        }
    }

    /// Returns the name with which a field `name` value is written: `hash(name)` for a stored hash,
    /// so that it cannot be mistaken for a text, and the name itself otherwise.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[user text md5 4][n u8]")?;
    /// let values = schema.decode(b"\x9f\x9d\x51\xbc\x07")?;
    /// let names: Vec<_> = values.iter().map(|(name, value)| value.written_name(name)).collect();
    /// assert_eq!(names, ["hash(user)", "n"]);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn written_name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self {
            Self::Hashed(_) => format!("hash({name})").into(),
            _ => name.into(),
        }
    }

    /// Returns true if the value is null.
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }

    pub(crate) fn as_integer(&self) -> Option<i128> {
        match self {
            // Every field's domain excludes numbers above i128::MAX, and i128::MAX too.
            Self::Unsigned(number) => Some(i128::try_from(*number).unwrap_or(i128::MAX)),
            Self::Signed(number) => Some(*number),
            Self::Decimal(decimal) => decimal.integer(),
            _ => None,
        }
    }

    /// Describes the value for messages.
    pub(crate) fn described(&self) -> String {
        let what = match self {
            Self::Null => return "null".to_owned(),
            Self::Bool(_) => "the bool",
            Self::Unsigned(_) | Self::Signed(_) | Self::Float(_) | Self::Decimal(_) => "the number",
            Self::Text(_) => "the text",
            Self::Bytes(_) => "the bytes",
            Self::Uuid(_) => "the uuid",
            Self::Ipv4(_) => "the address",
            Self::Date(_) => "the date",
            Self::Time(_) => "the time",
            Self::List(_) => "the list",
            Self::Hashed(_) => "the hash",
        };
        format!("{what} {}", cut(Quoted(self).to_string(), SHOWN_CHARS_MAX))
    }
}

/// How many characters of a value an error shows.
const SHOWN_CHARS_MAX: usize = 200;

impl fmt::Display for Value {
    /// Writes texts as they are, times in ISO 8601, bytes as `x'00ff'`, stored hashes as `0x00ff`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Unsigned(number) => write!(f, "{number}"),
            Self::Signed(number) => write!(f, "{number}"),
            Self::Float(float) => write!(f, "{float}"),
            Self::Decimal(decimal) => write!(f, "{decimal}"),
            Self::Text(text) => f.write_str(text),
            Self::Bytes(bytes) => {
                f.write_str("x'")?;
                write_hex(bytes, f)?;
                f.write_str("'")
            }
            Self::Uuid(uuid) => write!(f, "{uuid}"),
            Self::Ipv4(address) => write!(f, "{address}"),
            Self::Date(date) => write!(f, "{date}"),
            Self::Time(time) => write!(f, "{time}"),
            Self::List(values) => {
                f.write_str("(")?;
                for (nth, value) in values.iter().enumerate() {
                    write!(f, "{}{}", if nth == 0 { "" } else { ", " }, Quoted(value))?;
                }
                f.write_str(")")
            }
            Self::Hashed(bytes) => {
                f.write_str("0x")?;
                write_hex(bytes, f)
            }
        }
    }
}

fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Parses an even count of hex digits in either case.
pub(crate) fn parse_hex(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    let nibble = |c: u8| (c as char).to_digit(16).map(|digit| digit as u8);
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs.map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?)).collect()
}

/// Returns the name in `hash(name)`.
pub(crate) fn hashed_name(written: &str) -> Option<&str> {
    written.strip_prefix("hash(")?.strip_suffix(')')
}

/// Formats a value as queries write it, with times in the field's zone, if the field names one.
pub(crate) struct Shown<'a>(pub(crate) &'a Value, pub(crate) Option<FixedZone>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.1) {
            (Value::Time(time), Some(zone)) => write!(f, "{}", InZone(*time, zone)),
            (value, _) => write!(f, "{}", Quoted(value)),
        }
    }
}

/// Formats a value as queries write it: texts and uuids in single quotes, `''` for a quote.
pub(crate) struct Quoted<'a>(pub(crate) &'a Value);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Value::Uuid(uuid) => write!(f, "'{uuid}'"),
            other => write!(f, "{other}"),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

macro_rules! from {
    ($($variant:ident: $($type:ty),*;)*) => {
        $($(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        })*)*
    };
}

from! {
    Bool: bool;
    Unsigned: u8, u16, u32, u64, u128;
    Signed: i8, i16, i32, i64, i128;
    Float: f32, f64, Float;
    Decimal: Decimal;
    Text: String;
    Bytes: Vec<u8>;
    Uuid: Uuid;
    Ipv4: Ipv4Addr;
    Date: Date;
    Time: Time, jiff::Timestamp, rowhouse_model::Timestamp;
    List: Vec<Value>;
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Unsigned(number as u128)
    }
}

impl From<isize> for Value {
    fn from(number: isize) -> Self {
        Self::Signed(number as i128)
    }
}

impl<V: Into<Value>> From<Option<V>> for Value {
    /// Converts `None` to [`Value::Null`].
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
