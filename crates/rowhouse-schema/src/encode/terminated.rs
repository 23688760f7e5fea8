//! `string`, `blob` and similar types in other systems: bytes with escapes, followed by a
//! terminator that cannot be mistaken for an escape.
//!
//! A longer value is greater than the value that it extends, because no byte that can be in the
//! terminator's position is less than the terminator. `desc` complements every byte.

use std::borrow::Cow;

use crate::error::KeyMismatch;

/// The codec for bytes with a terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminated {
    pub(crate) style: Style,
    pub(crate) desc: bool,
}

/// How values end, and how bytes that could be mistaken for the end are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `string`, `blob`: zero is stored as 00 FF, the end is 00 01.
    Pair,
    /// `ordered_code.string`: in addition, FF is stored as FF 00.
    PairOfBoth,
    /// `ordered.string`, `kiji.string`: the end is 00, and no value holds a zero.
    Zero,
    /// `tuple.string`, `tuple.bytes`: zero is stored as 00 FF, the end is 00 not followed by FF.
    BareZero,
}

const ESCAPED: u8 = 0xFF;
const END: u8 = 0x01;

impl Terminated {
    /// Returns the container for `string` and `blob`.
    pub(crate) fn pair(desc: bool) -> Self {
        Self { style: Style::Pair, desc }
    }

    /// The ascending container for `string` and `blob`.
    pub(crate) const PLAIN: Self = Self { style: Style::Pair, desc: false };

    /// Checks that keys can hold a value.
    pub(crate) fn check(self, value: &[u8]) -> Result<(), String> {
        if self.style == Style::Zero && value.contains(&0) {
            return Err(format!(
                "a value cannot contain a zero byte, it would end there: value='{}'",
                rowhouse_model::escape(value)
            ));
        }
        Ok(())
    }

    /// Returns true if values may contain zero bytes.
    pub(crate) fn holds_zeros(self) -> bool {
        self.style != Style::Zero
    }

    /// Returns true if no encoded value is a prefix of another. If false, no byte FF may follow a
    /// value.
    pub(crate) fn is_prefix_free(self) -> bool {
        self.style != Style::BareZero
    }

    /// Appends a value that has been checked; every value takes at least one byte.
    #[inline]
    pub(crate) fn put(self, value: &[u8], out: &mut Vec<u8>) {
        self.start(value, out);
        let flip = self.flip();
        out.push(flip);
        if self.has_pair() {
            out.push(END ^ flip);
        }
    }

    /// Appends the bytes with which all values begin that start with `start`.
    #[inline]
    pub(crate) fn start(self, start: &[u8], out: &mut Vec<u8>) {
        let flip = self.flip();
        if flip == 0 && self.style != Style::PairOfBoth && zero_in(start).is_none() {
            return out.extend_from_slice(start);
        }
        for byte in start {
            out.push(byte ^ flip);
            match byte {
                0 if self.style != Style::Zero => out.push(ESCAPED ^ flip),
                0xFF if self.style == Style::PairOfBoth => out.push(flip),
                _ => {}
            }
        }
    }

    /// Decodes the value at `at`; returns it and the end offset.
    #[inline]
    pub(crate) fn decode(
        self,
        key: &[u8],
        at: usize,
    ) -> Result<(Cow<'_, [u8]>, usize), KeyMismatch> {
        match self.decode_plain(key, at) {
            Some((value, next)) => Ok((value.into(), next)),
            None => self.decode_escaped(key, at),
        }
    }

    fn decode_escaped(self, key: &[u8], at: usize) -> Result<(Cow<'_, [u8]>, usize), KeyMismatch> {
        let flip = self.flip();
        let mut value = Vec::new();
        let mut next = at;
        // Runs without zeros are copied as a whole.
        while let Some(len) = key[next..].iter().position(|byte| *byte == flip) {
            let is_escape = self.take(&key[next..next + len], next, &mut value)?;
            next += len + 1;
            if is_escape {
                continue;
            }
            match (self.style, key.get(next).map(|byte| byte ^ flip)) {
                (Style::Zero, _) => return Ok((value.into(), next)),
                (_, Some(ESCAPED)) => value.push(0),
                (Style::BareZero, _) => return Ok((value.into(), next)),
                (_, Some(END)) => return Ok((value.into(), next + 1)),
                _ => {
                    return Err(KeyMismatch::new(next, "neither an escaped zero nor a terminator"));
                }
            }
            next += 1;
        }
        Err(KeyMismatch::new(key.len(), "the terminator is missing"))
    }

    /// Decodes the value at `at`, if it is stored unchanged: ascending and without zeros.
    #[inline]
    pub(crate) fn decode_plain(self, key: &[u8], at: usize) -> Option<(&[u8], usize)> {
        if self.desc || self.style != Style::Pair {
            return None;
        }
        let len = zero_in(&key[at..])?;
        let ends = key.get(at + len + 1) == Some(&END);
        ends.then(|| (&key[at..at + len], at + len + 2))
    }

    /// Copies a run without zeros; returns true if the zero after it is the escape for an FF.
    fn take(self, run: &[u8], at: usize, value: &mut Vec<u8>) -> Result<bool, KeyMismatch> {
        let flip = self.flip();
        value.extend(run.iter().map(|byte| byte ^ flip));
        if self.style != Style::PairOfBoth {
            return Ok(false);
        }
        match run.iter().position(|byte| byte ^ flip == ESCAPED) {
            None => Ok(false),
            Some(last) if last + 1 == run.len() => Ok(true),
            Some(place) => Err(KeyMismatch::new(at + place, "an FF without its escape")),
        }
    }

    fn has_pair(self) -> bool {
        matches!(self.style, Style::Pair | Style::PairOfBoth)
    }

    fn flip(self) -> u8 {
        if self.desc { 0xFF } else { 0 }
    }
}

/// Returns the first zero byte's position, searching eight bytes at a time.
#[inline(always)]
fn zero_in(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (nth, word) in words.iter().enumerate() {
        if let Some(at) = zero_in_word(*word) {
            return Some(8 * nth + at);
        }
    }
    match bytes.last_chunk::<8>() {
        // The last eight bytes; those searched before have no zero.
        Some(word) if !rest.is_empty() => zero_in_word(*word).map(|at| bytes.len() - 8 + at),
        _ => rest.iter().position(|byte| *byte == 0),
    }
}

/// Returns the first zero byte's position in a word: the lowest byte whose high bit `word - 1…1`
/// newly sets.
#[inline(always)]
fn zero_in_word(word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(word);
    let zeros = word.wrapping_sub(ONES) & !word & HIGH_BITS;
    (zeros != 0).then(|| zeros.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::zero_in;

    #[test]
    fn the_first_zero_is_located_at_any_position() {
        for len in 0..40 {
            for fill in [0x01, 0x7F, 0x80, 0xFF] {
                let mut bytes = vec![fill; len];
                assert_eq!(zero_in(&bytes), None, "{len} {fill}");
                for zero in (0..len).rev() {
                    bytes[zero] = 0;
                    assert_eq!(zero_in(&bytes), Some(zero), "{len} {fill}");
                    assert_eq!(zero_in(&bytes[..zero]), None, "{len} {fill}");
                }
            }
        }
    }
}
