//! Column family declarations.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use bytes::Bytes;

use crate::{Error, ROW_LEN_MAX, Result, escape};

/// Longest family name in bytes: HBase stores the length in a signed byte.
const FAMILY_LEN_MAX: usize = i8::MAX as usize;
/// HBase's `TTL => FOREVER`, in seconds.
const TTL_FOREVER: u32 = i32::MAX as u32;

/// HBase's name for a bloom filter over row prefixes.
const ROW_PREFIX: &str = "ROWPREFIX_FIXED_LENGTH";
/// The configuration key for the prefix length in bytes.
const PREFIX_LEN_KEY: &str = "RowPrefixBloomFilter.prefix_length";

/// All supported compressions, in upper case.
const COMPRESSIONS: &[&str] = &["NONE", "GZ", "SNAPPY", "LZ4", "ZSTD"];
/// Compression for compacted files, if it differs from the compression for other files.
const COMPRESSION_COMPACT: &str = "COMPRESSION_COMPACT";
/// Compression for files that a major compaction writes.
const COMPRESSION_COMPACT_MAJOR: &str = "COMPRESSION_COMPACT_MAJOR";
/// Compression for files that a minor compaction writes.
const COMPRESSION_COMPACT_MINOR: &str = "COMPRESSION_COMPACT_MINOR";

/// How long increments may stay out of the log; rowhouse's own. An attribute, or a configuration
/// value.
const BUFFERED: &str = "BUFFERED";
/// The units of BUFFERED, in milliseconds.
const PERIOD_UNITS: [(&str, u64); 3] = [("ms", 1), ("s", 1_000), ("m", 60_000)];
/// The periods that BUFFERED may declare.
const PERIODS: RangeInclusive<Duration> = Duration::from_millis(10)..=Duration::from_secs(3600);

/// Attributes that affect stored or returned data, and their supported values. All others
/// (replication scope, MOB, cache hints) affect nothing that a reader could see and are stored as
/// given. Each file records the block encoding, so a declared encoding is also stored as given.
const SUPPORTED: [(&str, &[&str]); 12] = [
    ("BLOCKCACHE", &["TRUE", "FALSE"]),
    ("IN_MEMORY", &["TRUE", "FALSE"]),
    ("BLOOMFILTER", &["NONE", "ROW", "ROWCOL", ROW_PREFIX]),
    ("COMPRESSION", COMPRESSIONS),
    (COMPRESSION_COMPACT, COMPRESSIONS),
    (COMPRESSION_COMPACT_MAJOR, COMPRESSIONS),
    (COMPRESSION_COMPACT_MINOR, COMPRESSIONS),
    ("DATA_BLOCK_ENCODING", &["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"]),
    ("KEEP_DELETED_CELLS", &["FALSE", "TRUE", "TTL"]),
    ("NEW_VERSION_BEHAVIOR", &["FALSE", "TRUE"]),
    ("ENCRYPTION", &[]),
    ("ENCRYPTION_KEY", &[]),
];

/// A column family declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyDescriptor {
    name: Bytes,
    /// Family attributes under HBase's names (`VERSIONS`, `TTL`, …), as given.
    pub attributes: BTreeMap<Bytes, Bytes>,
    /// Family configuration, as given.
    pub configuration: BTreeMap<String, String>,
}

impl FamilyDescriptor {
    /// Creates a family with HBase's default for every attribute.
    ///
    /// # Errors
    /// `InvalidRequest` if the name violates HBase's rules: 1 to 127 bytes, no leading `.`, no `:`
    /// `/` `\` or control characters, not `recovered.edits`.
    pub fn new(name: impl Into<Bytes>) -> Result<Self> {
        let name = name.into();
        let refused = |what: &str| {
            Err(Error::invalid(format!("illegal family name: {what}, name={}", escape(&name))))
        };
        if name.is_empty() || name.len() > FAMILY_LEN_MAX {
            return refused(&format!("must have 1 to {FAMILY_LEN_MAX} bytes, has {}", name.len()));
        }
        if name[0] == b'.' {
            return refused("must not begin with a full stop");
        }
        if name.iter().any(|&byte| byte < b' ' || byte == 0x7F || b":/\\".contains(&byte)) {
            return refused("must not hold : / \\ or control characters");
        }
        if &name[..] == b"recovered.edits" {
            return refused("reserved");
        }
        Ok(Self { name, attributes: BTreeMap::new(), configuration: BTreeMap::new() })
    }

