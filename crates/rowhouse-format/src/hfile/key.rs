//! Serialized keys as an index stores them: a KeyValue's key part, without the value.

use std::cmp::Ordering;

use bytes::Bytes;
use rowhouse_model::{Error, Key, ROW_LEN_MAX, Result, compare_bytes, escape};

/// How many bytes a key has besides row, family and qualifier: row length, family length, timestamp
/// and kind.
pub(super) const KEY_FIXED_LEN: usize = 2 + 1 + 8 + 1;

/// A serialized key that owns its bytes (row length, row, family length, family, qualifier,
/// timestamp, kind).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct OwnedKey(Bytes);

impl OwnedKey {
    /// Validates `bytes` and wraps them as a key.
    ///
    /// # Errors
    /// `Corruption` if the lengths are inconsistent.
    pub fn parse(bytes: Bytes) -> Result<Self> {
        check_key(&bytes)?;
        Ok(Self(bytes))
    }

    /// Serializes `key`. The key's lengths must be in bounds, as any cell's lengths are.
    pub fn new(key: &Key<'_>) -> Self {
        let mut bytes = Vec::new();
        write_key(&mut bytes, key);
        Self(bytes.into())
    }

    /// Returns the decoded key.
    pub fn view(&self) -> Key<'_> {
        view_key(&self.0)
    }

    /// Returns the row.
    pub fn row(&self) -> &[u8] {
        view_row(&self.0)
    }

    /// Returns the row, sharing the key's bytes.
    pub fn row_bytes(&self) -> Bytes {
        self.0.slice_ref(self.row())
    }

    /// Returns the serialized bytes.
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }
}

impl std::fmt::Debug for OwnedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.view();
        let [row, family, qualifier] = [key.row, key.family, key.qualifier].map(escape);
        write!(f, "{row}/{family}:{qualifier}/{}/{}", key.timestamp, key.kind)
    }
}

/// Checks that the lengths in a serialized key are consistent.
pub(super) fn check_key(bytes: &[u8]) -> Result<()> {
    let malformed = |what: &str| {
        Error::corruption(format!("malformed key in hfile: {what}, len={}", bytes.len()))
    };
    if bytes.len() < KEY_FIXED_LEN {
        return Err(malformed("shorter than its lengths"));
    }
    let row_len = u16::from_be_bytes([bytes[0], bytes[1]]) as usize;
    if row_len > ROW_LEN_MAX || KEY_FIXED_LEN + row_len > bytes.len() {
        return Err(malformed("row longer than the key"));
    }
    if KEY_FIXED_LEN + row_len + bytes[2 + row_len] as usize > bytes.len() {
        return Err(malformed("family longer than the key"));
    }
    Ok(())
}

/// Returns the row in a key that [`check_key`] accepted.
pub(super) fn view_row(bytes: &[u8]) -> &[u8] {
    let row_len = u16::from_be_bytes([bytes[0], bytes[1]]) as usize;
    &bytes[2..2 + row_len]
}

/// Decodes a key that [`check_key`] accepted.
pub(super) fn view_key(bytes: &[u8]) -> Key<'_> {
    let row = view_row(bytes);
    let family_start = 2 + row.len() + 1;
    let family_end = family_start + bytes[family_start - 1] as usize;
    let qualifier_end = bytes.len() - 9;
    let timestamp = bytes[qualifier_end..qualifier_end + 8].try_into().expect("eight bytes");
    Key {
        row,
        family: &bytes[family_start..family_end],
        qualifier: &bytes[family_end..qualifier_end],
        timestamp: i64::from_be_bytes(timestamp),
        kind: bytes[bytes.len() - 1],
    }
}

/// Appends a key whose lengths are in bounds.
#[inline]
pub(super) fn write_key(out: &mut Vec<u8>, key: &Key<'_>) {
    out.extend_from_slice(&(key.row.len() as u16).to_be_bytes());
    out.extend_from_slice(key.row);
    out.push(key.family.len() as u8);
    out.extend_from_slice(key.family);
    out.extend_from_slice(key.qualifier);
    out.extend_from_slice(&key.timestamp.to_be_bytes());
    out.push(key.kind);
}

