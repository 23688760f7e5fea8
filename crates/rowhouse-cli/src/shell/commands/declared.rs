//! Family or table declarations in a hash for `create` or `alter`.

use std::collections::BTreeMap;

use rowhouse::Bytes;
use rowhouse::schema::{FamilyDescriptor, TableDescriptor};

use crate::shell::describe::{parse_size, parse_ttl};
use crate::shell::failure::{Result, usage_error};
use crate::shell::options::{OptionText, Options};

/// Options for `create` and `alter` for families and tables.
pub(super) const OPTION_TEXTS: [OptionText; 44] = [
    ("NAME", "a family's name; the other pairs of its hash are the family's attributes"),
    ("VERSIONS", "of a family: versions of a cell to keep"),
    ("TTL", "of a family: seconds a cell lives, '1 DAY 2 HOURS', or 'FOREVER'"),
    ("MIN_VERSIONS", "of a family: versions to keep after their TTL"),
    ("BLOCKSIZE", "of a family: bytes of a data block"),
    ("BLOOMFILTER", "of a family: 'ROW', 'ROWCOL' or 'NONE'"),
    ("COMPRESSION", "of a family: 'NONE', 'GZ', 'SNAPPY', 'LZ4' or 'ZSTD'"),
    ("COMPRESSION_COMPACT", "of a family: compression of compacted files, if it differs"),
    ("COMPRESSION_COMPACT_MAJOR", "of a family: the same for major compactions"),
    ("COMPRESSION_COMPACT_MINOR", "of a family: the same for minor compactions"),
    ("DATA_BLOCK_ENCODING", "of a family: 'NONE', 'PREFIX', 'DIFF', 'FAST_DIFF' or 'ROW_INDEX_V1'"),
    ("KEEP_DELETED_CELLS", "of a family: 'FALSE', 'TRUE' or 'TTL'"),
    ("NEW_VERSION_BEHAVIOR", "of a family: true: a delete covers only earlier writes"),
    ("BLOCKCACHE", "of a family: false: reads do not cache data blocks"),
    ("IN_MEMORY", "of a family: true: such families share a quarter of the block cache"),
    (
        "BUFFERED",
        "of a family: '1s', '500ms' or '1m': increments are logged once in this time, so a kill may \
         lose those of one such time; 'NONE': each is logged",
    ),
    ("CACHE_BLOOMS_ON_WRITE", "of a family: stored without effect, as the following ones"),
    ("CACHE_DATA_ON_WRITE", ""),
    ("CACHE_INDEX_ON_WRITE", ""),
    ("DFS_REPLICATION", ""),
    ("EVICT_BLOCKS_ON_CLOSE", ""),
    ("INDEX_BLOCK_ENCODING", ""),
    ("IN_MEMORY_COMPACTION", ""),
    ("IS_MOB", ""),
    ("MOB_COMPACT_PARTITION_POLICY", ""),
    ("MOB_THRESHOLD", ""),
    ("PREFETCH_BLOCKS_ON_OPEN", ""),
    ("REPLICATION_SCOPE", ""),
    ("STORAGE_POLICY", ""),
    ("KEY", "the template of the table's row key"),
    ("COLUMNS", "the table's columns: family:qualifier name type, separated by ;"),
    ("INDEXES", "the table's indexes: name [template], with where and covers, separated by ;"),
    ("METADATA", "a hash of further attributes of the table or family; nil removes one"),
    ("CONFIGURATION", "a hash of configuration values of the table or family; nil removes one"),
    ("DURABILITY", "of the table: 'SKIP_WAL', 'ASYNC_WAL', 'SYNC_WAL' or 'FSYNC_WAL'"),
    ("READONLY", "of the table: true: writes are refused"),
    ("COMPACTION_ENABLED", "of the table: false: no compactions"),
    ("MAX_FILESIZE", "of the table: bytes, or '10 GB': a larger region is split automatically"),
    ("MEMSTORE_FLUSHSIZE", "of the table: bytes: its only region is split at twice this size"),
    ("MERGE_ENABLED", "of the table: false: its regions are not merged"),
    ("NORMALIZATION_ENABLED", "of the table: stored without effect, as the following ones"),
    ("OWNER", ""),
    ("PRIORITY", ""),
    ("SPLIT_ENABLED", "of the table: false: its regions are not split"),
];

