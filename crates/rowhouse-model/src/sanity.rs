//! HBase's table sanity checks, which reject declarations that HBase could store.
//! `hbase.table.sanity.checks` = false, as an attribute or in the configuration, disables most
//! checks for a table.

use std::collections::BTreeMap;

use crate::table::value_in;
use crate::{Error, FamilyDescriptor, Result, TableDescriptor, escape};

/// The setting that disables the checks.
const SWITCH: &str = "hbase.table.sanity.checks";
/// Ends error messages for checks that the setting disables.
const BYPASS_HINT: &str = "Set hbase.table.sanity.checks to false at conf or table descriptor if you want to bypass sanity checks";

const FIFO: &str = "org.apache.hadoop.hbase.regionserver.compactions.FIFOCompactionPolicy";
const POLICY_CLASS: &str = "hbase.hstore.defaultengine.compactionpolicy.class";
const BLOCKING_FILES: &str = "hbase.hstore.blockingStoreFiles";
/// HBase's default for `hbase.hstore.blockingStoreFiles`.
const BLOCKING_FILES_DEFAULT: i32 = 16;
/// Least value for that setting with a FIFO policy, which compacts nothing and so accumulates
/// files.
const BLOCKING_FILES_OF_FIFO_MIN: i32 = 1000;

const TIERING: &str = "hbase.hstore.datatiering.type";
const ENGINE_CLASS: &str = "hbase.hstore.engine.class";
const DATE_TIERED: &str = "org.apache.hadoop.hbase.regionserver.DateTieredStoreEngine";

/// Valid values for a family's in-memory compaction.
const IN_MEMORY_COMPACTIONS: [&str; 4] = ["NONE", "BASIC", "EAGER", "ADAPTIVE"];

/// A table's size setting with a minimum.
struct Size {
    attribute: &'static str,
    /// The equivalent configuration setting.
    setting: &'static str,
    /// The setting that overrides the minimum.
    limit: &'static str,
    bytes_min: i64,
    harm: &'static str,
}

const SIZES: [Size; 2] = [
    Size {
        attribute: "MAX_FILESIZE",
        setting: "hbase.hregion.max.filesize",
        limit: "hbase.hregion.max.filesize.limit",
        bytes_min: 2 << 20,
        harm: "over splitting into unmanageable number of regions",
    },
    Size {
        attribute: "MEMSTORE_FLUSHSIZE",
        setting: "hbase.hregion.memstore.flush.size",
        limit: "hbase.hregion.memstore.flush.size.limit",
        bytes_min: 1 << 20,
        harm: "very frequent flushing",
    },
];

impl TableDescriptor {
    /// Returns HBase's error if a sanity check fails.
    pub(crate) fn check_sanity(&self) -> Result<()> {
        let is_off = self.value(SWITCH).is_some_and(|value| value.eq_ignore_ascii_case("false"));
        if !is_off {
            SIZES.iter().try_for_each(|size| self.check_size(size))?;
            self.families().iter().try_for_each(check_family)?;
        }
        self.families().iter().try_for_each(|family| {
            self.check_fifo(family)?;
            self.check_tiering(family)
        })
    }

    fn check_size(&self, size: &Size) -> Result<()> {
        let declared = self.value(size.attribute).or_else(|| self.value(size.setting));
        let Some(text) = declared else { return Ok(()) };
        let bytes: i64 = self.number(size.attribute, &text)?;
        let bytes_min = match self.value(size.limit) {
            Some(limit) => self.number(size.limit, &limit)?,
            None => size.bytes_min,
        };
        if bytes >= bytes_min {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{} for table descriptor or \"{}\" ({bytes}) is too small, which might cause {}. {BYPASS_HINT}: \
             table={}, min={bytes_min}",
            size.attribute,
            size.setting,
            size.harm,
            self.name()
        )))
    }

    /// Checks that a family with a FIFO policy, which only drops expired files, has a TTL and may
    /// accumulate many files.
    fn check_fifo(&self, family: &FamilyDescriptor) -> Result<()> {
        if self.family_or_table_value(family, POLICY_CLASS).as_deref() != Some(FIFO) {
            return Ok(());
        }
        let refused = |what: String| {
            let table = self.name();
            let family = escape(family.name());
            Err(Error::invalid(format!("{what}: table={table}, family={family}")))
        };
        if family.ttl().is_none() {
            return refused("Default TTL is not supported for FIFO compaction".into());
        }
        if family.versions_min() > 0 {
            return refused("MIN_VERSION > 0 is not supported for FIFO compaction".into());
        }
        let files = match self.family_or_table_value(family, BLOCKING_FILES) {
            Some(text) => self.number(BLOCKING_FILES, &text)?,
            None => BLOCKING_FILES_DEFAULT,
        };
        if files < BLOCKING_FILES_OF_FIFO_MIN {
            return refused(format!(
                "Blocking file count '{BLOCKING_FILES}' {files} is below recommended minimum of \
                 {BLOCKING_FILES_OF_FIFO_MIN}"
            ));
        }
        Ok(())
    }

    fn check_tiering(&self, family: &FamilyDescriptor) -> Result<()> {
        let is_tiered =
            self.family_or_table_value(family, TIERING).as_deref() == Some("TIME_RANGE");
        if !is_tiered
            || self.family_or_table_value(family, ENGINE_CLASS).as_deref() == Some(DATE_TIERED)
        {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "Time Range Data Tiering should be enabled with Date Tiered Compaction: table={}, family={}, \
             {ENGINE_CLASS} is not {DATE_TIERED}",
            self.name(),
            escape(family.name())
        )))
    }

    /// Returns a table value that the family may override.
    fn family_or_table_value(&self, family: &FamilyDescriptor, name: &str) -> Option<String> {
        value_in(&family.attributes, &family.configuration, name).or_else(|| self.value(name))
    }

    fn number<N: std::str::FromStr>(&self, name: &str, text: &str) -> Result<N> {
        text.trim().parse().map_err(|_| {
            Error::invalid(format!("{name} of table {} must be a number: {text}", self.name()))
        })
    }
}

