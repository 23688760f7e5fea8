//! Frames: a 32-bit length and that many bytes.

use bytes::{Buf, Bytes, BytesMut};
use rowhouse_model::Error;

use crate::exception::malformed;

/// Longest accepted frame in bytes; HBase's `hbase.ipc.max.request.size`.
pub const FRAME_LEN_MAX: usize = 256 * 1024 * 1024;

/// Splits a byte stream into frames.
#[derive(Clone, Copy, Debug)]
pub struct FrameDecoder {
    len_max: usize,
}

/// An oversized frame. The length prefix is still in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTooLong {
    /// The announced length in bytes. HBase's length is signed; a negative one is oversized.
    pub len: u32,
    /// The limit in bytes.
    pub len_max: usize,
}

impl std::fmt::Display for FrameTooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "frame too long: len={}, max={}", self.len as i32, self.len_max)
    }
}

impl Default for FrameDecoder {
    fn default() -> Self {
        Self::new(FRAME_LEN_MAX)
    }
}

impl FrameDecoder {
    /// Creates a decoder for frames with at most `len_max` bytes.
    pub fn new(len_max: usize) -> Self {
        Self { len_max }
    }

    /// Returns how many bytes the first frame in `input` lacks; 0 if it is complete, oversized, or
    /// the length is unknown.
    pub fn missing_bytes(&self, input: &[u8]) -> usize {
        let Some(prefix) = input.first_chunk::<4>() else { return 0 };
        let len = u32::from_be_bytes(*prefix) as usize;
        if len > self.len_max { 0 } else { (4 + len).saturating_sub(input.len()) }
    }

    /// Takes the first frame off `input`, without the length prefix; returns `None` until it is
    /// complete. The frame shares the buffer.
    ///
    /// # Errors
    /// An oversized frame, as soon as the length is known and before any part is stored.
    pub fn next(&self, input: &mut BytesMut) -> Result<Option<Bytes>, FrameTooLong> {
        let Some(prefix) = input.first_chunk::<4>() else { return Ok(None) };
        let announced = u32::from_be_bytes(*prefix);
        let len = announced as usize;
        if len > self.len_max {
            return Err(FrameTooLong { len: announced, len_max: self.len_max });
        }
        if input.len() < 4 + len {
            return Ok(None);
        }
        input.advance(4);
        Ok(Some(input.split_to(len).freeze()))
    }
}

impl From<FrameTooLong> for Error {
    fn from(frame: FrameTooLong) -> Self {
        malformed(format!("frame too long: len={}, max={}", frame.len, frame.len_max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_whole_after_pieces_of_any_length() {
        let bytes = b"\0\0\0\x03abc\0\0\0\0\0\0\0\x01d";
        let decoder = FrameDecoder::default();
        for piece in 1..bytes.len() {
            let mut input = BytesMut::new();
            let mut frames = Vec::new();
            for part in bytes.chunks(piece) {
                input.extend_from_slice(part);
                while let Some(frame) = decoder.next(&mut input).unwrap() {
                    frames.push(frame);
                }
            }
            assert_eq!(frames, ["abc", "", "d"]);
        }
    }

    #[test]
    fn the_missing_bytes_complete_the_first_frame() {
        let missing = |input: &[u8]| FrameDecoder::default().missing_bytes(input);
        let bytes = b"\0\0\0\x03abcd";
        let by_length = (0..=bytes.len()).map(|len| missing(&bytes[..len])).collect::<Vec<_>>();
        assert_eq!(by_length, [0, 0, 0, 0, 3, 2, 1, 0, 0]);
    }

    #[test]
    fn over_long_and_negative_lengths_are_refused_at_once() {
        let decoder = FrameDecoder::new(8);
        for (bytes, len) in [(&b"\0\0\0\x09"[..], 9), (b"\xff\xff\xff\xff", u32::MAX)] {
            let error = decoder.next(&mut BytesMut::from(bytes)).unwrap_err();
            assert_eq!(error, FrameTooLong { len, len_max: 8 });
            assert_eq!(decoder.missing_bytes(bytes), 0);
        }
    }
}
