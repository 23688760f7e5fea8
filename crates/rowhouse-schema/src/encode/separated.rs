//! `phoenix.varchar`, `phoenix.decimal`, `bigtable.*`: values with a separator behind them, which the end of
//! the key takes with it.
//!
//! Fields with separators that stand at the end of a key, with nothing else behind them, are its *tail*. A key is
//! cut behind the last of them that has a value: what would stand behind that is separators alone.
//!
//! ```text
//! [a phoenix.varchar null first][b phoenix.varchar null first]
//! 'x', 'y'   78 00 79          'x', null   78          null, 'y'   00 79
//! ```

use rowhouse_model::escape;

use crate::error::NotFitting;

/// Bytes with a separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Separated {
    pub(crate) separation: Separation,
    pub(crate) desc: bool,
    /// Whether only fields with separators stand behind it.
    pub(crate) in_tail: bool,
}

/// Whose separators they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separation {
    /// 00, and FF in descending order, which the end of the key does not take. No value is empty or holds a
    /// zero byte: an empty one is null.
    Phoenix,
    /// 00 01. Zero is written 00 FF, an empty value 00 00.
    Bigtable,
}

const BIGTABLE_EMPTY: &[u8] = &[0, 0];
const BIGTABLE_END: &[u8] = &[0, 1];

impl Separated {
    /// Whether keys can hold a value.
    pub(crate) fn check(self, value: &[u8]) -> Result<(), String> {
        match self.separation {
            Separation::Phoenix if value.is_empty() => {
                Err("a value cannot be empty: that is null in Phoenix".to_owned())
            }
            Separation::Phoenix if value.contains(&0) => Err(format!(
                "a value cannot hold a zero byte, it would end there: value='{}'",
                escape(value)
            )),
            Separation::Phoenix | Separation::Bigtable => Ok(()),
        }
    }

    /// Appends a value that was checked, and its separator.
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

    /// How many bytes of a field in the tail stay at the end of a key: all but the separator, or none if it has
    /// no value.
    pub(crate) fn kept(self, field: &[u8]) -> usize {
        match (self.separation, field) {
            (Separation::Phoenix, [0]) | (Separation::Bigtable, [0, 0, ..]) => 0,
            (Separation::Phoenix, [.., 0]) => field.len() - 1,
            (Separation::Phoenix, _) => field.len(),
            (Separation::Bigtable, _) => field.len() - BIGTABLE_END.len(),
        }
    }

    /// Appends, to the bytes of a value in ascending order, what stands behind neither these alone nor with
    /// their separator, but before those of all greater values.
    pub(crate) fn behind(self, bytes: &mut Vec<u8>) {
        match (self.separation, bytes.is_empty()) {
            (Separation::Phoenix, _) => bytes.push(1),
            (Separation::Bigtable, true) => bytes.extend_from_slice(BIGTABLE_END),
            (Separation::Bigtable, false) => bytes.extend_from_slice(&[0, 2]),
        }
    }

    /// The part of a constant before its first zero, if values hold none.
    pub(crate) fn cut(self, constant: &[u8]) -> Option<&[u8]> {
        let zero = constant.iter().position(|byte| *byte == 0)?;
        (self.separation == Separation::Phoenix).then(|| &constant[..zero])
    }

    /// Reads the value that begins at `at`, and says where its separator ends.
    pub(crate) fn decode(self, key: &[u8], at: usize) -> Result<(Vec<u8>, usize), NotFitting> {
        let rest = &key[at..];
        let read = match self.separation {
            Separation::Phoenix => self.phoenix(rest),
            Separation::Bigtable => self.bigtable(rest),
        };
        let (value, len, separator) = read.map_err(|why| NotFitting::new(at, why))?;
        if separator && self.in_tail && !self.desc && len == rest.len() {
            return Err(NotFitting::new(key.len(), SEPARATOR_AT_END));
        }
        Ok((value, at + len))
    }

    /// The value with which `rest` begins, the length with its separator, and whether that is there.
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

/// Why a key does not fit that ends in what it should not.
pub(crate) const SEPARATOR_AT_END: &str = "a separator that the end of the key takes with it";
