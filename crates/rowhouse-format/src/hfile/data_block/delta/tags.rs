//! Tags that HBase compressed: a tag that was met before is a number (`TagCompressionContext`).

use super::source::Source;
use crate::hfile::varint::read_varint;

/// Tags that are remembered.
const LEN_MAX: usize = 127;
/// What stands in front of a tag that is not remembered.
const NOT_REMEMBERED: u8 = 0xFF;

/// The tags of one block, by number. One that is met becomes the most recent; a new one takes the number of the least
/// recent where all numbers are taken.
pub(super) struct TagDictionary {
    tags: Vec<Box<[u8]>>,
    /// Numbers, the most recently met last.
    recent: Vec<usize>,
}

impl TagDictionary {
    pub(super) fn new() -> Self {
        Self { tags: Vec::new(), recent: Vec::new() }
    }

    /// Appends tags of `len` bytes in all, each with its length in front.
    pub(super) fn unpack(
        &mut self,
        source: &mut Source<'_>,
        len: usize,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let end = out.len() + len;
        while out.len() < end {
            let tag = match source.byte()? {
                NOT_REMEMBERED => self.remember(source)?,
                high => self.met(usize::from(u16::from_be_bytes([high, source.byte()?])))?,
            };
            out.extend_from_slice(&u16::try_from(tag.len()).ok()?.to_be_bytes());
            out.extend_from_slice(tag);
        }
        (out.len() == end).then_some(())
    }

    /// The tag that stands here in full.
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

    /// The tag with this number.
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
        // 0 becomes the most recent, so 1 is the least.
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