    /// Sets an attribute by the HBase name.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        self.attributes.insert(name.into(), value.into());
        self
    }

    /// Sets VERSIONS: the most versions to retain for a cell.
    #[must_use]
    pub fn versions(self, versions: u32) -> Self {
        self.attribute("VERSIONS", versions.to_string())
    }

    /// Returns the family's name.
    pub fn name(&self) -> &Bytes {
        &self.name
    }

    /// Returns VERSIONS: how many versions are retained for a cell; 1 by default.
    pub fn versions_max(&self) -> u32 {
        self.number("VERSIONS").unwrap_or(1)
    }

    /// Returns MIN_VERSIONS: how many versions survive their TTL; 0 by default.
    pub fn versions_min(&self) -> u32 {
        self.number("MIN_VERSIONS").unwrap_or(0)
    }

    /// Returns TTL: how long a cell lives after its timestamp; `None` for no limit.
    pub fn ttl(&self) -> Option<Duration> {
        let seconds = self.number("TTL").unwrap_or(TTL_FOREVER);
        (seconds != TTL_FOREVER).then(|| Duration::from_secs(seconds.into()))
    }

    /// Returns KEEP_DELETED_CELLS: whether deleted cells are retained for reads at earlier times;
    /// `False` by default.
    pub fn keep_deleted_cells(&self) -> KeepDeletedCells {
        let word = self.word("KEEP_DELETED_CELLS");
        word.and_then(|word| KeepDeletedCells::from_name(&word)).unwrap_or_default()
    }

    /// Returns NEW_VERSION_BEHAVIOR: whether a delete covers only cells written before it.
    /// Otherwise, the default, it covers by timestamp, regardless of the write order.
    pub fn new_version_behavior(&self) -> bool {
        self.word("NEW_VERSION_BEHAVIOR").as_deref() == Some("TRUE")
    }

    /// Returns BLOCKSIZE: a data block is closed once it holds this many cell bytes; 65,536 by
    /// default.
    pub fn block_len(&self) -> u32 {
        self.number("BLOCKSIZE").unwrap_or(64 * 1024)
    }

    /// Returns BLOCKCACHE: whether reads add blocks to the block cache; true by default.
    pub fn block_cache(&self) -> bool {
        self.word("BLOCKCACHE").as_deref() != Some("FALSE")
    }

    /// Returns IN_MEMORY: whether the family's blocks use the part of the block cache from which
    /// other blocks cannot evict them; false by default.
    pub fn in_memory(&self) -> bool {
        self.word("IN_MEMORY").as_deref() == Some("TRUE")
    }

    /// Returns BLOOMFILTER for new files; ROW by default.
    pub fn bloom(&self) -> BloomKind {
        let Some(word) = self.word("BLOOMFILTER") else { return BloomKind::default() };
        match self.bloom_prefix_len() {
            Ok(len) if word == ROW_PREFIX => BloomKind::RowPrefix(len),
            _ => BloomKind::from_name(&word).unwrap_or_default(),
        }
    }

    /// Returns the prefix length in bytes for a bloom filter over row prefixes.
    ///
    /// # Errors
    /// `InvalidRequest` with HBase's message if the family's configuration does not set a valid
    /// length.
    fn bloom_prefix_len(&self) -> Result<u16> {
        let configured = self.configuration.get(PREFIX_LEN_KEY);
        let len = configured.and_then(|text| text.parse::<u16>().ok());
        len.filter(|&len| (1..=ROW_LEN_MAX).contains(&len.into())).ok_or_else(|| {
            Error::invalid(match configured {
                None => format!("Bloom filter type is {ROW_PREFIX}, {PREFIX_LEN_KEY} not specified."),
                Some(text) => format!(
                    "Bloom filter type is {ROW_PREFIX}, the value of {PREFIX_LEN_KEY} must be from 1 to {ROW_LEN_MAX}: {text}"
                ),
            })
        })
    }

    /// Returns COMPRESSION for new files; none by default.
    pub fn compression(&self) -> Compression {
        self.first_compression(&["COMPRESSION"])
    }

    /// Returns the compression for files that a major compaction writes: COMPRESSION_COMPACT_MAJOR,
    /// or else COMPRESSION_COMPACT, or else COMPRESSION.
    pub fn major_compaction_compression(&self) -> Compression {
        self.first_compression(&[COMPRESSION_COMPACT_MAJOR, COMPRESSION_COMPACT, "COMPRESSION"])
    }

    /// Returns the compression for files that a minor compaction writes: COMPRESSION_COMPACT_MINOR,
    /// or else COMPRESSION_COMPACT, or else COMPRESSION.
    pub fn minor_compaction_compression(&self) -> Compression {
        self.first_compression(&[COMPRESSION_COMPACT_MINOR, COMPRESSION_COMPACT, "COMPRESSION"])
    }

    /// Returns the value for the first declared attribute among these.
    fn first_compression(&self, names: &[&str]) -> Compression {
        let word = names.iter().find_map(|name| self.word(name));
        word.and_then(|word| Compression::from_name(&word)).unwrap_or_default()
    }

    /// Returns the encoding for a store's new files: a row index, whatever DATA_BLOCK_ENCODING
    /// declares. Readers use the encoding recorded in the file, and a row index halves what gets
    /// cost (`docs/formats/hfile.md`).
    pub fn data_block_encoding(&self) -> DataBlockEncoding {
        DataBlockEncoding::RowIndexV1
    }

    /// Returns DATA_BLOCK_ENCODING as declared, for files that leave the store; NONE by default.
    pub fn data_block_encoding_declared(&self) -> DataBlockEncoding {
        let word = self.word("DATA_BLOCK_ENCODING");
        word.and_then(|word| DataBlockEncoding::from_name(&word)).unwrap_or(DataBlockEncoding::None)
    }

    /// Returns BUFFERED: the longest time for which the increments of the family's counters may
    /// stay out of the log; `None`, the default, to log each increment.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rowhouse_model::FamilyDescriptor;
    ///
    /// let counters = FamilyDescriptor::new("n")?.attribute("BUFFERED", "1s");
    /// assert_eq!(counters.buffered(), Some(Duration::from_secs(1)));
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn buffered(&self) -> Option<Duration> {
        parse_period(&self.buffered_word()?)
    }

    fn buffered_word(&self) -> Option<String> {
        let configured = || self.configuration.get(BUFFERED).map(|text| text.to_uppercase());
        self.word(BUFFERED).or_else(configured).filter(|word| word != "NONE")
    }

    /// Checks that a store can hold this family as declared.
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid value; `Unsupported` for a value that would silently have no
    /// effect.
    pub fn check(&self) -> Result<()> {
        for name in ["VERSIONS", "MIN_VERSIONS", "TTL", "BLOCKSIZE"] {
            if self.word(name).is_some() && self.number(name).is_none() {
                return Err(self.bad(name, "must be a number from 0 to 2147483647"));
            }
        }
        if self.versions_max() == 0 {
            return Err(self.bad("VERSIONS", "must be 1 or more"));
        }
        if self.versions_min() > self.versions_max() {
            return Err(self.bad("MIN_VERSIONS", "must not exceed VERSIONS"));
        }
        if self.number("TTL") == Some(0) {
            return Err(self.bad("TTL", "must be 1 second or more"));
        }
        if !(1024..=16 * 1024 * 1024).contains(&self.block_len()) {
            // HBase's message, followed by the value.
            return Err(Error::invalid(format!(
                "Block size for column family {} must be between 1K and 16MB: {}",
                escape(&self.name),
                self.block_len()
            )));
        }
        for (name, supported) in SUPPORTED {
            let Some(word) = self.word(name) else { continue };
            if !supported.contains(&&*word) {
                let have = if supported.is_empty() { "none".into() } else { supported.join(", ") };
                return Err(Error::unsupported(format!(
                    "{name} {word} of family {} is not supported: supported={have}",
                    escape(&self.name)
                )));
            }
        }
        if self.word("BLOOMFILTER").as_deref() == Some(ROW_PREFIX) {
            self.bloom_prefix_len()?;
        }
        if let Some(word) = self.buffered_word()
            && !parse_period(&word).is_some_and(|period| PERIODS.contains(&period))
        {
            return Err(Error::invalid(format!(
                "{BUFFERED} of family {} must be a time from 10ms to 60m, such as 500ms, 1s or 1m, \
                 or NONE: {}",
                escape(&self.name),
                word.to_lowercase()
            )));
        }
        Ok(())
    }

    fn bad(&self, name: &str, what: &str) -> Error {
        let value = self.attributes.get(name.as_bytes()).map_or(String::new(), |v| escape(v));
        Error::invalid(format!("{name} of family {} {what}: {value}", escape(&self.name)))
    }

    fn number(&self, name: &str) -> Option<u32> {
        let number: i32 = self.word(name)?.parse().ok()?;
        number.try_into().ok()
    }

    fn word(&self, name: &str) -> Option<String> {
        let value = self.attributes.get(name.as_bytes())?;
        Some(String::from_utf8_lossy(value).to_uppercase())
    }
}

