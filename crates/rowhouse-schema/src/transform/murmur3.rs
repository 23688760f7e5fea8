//! MurmurHash3, the 32-bit x86 variant. Austin Appleby placed it in the public domain.

/// Returns the hash for these bytes with seed 0.
pub(super) fn murmur3(bytes: &[u8]) -> u32 {
    let words = bytes.chunks_exact(4);
    let tail = words.remainder();
    let mut hash = words.fold(0_u32, |hash, word| {
        let word = word.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        (hash ^ scrambled(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xE654_6B64)
    });
    if !tail.is_empty() {
        hash ^= scrambled(tail.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)));
    }
    // As in the original, the length counts modulo 2^32.
    finished(hash ^ bytes.len() as u32)
}

fn scrambled(word: u32) -> u32 {
    word.wrapping_mul(0xCC9E_2D51).rotate_left(15).wrapping_mul(0x1B87_3593)
}

/// Makes every hash bit depend on every other.
fn finished(mut hash: u32) -> u32 {
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85EB_CA6B);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::murmur3;

    /// Published vectors for seed 0, and one for each tail length.
    #[test]
    fn hashes_are_those_of_the_original() {
        assert_eq!(murmur3(b""), 0);
        assert_eq!(murmur3(b"a"), 0x3C25_69B2);
        assert_eq!(murmur3(b"aa"), 0x3710_91A9);
        assert_eq!(murmur3(b"aaa"), 0xB4D0_5FB7);
        assert_eq!(murmur3(b"abc"), 0xB3DD_93FA);
        assert_eq!(murmur3(b"test"), 0xBA6B_D213);
        assert_eq!(murmur3(b"Hello, world!"), 0xC036_3E43);
        assert_eq!(murmur3(b"The quick brown fox jumps over the lazy dog"), 0x2E4F_F723);
    }
}
