//! Whole-number encodings: big-endian, decimal digits, hexadecimal digits, and other systems'
//! encodings.

use std::borrow::Cow;

use rowhouse_model::escape;

use super::foreign::ByteMapping;

/// A number's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) shape: Shape,
    /// True if the bytes or characters are in reverse order.
    pub(crate) reversed: bool,
    /// True if every byte is complemented, which is how other systems store descending order.
    pub(crate) flipped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Big-endian; for signed numbers with the sign bit flipped.
    Binary { bytes: u8, signed: bool },
    /// Decimal digits, zero padded.
    Digits { width: u8 },
    /// Hexadecimal digits, lower case, zero padded; for signed numbers with the sign bit flipped.
    Hex { width: u8, signed: bool },
    /// Another system's encoding.
    Foreign(ByteMapping),
}

/// The longest encoding has 38 digits.
const WIDTH_MAX: usize = 40;

impl Form {
    pub(crate) fn new(shape: Shape) -> Self {
        Self { shape, reversed: false, flipped: false }
    }

    /// How many bytes, if that is constant.
    pub(crate) fn width(self) -> Option<usize> {
        match self.shape {
            Shape::Binary { bytes, .. } => Some(bytes.into()),
            Shape::Digits { width } | Shape::Hex { width, .. } => Some(width.into()),
            Shape::Foreign(mapping) => mapping.width(),
        }
    }

    /// Returns the bytes of the number with which `rest` begins.
    #[inline]
    pub(crate) fn cut(self, rest: &[u8]) -> Result<&[u8], String> {
        let width = match (self.width(), self.shape) {
            (Some(width), _) => width,
            (None, Shape::Foreign(mapping)) => {
                let flip = if self.flipped { 0xFF } else { 0 };
                let head = [rest.first(), rest.get(1)].map(|byte| byte.map(|byte| byte ^ flip));
                mapping.len(head)?
            }
            (None, _) => rest.len(),
        };
        rest.get(..width).ok_or_else(|| format!("needs {width} bytes, {} are left", rest.len()))
    }

    /// Appends a number, which has to fit.
    pub(crate) fn write(self, number: i128, out: &mut Vec<u8>) {
        let start = out.len();
        match self.shape {
            Shape::Binary { bytes, signed } => {
                // Numbers have at most eight bytes.
                let bytes = usize::from(bytes);
                let number = flipped(number, signed, bytes) as u64;
                out.extend_from_slice(&number.to_be_bytes()[8 - bytes..]);
            }
            Shape::Digits { width } => write_digits(number.unsigned_abs(), width.into(), out),
            Shape::Hex { width, signed } => {
                let number = flipped(number, signed, usize::from(width) / 2);
                let digit = |place: u8| b"0123456789abcdef"[(number >> (4 * place)) as usize & 15];
                out.extend((0..width).rev().map(digit));
            }
            Shape::Foreign(mapping) => mapping.write(number, out),
        }
        if self.reversed {
            out[start..].reverse();
        }
        if self.flipped {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }

    /// Decodes a number from bytes of the right length.
    pub(crate) fn read(self, bytes: &[u8]) -> Result<i128, Cow<'static, str>> {
        if !self.reversed && !self.flipped {
            return self.read_forward(bytes);
        }
        let mut turned = [0; WIDTH_MAX];
        let turned = &mut turned[..bytes.len()];
        turned.copy_from_slice(bytes);
        if self.reversed {
            turned.reverse();
        }
        if self.flipped {
            turned.iter_mut().for_each(|byte| *byte = !*byte);
        }
        self.read_forward(turned)
    }

    fn read_forward(self, bytes: &[u8]) -> Result<i128, Cow<'static, str>> {
        match self.shape {
            Shape::Binary { signed, .. } => {
                let number =
                    bytes.iter().fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
                Ok(unflipped(number.into(), signed, bytes.len()))
            }
            Shape::Digits { width } => read_digits(bytes)
                .ok_or_else(|| format!("{} is not {width} digits", escape(bytes)).into()),
            Shape::Hex { width, signed } => {
                let digit = |number: i128, &c: &u8| match c {
                    b'0'..=b'9' => Some(number << 4 | i128::from(c - b'0')),
                    b'a'..=b'f' => Some(number << 4 | i128::from(c - b'a' + 10)),
                    _ => None,
                };
                let number = bytes.iter().try_fold(0, digit).ok_or_else(|| {
                    format!("{} is not {width} hex digits in lower case", escape(bytes))
                })?;
                Ok(unflipped(number, signed, usize::from(width) / 2))
            }
            Shape::Foreign(mapping) => mapping
                .read(bytes)
                .ok_or_else(|| format!("{} is not a value of the field", escape(bytes)).into()),
        }
    }
}

/// Maps a number to one whose big-endian bytes are in number order.
fn flipped(number: i128, signed: bool, bytes: usize) -> i128 {
    if signed { number + (1 << (8 * bytes - 1)) } else { number }
}

fn unflipped(number: i128, signed: bool, bytes: usize) -> i128 {
    if signed { number - (1 << (8 * bytes - 1)) } else { number }
}

/// How many decimal digits a non-negative number has.
pub(crate) fn digits_of(number: i128) -> u8 {
    number.checked_ilog10().map_or(1, |log| log as u8 + 1)
}

/// Appends a number in decimal digits, zero padded.
pub(crate) fn write_digits(number: u128, width: usize, out: &mut Vec<u8>) {
    let mut digits = [b'0'; WIDTH_MAX];
    let mut at = WIDTH_MAX;
    let mut high = number;
    // 64-bit division is several times as fast as 128-bit division.
    while high > u128::from(u64::MAX) {
        at -= 1;
        digits[at] = b'0' + (high % 10) as u8;
        high /= 10;
    }
    let mut low = high as u64;
    while low >= 100 {
        at -= 2;
        let pair = low % 100;
        digits[at] = b'0' + (pair / 10) as u8;
        digits[at + 1] = b'0' + (pair % 10) as u8;
        low /= 100;
    }
    while low > 0 {
        at -= 1;
        digits[at] = b'0' + (low % 10) as u8;
        low /= 10;
    }
    out.extend_from_slice(&digits[WIDTH_MAX - width.max(WIDTH_MAX - at)..]);
}

/// Parses at most 38 decimal digits.
pub(crate) fn read_digits(bytes: &[u8]) -> Option<i128> {
    if !bytes.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let (head, tail) = bytes.split_at(bytes.len().saturating_sub(18));
    let number = |digits: &[u8]| {
        digits.iter().fold(0_u64, |number, &digit| number * 10 + u64::from(digit - b'0'))
    };
    let (head, middle) = head.split_at(head.len().saturating_sub(18));
    let whole = i128::from(number(head)) * 10_i128.pow(36)
        + i128::from(number(middle)) * 10_i128.pow(18)
        + i128::from(number(tail));
    Some(whole)
}
