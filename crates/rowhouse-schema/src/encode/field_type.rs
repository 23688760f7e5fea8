//! Field types, as templates name them.

use std::fmt;

use super::calendar::Calendar;
use super::{ForeignType, Labels, is_plain};
use crate::time::TimeUnit;

/// A field type, as a template names it.
///
/// Types differ in how their values end. *Open* types have no end of their own: the next element or
/// the key's end marks it. All others end by width or by a terminator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldType {
    /// `text`: UTF-8 as it is. Open.
    Text,
    /// `text N [pad c]`: UTF-8, padded on the right to N bytes.
    PaddedText {
        /// 1 to 32,767.
        width: u16,
        /// The padding byte, below 0x80.
        pad: u8,
    },
    /// `string`: UTF-8, escaped and terminated.
    String,
    /// `blob`: bytes, escaped and terminated.
    Blob,
    /// `domain`: text whose dot-separated parts are stored in reverse order. Open.
    Domain,
    /// `decimal`: a whole number as the shortest decimal text. Open.
    ShortestDigits,
    /// `u8` to `u64`, in 8-bit steps.
    Unsigned {
        /// 1 to 8.
        bytes: u8,
    },
    /// `i8` to `i64`, in 8-bit steps.
    Signed {
        /// 1 to 8.
        bytes: u8,
    },
    /// `f32` and `f64`.
    Float {
        /// 4 or 8.
        bytes: u8,
    },
    /// `bool`.
    Bool,
    /// `enum(a,b=7)`: one byte for each label.
    Enum(Labels),
    /// `uuid`.
    Uuid,
    /// `ipv4`: an IPv4 address in four bytes.
    Ipv4,
    /// `bytes N`: exactly N bytes.
    Bytes {
        /// 1 to 32,767.
        width: u16,
    },
    /// `hex N [upper]`: exactly N hexadecimal characters.
    Hex {
        /// 1 to 32,767.
        width: u16,
        /// True if the characters are in upper case.
        upper: bool,
    },
    /// `digits N`: a number below 10^N as N decimal digits.
    Digits {
        /// 1 to 38.
        width: u8,
    },
    /// `millis`, `micros`, `nanos`, `seconds` (8 bytes) and `seconds 4`.
    Time {
        /// The unit that is counted.
        unit: TimeUnit,
        /// 8, or 4 for `seconds 4`.
        bytes: u8,
    },
    /// `date`: days since 1970 in four bytes.
    Date,
    /// `ymd`, `ymdhm`, `ymdhms`: a time in UTC as calendar digits.
    Calendar(Calendar),
    /// `repeat(T T …)`: groups with fixed width, repeated up to the key's end. Open.
    Repeat(Vec<FieldType>),
    /// A type from another system, stored in that system's bytes.
    Foreign(ForeignType),
}

impl FieldType {
    /// Returns true if the values are times or days.
    ///
    /// ```
    /// use rowhouse_schema::KeySchema;
    ///
    /// let schema = KeySchema::parse("[day ymd][n u64]")?;
    /// let types = schema.fields().iter().map(|field| field.field_type());
    /// let are_times: Vec<_> = types.map(|field_type| field_type.is_time()).collect();
    /// assert_eq!(are_times, [true, false]);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn is_time(&self) -> bool {
        self.domain().is_some_and(|domain| domain.tick().is_some())
    }

    /// Returns true if constants have the same meaning for both types, so that one condition can
    /// apply to a field with one type and a column with the other.
    pub(crate) fn has_values_of(&self, other: &Self) -> bool {
        let all = |is: fn(&Self) -> bool| is(self) && is(other);
        match (self, other) {
            (Self::Time { unit, .. }, Self::Time { unit: other, .. }) => unit == other,
            _ if self == other => true,
            _ => {
                all(|it| matches!(it, Self::Text | Self::String | Self::PaddedText { .. }))
                    || all(|it| matches!(it, Self::Blob | Self::Bytes { .. }))
                    || all(Self::is_integer)
            }
        }
    }

    fn is_integer(&self) -> bool {
        matches!(
            self,
            Self::Unsigned { .. }
                | Self::Signed { .. }
                | Self::Digits { .. }
                | Self::ShortestDigits
        )
    }

    /// Returns true if values in this order (ascending or descending) have no end of their own.
    pub(crate) fn is_open(&self, desc: bool) -> bool {
        match self {
            Self::Text | Self::Domain | Self::ShortestDigits | Self::Repeat(_) => true,
            Self::Foreign(foreign) => foreign.is_open(desc),
            _ => false,
        }
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(word) = self.word() {
            return f.write_str(word);
        }
        match self {
            Self::PaddedText { width, pad: 0 } => write!(f, "text {width}"),
            Self::PaddedText { width, pad } => {
                write!(f, "text {width} pad ")?;
                match char::from(*pad) {
                    // These characters have a meaning in `repeat(…)` and in column declarations.
                    c if is_plain(c) && !matches!(c, '(' | ')' | ';') => write!(f, "{c}"),
                    _ => write!(f, "\\x{pad:02X}"),
                }
            }
            Self::Enum(labels) => write!(f, "enum({labels})"),
            Self::Bytes { width } => write!(f, "bytes {width}"),
            Self::Hex { width, upper } => {
                write!(f, "hex {width}{}", if *upper { " upper" } else { "" })
            }
            Self::Digits { width } => write!(f, "digits {width}"),
            Self::Time { unit, bytes } => write!(f, "{} {bytes}", unit.word()),
            Self::Repeat(types) => {
                f.write_str("repeat(")?;
                for (nth, field_type) in types.iter().enumerate() {
                    write!(f, "{}{field_type}", if nth == 0 { "" } else { " " })?;
                }
                f.write_str(")")
            }
            Self::Foreign(foreign) => write!(f, "{foreign}"),
            // The others have a word.
            other => write!(f, "{other:?}"),
        }
    }
}
