//! The hash functions for bloom filters (`org.apache.hadoop.hbase.util.Hash`).

/// A hash function, with HBase's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::hfile) enum HashKind {
    /// Bob Jenkins' lookup3.
    Jenkins = 0,
    /// Murmur 2 with HBase's tail handling. The writer uses it, as HBase does by default.
    Murmur = 1,
    /// Murmur 3, x86, 32 bit.
    Murmur3 = 2,
}

impl HashKind {
    /// Returns the function with HBase's number `code`.
    pub(in crate::hfile) fn from_code(code: u32) -> Option<Self> {
        [Self::Jenkins, Self::Murmur, Self::Murmur3].into_iter().find(|&kind| kind as u32 == code)
    }

    /// Hashes `key` with `seed`.
    pub(in crate::hfile) fn hash(self, key: &[u8], seed: u32) -> u32 {
        match self {
            Self::Jenkins => jenkins(key, seed),
            Self::Murmur => murmur(key, seed),
            Self::Murmur3 => murmur3(key, seed),
        }
    }
}

fn murmur(key: &[u8], seed: u32) -> u32 {
    const M: u32 = 0x5BD1_E995;
    let mut hash = seed ^ key.len() as u32;
    let (words, tail) = key.as_chunks::<4>();
    for word in words {
        let mut part = u32::from_le_bytes(*word).wrapping_mul(M);
        part ^= part >> 24;
        hash = hash.wrapping_mul(M) ^ part.wrapping_mul(M);
    }
    if !tail.is_empty() {
        // HBase's Java code sign-extends the tail bytes: it does not mask them.
        for (at, &byte) in tail.iter().enumerate() {
            hash ^= (i32::from(byte as i8) << (8 * at)) as u32;
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ hash >> 15
}

fn murmur3(key: &[u8], seed: u32) -> u32 {
    let mix = |part: u32| part.wrapping_mul(0xCC9E_2D51).rotate_left(15).wrapping_mul(0x1B87_3593);
    let mut hash = seed;
    let (words, tail) = key.as_chunks::<4>();
    for word in words {
        hash = (hash ^ mix(u32::from_le_bytes(*word))).rotate_left(13);
        hash = hash.wrapping_mul(5).wrapping_add(0xE654_6B64);
    }
    if !tail.is_empty() {
        let mut word = [0; 4];
        word[..tail.len()].copy_from_slice(tail);
        hash ^= mix(u32::from_le_bytes(word));
    }
    hash ^= key.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

fn jenkins(key: &[u8], seed: u32) -> u32 {
    let start = 0xDEAD_BEEFu32.wrapping_add(key.len() as u32).wrapping_add(seed);
    let [mut a, mut b, mut c] = [start; 3];
    // The last 1 to 12 bytes are mixed differently.
    let whole = key.len().saturating_sub(1) / 12 * 12;
    let words = |bytes: &[u8]| {
        let mut block = [0; 12];
        block[..bytes.len()].copy_from_slice(bytes);
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| block[at + byte]));
        [word(0), word(4), word(8)]
    };
    for block in key[..whole].chunks_exact(12) {
        let [x, y, z] = words(block);
        (a, b, c) = (a.wrapping_add(x), b.wrapping_add(y), c.wrapping_add(z));
        a = a.wrapping_sub(c) ^ c.rotate_left(4);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(6);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(8);
        b = b.wrapping_add(a);
        a = a.wrapping_sub(c) ^ c.rotate_left(16);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(19);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(4);
        b = b.wrapping_add(a);
    }
    if key.is_empty() {
        return c;
    }
    let [x, y, z] = words(&key[whole..]);
    (a, b, c) = (a.wrapping_add(x), b.wrapping_add(y), c.wrapping_add(z));
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}
