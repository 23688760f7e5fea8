//! Row keys cut to a fixed length: the bounds of key ranges.

use std::fmt;

/// The maximum length of a bound, in bytes; longer row keys are cut.
pub(super) const KEY_BYTES_MAX: usize = 64;

/// A row key of at most [`KEY_BYTES_MAX`] bytes, without an allocation.
#[derive(Clone, Copy)]
pub(super) struct Key {
    len: u8,
    bytes: [u8; KEY_BYTES_MAX],
}

impl Key {
    /// The first key.
    pub(super) const FIRST: Self = Self { len: 0, bytes: [0; KEY_BYTES_MAX] };

    /// Returns a row key's first bytes.
    pub(super) fn cut(row: &[u8]) -> Self {
        let len = row.len().min(KEY_BYTES_MAX);
        let mut key = Self::FIRST;
        key.bytes[..len].copy_from_slice(&row[..len]);
        key.len = len as u8;
        key
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Returns the next key; `None` for one of the maximum length, which may be cut.
    pub(super) fn next(&self) -> Option<Self> {
        let is_short = usize::from(self.len) < KEY_BYTES_MAX;
        is_short.then_some(Self { len: self.len + 1, ..*self })
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_slice().escape_ascii())
    }
}