/// Parses a time such as `1s`, in any case.
fn parse_period(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (_, millis) = PERIOD_UNITS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    number.parse::<u64>().ok()?.checked_mul(millis).map(Duration::from_millis)
}

/// The block compression in a family's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    #[default]
    None,
    /// gzip: small, and slow to write.
    Gz,
    /// Snappy: about as fast as LZ4.
    Snappy,
    /// LZ4: the fastest to read.
    Lz4,
    /// Zstandard: nearly as small as gzip, and faster.
    Zstd,
}

impl Compression {
    /// All compressions.
    pub const ALL: [Self; 5] = [Self::None, Self::Gz, Self::Snappy, Self::Lz4, Self::Zstd];

    /// Returns HBase's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Gz => "GZ",
            Self::Snappy => "SNAPPY",
            Self::Lz4 => "LZ4",
            Self::Zstd => "ZSTD",
        }
    }

    /// Returns the compression with HBase's name `name`, in upper case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// How deleted cells are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepDeletedCells {
    /// Compactions drop them, and no read returns them.
    #[default]
    False,
    /// They and their markers are retained as versions are; a read at a time before the delete
    /// returns them.
    True,
    /// As `True`, until the marker is older than the family's TTL.
    Ttl,
}

impl KeepDeletedCells {
    /// All treatments.
    pub const ALL: [Self; 3] = [Self::False, Self::True, Self::Ttl];

