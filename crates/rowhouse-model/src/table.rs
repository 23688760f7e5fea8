//! Tables, families and namespaces as they are declared.
//!
//! A descriptor keeps every attribute it was given, byte for byte and in order, whether or not
//! rowhouse acts on it: an HBase client must get back what it declared. The typed accessors read
//! those attributes; [`FamilyDescriptor::check`] refuses what would silently have no effect.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use crate::{Durability, Error, ErrorKind, Result, escape};

/// The longest family name, in bytes: HBase keeps the length in a signed byte.
const FAMILY_LEN_MAX: usize = i8::MAX as usize;
/// HBase's `TTL => FOREVER`, in seconds.
const TTL_FOREVER: u32 = i32::MAX as u32;

/// The name of a table: `qualifier` in the default namespace, `namespace:qualifier` elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableName {
    namespace: String,
    qualifier: String,
}

impl TableName {
    /// The namespace of tables whose name has none.
    pub const DEFAULT_NAMESPACE: &str = "default";
    /// The namespace of HBase's own tables.
    pub const SYSTEM_NAMESPACE: &str = "hbase";

    /// Reads `qualifier` or `namespace:qualifier`.
    ///
    /// # Errors
    /// HBase's rules: letters and digits of any script and `_` in both, `-` and `.` inside the
    /// qualifier too, none empty, none called `zookeeper`.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once(':') {
            Some((namespace, qualifier)) => Self::new(namespace, qualifier),
            None => Self::new(Self::DEFAULT_NAMESPACE, text),
        }
    }

    /// A name of these parts; errors as [`TableName::parse`].
    pub fn new(namespace: &str, qualifier: &str) -> Result<Self> {
        check_namespace(namespace)?;
        let refused = |what: String| {
            Err(Error::invalid(format!("illegal table name: {what}, name={qualifier}")))
        };
        if qualifier.is_empty() {
            return refused("qualifier must not be empty".into());
        }
        if qualifier.starts_with(['.', '-']) {
            return refused("must begin with a letter, a digit or _".into());
        }
        if qualifier == "zookeeper" {
            return refused("reserved".into());
        }
        if let Some(c) = qualifier.chars().find(|c| !c.is_alphanumeric() && !"_-.".contains(*c)) {
            return refused(format!("only letters, digits and _ - . are allowed, not {c:?}"));
        }
        Ok(Self { namespace: namespace.to_owned(), qualifier: qualifier.to_owned() })
    }

    /// `hbase:meta`, the table of all regions.
    pub fn meta() -> Self {
        Self::system("meta")
    }

    /// `hbase:namespace`, the table of all namespaces.
    pub fn namespace_table() -> Self {
        Self::system("namespace")
    }

    fn system(qualifier: &str) -> Self {
        Self { namespace: Self::SYSTEM_NAMESPACE.into(), qualifier: qualifier.into() }
    }

    /// The namespace, `default` where the name shows none.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name inside its namespace.
    pub fn qualifier(&self) -> &str {
        &self.qualifier
    }

    /// Whether the table is one of HBase's own.
    pub fn is_system(&self) -> bool {
        self.namespace == Self::SYSTEM_NAMESPACE
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace == Self::DEFAULT_NAMESPACE {
            f.write_str(&self.qualifier)
        } else {
            write!(f, "{}:{}", self.namespace, self.qualifier)
        }
    }
}

fn check_namespace(name: &str) -> Result<()> {
    let refused =
        |what: String| Err(Error::invalid(format!("illegal namespace: {what}, name={name}")));
    if name.is_empty() {
        return refused("must not be empty".into());
    }
    if name == "zookeeper" {
        return refused("reserved".into());
    }
    if let Some(c) = name.chars().find(|c| !c.is_alphanumeric() && *c != '_') {
        return refused(format!("only letters, digits and _ are allowed, not {c:?}"));
    }
    Ok(())
}

/// A namespace and its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    name: String,
    /// Settings, kept and returned.
    pub configuration: BTreeMap<String, String>,
}

