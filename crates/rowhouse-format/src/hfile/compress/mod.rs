//! Compresses and decompresses block payloads in the formats of HBase's codecs.

mod chunks;
mod gz;
mod zstd;

use std::fmt;

use rowhouse_model::Compression;

use chunks::{
    LZ4_CHUNK_LEN_MAX, SNAPPY_CHUNK_LEN_MAX, ZSTD_CHUNK_LEN_MAX, read_chunks, write_chunks,
};
use gz::Deflater;
use zstd::ZstdEncoder;

/// The format for blocks with ZSTD compression. HBase has two ZSTD codecs, and each reads only its
/// own format; the setting `hbase.io.compress.zstd.codec` selects a cluster's codec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZstdForm {
    /// One Zstandard frame: `org.apache.hadoop.io.compress.ZStandardCodec`, HBase's default.
    #[default]
    Frame,
    /// Frames in chunks: `org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec` and
    /// `org.apache.hadoop.hbase.io.compress.aircompressor.ZstdCodec`.
    Chunks,
}

/// Compresses one file's payloads and reuses the state across payloads.
pub(super) struct Compressor(Codec);

enum Codec {
    None,
    Gz(Deflater),
    Snappy(Box<snap::raw::Encoder>),
    Lz4(lz4_flex::block::CompressTable),
    Zstd(Box<ZstdEncoder>, ZstdForm),
}

impl Compressor {
    /// Creates a compressor for a file with `compression`.
    pub(super) fn new(compression: Compression, zstd: ZstdForm) -> Self {
        Self(match compression {
            Compression::None => Codec::None,
            Compression::Gz => Codec::Gz(Deflater::new()),
            Compression::Snappy => Codec::Snappy(Box::new(snap::raw::Encoder::new())),
            Compression::Lz4 => Codec::Lz4(lz4_flex::block::CompressTable::default()),
            Compression::Zstd => Codec::Zstd(Box::new(ZstdEncoder::new()), zstd),
        })
    }

    /// Returns true if payloads are stored uncompressed.
    pub(super) fn is_none(&self) -> bool {
        matches!(self.0, Codec::None)
    }

    /// Appends the compressed `payload` to `out`. As in HBase, a payload that compression makes
    /// longer is still stored compressed, because no block field could mark the exception.
    pub(super) fn append(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        match &mut self.0 {
            Codec::None => out.extend_from_slice(payload),
            Codec::Gz(deflater) => deflater.append(payload, out),
            Codec::Snappy(encoder) => write_chunks(payload, SNAPPY_CHUNK_LEN_MAX, out, {
                |chunk, out| {
                    let start = grow(out, snap::raw::max_compress_len(chunk.len()));
                    let written = encoder.compress(chunk, &mut out[start..]);
                    out.truncate(start + written.expect("there is room for the worst case"));
                }
            }),
            Codec::Lz4(table) => write_chunks(payload, LZ4_CHUNK_LEN_MAX, out, |chunk, out| {
                let len_max = lz4_flex::block::get_maximum_output_size(chunk.len());
                let start = grow(out, len_max);
                let room = &mut out[start..];
                let written = lz4_flex::block::compress_into_with_table(chunk, room, table);
                out.truncate(start + written.expect("there is room for the worst case"));
            }),
            Codec::Zstd(encoder, ZstdForm::Frame) => encoder.append(payload, out),
            Codec::Zstd(encoder, ZstdForm::Chunks) => {
                write_chunks(payload, ZSTD_CHUNK_LEN_MAX, out, |chunk, out| {
                    encoder.append(chunk, out);
                });
            }
        }
    }
}

/// Appends `len` zeros and returns their start.
fn grow(out: &mut Vec<u8>, len: usize) -> usize {
    let start = out.len();
    out.resize(start + len, 0);
    start
}

/// Decompresses `bytes` into `payload_len` bytes. The codec's maximum ratio bounds the allocation,
/// whatever length `bytes` claims.
pub(super) fn decompress(
    compression: Compression,
    bytes: &[u8],
    payload_len: usize,
) -> Result<Vec<u8>, Malformed> {
    let len_max = (bytes.len() as u64).saturating_mul(ratio_max(compression));
    if payload_len as u64 > len_max {
        return Err(Malformed::Short { want: payload_len as u64, have: len_max });
    }
    let mut payload = vec![0; payload_len];
    match compression {
        Compression::None => {
            let whole = bytes.len() == payload_len;
            let other_len = Malformed::Short { want: payload_len as u64, have: bytes.len() as u64 };
            if whole { payload.copy_from_slice(bytes) } else { return Err(other_len) }
        }
        Compression::Gz => gz::read(bytes, &mut payload)?,
        Compression::Snappy => read_chunks(bytes, &mut payload, |chunk, out| {
            snap::raw::Decoder::new().decompress(chunk, out).map_err(Malformed::codec)
        })?,
        Compression::Lz4 => read_chunks(bytes, &mut payload, |chunk, out| {
            lz4_flex::block::decompress_into(chunk, out).map_err(Malformed::codec)
        })?,
        Compression::Zstd => zstd::read(bytes, &mut payload)?,
    }
    Ok(payload)
}

/// Returns how many bytes one compressed byte can expand to at most.
fn ratio_max(compression: Compression) -> u64 {
    match compression {
        Compression::None => 1,
        // A match of 258 bytes takes two bits.
        Compression::Gz => 258 * 8 / 2,
        // A copy of 64 bytes takes three bytes.
        Compression::Snappy => 64 / 3 + 1,
        // A byte with value 255 extends a match by 255 bytes.
        Compression::Lz4 => 255,
        // A 128 KiB run takes four bytes.
        Compression::Zstd => 128 * 1024 / 4,
    }
}

/// A compressed payload's defect.
#[derive(Debug)]
pub(super) enum Malformed {
    /// The payload has fewer bytes than the block's header says.
    Short { want: u64, have: u64 },
    /// The payload has more bytes than the block's header says.
    Long { want: u64 },
    /// The input is truncated.
    Cut { at: usize },
    /// Bytes remain after the input's end.
    Trailing { left: usize },
    /// The input is not a gzip member as HBase writes them.
    Gzip { what: &'static str, value: u32 },
    /// A codec error.
    Codec(Box<dyn std::error::Error + Send + Sync>),
}

impl Malformed {
    fn codec(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Codec(Box::new(error))
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { want, have } => write!(f, "payload too short, want={want}, have={have}"),
            Self::Long { want } => write!(f, "payload too long, want={want}"),
            Self::Cut { at } => write!(f, "payload cut short, at={at}"),
            Self::Trailing { left } => write!(f, "bytes after the payload, left={left}"),
            Self::Gzip { what, value } => write!(f, "gzip {what}, value={value:#x}"),
            Self::Codec(error) => write!(f, "{error}"),
        }
    }
}

#[cfg(test)]
mod tests;
