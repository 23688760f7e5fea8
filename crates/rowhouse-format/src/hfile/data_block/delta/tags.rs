//! Decodes HBase's compressed tags, which replace a repeated tag by its dictionary number
//! (`TagCompressionContext`).

use super::source::Source;
use crate::hfile::varint::read_varint;

/// The dictionary's capacity.
const LEN_MAX: usize = 127;
/// The byte before a tag that is not in the dictionary.
const LITERAL: u8 = 0xFF;

/// One block's tag dictionary, an LRU cache: a lookup makes a tag the most recently used; once
/// full, a new tag takes the least recently used tag's number.
pub(super) struct TagDictionary {
    tags: Vec<Box<[u8]>>,
    /// Numbers in usage order, the most recent last.
    recent: Vec<usize>,
}

impl TagDictionary {
    pub(super) fn new() -> Self {
        Self { tags: Vec::new(), recent: Vec::new() }
    }

    /// Decodes and appends tags with `len` bytes in total, each with a length prefix.
    pub(super) fn unpack(
        &mut self,
        source: &mut Source<'_>,
        len: usize,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let end = out.len() + len;
        while out.len() < end {
            let tag = match source.byte()? {
                LITERAL => self.remember(source)?,
                high => self.met(usize::from(u16::from_be_bytes([high, source.byte()?])))?,
            };
            out.extend_from_slice(&u16::try_from(tag.len()).ok()?.to_be_bytes());
            out.extend_from_slice(tag);
        }
        (out.len() == end).then_some(())
    }

    /// Reads a literal tag and adds it to the dictionary.
    fn remember<'s>(&mut self, source: &mut Source<'s>) -> Option<&'s [u8]> {
        let (len, len_len) = read_varint(source.rest())?;
        source.take(len_len)?;
        let tag = source.take(usize::try_from(len).ok()?)?;
        if tag.is_empty() {
            return Some(tag);
        }
        let number = if self.tags.len() < LEN_MAX {
            self.tags.push(Box::default());
            self.tags.len() - 1
        } else {
            self.recent.remove(0)
        };
        self.tags[number] = tag.into();
        self.recent.push(number);
        Some(tag)
    }

    /// Returns the tag with this number and marks it as used.
    fn met(&mut self, number: usize) -> Option<&[u8]> {
        let at = self.recent.iter().position(|&recent| recent == number)?;
        let number = self.recent.remove(at);
        self.recent.push(number);
        Some(&self.tags[number])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recent_tag_gives_its_number_away() {
        let mut dictionary = TagDictionary::new();
        let mut unpack = |packed: &[u8], len: usize| {
            let mut out = Vec::new();
            dictionary.unpack(&mut Source::new(packed), len, &mut out).map(|()| out)
        };
        for tag in 0..127u8 {
            assert_eq!(unpack(&[0xFF, 1, tag], 3), Some(vec![0, 1, tag]));
        }
        // Looking up 0 leaves 1 as the least recently used.
        assert_eq!(unpack(&[0, 0], 3), Some(vec![0, 1, 0]));
        assert_eq!(unpack(&[0xFF, 1, 200], 3), Some(vec![0, 1, 200]));
        assert_eq!(unpack(&[0, 1], 3), Some(vec![0, 1, 200]));
        assert_eq!(unpack(&[0, 0], 3), Some(vec![0, 1, 0]));
        assert_eq!(unpack(&[0, 126, 0, 1], 6), Some(vec![0, 1, 126, 0, 1, 200]));
        assert_eq!(unpack(&[0, 127], 3), None);
        assert_eq!(unpack(&[0, 0], 4), None);
        assert_eq!(unpack(&[0xFF, 2, 1], 4), None);
    }
}