/// Family attributes that are passed on unchanged.
const FAMILY_ATTRIBUTES: [&str; 23] = [
    "BLOCKCACHE",
    "BLOOMFILTER",
    "BUFFERED",
    "CACHE_BLOOMS_ON_WRITE",
    "CACHE_DATA_ON_WRITE",
    "CACHE_INDEX_ON_WRITE",
    "COMPRESSION",
    "COMPRESSION_COMPACT",
    "COMPRESSION_COMPACT_MAJOR",
    "COMPRESSION_COMPACT_MINOR",
    "DATA_BLOCK_ENCODING",
    "DFS_REPLICATION",
    "EVICT_BLOCKS_ON_CLOSE",
    "INDEX_BLOCK_ENCODING",
    "IN_MEMORY",
    "IN_MEMORY_COMPACTION",
    "KEEP_DELETED_CELLS",
    "MIN_VERSIONS",
    "MOB_COMPACT_PARTITION_POLICY",
    "NEW_VERSION_BEHAVIOR",
    "PREFETCH_BLOCKS_ON_OPEN",
    "REPLICATION_SCOPE",
    "STORAGE_POLICY",
];

/// Family attributes that are parsed.
const FAMILY_READ: [&str; 5] = ["BLOCKSIZE", "IS_MOB", "MOB_THRESHOLD", "TTL", "VERSIONS"];

/// Table attributes that are passed on unchanged.
const TABLE_ATTRIBUTES: [&str; 8] = [
    "COMPACTION_ENABLED",
    "DURABILITY",
    "MERGE_ENABLED",
    "NORMALIZATION_ENABLED",
    "OWNER",
    "PRIORITY",
    "READONLY",
    "SPLIT_ENABLED",
];

/// Table attributes that are sizes in bytes.
const TABLE_SIZES: [&str; 2] = ["MAX_FILESIZE", "MEMSTORE_FLUSHSIZE"];

/// Valid default durabilities for a table.
const DURABILITIES: [&str; 5] = ["ASYNC_WAL", "FSYNC_WAL", "SKIP_WAL", "SYNC_WAL", "USE_DEFAULT"];

/// Values to set; those without one are removed.
#[derive(Default)]
pub(super) struct Declared {
    pub(super) attributes: Vec<(String, Option<String>)>,
    pub(super) configuration: Vec<(String, Option<String>)>,
}

impl Declared {
    /// Takes the options for a family.
    pub(super) fn of_family(options: &mut Options) -> Result<Self> {
        let mut declared = Self::default();
        if let Some(versions) = options.take_text("VERSIONS")? {
            if versions.parse::<i64>().is_ok_and(|versions| versions < 1) {
                return usage_error("Maximum versions must be positive");
            }
            declared.set("VERSIONS", versions);
        }
        if let Some(ttl) = options.take_text("TTL")? {
            let Some(seconds) = parse_ttl(&ttl) else {
                return usage_error(format!(
                    "TTL must be seconds, '1 DAY 2 HOURS' or 'FOREVER': {ttl}"
                ));
            };
            declared.set("TTL", seconds.to_string());
        }
        declared.take_size(options, "BLOCKSIZE")?;
        declared.take_size(options, "MOB_THRESHOLD")?;
        if options.has("IS_MOB") {
            declared.set("IS_MOB", options.take_truth("IS_MOB")?.to_string());
        }
        for name in FAMILY_ATTRIBUTES {
            if let Some(value) = options.take_text(name)? {
                declared.set(name, in_hbases_case(name, value));
            }
        }
        declared.take_hashes(options)?;
        Ok(declared)
    }

