//! The fast path for the commonest numbers: big-endian in at most eight bytes, without floor or
//! calendar. It produces the same bytes as the generic path, with 64-bit arithmetic and few
//! branches.

use super::form::Shape;

/// A number's fast path.
///
/// Keys hold the lower bytes of `((number ^ mask) + add) ^ sign`: a mirrored number `m - n` is `!n
/// + m + 1`, and flipping the sign bit adds half the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FastNumber {
    bytes: usize,
    mask: u64,
    add: u64,
    /// The sign bit for signed numbers, else 0.
    sign: u64,
}

impl FastNumber {
    /// Returns the fast path for numbers in this shape, if it supports them.
    pub(super) fn new(shape: Shape, mirror: Option<i128>) -> Option<Self> {
        let Shape::Binary { bytes, signed } = shape else { return None };
        Some(Self::big_endian(bytes, signed, mirror))
    }

    /// Returns the fast path for numbers with 1 to 8 bytes.
    pub(crate) const fn big_endian(bytes: u8, signed: bool, mirror: Option<i128>) -> Self {
        let sign = if signed { 1 << (8 * bytes - 1) } else { 0 };
        let (mask, add) = match mirror {
            Some(mirror) => (u64::MAX, (mirror as u64).wrapping_add(1)),
            None => (0, 0),
        };
        Self { bytes: bytes as usize, mask, add, sign }
    }

    #[inline(always)]
    pub(crate) fn width(self) -> usize {
        self.bytes
    }

    #[inline(always)]
    pub(crate) fn put(self, number: i128, out: &mut Vec<u8>) {
        let stored = (number as u64 ^ self.mask).wrapping_add(self.add) ^ self.sign;
        let bytes = stored.to_be_bytes();
        match self.bytes {
            8 => out.extend_from_slice(&bytes),
            4 => out.extend_from_slice(&bytes[4..]),
            1 => out.push(bytes[7]),
            len => out.extend_from_slice(&bytes[8 - len..]),
        }
    }

    /// As [`FastNumber::put`], without branches on the byte count: faster if that is not a
    /// constant.
    #[inline(always)]
    pub(crate) fn put_any(self, number: i128, out: &mut Vec<u8>) {
        let stored = (number as u64 ^ self.mask).wrapping_add(self.add) ^ self.sign;
        let stop = out.len() + self.bytes;
        out.extend_from_slice(&(stored << (64 - 8 * self.bytes)).to_be_bytes());
        out.truncate(stop);
    }

    /// Decodes a number from bytes of the right length. Bytes that store no number yield one above
    /// the maximum.
    #[inline(always)]
    pub(crate) fn read(self, bytes: &[u8]) -> i128 {
        let stored = match *bytes {
            [byte] => byte.into(),
            [a, b, c, d] => u32::from_be_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h] => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
            _ => bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)),
        };
        let number = (stored ^ self.sign).wrapping_sub(self.add) ^ self.mask;
        // Only the lower bytes count, and for signed numbers their sign.
        let unused = 64 - 8 * self.bytes as u32;
        match self.sign {
            0 => (number << unused >> unused).into(),
            _ => ((number << unused) as i64 >> unused).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::form::Form;
    use super::*;

    #[test]
    fn the_quick_way_leads_where_the_long_one_does() {
        for bytes in 1..=8 {
            for signed in [false, true] {
                let shape = Shape::Binary { bytes, signed };
                let size = 1_i128 << (8 * bytes);
                let min = if signed { -size / 2 } else { 0 };
                let max = min + size - 1;
                for mirror in [None, Some(min + max)] {
                    let quick = FastNumber::new(shape, mirror).unwrap();
                    for number in [min, min + 1, -1, 0, 1, 7, max / 2, max - 1, max] {
                        if number < min {
                            continue;
                        }
                        let mut short = Vec::new();
                        let mut long = Vec::new();
                        quick.put(number, &mut short);
                        let mut any = Vec::new();
                        quick.put_any(number, &mut any);
                        assert_eq!(short, any, "{shape:?} {mirror:?} {number}");
                        let stored = mirror.map_or(number, |mirror| mirror - number);
                        Form::new(shape).write(stored, &mut long);
                        assert_eq!(short, long, "{shape:?} {mirror:?} {number}");
                        assert_eq!(quick.read(&short), number, "{shape:?} {mirror:?}");
                    }
                }
            }
        }
    }
}
