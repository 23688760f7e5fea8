//! The checksums after a block's payload.

use rowhouse_model::{Error, Result};

/// Bytes that one checksum covers in written blocks; HBase's default.
pub(super) const CHUNK_LEN: usize = 16 * 1024;

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

/// Appends the CRC-32C of each chunk of `block`.
pub(super) fn append_sums(block: &mut Vec<u8>) {
    let len = block.len();
    block.reserve(len.div_ceil(CHUNK_LEN) * 4);
    for start in (0..len).step_by(CHUNK_LEN) {
        let sum = crc32c::crc32c(&block[start..len.min(start + CHUNK_LEN)]);
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
        let computed = kind.sum(chunk);
        if stored != computed {
            return Err(Error::corruption(format!(
                "checksum mismatch in hfile block: offset={offset}, from={}, len={}, \
                 stored={stored:08x}, computed={computed:08x}",
                offset + (at * chunk_len) as u64,
                chunk.len()
            )));
        }
    }
    Ok(())
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
        append_sums(&mut block);
        let sums = block.split_off(data.len());
        assert_eq!(sums.len(), 3 * 4);
        verify(ChecksumKind::Crc32c, &block, CHUNK_LEN, &sums, 0).unwrap();
        for at in [0, 16_383, 16_384, 39_999] {
            let mut damaged = block.clone();
            damaged[at] ^= 1;
            let error = verify(ChecksumKind::Crc32c, &damaged, CHUNK_LEN, &sums, 7).unwrap_err();
            assert!(error.message().contains("offset=7"), "{error}");
        }
    }
}
