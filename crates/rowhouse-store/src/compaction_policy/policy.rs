//! A family's compaction policy: the store's settings, overridden by the table's and the family's.

use std::str::FromStr;
use std::time::Duration;

use rowhouse_model::{Error, FamilyDescriptor, Result, TableDescriptor, escape};

use crate::settings::Settings;

/// The parameters for [`choose`](super::choose).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Policy {
    /// Whether files are compacted at all.
    pub(crate) enabled: bool,
    pub(crate) files_min: usize,
    pub(crate) files_max: usize,
    pub(crate) ratio: f64,
    pub(crate) bytes_min: u64,
    pub(crate) bytes_max: u64,
    /// 0 for never.
    pub(crate) major_period_millis: i64,
    pub(crate) major_jitter: f64,
    pub(crate) files_blocking: usize,
    /// Flushes and minor compactions drop surplus versions, as in HBase (decision 0050).
    pub(crate) drops_surplus: bool,
}

impl Policy {
    /// Returns the policy from the store's settings.
    pub(crate) fn new(settings: &Settings) -> Self {
        let compaction = &settings.compaction;
        Self {
            enabled: true,
            files_min: compaction.files_min,
            files_max: compaction.files_max,
            ratio: compaction.ratio,
            bytes_min: compaction.bytes_min.unwrap_or(settings.memstore_flush_bytes),
            bytes_max: compaction.bytes_max,
            major_period_millis: millis(compaction.major_period),
            major_jitter: compaction.major_jitter,
            files_blocking: compaction.files_blocking,
            drops_surplus: true,
        }
        .within_reason()
    }

    /// Returns a family's policy: HBase's keys in the family's and the table's configuration
    /// override the store's settings.
    ///
    /// # Errors
    /// `InvalidRequest` if a key has an invalid value.
    pub(crate) fn of(
        settings: &Settings,
        table: &TableDescriptor,
        family: &FamilyDescriptor,
    ) -> Result<Self> {
        let config = FamilyConfig { table, family };
        let mut policy = Self::new(settings);
        // The deprecated name first, so that the current one overrides it.
        config.read("hbase.hstore.compactionThreshold", &mut policy.files_min)?;
        config.read("hbase.hstore.compaction.min", &mut policy.files_min)?;
        config.read("hbase.hstore.compaction.max", &mut policy.files_max)?;
        config.read("hbase.hstore.compaction.ratio", &mut policy.ratio)?;
        config.read("hbase.hstore.compaction.min.size", &mut policy.bytes_min)?;
        config.read("hbase.hstore.compaction.max.size", &mut policy.bytes_max)?;
        config.read("hbase.hregion.majorcompaction", &mut policy.major_period_millis)?;
        config.read("hbase.hregion.majorcompaction.jitter", &mut policy.major_jitter)?;
        config.read("hbase.hstore.blockingStoreFiles", &mut policy.files_blocking)?;
        config.read("rowhouse.compaction.minor.drops.versions", &mut policy.drops_surplus)?;
        if !table.compaction_enabled() {
            policy.enabled = false;
            // Otherwise nothing would ever end the wait for fewer files.
            policy.files_blocking = usize::MAX;
        }
        Ok(policy.within_reason())
    }

    /// Returns the policy for an existing family, whose declaration can no longer be refused.
    pub(crate) fn of_stored(
        settings: &Settings,
        table: &TableDescriptor,
        family: &FamilyDescriptor,
    ) -> Self {
        Self::of(settings, table, family).unwrap_or_else(|error| {
            tracing::warn!(%error, "files are merged as the store's settings say");
            Self::new(settings)
        })
    }

    /// As in HBase, a compaction takes at least two files, regardless of the settings.
    fn within_reason(mut self) -> Self {
        self.files_min = self.files_min.max(2);
        self.files_max = self.files_max.max(2);
        self
    }
}

