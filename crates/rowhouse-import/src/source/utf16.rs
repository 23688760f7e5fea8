//! Text in UTF-16, read as UTF-8.

use std::io::{self, Read};

/// Converts UTF-16 to UTF-8 as it is read.
///
/// Half of a surrogate pair becomes three bytes that are not UTF-8, so that only the row that has
/// it is invalid.
pub(super) struct Utf16Reader<R> {
    units: R,
    is_big_endian: bool,
    /// Bytes that are not converted yet: at most a unit and a byte between two reads.
    raw: Vec<u8>,
    text: Vec<u8>,
    /// How many bytes in `text` were returned.
    taken: usize,
}

impl<R: Read> Utf16Reader<R> {
    /// Creates a reader for units after the byte order mark.
    pub(super) fn new(units: R, is_big_endian: bool) -> Self {
        Self { units, is_big_endian, raw: Vec::new(), text: Vec::new(), taken: 0 }
    }

    /// Converts the next bytes; `text` is empty afterwards if there are none.
    fn fill(&mut self) -> io::Result<()> {
        self.text.clear();
        self.taken = 0;
        while self.text.is_empty() {
            let rest = self.raw.len();
            self.raw.resize(rest + CHUNK_LEN, 0);
            let read = self.units.read(&mut self.raw[rest..]);
            self.raw.truncate(rest + read.as_ref().map_or(0, |read| *read));
            let is_end = read? == 0;
            if is_end && self.raw.len() % 2 == 1 {
                let why = "text in UTF-16 has an even number of bytes";
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            self.convert(is_end);
            if is_end {
                break;
            }
        }
        Ok(())
    }

    fn convert(&mut self, is_end: bool) {
        let unit = |pair: &[u8]| {
            if self.is_big_endian {
                u16::from_be_bytes([pair[0], pair[1]])
            } else {
                u16::from_le_bytes([pair[0], pair[1]])
            }
        };
        let mut units: Vec<u16> = self.raw.chunks_exact(2).map(unit).collect();
        // The other half is in the next chunk.
        if !is_end {
            units.pop_if(|unit| (0xD800..0xDC00).contains(unit));
        }
        for c in char::decode_utf16(units.iter().copied()) {
            match c {
                Ok(c) => self.text.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(half) => {
                    let half = half.unpaired_surrogate();
                    let low = |shift: u16| 0x80 | (half >> shift & 0x3F) as u8;
                    self.text.extend([0xE0 | (half >> 12) as u8, low(6), low(0)]);
                }
            }
        }
        self.raw.drain(..2 * units.len());
    }
}

impl<R: Read> Read for Utf16Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.text.len() {
            self.fill()?;
        }
        let read = (&self.text[self.taken..]).read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

const CHUNK_LEN: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the bytes a few at a time.
    struct Slowly<'b>(&'b [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = buffer.len().min(self.1);
            self.0.read(&mut buffer[..len])
        }
    }

    fn converted(bytes: &[u8], is_big_endian: bool, at_once: usize) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Utf16Reader::new(Slowly(bytes, at_once), is_big_endian).read_to_end(&mut text)?;
        Ok(text)
    }

    proptest! {
        #[test]
        fn utf_16_converts_to_the_same_text(text in "\\PC{0,40}", at_once in 1_usize..9) {
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            prop_assert_eq!(converted(&little, false, at_once).unwrap(), text.as_bytes());
            prop_assert_eq!(converted(&big, true, at_once).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_not_utf_8_and_text_around_it_is() {
        for half in [0xD83D_u16, 0xDE00] {
            let units = [u16::from(b'a'), half, u16::from(b'\n'), u16::from(b'b')];
            let bytes: Vec<u8> = units.into_iter().flat_map(u16::to_le_bytes).collect();
            let text = converted(&bytes, false, 3).unwrap();
            let lines: Vec<_> = text.split(|byte| *byte == b'\n').collect();
            assert!(std::str::from_utf8(lines[0]).is_err());
            assert_eq!(lines[1], b"b");
        }
        assert!(converted(b"a\0b", false, 2).is_err());
    }
}