fn check_family(family: &FamilyDescriptor) -> Result<()> {
    let of = escape(family.name());
    let attribute = |name| value_in(&family.attributes, &BTreeMap::new(), name);
    if let Some(scope) = attribute("REPLICATION_SCOPE").filter(|scope| scope != "0" && scope != "1")
    {
        return Err(Error::invalid(format!(
            "Replication scope for column family {of} is {scope} which is invalid. {BYPASS_HINT}"
        )));
    }
    if let Some(copies) = attribute("DFS_REPLICATION")
        && !copies.parse::<i16>().is_ok_and(|copies| copies >= 0)
    {
        return Err(Error::invalid(format!(
            "HFile Replication for column family {of} must be greater than zero. {BYPASS_HINT}: {copies}"
        )));
    }
    match attribute("IN_MEMORY_COMPACTION") {
        Some(word) if !IN_MEMORY_COMPACTIONS.contains(&&*word.to_uppercase()) => {
            Err(Error::invalid(format!(
                "IN_MEMORY_COMPACTION of column family {of} must be one of {}. {BYPASS_HINT}: {word}",
                IN_MEMORY_COMPACTIONS.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, TableName};

    fn family() -> FamilyDescriptor {
        FamilyDescriptor::new("f").unwrap()
    }

    fn table(family: FamilyDescriptor) -> TableDescriptor {
        TableDescriptor::new(TableName::parse("t").unwrap()).family(family)
    }

    /// Checks that the error message for `table` begins with `refusal`.
    fn check(table: &TableDescriptor, refusal: &str) {
        let error = table.check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.message().starts_with(refusal), "{error}");
    }

    #[test]
    fn sizes_that_are_too_small_are_refused_unless_the_checks_are_off() {
        for (name, least, harm) in [
            ("MAX_FILESIZE", 2 << 20, "(2097151) is too small, which might cause over splitting"),
            ("MEMSTORE_FLUSHSIZE", 1 << 20, "(1048575) is too small, which might cause very"),
        ] {
            let with = |bytes: i64| table(family()).attribute(name, bytes.to_string());
            assert!(with(least).check().is_ok());
            let small = with(least - 1);
            let error = small.check().unwrap_err();
            assert!(error.message().contains(harm), "{error}");
            assert!(error.message().ends_with(&format!("table=t, min={least}")), "{error}");
            assert!(with(-1).check().is_err() && with(0).check().is_err());
            check(&table(family()).attribute(name, "big"), &format!("{name} of table t must be a"));

            assert!(small.clone().attribute(SWITCH, "true").check().is_err());
            assert!(small.clone().attribute(SWITCH, "FALSE").check().is_ok());
            let mut off = small;
            off.configuration.insert(SWITCH.into(), "false".into());
            assert!(off.check().is_ok());
        }
        let own = table(family()).attribute("MAX_FILESIZE", "1000");
        assert!(own.attribute("hbase.hregion.max.filesize.limit", "1000").check().is_ok());
        let mut set = table(family());
        set.configuration.insert("hbase.hregion.max.filesize".into(), "1000".into());
        check(&set, "MAX_FILESIZE for table descriptor or \"hbase.hregion.max.filesize\" (1000)");
    }

    #[test]
    fn attributes_of_families_that_mean_nothing_are_refused_unless_the_checks_are_off() {
        for (name, right, wrong, refusal) in [
            ("REPLICATION_SCOPE", "1", "2", "Replication scope for column family f is 2 which"),
            ("DFS_REPLICATION", "0", "-1", "HFile Replication for column family f must be"),
            ("IN_MEMORY_COMPACTION", "basic", "some", "IN_MEMORY_COMPACTION of column family f"),
        ] {
            assert!(table(family().attribute(name, right)).check().is_ok(), "{name}");
            let wrong = table(family().attribute(name, wrong));
            check(&wrong, refusal);
            assert!(wrong.attribute(SWITCH, "false").check().is_ok(), "{name}");
        }
    }

    #[test]
    fn a_fifo_policy_needs_a_ttl_and_room_for_many_files() {
        let with = |family: FamilyDescriptor, files: &'static str| {
            table(family).attribute(POLICY_CLASS, FIFO).attribute(BLOCKING_FILES, files)
        };
        let short = || family().attribute("TTL", "60");
        assert!(with(short(), "1000").check().is_ok());
        check(&with(family(), "1000"), "Default TTL is not supported for FIFO compaction");
        let with_min_versions = with(short().attribute("MIN_VERSIONS", "1"), "1000");
        check(&with_min_versions, "MIN_VERSION > 0 is not supported");
        let few = with(short(), "999").attribute(SWITCH, "false");
        check(&few, "Blocking file count 'hbase.hstore.blockingStoreFiles' 999 is below");
    }

    #[test]
    fn tiers_by_time_need_merges_by_time() {
        let tiered = table(family()).attribute(TIERING, "TIME_RANGE");
        check(&tiered, "Time Range Data Tiering should be enabled with Date Tiered Compaction");
        assert!(tiered.attribute(ENGINE_CLASS, DATE_TIERED).check().is_ok());
    }
}
