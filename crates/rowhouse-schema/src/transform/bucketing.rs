//! How a hash becomes the number of a bucket: our way, and those of other systems.

use super::hash::{Digest, HashFunction};

/// A way from bytes to one of so many buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bucketing {
    /// The hash, read as a big-endian number, modulo the number of buckets.
    Modulo(HashFunction),
    /// `(byte) (x.hashCode() % n)` through `Bytes.toBytes`: a remainder that has the sign of the hash.
    JavaRemainder(HashFunction),
    /// Apache Phoenix's salt byte.
    Phoenix,
    /// OpenTSDB's salt, of so many bytes.
    Opentsdb { bytes: u8 },
    /// The prefix of HBaseWD's hash distributor.
    Hbasewd,
}

/// The most buckets whose remainder and its sign fit into the byte of `Bucketing::JavaRemainder`.
const JAVA_BUCKETS_MAX: u32 = 128;

impl Bucketing {
    /// The foreign way of that name; its width is the least that is enough for `count` buckets.
    pub(crate) fn foreign(word: &str, count: u32) -> Option<Self> {
        match word {
            "phoenix.salt" => Some(Self::Phoenix),
            "opentsdb.salt" => Some(Self::Opentsdb { bytes: width(count) }),
            "hbasewd.hash" => Some(Self::Hbasewd),
            _ => None,
        }
    }

    /// The names of the foreign ways that only buckets have.
    pub(crate) const FOREIGN: &[&str] = &["phoenix.salt", "opentsdb.salt", "hbasewd.hash"];

    /// The way by a hash function.
    pub(crate) fn by(function: HashFunction) -> Self {
        if function.is_java() { Self::JavaRemainder(function) } else { Self::Modulo(function) }
    }

    /// The name behind `by`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Modulo(function) | Self::JavaRemainder(function) => function.word(),
            Self::Phoenix => "phoenix.salt",
            Self::Opentsdb { .. } => "opentsdb.salt",
            Self::Hbasewd => "hbasewd.hash",
        }
    }

    /// The hash that it is made of.
    pub(crate) fn function(self) -> HashFunction {
        match self {
            Self::Modulo(function) | Self::JavaRemainder(function) => function,
            Self::Phoenix | Self::Opentsdb { .. } | Self::Hbasewd => HashFunction::JavaBytes,
        }
    }

    /// Whether the number can be written as digits.
    pub(crate) fn is_ours(self) -> bool {
        matches!(self, Self::Modulo(_))
    }

    /// Whether it is made of all bytes behind it.
    pub(crate) fn is_of_rest(self) -> bool {
        matches!(self, Self::Phoenix | Self::Hbasewd)
    }

    /// The most buckets, if not all that a bucket may have.
    pub(crate) fn count_max(self) -> Option<u32> {
        match self {
            Self::Modulo(_) => None,
            Self::JavaRemainder(_) => Some(JAVA_BUCKETS_MAX),
            Self::Phoenix | Self::Hbasewd => Some(256),
            Self::Opentsdb { bytes } => Some(1_u32.checked_shl(u32::from(bytes) * 8)?),
        }
    }

    /// The number of the bucket.
    pub(crate) fn bucket(self, digest: &Digest, count: u32) -> i128 {
        let hash = i64::from(digest.as_i32());
        let count_signed = i64::from(count);
        match self {
            Self::Modulo(_) => digest.modulo(count).into(),
            Self::JavaRemainder(_) => (hash % count_signed).into(),
            Self::Phoenix | Self::Opentsdb { .. } => (hash % count_signed).abs().into(),
            // The absolute value of -2^31 is itself in 32 bits, and of the remainder one byte is kept.
            Self::Hbasewd if hash == i32::MIN.into() => Self::stray(count).into(),
            Self::Hbasewd => (hash.abs() % count_signed).into(),
        }
    }

    /// The bucket of the one hash for which HBaseWD does not make its number positive: it may lie beyond the
    /// others, where HBaseWD's own scans miss it.
    pub(crate) fn stray(count: u32) -> u8 {
        (i64::from(i32::MIN) % i64::from(count)) as u8
    }
}

/// The bytes that are enough for so many buckets.
pub(crate) fn width(count: u32) -> u8 {
    if count <= 256 { 1 } else { 2 }
}
