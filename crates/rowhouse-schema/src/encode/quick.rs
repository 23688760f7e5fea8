//! The shortest way of the commonest numbers: big-endian in at most eight bytes, without floor or
//! calendar. The same bytes as by the long way, with 64-bit arithmetic and without a branch for each step.

use super::form::Shape;

/// A number's way to its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quick {
    bytes: usize,
    /// The sign bit, if there is one, which is flipped.
    sign: u64,
    mirror: Option<i128>,
}

impl Quick {
    /// The quick way of numbers in this shape, if there is one.
    pub(super) fn new(shape: Shape, mirror: Option<i128>) -> Option<Self> {
        let Shape::Binary { bytes, signed } = shape else { return None };
        let sign = if signed { 1 << (8 * bytes - 1) } else { 0 };
        Some(Self { bytes: bytes.into(), sign, mirror })
    }

    #[inline]
    pub(super) fn put(self, number: i128, out: &mut Vec<u8>) {
        let stored = self.mirror.map_or(number, |mirror| mirror - number);
        // Flipping the sign bit of the lower bytes is adding half their range.
        let bytes = (stored as u64 ^ self.sign).to_be_bytes();
        match self.bytes {
            8 => out.extend_from_slice(&bytes),
            4 => out.extend_from_slice(&bytes[4..]),
            1 => out.push(bytes[7]),
            len => out.extend_from_slice(&bytes[8 - len..]),
        }
    }

    /// The number of bytes of the right length.
    #[inline]
    pub(super) fn read(self, bytes: &[u8]) -> i128 {
        let unsigned = match *bytes {
            [byte] => byte.into(),
            [a, b, c, d] => u32::from_be_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h] => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
            _ => bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)),
        };
        let stored = i128::from(unsigned) - i128::from(self.sign);
        self.mirror.map_or(stored, |mirror| mirror - stored)
    }
}
