//! Tests of help and exit.

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

              NAME                          a family's name; the other pairs of its hash are the family's attributes
              VERSIONS                      of a family: how many versions of a cell are kept
              TTL                           of a family: seconds a cell lives, '1 DAY 2 HOURS', or 'FOREVER'
              MIN_VERSIONS                  of a family: how many versions outlive their TTL
              BLOCKSIZE                     of a family: bytes of a data block
              BLOOMFILTER                   of a family: 'ROW', 'ROWCOL' or 'NONE'
              COMPRESSION                   of a family: 'NONE', 'GZ', 'SNAPPY', 'LZ4' or 'ZSTD'
              COMPRESSION_COMPACT           of a family: the same of merged files, where it is another
              COMPRESSION_COMPACT_MAJOR     of a family: the same where all files are merged
              COMPRESSION_COMPACT_MINOR     of a family: the same where some are
              DATA_BLOCK_ENCODING           of a family: 'NONE', 'PREFIX', 'DIFF', 'FAST_DIFF' or 'ROW_INDEX_V1'
              KEEP_DELETED_CELLS            of a family: 'FALSE', 'TRUE' or 'TTL'
              NEW_VERSION_BEHAVIOR          of a family: true: a delete covers what was written before it
              BLOCKCACHE                    of a family: false: blocks that are read are not kept in the block cache
              IN_MEMORY                     of a family: true: a quarter of the block cache is for it and others alike
              CACHE_BLOOMS_ON_WRITE         of a family: kept and shown, as the next ones
              CACHE_DATA_ON_WRITE
              CACHE_INDEX_ON_WRITE
              DFS_REPLICATION
              EVICT_BLOCKS_ON_CLOSE
              INDEX_BLOCK_ENCODING
              IN_MEMORY_COMPACTION
              IS_MOB
              MOB_COMPACT_PARTITION_POLICY
              MOB_THRESHOLD
              PREFETCH_BLOCKS_ON_OPEN
              REPLICATION_SCOPE
              STORAGE_POLICY
              KEY                           the template of the table's row key
              COLUMNS                       the table's columns: family:qualifier name type, with ; between two
              METADATA                      a hash of the table's, or the family's, own attributes; nil takes one away
              CONFIGURATION                 a hash of configuration values of the table, or the family; nil takes one away
              DURABILITY                    of the table: 'SKIP_WAL', 'ASYNC_WAL', 'SYNC_WAL' or 'FSYNC_WAL'
              READONLY                      of the table: true: writes are refused
              COMPACTION_ENABLED            of the table: false: files are not merged
              MAX_FILESIZE                  of the table: bytes, or '10 GB': a larger region is split by itself
              MEMSTORE_FLUSHSIZE            of the table: bytes: its only region is split at twice as many
              MERGE_ENABLED                 of the table: false: its regions are not merged
              NORMALIZATION_ENABLED         of the table: kept and shown, as the next ones
              OWNER
              PRIORITY
              SPLIT_ENABLED                 of the table: false: its regions are not split
              SPLITS                        an array of rows at which further regions begin; \xHH is a byte
              SPLITS_FILE                   a file with such a row in each line
              NUMREGIONS                    so many regions, which begin where SPLITALGO says
              SPLITALGO                     'HexStringSplit', 'DecimalStringSplit' or 'UniformSplit', by what keys are

            For example:

              create 'blog', 'cf'
              create 'blog', {NAME => 'cf', VERSIONS => 3}, {NAME => 'log', TTL => 86400}
              create 'blog', 'cf', KEY => '[blogger text]_[at millis digits desc]'
              create 'blog', 'cf', COLUMNS => 'cf:t title string; cf:n likes u32'
              create 'blog', 'cf', SPLITS => ['10', '20', '30']
              create 'blog', 'cf', NUMREGIONS => 16, SPLITALGO => 'HexStringSplit'
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