impl Namespace {
    /// Checks that a store can keep this namespace as declared.
    ///
    /// # Errors
    /// `Unsupported` for quotas, which would silently have no effect.
    pub fn check(&self) -> Result<()> {
        let quota =
            self.configuration.keys().find(|name| name.starts_with("hbase.namespace.quota."));
        quota.map_or(Ok(()), |name| {
            Err(Error::unsupported(format!(
                "quotas are not supported: namespace={}, setting={name}",
                self.name
            )))
        })
    }

    /// A namespace without settings; the name follows [`TableName::parse`].
    pub fn new(name: &str) -> Result<Self> {
        check_namespace(name)?;
        Ok(Self { name: name.to_owned(), configuration: BTreeMap::new() })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether HBase itself makes it: such a namespace is never dropped.
    pub fn is_reserved(&self) -> bool {
        [TableName::DEFAULT_NAMESPACE, TableName::SYSTEM_NAMESPACE].contains(&&*self.name)
    }
}

/// Whether a table takes reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableState {
    /// It does.
    Enabled,
    /// It does not; it can be altered and dropped.
    Disabled,
}

/// A table as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDescriptor {
    name: TableName,
    families: Vec<FamilyDescriptor>,
    /// Metadata values of the table, as given (HBase's METADATA and the upper-case attributes).
    pub attributes: BTreeMap<Bytes, Bytes>,
    /// Configuration of the table, as given.
    pub configuration: BTreeMap<String, String>,
}

impl TableDescriptor {
    /// A table without families.
    pub fn new(name: TableName) -> Self {
        Self {
            name,
            families: Vec::new(),
            attributes: BTreeMap::new(),
            configuration: BTreeMap::new(),
        }
    }

    /// Adds a family, or replaces the one of the same name.
    #[must_use]
    pub fn family(mut self, family: FamilyDescriptor) -> Self {
        match self.families.binary_search_by(|have| have.name.cmp(&family.name)) {
            Ok(at) => self.families[at] = family,
            Err(at) => self.families.insert(at, family),
        }
        self
    }

    /// Sets a metadata value.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        self.attributes.insert(name.into(), value.into());
        self
    }

    /// The table's name.
    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// The families, by name.
    pub fn families(&self) -> &[FamilyDescriptor] {
        &self.families
    }

    /// The family `name`.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`, naming the table and the family.
    pub fn find_family(&self, name: &[u8]) -> Result<&FamilyDescriptor> {
        self.families.iter().find(|family| family.name == name).ok_or_else(|| {
            Error::new(
                ErrorKind::NoSuchColumnFamily,
                format!("Column family {} does not exist in table {}", escape(name), self.name),
            )
        })
    }

    /// DURABILITY: what a mutation gets that asks for the table's default.
    pub fn durability(&self) -> Durability {
        let declared = self.attributes.get(&b"DURABILITY"[..]).map(|value| &value[..]);
        match declared {
            Some(b"SKIP_WAL") => Durability::SkipWal,
            Some(b"ASYNC_WAL") => Durability::AsyncWal,
            Some(b"FSYNC_WAL") => Durability::FsyncWal,
            _ => Durability::SyncWal,
        }
    }

    /// Checks that a store can keep this table as declared.
    ///
    /// # Errors
    /// No family, or a family that [`FamilyDescriptor::check`] refuses.
    pub fn check(&self) -> Result<()> {
        if self.families.is_empty() {
            return Err(Error::invalid("Table should have at least one column family."));
        }
        if let Some((name, _)) = self
            .attributes
            .iter()
            .find(|(name, _)| name.starts_with(b"coprocessor$") || name.starts_with(b"COPROCESSOR"))
        {
            return Err(Error::unsupported(format!(
                "coprocessors are not supported: table={}, attribute={}",
                self.name,
                escape(name)
            )));
        }
        self.check_attributes()?;
        self.families.iter().try_for_each(FamilyDescriptor::check)
    }

    /// Refuses attributes that would silently have no effect on what is read and written.
    fn check_attributes(&self) -> Result<()> {
        for (name, supported) in SUPPORTED_OF_TABLES {
            let Some(value) = self.attributes.get(name.as_bytes()) else { continue };
            let value = String::from_utf8_lossy(value).to_uppercase();
            if !supported.contains(&&*value) {
                let have = supported.join(", ");
                return Err(Error::unsupported(format!(
                    "{name} {value} of table {} is not supported: supported={have}",
                    self.name
                )));
            }
        }
        Ok(())
    }
}

