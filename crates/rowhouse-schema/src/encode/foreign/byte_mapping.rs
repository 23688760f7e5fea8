//! Other systems' number encodings, where these are not big-endian with or without a flipped sign
//! bit: their bytes, length and order.

use super::order_break::OrderBreak;
use super::{big_endian, java, ordered_code, phoenix, tuple};

/// A number's ascending encoding in another system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteMapping {
    /// `java.long` and the like: big-endian two's complement.
    JavaInteger { bytes: u8 },
    /// `java.double`, `java.float`: the IEEE 754 bits.
    JavaFloat { bytes: u8 },
    /// `java.boolean`: 00 or FF.
    JavaBoolean,
    /// Big-endian, after this number was added.
    Shifted { bytes: u8, add: i128 },
    /// `phoenix.boolean`: 00 or 01, in descending order 01 or 00.
    PhoenixBoolean,
    /// `phoenix.timestamp`: milliseconds, then the nanoseconds within the last millisecond.
    PhoenixTimestamp { signed: bool },
    /// `tuple.int`.
    TupleInteger,
    /// `ordered_code.int64`.
    CodeSigned,
    /// `ordered_code.uint64`.
    CodeUnsigned,
    /// `ordered_code.float64`: the bits as `CodeSigned`.
    CodeFloat,
}

impl ByteMapping {
    /// Returns true if it has two values, which change places in descending order.
    pub(crate) fn is_flag(self) -> bool {
        self == Self::PhoenixBoolean
    }

    /// How many bytes, if that is constant.
    pub(crate) fn width(self) -> Option<usize> {
        match self {
            Self::JavaInteger { bytes }
            | Self::JavaFloat { bytes }
            | Self::Shifted { bytes, .. } => Some(bytes.into()),
            Self::JavaBoolean | Self::PhoenixBoolean => Some(1),
            Self::PhoenixTimestamp { .. } => Some(12),
            Self::TupleInteger | Self::CodeSigned | Self::CodeUnsigned | Self::CodeFloat => None,
        }
    }

    /// Returns how many bytes a number has that begins with the bytes in `head`, as far as they
    /// exist, or an error.
    pub(crate) fn len(self, head: [Option<u8>; 2]) -> Result<usize, &'static str> {
        match self {
            Self::TupleInteger => tuple::integer_len(head),
            Self::CodeSigned | Self::CodeFloat => ordered_code::signed_len(head),
            Self::CodeUnsigned => ordered_code::unsigned_len(head),
            Self::JavaInteger { .. }
            | Self::JavaFloat { .. }
            | Self::JavaBoolean
            | Self::Shifted { .. }
            | Self::PhoenixBoolean
            | Self::PhoenixTimestamp { .. } => self.width().ok_or("no width"),
        }
    }

    /// The break in the key order, if keys are not in number order.
    pub(crate) fn order_break(self) -> Option<OrderBreak> {
        match self {
            Self::JavaInteger { .. } => Some(OrderBreak { at: 0, lower_is_descending: false }),
            Self::JavaFloat { bytes } => Some(java::float_order_break(bytes)),
            _ => None,
        }
    }

    /// Appends a number in the domain.
    pub(crate) fn write(self, number: i128, out: &mut Vec<u8>) {
        match self {
            Self::JavaInteger { bytes } => big_endian::write(number, bytes, out),
            Self::JavaFloat { bytes } => java::write_float(number, bytes, out),
            Self::JavaBoolean => out.push(if number == 0 { 0 } else { 0xFF }),
            Self::Shifted { bytes, add } => big_endian::write(number + add, bytes, out),
            Self::PhoenixBoolean => out.push(number as u8),
            Self::PhoenixTimestamp { signed } => phoenix::write_timestamp(number, signed, out),
            Self::TupleInteger => tuple::write_integer(number, out),
            Self::CodeSigned => ordered_code::write_signed(number, out),
            Self::CodeUnsigned => ordered_code::write_unsigned(number, out),
            Self::CodeFloat => ordered_code::write_float(number, out),
        }
    }

    /// Decodes a number, if the bytes are one. The caller checks that it is in the domain, which a
    /// NaN for example is not.
    pub(crate) fn read(self, bytes: &[u8]) -> Option<i128> {
        match self {
            Self::JavaInteger { .. } => Some(java::read_integer(bytes)),
            Self::JavaFloat { bytes: width } => Some(java::read_float(bytes, width)),
            Self::JavaBoolean => match bytes {
                [0] => Some(0),
                [0xFF] => Some(1),
                _ => None,
            },
            Self::Shifted { add, .. } => Some(big_endian::unsigned(bytes) - add),
            Self::PhoenixBoolean => Some(big_endian::unsigned(bytes)),
            Self::PhoenixTimestamp { signed } => phoenix::read_timestamp(bytes, signed),
            Self::TupleInteger => self.shortest(tuple::read_integer(bytes)?, bytes),
            Self::CodeSigned => self.shortest(ordered_code::read_signed(bytes)?, bytes),
            Self::CodeUnsigned => self.shortest(ordered_code::read_unsigned(bytes)?, bytes),
            Self::CodeFloat => self.shortest(ordered_code::read_float(bytes)?, bytes),
        }
    }

    /// Returns the number if the encoding is exactly these bytes: some numbers have longer
    /// encodings, which are never written.
    fn shortest(self, number: i128, bytes: &[u8]) -> Option<i128> {
        let mut again = Vec::with_capacity(bytes.len());
        self.write(number, &mut again);
        (again == bytes).then_some(number)
    }
}
