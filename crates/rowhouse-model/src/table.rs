//! Tables as they are declared.
//!
//! A descriptor, of a table as of a family, keeps every attribute it was given, byte for byte,
//! whether or not rowhouse acts on it: an HBase client must get back what it declared. The typed
//! accessors read those attributes; [`TableDescriptor::check`] refuses what would silently have no
//! effect.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{
    Coprocessor, Durability, Error, ErrorKind, FamilyDescriptor, Result, SplitPolicy,
    SplitRestriction, TableName, escape,
};

/// Attributes that change what is read and written, and the values acted upon.
const SUPPORTED: [(&str, &[&str]); 7] = [
    ("DURABILITY", &["USE_DEFAULT", "SKIP_WAL", "ASYNC_WAL", "SYNC_WAL", "FSYNC_WAL"]),
    ("COMPACTION_ENABLED", &["TRUE", "FALSE"]),
    ("ERASURE_CODING_POLICY", &[]),
    ("MERGE_ENABLED", &["TRUE", "FALSE"]),
    ("READONLY", &["TRUE", "FALSE"]),
    ("REGION_REPLICATION", &["1"]),
    ("SPLIT_ENABLED", &["TRUE", "FALSE"]),
];

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
        match self.families.binary_search_by(|have| have.name().cmp(family.name())) {
            Ok(at) => self.families[at] = family,
            Err(at) => self.families.insert(at, family),
        }
        self
    }

    /// The same, of a table with another name.
    #[must_use]
    pub fn with_name(self, name: TableName) -> Self {
        Self { name, ..self }
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
        self.families.iter().find(|family| family.name() == name).ok_or_else(|| {
            Error::new(
                ErrorKind::NoSuchColumnFamily,
                format!("Column family {} does not exist in table {}", escape(name), self.name),
            )
        })
    }

    /// DURABILITY: what a mutation gets that asks for the table's default.
    pub fn durability(&self) -> Durability {
        let declared =
            self.attributes.get(&b"DURABILITY"[..]).map(|word| word.to_ascii_uppercase());
        match declared.as_deref() {
            Some(b"SKIP_WAL") => Durability::SkipWal,
            Some(b"ASYNC_WAL") => Durability::AsyncWal,
            Some(b"FSYNC_WAL") => Durability::FsyncWal,
            _ => Durability::SyncWal,
        }
    }

    /// READONLY: whether the table refuses writes; not by default.
    pub fn is_read_only(&self) -> bool {
        self.word("READONLY").as_deref() == Some("TRUE")
    }

    /// COMPACTION_ENABLED: whether files are merged; they are by default.
    pub fn compaction_enabled(&self) -> bool {
        self.word("COMPACTION_ENABLED").as_deref() != Some("FALSE")
    }

    /// MAX_FILESIZE: how many bytes a region is to hold at most; `None` where nothing is declared, or
    /// nothing that is more than 0.
    pub fn region_bytes_max(&self) -> Option<u64> {
        self.word("MAX_FILESIZE")?.trim().parse().ok().filter(|bytes| *bytes > 0)
    }

    /// MEMSTORE_FLUSHSIZE; `None` where nothing is declared, or nothing that is more than 0.
    pub fn memstore_flush_bytes(&self) -> Option<u64> {
        self.word("MEMSTORE_FLUSHSIZE")?.trim().parse().ok().filter(|bytes| *bytes > 0)
    }

    /// SPLIT_ENABLED: whether regions are split; they are by default.
    pub fn split_enabled(&self) -> bool {
        self.word("SPLIT_ENABLED").as_deref() != Some("FALSE")
    }

    /// MERGE_ENABLED: whether regions are merged when somebody asks; they are by default.
    pub fn merge_enabled(&self) -> bool {
        self.word("MERGE_ENABLED").as_deref() != Some("FALSE")
    }

    /// SPLIT_POLICY: when regions are split by themselves.
    ///
    /// # Errors
    /// `Unsupported` for a policy of somebody's own; `InvalidRequest` for one that lacks a value.
    pub fn split_policy(&self) -> Result<SplitPolicy> {
        SplitPolicy::of(self)
    }

    /// `hbase.regionserver.region.split_restriction.type`: which rows no split parts.
    ///
    /// # Errors
    /// `Unsupported` for one that is not HBase's; `InvalidRequest` for one that lacks a value.
    pub fn split_restriction(&self) -> Result<SplitRestriction> {
        SplitRestriction::of(self)
    }

    /// Where a region of the table is split whose middle is at `middle`, by itself or by hand: rows that its policy or restriction
    /// keep together stay together. Empty where no row is in front of them.
    ///
    /// # Errors
    /// As [`TableDescriptor::split_policy`] and [`TableDescriptor::split_restriction`].
    pub fn split_row(&self, middle: &Bytes) -> Result<Bytes> {
        Ok(self.split_restriction()?.split_row(&self.split_policy()?.split_row(middle)))
    }

    /// How many bytes a cell of a put, or one that grows, may have: `hbase.server.keyvalue.maxsize`.
    /// 0 and less is no limit; `None` where the table does not say.
    ///
    /// # Errors
    /// `InvalidRequest` for what is no number.
    pub fn cell_bytes_max(&self) -> Result<Option<i64>> {
        let Some(value) = self.value(CELL_BYTES_MAX) else { return Ok(None) };
        value.trim().parse().map(Some).map_err(|_| {
            Error::invalid(format!(
                "a setting is no number: table={}, setting={CELL_BYTES_MAX}, value={value}",
                self.name
            ))
        })
    }

    /// A value that HBase's clients set as an attribute or in the configuration, which are one to HBase.
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        value_in(&self.attributes, &self.configuration, name)
    }

    fn word(&self, name: &str) -> Option<String> {
        let value = self.attributes.get(name.as_bytes())?;
        Some(String::from_utf8_lossy(value).to_uppercase())
    }

    /// Drops a family, if there is one of the name.
    #[must_use]
    pub fn without_family(mut self, name: &[u8]) -> Self {
        self.families.retain(|family| family.name() != name);
        self
    }

    /// Checks that a store can keep this table as declared.
    ///
    /// # Errors
    /// No family; `Unsupported` for coprocessors other than HBase's two for sums and for mutations of
    /// several rows, and for attributes that would silently have no
    /// effect; what [`TableDescriptor::split_policy`], [`TableDescriptor::split_restriction`], [`FamilyDescriptor::check`] and
    /// HBase's sanity checks refuse.
    pub fn check(&self) -> Result<()> {
        if self.families.is_empty() {
            return Err(Error::invalid("Table should have at least one column family."));
        }
        self.check_coprocessors()?;
        self.check_attributes()?;
        self.split_policy()?;
        self.split_restriction()?;
        self.cell_bytes_max()?;
        self.families.iter().try_for_each(FamilyDescriptor::check)?;
        self.check_sanity()
    }

    fn check_coprocessors(&self) -> Result<()> {
        for (name, class) in self.coprocessor_classes() {
            if Coprocessor::from_class_name(class).is_none() {
                return Err(Error::unsupported(format!(
                    "coprocessor {} of table {} is not supported: attribute={}, supported={}",
                    escape(class),
                    self.name,
                    escape(name),
                    Coprocessor::ALL.map(Coprocessor::class_name).join(", ")
                )));
            }
        }
        Ok(())
    }

    /// Refuses attributes that would silently have no effect on what is read and written.
    fn check_attributes(&self) -> Result<()> {
        for (name, supported) in SUPPORTED {
            let Some(value) = self.word(name) else { continue };
            if !supported.contains(&&*value) {
                let have = if supported.is_empty() { "none".into() } else { supported.join(", ") };
                return Err(Error::unsupported(format!(
                    "{name} {value} of table {} is not supported: supported={have}",
                    self.name
                )));
            }
        }
        Ok(())
    }
}