/// A column family as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyDescriptor {
    name: Bytes,
    /// Attributes of the family under HBase's names (`VERSIONS`, `TTL`, …), as given.
    pub attributes: BTreeMap<Bytes, Bytes>,
    /// Configuration of the family, as given.
    pub configuration: BTreeMap<String, String>,
}

/// How blocks of a family's files are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
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
    /// All of them.
    pub const ALL: [Self; 5] = [Self::None, Self::Gz, Self::Snappy, Self::Lz4, Self::Zstd];

    /// HBase's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Gz => "GZ",
            Self::Snappy => "SNAPPY",
            Self::Lz4 => "LZ4",
            Self::Zstd => "ZSTD",
        }
    }

    /// The one that HBase calls `name`, in capitals.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// What a family's files can tell that they do not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BloomKind {
    /// Nothing.
    None,
    /// A row.
    #[default]
    Row,
    /// A column of a row.
    RowCol,
}

impl BloomKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Row, Self::RowCol];

    /// HBase's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Row => "ROW",
            Self::RowCol => "ROWCOL",
        }
    }

    /// The one that HBase calls `name`, in capitals.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// How cells are laid out in a data block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataBlockEncoding {
    /// One after the other.
    None,
    /// One after the other, with an index of rows behind them.
    RowIndexV1,
}

impl FamilyDescriptor {
    /// A family with every attribute at HBase's default.
    ///
    /// # Errors
    /// HBase's rules for the name: 1 to 127 bytes, no leading `.`, no `:` `/` `\` or control
    /// characters, not `recovered.edits`.
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