/// A configuration value type.
trait Value: FromStr {
    const WORDS: &str = "a number";
}

impl Value for usize {}
impl Value for u64 {}
impl Value for i64 {}
impl Value for f64 {}
impl Value for bool {
    const WORDS: &str = "true or false";
}

/// A table's and a family's configuration.
struct FamilyConfig<'a> {
    table: &'a TableDescriptor,
    family: &'a FamilyDescriptor,
}

impl FamilyConfig<'_> {
    fn read<T: Value>(&self, key: &str, into: &mut T) -> Result<()> {
        let Some(value) = self.find(key) else { return Ok(()) };
        *into = value.trim().parse().map_err(|_| {
            Error::invalid(format!(
                "{key} of table {}, family {} must be {}: {}",
                self.table.name(),
                escape(self.family.name()),
                T::WORDS,
                escape(value.as_bytes())
            ))
        })?;
        Ok(())
    }

    /// HBase accepts attributes as configuration, too.
    fn find(&self, key: &str) -> Option<String> {
        let table = self.table;
        let family = self.family;
        let text = |value: &rowhouse_model::Bytes| String::from_utf8_lossy(value).into_owned();
        let of_family = || family.attributes.get(key.as_bytes()).map(text);
        let of_table = || table.attributes.get(key.as_bytes()).map(text);
        of_family()
            .or_else(|| family.configuration.get(key).cloned())
            .or_else(|| table.configuration.get(key).cloned())
            .or_else(of_table)
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{ErrorKind, TableName};

    use super::*;

    fn policy(table: TableDescriptor) -> Result<Policy> {
        Policy::of(&Settings::default(), &table, &table.families()[0])
    }

    fn table(family: FamilyDescriptor) -> TableDescriptor {
        TableDescriptor::new(TableName::parse("t").unwrap()).family(family)
    }

    fn family() -> FamilyDescriptor {
        FamilyDescriptor::new("f").unwrap()
    }

    #[test]
    fn defaults_are_those_of_hbase() {
        let policy = policy(table(family())).unwrap();
        assert_eq!((policy.files_min, policy.files_max, policy.ratio), (3, 10, 1.2));
        assert_eq!((policy.bytes_min, policy.bytes_max), (32 << 20, u64::MAX));
        assert_eq!((policy.major_period_millis, policy.major_jitter), (604_800_000, 0.5));
        assert_eq!(policy.files_blocking, 16);
    }

    #[test]
    fn a_family_goes_before_its_table_and_that_before_the_store() {
        let with = |name: &str, value: &str| {
            let mut family = family();
            family.configuration.insert(name.into(), value.into());
            let mut table = table(family);
            table.configuration.insert("hbase.hstore.compaction.min".into(), "7".into());
            table.attribute("hbase.hregion.majorcompaction", "0")
        };
        let own = policy(with("hbase.hstore.compaction.min", "5")).unwrap();
        assert_eq!((own.files_min, own.major_period_millis), (5, 0));
        let other = policy(with("hbase.hstore.compaction.ratio", "1.5")).unwrap();
        assert_eq!((other.files_min, other.ratio), (7, 1.5));
        assert_eq!(policy(with("hbase.hstore.compaction.min", "1")).unwrap().files_min, 2);
    }

    #[test]
    fn a_value_of_another_kind_is_refused_by_name() {
        let error = policy(table(family()).attribute("hbase.hstore.compaction.max", "many"));
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert_eq!(
            error.message(),
            "hbase.hstore.compaction.max of table t, family f must be a number: many"
        );
        let key = "rowhouse.compaction.minor.drops.versions";
        assert!(policy(table(family())).unwrap().drops_surplus);
        assert!(!policy(table(family()).attribute(key, "false")).unwrap().drops_surplus);
        let error = policy(table(family()).attribute(key, "1")).unwrap_err();
        assert!(error.message().ends_with("must be true or false: 1"), "{error}");
    }
}
