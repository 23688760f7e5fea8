//! Options of `create` and `alter` for families and tables.

/// Name and meaning.
type OptionText = (&'static str, &'static str);

/// Options of both commands.
const DECLARED: [OptionText; 43] = [
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

/// Options of `create`.
pub(super) const CREATE: [OptionText; 47] = join(
    DECLARED,
    [
        ("SPLITS", "an array of split keys; \\xHH is a byte"),
        ("SPLITS_FILE", "a file with a split key in each line"),
        ("NUMREGIONS", "the number of regions; SPLITALGO sets their boundaries"),
        (
            "SPLITALGO",
            "'HexStringSplit', 'DecimalStringSplit' or 'UniformSplit', by the form of \
                       keys",
        ),
    ],
);

/// Options of `alter`.
pub(super) const ALTER: [OptionText; 48] = join(
    DECLARED,
    [
        (
            "METHOD",
            "'delete' (of the family NAME), 'table_att_unset' and 'table_conf_unset' (of NAME, or of an array of \
             names), 'table_remove_coprocessor' (of CLASSNAME), 'table_att'",
        ),
        ("delete", "the name of a family to delete, with its cells"),
        ("coprocessor", "one of HBase's endpoints: '|class|priority|'"),
        ("CLASSNAME", "the class of a coprocessor"),
        ("FORCE", "true: sets KEY without checking that rows fit it"),
    ],
);

const fn join<const A: usize, const B: usize, const N: usize>(
    a: [OptionText; A],
    b: [OptionText; B],
) -> [OptionText; N] {
    assert!(N == A + B);
    let mut all = [("", ""); N];
    let mut at = 0;
    while at < N {
        all[at] = if at < A { a[at] } else { b[at - A] };
        at += 1;
    }
    all
}