    /// Returns HBase's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::False => "FALSE",
            Self::True => "TRUE",
            Self::Ttl => "TTL",
        }
    }

    /// Returns the treatment with HBase's name `name`, in upper case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// The keys in a family's bloom filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BloomKind {
    /// No bloom filter.
    None,
    /// Rows.
    #[default]
    Row,
    /// Row columns.
    RowCol,
    /// The first row bytes, up to this length.
    RowPrefix(u16),
}

impl BloomKind {
    /// All kinds that need no parameter.
    pub const ALL: [Self; 3] = [Self::None, Self::Row, Self::RowCol];

    /// Returns HBase's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Row => "ROW",
            Self::RowCol => "ROWCOL",
            Self::RowPrefix(_) => ROW_PREFIX,
        }
    }

    /// Returns the kind with HBase's name `name`, in upper case; `None` for row prefixes, because
    /// the name does not contain their length.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// The cell encoding in a data block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataBlockEncoding {
    /// No encoding.
    None,
    /// Omits the prefix that a key shares with the previous key.
    Prefix,
    /// Stores the difference from the previous cell, with timestamps as differences.
    Diff,
    /// Stores the difference from the previous cell, values included.
    FastDiff,
    /// No encoding for the cells, but a row index after them.
    RowIndexV1,
}

impl DataBlockEncoding {
    /// All encodings.
    pub const ALL: [Self; 5] =
        [Self::None, Self::Prefix, Self::Diff, Self::FastDiff, Self::RowIndexV1];

