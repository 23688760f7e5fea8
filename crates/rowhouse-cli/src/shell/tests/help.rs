//! The shell explains itself, and is left.

use expect_test::expect;

use super::check;

#[test]
fn help_and_exit() {
    check(
        "help 'create'
help 'desc'
version
quit
list",
        expect![[r#"
            > help 'create'
            Makes a table.

              create TABLE, [FAMILY or OPTIONS]…

            A family is its name or a hash with NAME. Pairs that belong to no family are the table's.

            Options:

              NAME                     a family's name; the other pairs of its hash are the family's attributes
              VERSIONS                 of a family: how many versions of a cell are kept
              TTL                      of a family: seconds a cell lives, '1 DAY 2 HOURS', or 'FOREVER'
              MIN_VERSIONS             of a family: how many versions outlive their TTL
              BLOCKSIZE                of a family: bytes of a data block
              BLOOMFILTER              of a family: 'ROW', 'ROWCOL' or 'NONE'
              COMPRESSION              of a family: 'NONE', 'GZ', 'SNAPPY', 'LZ4' or 'ZSTD'
              DATA_BLOCK_ENCODING      of a family: 'NONE', 'PREFIX', 'DIFF', 'FAST_DIFF' or 'ROW_INDEX_V1'
              KEEP_DELETED_CELLS       of a family: 'FALSE', 'TRUE' or 'TTL'
              BLOCKCACHE               of a family: kept and shown, as the next ones
              CACHE_BLOOMS_ON_WRITE
              CACHE_DATA_ON_WRITE
              CACHE_INDEX_ON_WRITE
              EVICT_BLOCKS_ON_CLOSE
              INDEX_BLOCK_ENCODING
              IN_MEMORY
              NEW_VERSION_BEHAVIOR
              PREFETCH_BLOCKS_ON_OPEN
              REPLICATION_SCOPE
              KEY                      the template of the table's row key
              COLUMNS                  the table's columns: family:qualifier name type, with ; between two
              SPLITS                   an array of rows at which further regions begin; \xHH is a byte
              METADATA                 a hash of the table's, or the family's, own attributes
              CONFIGURATION            a hash of configuration values of the table, or the family
              DURABILITY               of the table: 'SKIP_WAL', 'ASYNC_WAL', 'SYNC_WAL' or 'FSYNC_WAL'
              OWNER                    of the table: kept and shown, as the next ones
              COMPACTION_ENABLED
              MAX_FILESIZE
              MEMSTORE_FLUSHSIZE
              MERGE_ENABLED
              NORMALIZATION_ENABLED
              PRIORITY
              SPLIT_ENABLED

            For example:

              create 'blog', 'cf'
              create 'blog', {NAME => 'cf', VERSIONS => 3}, {NAME => 'log', TTL => 86400}
              create 'blog', 'cf', KEY => '[blogger text]_[at millis digits desc]'
              create 'blog', 'cf', COLUMNS => 'cf:t title string; cf:n likes u32'
              create 'blog', 'cf', SPLITS => ['10', '20', '30']
            > help 'desc'
            Shows how a table was declared.

              describe TABLE

            desc is the same.

            For example:

              describe 'blog'
              desc 'shop:orders'
            > version
            rowhouse 0.1.0
            Took T seconds
            > quit
        "#]],
    );
}
