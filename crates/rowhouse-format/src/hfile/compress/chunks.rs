//! Hadoop's framing for block codecs (`BlockCompressorStream`): compressed chunks with length
//! prefixes.

use super::Malformed;

/// Hadoop's buffer size. Hadoop's reader decompresses a chunk into a 256 KiB buffer; the writer
/// reserves the codec's worst-case expansion, which limits a chunk's uncompressed length to the
/// constants below.
const BUFFER_LEN: usize = 256 * 1024;
pub(super) const SNAPPY_CHUNK_LEN_MAX: usize = BUFFER_LEN - (BUFFER_LEN / 6 + 32);
pub(super) const ZSTD_CHUNK_LEN_MAX: usize = BUFFER_LEN - BUFFER_LEN / 256;
pub(super) const LZ4_CHUNK_LEN_MAX: usize = BUFFER_LEN - (BUFFER_LEN / 255 + 16);

/// Appends the `payload` length, then the chunks, each preceded by its compressed length.
/// `compress` appends a compressed chunk.
pub(super) fn write_chunks(
    payload: &[u8],
    chunk_len_max: usize,
    out: &mut Vec<u8>,
    mut compress: impl FnMut(&[u8], &mut Vec<u8>),
) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    for chunk in payload.chunks(chunk_len_max) {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        compress(chunk, out);
        let len = (out.len() - start - 4) as u32;
        out[start..start + 4].copy_from_slice(&len.to_be_bytes());
    }
}

/// Fills `payload` from any number of runs, each a length prefix followed by chunks with any
/// length. `decompress` writes a decompressed chunk to a slice's start and returns its length in
/// bytes.
pub(super) fn read_chunks(
    bytes: &[u8],
    payload: &mut [u8],
    mut decompress: impl FnMut(&[u8], &mut [u8]) -> Result<usize, Malformed>,
) -> Result<(), Malformed> {
    let mut rest = bytes;
    let mut filled = 0;
    while !rest.is_empty() {
        let run_len = take_len(bytes, &mut rest)?;
        if run_len > payload.len() - filled {
            return Err(Malformed::Long { want: payload.len() as u64 });
        }
        let end = filled + run_len;
        while filled < end {
            let chunk_len = take_len(bytes, &mut rest)?;
            let cut = Malformed::Cut { at: bytes.len() - rest.len() };
            let (chunk, following) = rest.split_at_checked(chunk_len).ok_or(cut)?;
            rest = following;
            filled += decompress(chunk, &mut payload[filled..end])?;
        }
    }
    if filled < payload.len() {
        return Err(Malformed::Short { want: payload.len() as u64, have: filled as u64 });
    }
    Ok(())
}

fn take_len(bytes: &[u8], rest: &mut &[u8]) -> Result<usize, Malformed> {
    let cut = Malformed::Cut { at: bytes.len() - rest.len() };
    let (len, following) = rest.split_first_chunk::<4>().ok_or(cut)?;
    *rest = following;
    Ok(u32::from_be_bytes(*len) as usize)
}