    /// Returns HBase's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Prefix => "PREFIX",
            Self::Diff => "DIFF",
            Self::FastDiff => "FAST_DIFF",
            Self::RowIndexV1 => "ROW_INDEX_V1",
        }
    }

    /// Returns the encoding with HBase's name `name`, in upper case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn family_names_follow_hbases_rules() {
        for bad in ["", ".a", "a:b", "a/b", "a\\b", "a\tb", "recovered.edits"] {
            assert!(FamilyDescriptor::new(bad).is_err(), "{bad}");
        }
        assert!(FamilyDescriptor::new("x".repeat(127)).is_ok());
        assert!(FamilyDescriptor::new("x".repeat(128)).is_err());
    }

    #[test]
    fn every_compression_and_bloom_can_be_declared() {
        let family = || FamilyDescriptor::new("cf").unwrap();
        assert_eq!(family().compression(), Compression::None);
        assert_eq!(family().bloom(), BloomKind::Row);
        for compression in Compression::ALL {
            let name = compression.name();
            for name in [name.to_owned(), name.to_lowercase()] {
                let declared = family().attribute("COMPRESSION", name);
                assert!(declared.check().is_ok());
                assert_eq!(declared.compression(), compression);
            }
        }
        for bloom in BloomKind::ALL {
            let declared = family().attribute("BLOOMFILTER", bloom.name());
            assert!(declared.check().is_ok());
            assert_eq!(declared.bloom(), bloom);
        }
    }

    #[test]
    fn merged_files_are_compressed_as_they_are_declared_or_as_the_others() {
        let family = FamilyDescriptor::new("cf").unwrap().attribute("COMPRESSION", "LZ4");
        let both = |family: &FamilyDescriptor| {
            (family.minor_compaction_compression(), family.major_compaction_compression())
        };
        assert_eq!(both(&family), (Compression::Lz4, Compression::Lz4));
        let family = family.attribute(COMPRESSION_COMPACT, "gz");
        assert_eq!(both(&family), (Compression::Gz, Compression::Gz));
        let family = family.attribute(COMPRESSION_COMPACT_MAJOR, "ZSTD");
        assert_eq!(both(&family), (Compression::Gz, Compression::Zstd));
        let family = family.attribute(COMPRESSION_COMPACT_MINOR, "NONE");
        assert_eq!(both(&family), (Compression::None, Compression::Zstd));
        assert_eq!(family.compression(), Compression::Lz4);
        assert!(family.check().is_ok());
        for name in [COMPRESSION_COMPACT, COMPRESSION_COMPACT_MAJOR, COMPRESSION_COMPACT_MINOR] {
            let error = family.clone().attribute(name, "LZO").check().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}");
        }
    }

    #[test]
    fn settings_without_effect_are_refused() {
        let family = || FamilyDescriptor::new("cf").unwrap();
        assert!(family().check().is_ok());
        for name in ["LZO", "BZIP2", "LZMA", "BROTLI", "", "S"] {
            let error = family().attribute("COMPRESSION", name).check().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}");
        }
        let mut prefixes = family().attribute("BLOOMFILTER", "ROWPREFIX_FIXED_LENGTH");
        assert_eq!(prefixes.check().unwrap_err().kind(), ErrorKind::InvalidRequest);
        for (len, is_right) in [("0", false), ("x", false), ("32768", false), ("8", true)] {
            prefixes.configuration.insert("RowPrefixBloomFilter.prefix_length".into(), len.into());
            assert_eq!(prefixes.check().is_ok(), is_right, "{len}");
        }
        assert_eq!(prefixes.bloom(), BloomKind::RowPrefix(8));
        for keep in KeepDeletedCells::ALL {
            let declared = family().attribute("KEEP_DELETED_CELLS", keep.name().to_lowercase());
            assert!(declared.check().is_ok());
            assert_eq!(declared.keep_deleted_cells(), keep);
        }
        assert!(family().attribute("DATA_BLOCK_ENCODING", "FAST_DIFF").check().is_ok());
        let secret = family().attribute("ENCRYPTION", "AES").check().unwrap_err();
        assert_eq!(secret.kind(), ErrorKind::Unsupported);
        let error = family().attribute("VERSIONS", "many").check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(family().attribute("TTL", "2147483647").check().is_ok());
        assert_eq!(family().attribute("TTL", "2147483647").ttl(), None);
        assert_eq!(family().attribute("TTL", "60").ttl(), Some(Duration::from_secs(60)));
    }
}
