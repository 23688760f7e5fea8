//! HBase's tags: metadata that a cell carries besides the value (`docs/formats/key-value.md`).

use crate::{Error, Result};

/// HBase's number for the tag with a cell's own TTL: eight bytes, big-endian, in milliseconds.
pub const TTL_TAG: u8 = 8;

/// How many bytes a tag's length field has, which counts the type byte and the tag's bytes.
const LEN_LEN: usize = 2;

/// An iterator over a cell's tags. It ends at bytes that are not a whole tag.
#[derive(Clone)]
pub struct Tags<'a>(&'a [u8]);

impl<'a> Tags<'a> {
    /// Iterates over serialized tags.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Splits off the first tag, with the length and type.
    fn split(&self) -> Option<(&'a [u8], &'a [u8])> {
        let len = u16::from_be_bytes(*self.0.first_chunk()?) as usize;
        (len > 0).then(|| self.0.split_at_checked(LEN_LEN + len)).flatten()
    }
}

impl<'a> Iterator for Tags<'a> {
    /// A tag's type and bytes.
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (tag, rest) = self.split()?;
        self.0 = rest;
        Some((tag[LEN_LEN], &tag[LEN_LEN + 1..]))
    }
}

/// Checks that `bytes` has whole tags only.
///
/// # Errors
/// `InvalidRequest`, naming the first malformed tag's offset.
pub fn check_tags(bytes: &[u8]) -> Result<()> {
    let mut tags = Tags::new(bytes);
    while tags.next().is_some() {}
    if tags.0.is_empty() {
        return Ok(());
    }
    let at = bytes.len() - tags.0.len();
    Err(Error::invalid(format!("malformed cell tags: at={at}, len={}", bytes.len())))
}

/// Returns the tags with this TTL in milliseconds, replacing any previous TTL.
pub fn tags_with_ttl(bytes: &[u8], millis: i64) -> Vec<u8> {
    let mut with = Vec::with_capacity(bytes.len() + LEN_LEN + 9);
    let mut tags = Tags::new(bytes);
    let mut replaced = false;
    while let Some((tag, rest)) = tags.split() {
        tags.0 = rest;
        // As in HBase, replace the first one, which is the effective one.
        if tag[LEN_LEN] == TTL_TAG && !replaced {
            replaced = true;
            continue;
        }
        with.extend_from_slice(tag);
    }
    with.extend_from_slice(&9u16.to_be_bytes());
    with.push(TTL_TAG);
    with.extend_from_slice(&millis.to_be_bytes());
    with
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tag(kind: u8, bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u16 + 1).to_be_bytes()[..], &[kind], bytes].concat()
    }

    #[test]
    fn a_time_to_live_lies_as_hbase_writes_it() {
        assert_eq!(tags_with_ttl(b"", 1000), b"\0\x09\x08\0\0\0\0\0\0\x03\xe8");
    }

    #[test]
    fn a_time_to_live_takes_the_place_of_the_one_before() {
        let before = [tag(1, b"acl"), tags_with_ttl(b"", 5), tag(64, b"")].concat();
        let tags = tags_with_ttl(&before, 7);
        let seven = 7i64.to_be_bytes();
        let expected = [(1, &b"acl"[..]), (64, b""), (TTL_TAG, &seven)];
        assert_eq!(Tags::new(&tags).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_incomplete_tag_is_refused_with_its_place() {
        let whole = tag(1, b"ab");
        check_tags(b"").unwrap();
        check_tags(&whole).unwrap();
        for rest in [&b"\0"[..], b"\0\0", b"\0\x03\x01a"] {
            let error = check_tags(&[&whole, rest].concat()).unwrap_err();
            let expected = format!("malformed cell tags: at=5, len={}", 5 + rest.len());
            assert_eq!(error.message(), expected);
        }
    }

    proptest! {
        #[test]
        fn tags_come_back(tags: Vec<(u8, Vec<u8>)>, rubbish: Vec<u8>) {
            let bytes: Vec<u8> = tags.iter().flat_map(|(kind, bytes)| tag(*kind, bytes)).collect();
            check_tags(&bytes).unwrap();
            let read = Tags::new(&bytes).map(|(kind, bytes)| (kind, bytes.to_vec()));
            prop_assert_eq!(read.collect::<Vec<_>>(), tags);
            let _ = check_tags(&rubbish);
            check_tags(&tags_with_ttl(&rubbish, 1)).unwrap();
        }
    }
}