    /// Takes the options for a table.
    pub(super) fn of_table(options: &mut Options) -> Result<Self> {
        let mut declared = Self::default();
        for name in TABLE_ATTRIBUTES {
            let Some(value) = options.take_text(name)? else { continue };
            if name == "DURABILITY" && !DURABILITIES.contains(&&value[..]) {
                let known = DURABILITIES.join(", ");
                return usage_error(format!("DURABILITY must be one of {known}: {value}"));
            }
            declared.set(name, value);
        }
        for name in TABLE_SIZES {
            declared.take_size(options, name)?;
        }
        declared.take_hashes(options)?;
        match FAMILY_ATTRIBUTES.iter().chain(&FAMILY_READ).find(|name| options.has(name)) {
            None => Ok(declared),
            Some(name) => {
                usage_error(format!("{name} belongs to a family: {{NAME => 'cf', {name} => …}}"))
            }
        }
    }

    /// Returns the family with the declarations applied.
    pub(super) fn in_family(&self, mut family: FamilyDescriptor) -> FamilyDescriptor {
        self.apply(&mut family.attributes, &mut family.configuration);
        family
    }

    /// Returns the table with the declarations applied.
    pub(super) fn in_table(&self, mut table: TableDescriptor) -> TableDescriptor {
        self.apply(&mut table.attributes, &mut table.configuration);
        table
    }

    fn apply(
        &self,
        attributes: &mut BTreeMap<Bytes, Bytes>,
        configuration: &mut BTreeMap<String, String>,
    ) {
        for (name, value) in &self.attributes {
            match value {
                Some(value) => attributes.insert(name.clone().into(), value.clone().into()),
                None => attributes.remove(name.as_bytes()),
            };
        }
        for (name, value) in &self.configuration {
            match value {
                Some(value) => configuration.insert(name.clone(), value.clone()),
                None => configuration.remove(name),
            };
        }
    }

    fn set(&mut self, name: &str, value: String) {
        self.attributes.push((name.to_owned(), Some(value)));
    }

    fn take_size(&mut self, options: &mut Options, name: &str) -> Result<()> {
        if let Some(bytes) = take_size(options, name)? {
            self.set(name, bytes.to_string());
        }
        Ok(())
    }

    fn take_hashes(&mut self, options: &mut Options) -> Result<()> {
        for (name, value) in options.take_texts("METADATA")? {
            if self.attributes.iter().any(|(declared, _)| *declared == name) {
                return usage_error(format!("{name} is given twice: as an option and in METADATA"));
            }
            self.attributes.push((name, value));
        }
        self.configuration.extend(options.take_texts("CONFIGURATION")?);
        Ok(())
    }
}

/// Takes a size in bytes, as a number or in HBase's notation.
pub(super) fn take_size(options: &mut Options, name: &str) -> Result<Option<i64>> {
    let Some(text) = options.take_text(name)? else { return Ok(None) };
    match parse_size(&text) {
        Some(bytes) => Ok(Some(bytes)),
        None => usage_error(format!("{name} must be bytes, or as '1 GB 512 MB': {text}")),
    }
}

/// Attributes whose values are names in an enumeration.
const WORDS: [&str; 10] = [
    "BLOOMFILTER",
    "COMPRESSION",
    "COMPRESSION_COMPACT",
    "COMPRESSION_COMPACT_MAJOR",
    "COMPRESSION_COMPACT_MINOR",
    "DATA_BLOCK_ENCODING",
    "IN_MEMORY_COMPACTION",
    "KEEP_DELETED_CELLS",
    "MOB_COMPACT_PARTITION_POLICY",
    "STORAGE_POLICY",
];

/// Converts enumeration names to upper case: HBase's shell accepts any case.
fn in_hbases_case(name: &str, value: String) -> String {
    if WORDS.contains(&name) { value.to_uppercase() } else { value }
}
