//! The checksums after a block's payload.

use std::ops::Range;

use rowhouse_model::{Error, Result};

/// The checksum algorithm, with HBase's codes (`ChecksumType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChecksumKind {
    /// Verifies nothing; the checksum fields hold zeros.
    Null = 0,
    /// CRC-32 as in gzip.
    Crc32 = 1,
    /// CRC-32C (Castagnoli), hardware-accelerated. The writer uses it.
    Crc32c = 2,
}

impl ChecksumKind {
    /// Returns the kind with HBase's number `code`.
    pub(super) fn from_code(code: u8) -> Option<Self> {
        [Self::Null, Self::Crc32, Self::Crc32c].into_iter().find(|&kind| kind as u8 == code)
    }

    fn sum(self, bytes: &[u8]) -> u32 {
        match self {
            Self::Null => 0,
            Self::Crc32 => crc32(bytes),
            Self::Crc32c => crc32c::crc32c(bytes),
        }
    }
}

/// The CRC-32C checksums of a block's chunks.
#[derive(Debug)]
pub(super) struct ChunkSums {
    chunk_len: usize,
    /// The length of all chunks together, in bytes.
    data_len: usize,
    sums: Box<[u32]>,
}

impl ChunkSums {
    /// Reads the checksums in `sums` for `data_len` bytes.
    pub(super) fn new(chunk_len: usize, data_len: usize, sums: &[u8]) -> Self {
        let (sums, _) = sums.as_chunks::<4>();
        let sums = sums.iter().map(|sum| u32::from_be_bytes(*sum)).collect();
        Self { chunk_len, data_len, sums }
    }

    /// Returns how many chunks there are.
    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    pub(super) fn chunk_len(&self) -> usize {
        self.chunk_len
    }

    /// Returns how many bytes the checksums occupy on the heap.
    pub(super) fn memory_len(&self) -> usize {
        size_of_val(&*self.sums)
    }

    /// Returns the byte range of some chunks in the block.
    pub(super) fn range_of(&self, chunks: &Range<usize>) -> Range<usize> {
        chunks.start * self.chunk_len..(chunks.end * self.chunk_len).min(self.data_len)
    }

    /// Verifies `bytes`, which must be exactly some chunks of the block at `offset` in the file.
    ///
    /// # Errors
    /// `Corruption` if a checksum or the length differs.
    pub(super) fn verify(&self, chunks: &Range<usize>, bytes: &[u8], offset: u64) -> Result<()> {
        let range = self.range_of(chunks);
        if bytes.len() != range.len() {
            return Err(Error::corruption(format!(
                "part of hfile block cut short: offset={offset}, from={}, want={}, have={}",
                offset + range.start as u64,
                range.len(),
                bytes.len()
            )));
        }
        for (at, chunk) in chunks.clone().zip(bytes.chunks(self.chunk_len)) {
            let from = offset + (at * self.chunk_len) as u64;
            verify_chunk(ChecksumKind::Crc32c, chunk, self.sums[at], offset, from)?;
        }
        Ok(())
    }
}

/// Appends the CRC-32C of each chunk of `block`.
pub(super) fn append_sums(block: &mut Vec<u8>, chunk_len: usize) {
    let len = block.len();
    block.reserve(len.div_ceil(chunk_len) * 4);
    for start in (0..len).step_by(chunk_len) {
        let sum = crc32c::crc32c(&block[start..len.min(start + chunk_len)]);
        block.extend_from_slice(&sum.to_be_bytes());
    }
}

/// Compares `sums` with the checksums for `data`, chunk by chunk. `offset` is the block's offset in
/// the file and appears in errors. The caller has checked that each chunk has a checksum.
pub(super) fn verify(
    kind: ChecksumKind,
    data: &[u8],
    chunk_len: usize,
    sums: &[u8],
    offset: u64,
) -> Result<()> {
    for (at, (chunk, sum)) in data.chunks(chunk_len).zip(sums.chunks_exact(4)).enumerate() {
        let stored = u32::from_be_bytes(sum.try_into().expect("chunks of four bytes"));
        verify_chunk(kind, chunk, stored, offset, offset + (at * chunk_len) as u64)?;
    }
    Ok(())
}

/// Compares the checksum for a chunk that begins at `from` in the file.
fn verify_chunk(
    kind: ChecksumKind,
    chunk: &[u8],
    stored: u32,
    offset: u64,
    from: u64,
) -> Result<()> {
    let computed = kind.sum(chunk);
    if stored == computed {
        return Ok(());
    }
    Err(Error::corruption(format!(
        "checksum mismatch in hfile block: offset={offset}, from={from}, len={}, \
         stored={stored:08x}, computed={computed:08x}",
        chunk.len()
    )))
}

/// Computes CRC-32 with the reflected polynomial 0x04C11DB7. Only old files use it, so a 256-entry
/// table is fast enough.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| CRC32_TABLE[(crc as u8 ^ byte) as usize] ^ (crc >> 8))
}

const CRC32_TABLE: [u32; 256] = {
    let mut table = [0u32; 256];
    let mut at = 0;
    while at < 256 {
        let mut crc = at as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 };
            bit += 1;
        }
        table[at] = crc;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_the_usual_ones() {
        assert_eq!(ChecksumKind::Crc32.sum(b"123456789"), 0xCBF4_3926);
        assert_eq!(ChecksumKind::Crc32c.sum(b"123456789"), 0xE306_9283);
    }

    #[test]
    fn every_chunk_is_verified() {
        let data: Vec<u8> = (0..40_000u32).map(|i| i as u8).collect();
        let mut block = data.clone();
        append_sums(&mut block, 4096);
        let sums = block.split_off(data.len());
        assert_eq!(sums.len(), 10 * 4);
        verify(ChecksumKind::Crc32c, &block, 4096, &sums, 0).unwrap();
        for at in [0, 4_095, 4_096, 39_999] {
            let mut damaged = block.clone();
            damaged[at] ^= 1;
            let error = verify(ChecksumKind::Crc32c, &damaged, 4096, &sums, 7).unwrap_err();
            assert!(error.message().contains("offset=7"), "{error}");
        }
    }
}
