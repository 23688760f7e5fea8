//! `phoenix.varchar`, `phoenix.decimal`, `bigtable.*`: values followed by a separator, which is
//! omitted at the key's end.
//!
//! The fields with separators at a template's end, followed by nothing else, are the *tail*. A key
//! ends after the last tail field that has a value: only separators would follow.
//!
//! ```text
//! [a phoenix.varchar null first][b phoenix.varchar null first]
//! 'x', 'y'   78 00 79          'x', null   78          null, 'y'   00 79
//! ```

use rowhouse_model::escape;

use crate::error::KeyMismatch;

/// The codec for bytes with a separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Separated {
    pub(crate) separation: Separation,
    pub(crate) desc: bool,
    /// True if only fields with separators follow.
    pub(crate) in_tail: bool,
}

/// The system that defines the separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separation {
    /// 00, and FF in descending order, which is not omitted at the key's end. No value is empty or
    /// holds a zero byte: an empty value is null.
    Phoenix,
    /// 00 01. Zero is stored as 00 FF, an empty value as 00 00.
    Bigtable,
}

const BIGTABLE_EMPTY: &[u8] = &[0, 0];
const BIGTABLE_END: &[u8] = &[0, 1];

impl Separated {
    /// Checks that keys can hold a value.
    pub(crate) fn check(self, value: &[u8]) -> Result<(), String> {
        match self.separation {
            Separation::Phoenix if value.is_empty() => {
                Err("a value cannot be empty: that is null in Phoenix".to_owned())
            }
            Separation::Phoenix if value.contains(&0) => Err(format!(
                "a value cannot contain a zero byte, it would end there: value='{}'",
                escape(value)
            )),
            Separation::Phoenix | Separation::Bigtable => Ok(()),
        }
    }

    /// Appends a value that has been checked, and the separator.
    pub(crate) fn put(self, value: &[u8], out: &mut Vec<u8>) {
        self.start(value, out);
        match self.separation {
            Separation::Phoenix => out.push(self.flip()),
            Separation::Bigtable if value.is_empty() => {
                out.extend_from_slice(BIGTABLE_EMPTY);
                out.extend_from_slice(BIGTABLE_END);
            }
            Separation::Bigtable => out.extend_from_slice(BIGTABLE_END),
        }
    }

    /// Appends the bytes with which all values begin that start with `start`.
    pub(crate) fn start(self, start: &[u8], out: &mut Vec<u8>) {
        let flip = self.flip();
        for byte in start {
            out.push(byte ^ flip);
            if *byte == 0 && self.separation == Separation::Bigtable {
                out.push(0xFF);
            }
        }
    }

    /// How many bytes remain for a tail field at a key's end: all but the separator, or none if it
    /// is null.
    pub(crate) fn retained_len(self, field: &[u8]) -> usize {
        match (self.separation, field) {
            (Separation::Phoenix, [0]) | (Separation::Bigtable, [0, 0, ..]) => 0,
            (Separation::Phoenix, [.., 0]) => field.len() - 1,
            (Separation::Phoenix, _) => field.len(),
            (Separation::Bigtable, _) => field.len() - BIGTABLE_END.len(),
        }
    }

    /// Extends an ascending value's bytes to a bound that is greater than the value, with or
    /// without the separator, and not greater than any greater value.
    pub(crate) fn extend_past(self, bytes: &mut Vec<u8>) {
        match (self.separation, bytes.is_empty()) {
            (Separation::Phoenix, _) => bytes.push(1),
            (Separation::Bigtable, true) => bytes.extend_from_slice(BIGTABLE_END),
            (Separation::Bigtable, false) => bytes.extend_from_slice(&[0, 2]),
        }
    }

    /// Returns the constant up to the first zero, if values cannot hold zeros.
    pub(crate) fn cut(self, constant: &[u8]) -> Option<&[u8]> {
        let zero = constant.iter().position(|byte| *byte == 0)?;
        (self.separation == Separation::Phoenix).then(|| &constant[..zero])
    }

    /// Decodes the value at `at`; returns it and the separator's end offset.
    pub(crate) fn decode(self, key: &[u8], at: usize) -> Result<(Vec<u8>, usize), KeyMismatch> {
        let rest = &key[at..];
        let read = match self.separation {
            Separation::Phoenix => self.phoenix(rest),
            Separation::Bigtable => self.bigtable(rest),
        };
        let (value, len, separator) = read.map_err(|why| KeyMismatch::new(at, why))?;
        if separator && self.in_tail && !self.desc && len == rest.len() {
            return Err(KeyMismatch::new(key.len(), SEPARATOR_AT_END));
        }
        Ok((value, at + len))
    }

    /// Returns the value with which `rest` begins, the length with the separator, and whether the
    /// separator is present.
    fn phoenix(self, rest: &[u8]) -> Result<(Vec<u8>, usize, bool), &'static str> {
        let flip = self.flip();
        let end = rest.iter().position(|byte| *byte == flip);
        if end.is_none() && (self.desc || !self.in_tail) {
            return Err("the separator is missing");
        }
        let value = &rest[..end.unwrap_or(rest.len())];
        if value.is_empty() {
            return Err("an empty value");
        }
        let value = value.iter().map(|byte| byte ^ flip).collect();
        Ok((value, end.map_or(rest.len(), |end| end + 1), end.is_some()))
    }

    fn bigtable(self, rest: &[u8]) -> Result<(Vec<u8>, usize, bool), &'static str> {
        let mut value = Vec::new();
        let mut at = 0;
        while let Some(byte) = rest.get(at) {
            match (byte, rest.get(at + 1)) {
                (0, Some(0)) if at == 0 && rest[2..].starts_with(BIGTABLE_END) => {
                    return Ok((value, BIGTABLE_EMPTY.len() + BIGTABLE_END.len(), true));
                }
                (0, Some(1)) if at > 0 => return Ok((value, at + BIGTABLE_END.len(), true)),
                (0, Some(0xFF)) => at += 1,
                (0, _) => return Err("neither an escaped zero nor a separator"),
                _ => {}
            }
            value.push(*byte);
            at += 1;
        }
        if self.in_tail { Ok((value, at, false)) } else { Err("the separator is missing") }
    }

    fn flip(self) -> u8 {
        if self.desc { 0xFF } else { 0 }
    }
}

/// The reason for a key that ends in a separator which has to be omitted there.
pub(crate) const SEPARATOR_AT_END: &str = "a separator that the end of the key takes with it";
