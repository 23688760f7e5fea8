//! How other systems write the numbers of a scale, where that is not big-endian with or without a flipped
//! sign: which bytes, how many, in which order.

use super::java;

/// The bytes of a number in another system, ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Image {
    /// `java.long` and the like: big-endian two's complement.
    JavaInteger { bytes: u8 },
    /// `java.double`, `java.float`: the bits of IEEE 754.
    JavaFloat { bytes: u8 },
    /// `java.boolean`: 00 or FF.
    JavaBoolean,
}

/// Where the order of keys turns: numbers from `at` on stand before all that are less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) at: i128,
    /// Whether those that are less stand in descending order.
    pub(crate) is_lower_backward: bool,
}

impl Image {
    /// The number of bytes, if it is always the same.
    pub(crate) fn width(self) -> Option<usize> {
        match self {
            Self::JavaInteger { bytes } | Self::JavaFloat { bytes } => Some(bytes.into()),
            Self::JavaBoolean => Some(1),
        }
    }

    /// The number of bytes of what begins with these, where it is not always the same.
    pub(crate) fn len(self, head: [Option<u8>; 2]) -> Result<usize, String> {
        match self {
            Self::JavaInteger { .. } | Self::JavaFloat { .. } | Self::JavaBoolean => Ok(head.len()),
        }
    }

    /// Where the order of keys turns, if it is not that of the numbers.
    pub(crate) fn turn(self) -> Option<Turn> {
        match self {
            Self::JavaInteger { .. } => Some(Turn { at: 0, is_lower_backward: false }),
            Self::JavaFloat { bytes } => Some(java::float_turn(bytes)),
            Self::JavaBoolean => None,
        }
    }

    /// Appends a number of the scale.
    pub(crate) fn write(self, number: i128, out: &mut Vec<u8>) {
        match self {
            Self::JavaInteger { bytes } => java::write_integer(number, bytes, out),
            Self::JavaFloat { bytes } => java::write_float(number, bytes, out),
            Self::JavaBoolean => out.push(if number == 0 { 0 } else { 0xFF }),
        }
    }

    /// The number of these bytes, if there is one. One that is not on the scale, a NaN for example, is found
    /// out there.
    pub(crate) fn read(self, bytes: &[u8]) -> Option<i128> {
        match self {
            Self::JavaInteger { .. } => Some(java::read_integer(bytes)),
            Self::JavaFloat { bytes: width } => Some(java::read_float(bytes, width)),
            Self::JavaBoolean => match bytes {
                [0] => Some(0),
                [0xFF] => Some(1),
                _ => None,
            },
        }
    }
}
