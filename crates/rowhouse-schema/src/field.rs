//! One stored field of a template: its name, its type, its modifiers.

use std::fmt;

use rowhouse_model::Result;

use crate::encode::Codec;
use crate::order::FieldOrder;
use crate::time::TimeUnit;
use crate::value::Value;

/// The type of a field, as a template names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldType {
    /// `text`: UTF-8 as it is, ending by where it stands in the template.
    Text,
    /// `string`: UTF-8, escaped and terminated.
    String,
    /// `u8` to `u64`, in steps of a byte.
    Unsigned {
        /// 1 to 8.
        bytes: u8,
    },
    /// `i8` to `i64`, in steps of a byte.
    Signed {
        /// 1 to 8.
        bytes: u8,
    },
    /// `millis`, `micros`, `nanos`, `seconds` (8 bytes) and `seconds 4`.
    Time {
        /// What is counted.
        unit: TimeUnit,
        /// 8, or 4 for `seconds 4`.
        bytes: u8,
    },
    /// `digits N`: a number below 10^N as N decimal digits.
    Digits {
        /// 1 to 38.
        width: u8,
    },
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("text"),
            Self::String => f.write_str("string"),
            Self::Unsigned { bytes } => write!(f, "u{}", u16::from(*bytes) * 8),
            Self::Signed { bytes } => write!(f, "i{}", u16::from(*bytes) * 8),
            Self::Time { unit, bytes: 8 } => f.write_str(unit.word()),
            Self::Time { unit, bytes } => write!(f, "{} {bytes}", unit.word()),
            Self::Digits { width } => write!(f, "digits {width}"),
        }
    }
}

/// The modifiers of a field, as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Modifiers {
    pub(crate) digits: Option<Digits>,
    pub(crate) desc: bool,
}

/// The modifier `digits [n]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digits {
    /// `n`, if it was written.
    pub(crate) width: Option<u8>,
}

/// A stored field of a template.
///
/// ```
/// use rowhouse_schema::{FieldOrder, FieldType, KeySchema, TimeUnit};
///
/// let schema = KeySchema::parse("[blogger text]_[at millis digits desc]")?;
/// let at = &schema.fields()[1];
/// assert_eq!(at.name(), "at");
/// assert_eq!(at.field_type(), FieldType::Time { unit: TimeUnit::Millis, bytes: 8 });
/// assert!(at.is_desc());
/// assert_eq!(at.order(), FieldOrder::Ordered);
/// assert_eq!(at.to_string(), "at millis digits desc");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub(crate) name: String,
    pub(crate) field_type: FieldType,
    pub(crate) modifiers: Modifiers,
    pub(crate) codec: Codec,
    pub(crate) order: FieldOrder,
}

impl Field {
    /// The field's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field's type.
    pub fn field_type(&self) -> FieldType {
        self.field_type
    }

    /// Whether keys hold the field in descending order.
    pub fn is_desc(&self) -> bool {
        self.modifiers.desc
    }

    /// Whether the order of keys is the order of this field's values, the fields before it being
    /// equal.
    pub fn order(&self) -> FieldOrder {
        self.order
    }

    /// The value that somebody wrote as plain text, on a command line for example: a text as it is, a
    /// number, a time literal. For a time, a number is a count of the field's units, unless it has
    /// four digits: then it is a year.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[metric text]#[at millis digits 13]")?;
    /// let metric = schema.fields()[0].parse_value("cpu")?;
    /// let at = schema.fields()[1].parse_value("2015-03-02T21:12:37.685")?;
    /// assert_eq!(schema.encode(&[("metric", metric), ("at", at)])?, "cpu#1425330757685");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn parse_value(&self, text: &str) -> Result<Value> {
        self.codec.read(text).map_err(|fault| fault.in_text(text))
    }

    /// How many bytes of a key the field takes, if that is always the same.
    pub fn width(&self) -> Option<usize> {
        self.codec.width()
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.field_type)?;
        match self.modifiers.digits {
            Some(Digits { width: Some(width) }) => write!(f, " digits {width}")?,
            Some(Digits { width: None }) => f.write_str(" digits")?,
            None => {}
        }
        if self.modifiers.desc { f.write_str(" desc") } else { Ok(()) }
    }
}