/// Compares rows; the caller supplies the 8-byte prefix of `b`.
#[inline]
pub(super) fn compare_rows(a: &[u8], b: &[u8], b_prefix: u64) -> Ordering {
    match a.first_chunk::<8>() {
        Some(prefix) => match u64::from_be_bytes(*prefix).cmp(&b_prefix) {
            Ordering::Equal => compare_bytes(a, b),
            decided => decided,
        },
        None => compare_bytes(a, b),
    }
}

/// Compares everything after the row: family, qualifier, timestamp, kind.
#[inline]
pub(super) fn compare_columns(a: &Key<'_>, b: &Key<'_>) -> Ordering {
    compare_bytes(a.family, b.family)
        .then_with(|| compare_bytes(a.qualifier, b.qualifier))
        .then_with(|| b.timestamp.cmp(&a.timestamp))
        .then_with(|| b.kind.cmp(&a.kind))
}

/// Writes the index key for a block that begins with `right` and follows a block that ends with
/// `left`: the shortest key for which `left` < key ≤ `right` (`HFileWriterImpl.getMidpoint`).
pub(super) fn write_midpoint(out: &mut Vec<u8>, left: &Key<'_>, right: &Key<'_>) {
    let mut part = Vec::new();
    if midpoint(left.row, right.row, &mut part) {
        write_key(out, &Key::row_start(&part));
    } else if midpoint(left.family, right.family, &mut part) {
        write_key(out, &Key::column_start(right.row, &part, b""));
    } else if midpoint(left.qualifier, right.qualifier, &mut part) {
        write_key(out, &Key::column_start(right.row, right.family, &part));
    } else {
        write_key(out, right);
    }
}

/// Sets `out` to the shortest string with `left` < `out` ≤ `right`; returns false if they are
/// equal.
fn midpoint(left: &[u8], right: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    out.extend_from_slice(&right[..same]);
    match (left.get(same), right.get(same)) {
        (None, None) => return false,
        (None, Some(_)) => out.push(0),
        (Some(&byte), _) => out.push(byte.saturating_add(1)),
    }
    true
}

#[cfg(test)]
mod tests {
    use rowhouse_model::row_prefix;

    use super::*;

    #[test]
    fn midpoints_are_hbases() {
        let cases: [(&str, &str, &str); 6] = [
            ("abc", "abd", "abd"),
            ("abc", "ad", "ac"),
            ("a", "ab", "a\0"),
            ("a", "z", "b"),
            ("bar", "foo", "c"),
            ("row1", "row10", "row1\0"),
        ];
        for (left, right, want) in cases {
            let left = Key::row_start(left.as_bytes());
            let right = Key::row_start(right.as_bytes());
            let mut out = Vec::new();
            write_midpoint(&mut out, &left, &right);
            check_key(&out).unwrap();
            assert_eq!(view_key(&out).row, want.as_bytes());
            assert_eq!(view_key(&out).kind, u8::MAX);
            assert!(view_row(&out) > left.row && view_row(&out) <= right.row);
        }
    }

    #[test]
    fn equal_rows_go_on_with_family_and_qualifier() {
        let key = |family: &'static str, qualifier: &'static str, timestamp| Key {
            row: b"r",
            family: family.as_bytes(),
            qualifier: qualifier.as_bytes(),
            timestamp,
            kind: 4,
        };
        let mid = |left: &Key<'_>, right: &Key<'_>| {
            let mut out = Vec::new();
            write_midpoint(&mut out, left, right);
            OwnedKey::parse(out.into()).unwrap()
        };
        let right = key("d", "q", 5);
        assert_eq!(
            format!("{:?}", mid(&key("a", "x", 1), &right)),
            format!("r/b:/{}/255", i64::MAX)
        );
        assert_eq!(
            format!("{:?}", mid(&key("d", "", 1), &right)),
            format!("r/d:\\x00/{}/255", i64::MAX)
        );
        assert_eq!(format!("{:?}", mid(&key("d", "q", 9), &right)), "r/d:q/5/4");
    }

    #[test]
    fn prefixes_keep_the_order() {
        let rows: [&[u8]; 8] =
            [b"", b"\0", b"\0\0", b"a", b"a\0", b"aaaaaaaa", b"aaaaaaaa\0", b"aaaaaaab"];
        for a in rows {
            for b in rows {
                assert_eq!(compare_rows(a, b, row_prefix(b)), a.cmp(b), "{a:?} {b:?}");
            }
        }
    }
}
