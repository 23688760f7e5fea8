//! How a hash becomes a bucket number, natively and in other systems.

use super::hash::{Digest, HashFunction};

/// A function from bytes to a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bucketing {
    /// The hash, as a big-endian number, modulo the bucket count.
    Modulo(HashFunction),
    /// `(byte) (x.hashCode() % n)` through `Bytes.toBytes`: a remainder with the hash's sign.
    JavaRemainder(HashFunction),
    /// Apache Phoenix's salt byte.
    Phoenix,
    /// OpenTSDB's salt with this many bytes.
    Opentsdb { bytes: u8 },
    /// The prefix from HBaseWD's hash distributor.
    Hbasewd,
}

/// The most buckets for which the signed remainder fits into the `Bucketing::JavaRemainder` byte.
const JAVA_BUCKETS_MAX: u32 = 128;

impl Bucketing {
    /// Returns the foreign function with this name, with the least width that fits `count` buckets.
    pub(crate) fn foreign(word: &str, count: u32) -> Option<Self> {
        match word {
            "phoenix.salt" => Some(Self::Phoenix),
            "opentsdb.salt" => Some(Self::Opentsdb { bytes: width(count) }),
            "hbasewd.hash" => Some(Self::Hbasewd),
            _ => None,
        }
    }

    /// The names for the foreign functions that only buckets have.
    pub(crate) const FOREIGN: &[&str] = &["phoenix.salt", "opentsdb.salt", "hbasewd.hash"];

    /// Returns the bucketing by a hash function.
    pub(crate) fn by(function: HashFunction) -> Self {
        if function.is_java() { Self::JavaRemainder(function) } else { Self::Modulo(function) }
    }

    /// The name after `by`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Modulo(function) | Self::JavaRemainder(function) => function.word(),
            Self::Phoenix => "phoenix.salt",
            Self::Opentsdb { .. } => "opentsdb.salt",
            Self::Hbasewd => "hbasewd.hash",
        }
    }

    /// The hash function that it uses.
    pub(crate) fn function(self) -> HashFunction {
        match self {
            Self::Modulo(function) | Self::JavaRemainder(function) => function,
            Self::Phoenix | Self::Opentsdb { .. } | Self::Hbasewd => HashFunction::JavaBytes,
        }
    }

    /// Returns true if the bucketing is native, so that the number can be stored as digits.
    pub(crate) fn is_native(self) -> bool {
        matches!(self, Self::Modulo(_))
    }

    /// Returns true if it is computed from all bytes after the field.
    pub(crate) fn is_of_rest(self) -> bool {
        matches!(self, Self::Phoenix | Self::Hbasewd)
    }

    /// The most buckets, if fewer than a bucket field can have.
    pub(crate) fn count_max(self) -> Option<u32> {
        match self {
            Self::Modulo(_) => None,
            Self::JavaRemainder(_) => Some(JAVA_BUCKETS_MAX),
            Self::Phoenix | Self::Hbasewd => Some(256),
            Self::Opentsdb { bytes } => Some(1_u32.checked_shl(u32::from(bytes) * 8)?),
        }
    }

    /// Returns the bucket number.
    pub(crate) fn bucket(self, digest: &Digest, count: u32) -> i128 {
        let hash = i64::from(digest.as_i32());
        let count_signed = i64::from(count);
        match self {
            Self::Modulo(_) => digest.modulo(count).into(),
            Self::JavaRemainder(_) => (hash % count_signed).into(),
            Self::Phoenix | Self::Opentsdb { .. } => (hash % count_signed).abs().into(),
            // In 32 bits the absolute value of -2^31 is itself; HBaseWD takes one byte of the
            // remainder.
            Self::Hbasewd if hash == i32::MIN.into() => Self::stray(count).into(),
            Self::Hbasewd => (hash.abs() % count_signed).into(),
        }
    }

    /// The bucket for the only hash that HBaseWD does not make positive. It may be greater than the
    /// other buckets; HBaseWD's own scans then miss it.
    pub(crate) fn stray(count: u32) -> u8 {
        (i64::from(i32::MIN) % i64::from(count)) as u8
    }
}

/// How many bytes `count` buckets need.
pub(crate) fn width(count: u32) -> u8 {
    if count <= 256 { 1 } else { 2 }
}
