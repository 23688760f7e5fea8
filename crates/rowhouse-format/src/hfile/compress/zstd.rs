//! ZSTD: a Zstandard frame (RFC 8878), bare or in chunks.
//!
//! HBase has two incompatible codecs under this name and number. Hadoop's `ZStandardCodec`, the
//! default, writes a bare frame; hbase-compression-zstd and hbase-compression-aircompressor write
//! frames in chunks. This module reads and writes both formats
//! (`docs/decisions/0061-compression-codecs.md`).

use std::io::Read;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, FrameCompressor, MatchGeneratorDriver};

use super::Malformed;
use super::chunks::read_chunks;

/// A Zstandard frame's magic. As a chunk length prefix it would mean 683 million bytes, more than
/// any block has.
const MAGIC: [u8; 4] = 0xFD2F_B528u32.to_le_bytes();

/// An encoder that is reused across payloads.
pub(super) struct ZstdEncoder(FrameCompressor<Source, Vec<u8>, MatchGeneratorDriver>);

impl ZstdEncoder {
    pub(super) fn new() -> Self {
        // The library's only compressing level; comparable to zstd's level 1.
        Self(FrameCompressor::new(CompressionLevel::Fastest))
    }

    /// Appends `payload` as a frame.
    pub(super) fn append(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        let mut source = self.0.take_source().unwrap_or_default();
        source.bytes.clear();
        source.bytes.extend_from_slice(payload);
        source.taken = 0;
        self.0.set_source(source);
        self.0.set_drain(std::mem::take(out));
        self.0.compress();
        *out = self.0.take_drain().expect("the drain was set");
    }
}

/// A payload copy: the encoder outlives the payload and must own the input.
#[derive(Default)]
struct Source {
    bytes: Vec<u8>,
    taken: usize,
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = (&self.bytes[self.taken..]).read(out)?;
        self.taken += read;
        Ok(read)
    }
}

/// Fills `payload` from `bytes` in either format.
pub(super) fn read(bytes: &[u8], payload: &mut [u8]) -> Result<(), Malformed> {
    let mut decoder = FrameDecoder::new();
    if !bytes.starts_with(&MAGIC) {
        return read_chunks(bytes, payload, |chunk, out| read_frames(&mut decoder, chunk, out));
    }
    let filled = read_frames(&mut decoder, bytes, payload)?;
    if filled < payload.len() {
        return Err(Malformed::Short { want: payload.len() as u64, have: filled as u64 });
    }
    Ok(())
}

/// Decompresses frames to the start of `out` and returns their total length in bytes.
fn read_frames(
    decoder: &mut FrameDecoder,
    mut frames: &[u8],
    out: &mut [u8],
) -> Result<usize, Malformed> {
    let mut filled = 0;
    while !frames.is_empty() {
        let long = Malformed::Long { want: out.len() as u64 };
        decoder.init(&mut frames).map_err(Malformed::codec)?;
        // Decoding one byte more than fits detects a frame that is too long.
        let strategy = BlockDecodingStrategy::UptoBytes(out.len() - filled + 1);
        decoder.decode_blocks(&mut frames, strategy).map_err(Malformed::codec)?;
        if !decoder.is_finished() {
            return Err(long);
        }
        filled += decoder.read(&mut out[filled..]).map_err(Malformed::codec)?;
        if decoder.can_collect() > 0 {
            return Err(long);
        }
    }
    Ok(filled)
}