    /// Sets an attribute under HBase's name for it.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        self.attributes.insert(name.into(), value.into());
        self
    }

    /// Keeps up to `versions` versions of a cell (HBase: VERSIONS).
    #[must_use]
    pub fn versions(self, versions: u32) -> Self {
        self.attribute("VERSIONS", versions.to_string())
    }

    /// The family's name.
    pub fn name(&self) -> &Bytes {
        &self.name
    }

    /// VERSIONS: how many versions of a cell are kept; 1 by default.
    pub fn versions_max(&self) -> u32 {
        self.number("VERSIONS").unwrap_or(1)
    }

    /// MIN_VERSIONS: how many versions survive their TTL; 0 by default.
    pub fn versions_min(&self) -> u32 {
        self.number("MIN_VERSIONS").unwrap_or(0)
    }

    /// TTL: how long a cell lives after its timestamp; `None` for ever.
    pub fn ttl(&self) -> Option<Duration> {
        let seconds = self.number("TTL").unwrap_or(TTL_FOREVER);
        (seconds != TTL_FOREVER).then(|| Duration::from_secs(seconds.into()))
    }

    /// BLOCKSIZE: bytes of cells after which a data block is closed; 65,536 by default.
    pub fn block_len(&self) -> u32 {
        self.number("BLOCKSIZE").unwrap_or(64 * 1024)
    }

    /// BLOOMFILTER of new files; ROW by default.
    pub fn bloom(&self) -> BloomKind {
        self.word("BLOOMFILTER").and_then(|word| BloomKind::from_name(&word)).unwrap_or_default()
    }

    /// COMPRESSION of new files; none by default.
    pub fn compression(&self) -> Compression {
        self.word("COMPRESSION").and_then(|word| Compression::from_name(&word)).unwrap_or_default()
    }

    /// DATA_BLOCK_ENCODING of new files. Where the family declares none the blocks get a row
    /// index: readers go by the file's own word, and gets cost half (`docs/formats/hfile.md`).
    pub fn data_block_encoding(&self) -> DataBlockEncoding {
        DataBlockEncoding::RowIndexV1
    }

    /// Checks that a store can keep this family as declared.
    ///
    /// # Errors
    /// `InvalidRequest` for a value that is none, `Unsupported` for one that would silently have
    /// no effect.
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
            // Apache's words, with the value behind them.
            return Err(Error::invalid(format!(
                "Block size for column family {} must be between 1K and 16MB: {}",
                escape(&self.name),
                self.block_len()
            )));
        }
        for (name, supported) in SUPPORTED {
            let Some(word) = self.word(name) else { continue };
            if !supported.contains(&&*word) {
                let have = supported.join(", ");
                return Err(Error::unsupported(format!(
                    "{name} {word} of family {} is not supported: supported={have}",
                    escape(&self.name)
                )));
            }
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

/// The same for tables.
const SUPPORTED_OF_TABLES: [(&str, &[&str]); 3] = [
    ("DURABILITY", &["USE_DEFAULT", "SKIP_WAL", "ASYNC_WAL", "SYNC_WAL", "FSYNC_WAL"]),
    ("READONLY", &["FALSE"]),
    ("REGION_REPLICATION", &["1"]),
];

/// Attributes that change what is stored or read, and the values acted upon. What is not listed
/// (replication scope, cache hints) changes nothing a reader could see and is kept as given.
const SUPPORTED: [(&str, &[&str]); 6] = [
    ("BLOOMFILTER", &["NONE", "ROW", "ROWCOL"]),
    ("COMPRESSION", &["NONE", "GZ", "SNAPPY", "LZ4", "ZSTD"]),
    ("DATA_BLOCK_ENCODING", &["NONE", "ROW_INDEX_V1"]),
    ("KEEP_DELETED_CELLS", &["FALSE"]),
    ("NEW_VERSION_BEHAVIOR", &["FALSE"]),
    ("ENCRYPTION", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_names_follow_hbases_rules() {
        for good in ["t", "ns:t", "a-b.c_d", "表", "_x", "9"] {
            assert_eq!(TableName::parse(good).unwrap().to_string(), good);
        }
        for bad in ["", ":t", "ns:", "-t", ".t", "a b", "a:b:c", "n-s:t", "zookeeper", "a/b"] {
            assert!(TableName::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(TableName::parse("default:t").unwrap().to_string(), "t");
    }

    #[test]
    fn family_names_follow_hbases_rules() {
        for bad in ["", ".a", "a:b", "a/b", "a\\b", "a\tb", "recovered.edits"] {
            assert!(FamilyDescriptor::new(bad).is_err(), "{bad}");
        }
        assert!(FamilyDescriptor::new("x".repeat(127)).is_ok());
        assert!(FamilyDescriptor::new("x".repeat(128)).is_err());
    }

    #[test]
    fn settings_of_tables_and_namespaces_without_effect_are_refused() {
        let table = |name: &'static str, value: &'static str| {
            let family = FamilyDescriptor::new("f").unwrap();
            let table = TableDescriptor::new(TableName::parse("t").unwrap()).family(family);
            table.attribute(name, value).check().map_err(|error| error.kind())
        };
        assert_eq!(table("READONLY", "false"), Ok(()));
        assert_eq!(table("READONLY", "true"), Err(ErrorKind::Unsupported));
        assert_eq!(table("REGION_REPLICATION", "2"), Err(ErrorKind::Unsupported));
        assert_eq!(table("DURABILITY", "FSYNC_WAL"), Ok(()));
        assert_eq!(table("DURABILITY", "BOGUS"), Err(ErrorKind::Unsupported));
        let mut namespace = Namespace::new("ns").unwrap();
        namespace.configuration.insert("owner".into(), "x".into());
        assert!(namespace.check().is_ok());
        namespace.configuration.insert("hbase.namespace.quota.maxtables".into(), "5".into());
        assert_eq!(namespace.check().unwrap_err().kind(), ErrorKind::Unsupported);
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
    fn settings_without_effect_are_refused() {
        let family = || FamilyDescriptor::new("cf").unwrap();
        assert!(family().check().is_ok());
        for name in ["LZO", "BZIP2", "LZMA", "BROTLI", "", "S"] {
            let error = family().attribute("COMPRESSION", name).check().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}");
        }
        let prefixes = family().attribute("BLOOMFILTER", "ROWPREFIX_FIXED_LENGTH");
        assert_eq!(prefixes.check().unwrap_err().kind(), ErrorKind::Unsupported);
        let error = family().attribute("VERSIONS", "many").check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(family().attribute("TTL", "2147483647").check().is_ok());
        assert_eq!(family().attribute("TTL", "2147483647").ttl(), None);
        assert_eq!(family().attribute("TTL", "60").ttl(), Some(Duration::from_secs(60)));
    }
}
