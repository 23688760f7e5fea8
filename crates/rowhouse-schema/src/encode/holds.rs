//! The Rust types that can hold a field's values.

use std::fmt;

/// A value set that a Rust type can hold, or that a field requires it to hold.
///
/// ```
/// use rowhouse_schema::{Holds, KeySchema, ToField};
///
/// let schema = KeySchema::parse("[n u24]")?;
/// let needed = schema.fields()[0].needs()[0];
/// assert_eq!(needed, Holds::Whole { min: 0, max: 0xFF_FFFF });
/// assert!(u32::HOLDS.covers(needed) && !u16::HOLDS.covers(needed));
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holds {
    /// Texts.
    Text,
    /// Bytes of any length.
    Bytes,
    /// Exactly `len` bytes.
    Array {
        /// How many bytes.
        len: usize,
    },
    /// Whole numbers.
    Whole {
        /// The minimum.
        min: i128,
        /// The maximum.
        max: i128,
    },
    /// Floating-point numbers.
    Float {
        /// 4 or 8.
        bytes: u8,
    },
    /// True and false.
    Bool,
    /// Decimal numbers.
    Decimal,
    /// UUIDs.
    Uuid,
    /// IPv4 addresses.
    Ipv4,
    /// Days.
    Date,
    /// Instants.
    Time,
}

impl Holds {
    /// Returns true if a type that holds `self` can hold everything in `needed`.
    pub const fn covers(self, needed: Self) -> bool {
        match (self, needed) {
            (Self::Whole { min, max }, Self::Whole { min: least, max: greatest }) => {
                min <= least && greatest <= max
            }
            (Self::Float { bytes }, Self::Float { bytes: needed }) => needed <= bytes,
            (Self::Array { len }, Self::Array { len: needed }) => len == needed,
            (Self::Text, Self::Text)
            | (Self::Bytes, Self::Bytes)
            | (Self::Bool, Self::Bool)
            | (Self::Decimal, Self::Decimal)
            | (Self::Uuid, Self::Uuid)
            | (Self::Ipv4, Self::Ipv4)
            | (Self::Date, Self::Date)
            | (Self::Time, Self::Time) => true,
            _ => false,
        }
    }
}

/// The integer types to suggest, the smallest first.
const INTEGERS: &[(&str, i128, i128)] = &[
    ("u8", 0, u8::MAX as i128),
    ("u16", 0, u16::MAX as i128),
    ("u32", 0, u32::MAX as i128),
    ("u64", 0, u64::MAX as i128),
    ("u128", 0, i128::MAX),
    ("i8", i8::MIN as i128, i8::MAX as i128),
    ("i16", i16::MIN as i128, i16::MAX as i128),
    ("i32", i32::MIN as i128, i32::MAX as i128),
    ("i64", i64::MIN as i128, i64::MAX as i128),
    ("i128", i128::MIN, i128::MAX),
];

impl fmt::Display for Holds {
    /// Lists the Rust types that hold it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Text => f.write_str("String, &str or Cow<str>"),
            Self::Bytes => f.write_str("Vec<u8>, &[u8] or Cow<[u8]>"),
            Self::Array { len } => write!(f, "[u8; {len}]"),
            Self::Whole { min, max } => {
                let least = INTEGERS.iter().find(|(_, low, high)| *low <= min && max <= *high);
                f.write_str(least.map_or("i128", |(name, ..)| name))
            }
            Self::Float { bytes: ..=4 } => f.write_str("f32 or f64"),
            Self::Float { .. } => f.write_str("f64"),
            Self::Bool => f.write_str("bool"),
            Self::Decimal => f.write_str("Decimal"),
            Self::Uuid => f.write_str("Uuid"),
            Self::Ipv4 => f.write_str("Ipv4Addr"),
            Self::Date => f.write_str("Date"),
            Self::Time => f.write_str("Time"),
        }
    }
}