const CELL_BYTES_MAX: &str = "hbase.server.keyvalue.maxsize";

/// A value that is an attribute or stands in a configuration, which are one to HBase.
pub(crate) fn value_in(
    attributes: &BTreeMap<Bytes, Bytes>,
    configuration: &BTreeMap<String, String>,
    name: &str,
) -> Option<String> {
    let attribute = attributes.get(name.as_bytes());
    let attribute = attribute.map(|value| String::from_utf8_lossy(value).into_owned());
    attribute.or_else(|| configuration.get(name).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_without_effect_are_refused() {
        let table = |name: &'static str, value: &'static str| {
            let family = FamilyDescriptor::new("f").unwrap();
            let table = TableDescriptor::new(TableName::parse("t").unwrap()).family(family);
            table.attribute(name, value).check().map_err(|error| error.kind())
        };
        assert_eq!(table("READONLY", "false"), Ok(()));
        assert_eq!(table("READONLY", "true"), Ok(()));
        assert_eq!(table("READONLY", "perhaps"), Err(ErrorKind::Unsupported));
        assert_eq!(table("COMPACTION_ENABLED", "false"), Ok(()));
        assert_eq!(table("REGION_REPLICATION", "2"), Err(ErrorKind::Unsupported));
        assert_eq!(table("DURABILITY", "FSYNC_WAL"), Ok(()));
        assert_eq!(table("DURABILITY", "fsync_wal"), Ok(()));
        assert_eq!(table("DURABILITY", "BOGUS"), Err(ErrorKind::Unsupported));
        let known = "|org.apache.hadoop.hbase.coprocessor.AggregateImplementation|1073741823|";
        assert_eq!(table("coprocessor$1", known), Ok(()));
        assert_eq!(table("coprocessor$1", "|org.example.Other|1001|"), Err(ErrorKind::Unsupported));
        assert_eq!(table("COPROCESSOR$2", "rubbish"), Err(ErrorKind::Unsupported));
        let lower = TableDescriptor::new(TableName::parse("t").unwrap());
        let lower = lower.attribute("DURABILITY", "fsync_wal");
        assert_eq!(lower.durability(), Durability::FsyncWal);
    }
}
