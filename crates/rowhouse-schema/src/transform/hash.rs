//! The hash functions in templates. Their names and bytes never change.

use md5::Digest as _;

use super::java_hash;
use super::murmur3::murmur3;

/// A hash function, by the name in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HashFunction {
    /// RFC 1321.
    Md5,
    /// FIPS 180-4.
    Sha1,
    /// FIPS 180-4.
    Sha256,
    /// XXH3, 64 bits, seed 0, big-endian: the default.
    Xxh3,
    /// MurmurHash3 x86_32, seed 0, big-endian.
    Murmur3,
    /// CRC-32 as in IEEE 802.3 (zlib, `java.util.zip.CRC32`), big-endian.
    Crc32,
    /// Java's `hashCode()`, big-endian: for bytes, for a text, for a number with four or eight
    /// bytes. The operand type selects one.
    JavaBytes,
    JavaText,
    JavaInteger,
}

/// The functions' words and digest lengths.
const FUNCTIONS: &[(HashFunction, &str, u8)] = &[
    (HashFunction::Md5, "md5", 16),
    (HashFunction::Sha1, "sha1", 20),
    (HashFunction::Sha256, "sha256", 32),
    (HashFunction::Xxh3, "xxh3", 8),
    (HashFunction::Murmur3, "murmur3", 4),
    (HashFunction::Crc32, "crc32", 4),
    (HashFunction::JavaBytes, JAVA, 4),
    (HashFunction::JavaText, JAVA, 4),
    (HashFunction::JavaInteger, JAVA, 4),
];

const JAVA: &str = "java.hashcode";

impl HashFunction {
    /// Returns the function with this name; for Java's, the one for bytes.
    pub(crate) fn named(word: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|(_, name, _)| *name == word).map(|(function, ..)| *function)
    }

    pub(crate) fn word(self) -> &'static str {
        self.fact().1
    }

    /// Returns true if it is Java's `hashCode()`.
    pub(crate) fn is_java(self) -> bool {
        self.word() == JAVA
    }

    /// How long the digests are, in bytes.
    pub(crate) fn len(self) -> u8 {
        self.fact().2
    }

    fn fact(self) -> &'static (Self, &'static str, u8) {
        // The table holds every function, in enum order.
        &FUNCTIONS[self as usize]
    }

    /// Returns the digest for these bytes.
    pub(crate) fn digest(self, bytes: &[u8]) -> Digest {
        match self {
            Self::Md5 => Digest::new(&md5::Md5::digest(bytes)),
            Self::Sha1 => Digest::new(&sha1::Sha1::digest(bytes)),
            Self::Sha256 => Digest::new(&sha2::Sha256::digest(bytes)),
            Self::Xxh3 => Digest::new(&xxhash_rust::xxh3::xxh3_64(bytes).to_be_bytes()),
            Self::Murmur3 => Digest::new(&murmur3(bytes).to_be_bytes()),
            Self::Crc32 => Digest::new(&crc32fast::hash(bytes).to_be_bytes()),
            Self::JavaBytes => Digest::new(&java_hash::bytes(bytes).to_be_bytes()),
            Self::JavaText => Digest::new(&java_hash::text(bytes).to_be_bytes()),
            Self::JavaInteger => Digest::new(&java_hash::integer(bytes).to_be_bytes()),
        }
    }
}

/// A digest with up to 32 bytes.
pub(crate) struct Digest {
    bytes: [u8; 32],
    len: u8,
}

impl Digest {
    #[inline(always)]
    fn new(digest: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes[..digest.len()].copy_from_slice(digest);
        Self { bytes, len: digest.len() as u8 }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len.into()]
    }

    /// The first four bytes as a Java `int`.
    pub(crate) fn as_i32(&self) -> i32 {
        i32::from_be_bytes([self.bytes[0], self.bytes[1], self.bytes[2], self.bytes[3]])
    }

    /// The digest, as a big-endian number, modulo `divisor`.
    pub(crate) fn modulo(&self, divisor: u32) -> u32 {
        let divisor = u64::from(divisor);
        if let Ok(number) = self.as_bytes().try_into().map(u64::from_be_bytes) {
            return (number % divisor) as u32;
        }
        let words = self.as_bytes().chunks(4);
        // The remainder is less than 2^32, so it still fits with four more bytes appended.
        let rest = words.fold(0, |rest, word| {
            let word = word.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
            ((rest << 32) | word) % divisor
        });
        rest as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(function: HashFunction, bytes: &[u8]) -> String {
        function.digest(bytes).as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// From RFC 1321, FIPS 180-4 and the functions' own test vectors.
    #[test]
    fn digests_are_those_of_the_standards() {
        assert_eq!(hex(HashFunction::Md5, b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(hex(HashFunction::Sha1, b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(
            hex(HashFunction::Sha256, b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(hex(HashFunction::Xxh3, b""), "2d06800538d394c2");
        assert_eq!(hex(HashFunction::Xxh3, b"abc"), "78af5f94892f3950");
        assert_eq!(hex(HashFunction::Crc32, b"123456789"), "cbf43926");
    }

    #[test]
    fn the_table_is_in_the_order_of_the_functions() {
        for (nth, (function, word, len)) in FUNCTIONS.iter().enumerate() {
            assert_eq!(*function as usize, nth);
            assert_eq!(HashFunction::named(word).unwrap().word(), *word);
            assert_eq!(function.digest(b"x").as_bytes().len(), usize::from(*len));
        }
    }

    #[test]
    fn the_rest_of_eight_bytes_is_that_of_the_number_they_are() {
        let digest = HashFunction::Xxh3.digest(b"abc");
        for divisor in [1, 3, 16, 65_536, u32::MAX] {
            assert_eq!(
                u64::from(digest.modulo(divisor)),
                0x78af_5f94_892f_3950 % u64::from(divisor)
            );
        }
    }

    #[test]
    fn the_rest_is_that_of_the_whole_number() {
        let digest = HashFunction::Md5.digest(b"abc");
        let number = u128::from_be_bytes(digest.as_bytes().try_into().unwrap());
        for divisor in [1, 2, 3, 16, 255, 256, 1000, 65_536] {
            assert_eq!(u128::from(digest.modulo(divisor)), number % u128::from(divisor));
        }
    }
}
