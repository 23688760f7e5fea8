//! Table declarations.
//!
//! A table or family descriptor retains every attribute byte for byte, whether or not rowhouse acts
//! on it, because an HBase client must get back the same declaration. The typed accessors read
//! those attributes; [`TableDescriptor::check`] rejects attributes that would silently have no
//! effect.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{
    Coprocessor, Durability, Error, ErrorKind, FamilyDescriptor, Result, SplitPolicy,
    SplitRestriction, TableName, escape,
};

/// Attributes that affect reads and writes, and their supported values.
const SUPPORTED: [(&str, &[&str]); 7] = [
    ("DURABILITY", &["USE_DEFAULT", "SKIP_WAL", "ASYNC_WAL", "SYNC_WAL", "FSYNC_WAL"]),
    ("COMPACTION_ENABLED", &["TRUE", "FALSE"]),
    ("ERASURE_CODING_POLICY", &[]),
    ("MERGE_ENABLED", &["TRUE", "FALSE"]),
    ("READONLY", &["TRUE", "FALSE"]),
    ("REGION_REPLICATION", &["1"]),
    ("SPLIT_ENABLED", &["TRUE", "FALSE"]),
];

/// Whether a table accepts reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableState {
    /// The table accepts reads and writes.
    Enabled,
    /// The table rejects reads and writes; it can be altered and dropped.
    Disabled,
}

/// A table declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDescriptor {
    name: TableName,
    families: Vec<FamilyDescriptor>,
    /// The table's metadata values, as given (HBase's METADATA and the upper-case attributes).
    pub attributes: BTreeMap<Bytes, Bytes>,
    /// The table's configuration, as given.
    pub configuration: BTreeMap<String, String>,
}

impl TableDescriptor {
    /// Creates a table without families.
    pub fn new(name: TableName) -> Self {
        Self {
            name,
            families: Vec::new(),
            attributes: BTreeMap::new(),
            configuration: BTreeMap::new(),
        }
    }

    /// Adds a family, or replaces the one with the same name.
    #[must_use]
    pub fn family(mut self, family: FamilyDescriptor) -> Self {
        match self.families.binary_search_by(|have| have.name().cmp(family.name())) {
            Ok(at) => self.families[at] = family,
            Err(at) => self.families.insert(at, family),
        }
        self
    }

    /// Returns the declaration under another table name.
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

    /// Returns the table's name.
    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// Returns the families, sorted by name.
    pub fn families(&self) -> &[FamilyDescriptor] {
        &self.families
    }

    /// Returns the family `name`.
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

    /// Returns DURABILITY, which applies to mutations that use the table's default.
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

    /// Returns READONLY: whether the table rejects writes; false by default.
    pub fn is_read_only(&self) -> bool {
        self.word("READONLY").as_deref() == Some("TRUE")
    }

    /// Returns COMPACTION_ENABLED: whether automatic compaction is enabled; true by default.
    pub fn compaction_enabled(&self) -> bool {
        self.word("COMPACTION_ENABLED").as_deref() != Some("FALSE")
    }

    /// Returns MAX_FILESIZE: the target maximum region size in bytes; `None` unless a number above
    /// 0 is declared.
    pub fn region_bytes_max(&self) -> Option<u64> {
        self.word("MAX_FILESIZE")?.trim().parse().ok().filter(|bytes| *bytes > 0)
    }

    /// Returns MEMSTORE_FLUSHSIZE in bytes; `None` unless a number above 0 is declared.
    pub fn memstore_flush_bytes(&self) -> Option<u64> {
        self.word("MEMSTORE_FLUSHSIZE")?.trim().parse().ok().filter(|bytes| *bytes > 0)
    }

    /// Returns SPLIT_ENABLED: whether regions are split; true by default.
    pub fn split_enabled(&self) -> bool {
        self.word("SPLIT_ENABLED").as_deref() != Some("FALSE")
    }

    /// Returns MERGE_ENABLED: whether regions are merged on request; true by default.
    pub fn merge_enabled(&self) -> bool {
        self.word("MERGE_ENABLED").as_deref() != Some("FALSE")
    }

    /// Returns SPLIT_POLICY, which determines when regions are split automatically.
    ///
    /// # Errors
    /// `Unsupported` for a custom policy; `InvalidRequest` for a policy that lacks a value.
    pub fn split_policy(&self) -> Result<SplitPolicy> {
        SplitPolicy::of(self)
    }

    /// Returns `hbase.regionserver.region.split_restriction.type`, which determines the rows that
    /// no split separates.
    ///
    /// # Errors
    /// `Unsupported` for a custom restriction; `InvalidRequest` for one that lacks a value.
    pub fn split_restriction(&self) -> Result<SplitRestriction> {
        SplitRestriction::of(self)
    }

    /// Returns the split row for a region with the row `middle` in the middle, for automatic and
    /// requested splits. Rows that the policy or restriction keeps together stay together. Empty if
    /// no row precedes them.
    ///
    /// # Errors
    /// As [`TableDescriptor::split_policy`] and [`TableDescriptor::split_restriction`].
    pub fn split_row(&self, middle: &Bytes) -> Result<Bytes> {
        Ok(self.split_restriction()?.split_row(&self.split_policy()?.split_row(middle)))
    }

    /// Returns `hbase.server.keyvalue.maxsize`: the most bytes that a cell in a put may have, or a
    /// cell that an increment or append produces. 0 and less mean no limit; `None` if the table
    /// does not declare it.
    ///
    /// # Errors
    /// `InvalidRequest` if the value is not a number.
    pub fn cell_bytes_max(&self) -> Result<Option<i64>> {
        let Some(value) = self.value(CELL_BYTES_MAX) else { return Ok(None) };
        value.trim().parse().map(Some).map_err(|_| {
            Error::invalid(format!(
                "a setting is not a number: table={}, setting={CELL_BYTES_MAX}, value={value}",
                self.name
            ))
        })
    }

    /// Returns a value that is an attribute or in the configuration; HBase treats both alike.
    pub(crate) fn value(&self, name: &str) -> Option<String> {
        value_in(&self.attributes, &self.configuration, name)
    }

    fn word(&self, name: &str) -> Option<String> {
        let value = self.attributes.get(name.as_bytes())?;
        Some(String::from_utf8_lossy(value).to_uppercase())
    }

    /// Removes the family `name`, if present.
    #[must_use]
    pub fn without_family(mut self, name: &[u8]) -> Self {
        self.families.retain(|family| family.name() != name);
        self
    }

    /// Checks that a store can hold this table as declared.
    ///
    /// # Errors
    /// `InvalidRequest` for a table without families; `Unsupported` for coprocessors other than
    /// HBase's aggregation and multi-row mutation, and for attributes that would silently have no
    /// effect; all errors as for [`TableDescriptor::split_policy`],
    /// [`TableDescriptor::split_restriction`], [`FamilyDescriptor::check`] and HBase's sanity
    /// checks.
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
                    "coprocessor {} of table {} is not supported, Java classes do not run here: a \
                     program that embeds rowhouse-server can have an observer in place of a \
                     RegionObserver (docs/hbase.md): attribute={}, supported={}",
                    escape(class),
                    self.name,
                    escape(name),
                    Coprocessor::ALL.map(Coprocessor::class_name).join(", ")
                )));
            }
        }
        Ok(())
    }

    /// Rejects attributes that would silently have no effect on reads and writes.
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

/// Returns a value that is an attribute or in the configuration; HBase treats both alike, and the
/// attribute takes precedence.
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
