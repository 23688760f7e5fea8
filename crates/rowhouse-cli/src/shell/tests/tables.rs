//! Tests of creating, describing and dropping tables and namespaces.

use expect_test::expect;

use super::check;

#[test]
fn a_table_from_create_to_drop() {
    check(
        "create 'post', 'cf'
list
exists 'post'
is_enabled 'post'
is_disabled 'post'
disable 'post'
is_disabled 'post'
disable 'post'
describe 'post'
enable 'post'
enable 'post'
flush 'post'
disable 'post'
drop 'post'
exists 'post'
list",
        expect![[r#"
            > create 'post', 'cf'
            Created table post
            Took T seconds
            => Hbase::Table - post
            > list
            TABLE
            post
            1 row(s)
            Took T seconds
            => ["post"]
            > exists 'post'
            Table post does exist
            Took T seconds
            => true
            > is_enabled 'post'
            true
            Took T seconds
            => true
            > is_disabled 'post'
            false
            Took T seconds
            => false
            > disable 'post'
            Took T seconds
            > is_disabled 'post'
            true
            Took T seconds
            => true
            > disable 'post'
            Took T seconds
            > describe 'post'
            Table post is DISABLED
            post, {TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'cf', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            1 row(s)
            Quota is disabled
            Took T seconds
            > enable 'post'
            Took T seconds
            > enable 'post'
            Took T seconds
            > flush 'post'
            Took T seconds
            > disable 'post'
            Took T seconds
            > drop 'post'
            Took T seconds
            > exists 'post'
            Table post does not exist
            Took T seconds
            => false
            > list
            TABLE
            0 row(s)
            Took T seconds
            => []
        "#]],
    );
}

#[test]
fn families_and_attributes_as_declared() {
    check(
        "create 't', {NAME => 'f1', VERSIONS => 5, TTL => 86400, BLOOMFILTER => 'none'}, {NAME => 'f2', 'TTL' => '1 DAY 2 HOURS', MIN_VERSIONS => 1, BLOCKSIZE => 8192, IN_MEMORY => true, METADATA => {'note' => 'x'}, CONFIGURATION => {'a.b' => '1'}}
desc 't'
create 'u', 'f', MAX_FILESIZE => 134217728, METADATA => {'mine' => 'yes'}, CONFIGURATION => {'hbase.hstore.blockingStoreFiles' => '20'}
desc 'u'
create('v', ['f', 'g'], {OWNER => 'me'})
desc 'v'",
        expect![[r#"
            > create 't', {NAME => 'f1', VERSIONS => 5, TTL => 86400, BLOOMFILTER => 'none'}, {NAME => 'f2', 'TTL' => '1 DAY 2 HOURS', MIN_VERSIONS => 1, BLOCKSIZE => 8192, IN_MEMORY => true, METADATA => {'note' => 'x'}, CONFIGURATION => {'a.b' => '1'}}
            Created table t
            Took T seconds
            => Hbase::Table - t
            > desc 't'
            Table t is ENABLED
            t, {TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'f1', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '5', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => '86400 SECONDS (1 DAY)', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'NONE', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            {NAME => 'f2', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => '93600 SECONDS (1 DAY 2 HOURS)', MIN_VERSIONS => '1', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'true', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '8192 B (8KB)', METADATA => {'note' => 'x'}, CONFIGURATION => {'a.b' => '1'}}

            2 row(s)
            Quota is disabled
            Took T seconds
            > create 'u', 'f', MAX_FILESIZE => 134217728, METADATA => {'mine' => 'yes'}, CONFIGURATION => {'hbase.hstore.blockingStoreFiles' => '20'}
            Created table u
            Took T seconds
            => Hbase::Table - u
            > desc 'u'
            Table u is ENABLED
            u, {TABLE_ATTRIBUTES => {MAX_FILESIZE => '134217728 B (128MB)', METADATA => {'hbase.hstore.blockingStoreFiles' => '20', 'hbase.store.file-tracker.impl' => 'DEFAULT', 'mine' => 'yes'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            1 row(s)
            Quota is disabled
            Took T seconds
            > create('v', ['f', 'g'], {OWNER => 'me'})
            Created table v
            Took T seconds
            => Hbase::Table - v
            > desc 'v'
            Table v is ENABLED
            v, {TABLE_ATTRIBUTES => {OWNER => 'me', METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            {NAME => 'g', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            2 row(s)
            Quota is disabled
            Took T seconds
        "#]],
    );
}

#[test]
fn tables_are_listed_by_pattern() {
    check(
        "create_namespace 'ns1'
create 'post', 'cf'; create 'page', 'cf'; create 'ns1:post', 'cf'
list
list 'p.*'
list 'p'
list 'ns1:.*'
list 'default:po.*'
list_namespace_tables 'ns1'
list '('",
        expect![[r#"
            > create_namespace 'ns1'
            Took T seconds
            > create 'post', 'cf'; create 'page', 'cf'; create 'ns1:post', 'cf'
            Created table post
            Took T seconds
            => Hbase::Table - post
            Created table page
            Took T seconds
            => Hbase::Table - page
            Created table ns1:post
            Took T seconds
            => Hbase::Table - ns1:post
            > list
            TABLE
            page
            post
            ns1:post
            3 row(s)
            Took T seconds
            => ["page", "post", "ns1:post"]
            > list 'p.*'
            TABLE
            page
            post
            2 row(s)
            Took T seconds
            => ["page", "post"]
            > list 'p'
            TABLE
            0 row(s)
            Took T seconds
            => []
            > list 'ns1:.*'
            TABLE
            ns1:post
            1 row(s)
            Took T seconds
            => ["ns1:post"]
            > list 'default:po.*'
            TABLE
            post
            1 row(s)
            Took T seconds
            => ["post"]
            > list_namespace_tables 'ns1'
            TABLE
            post
            1 row(s)
            Took T seconds
            => ["post"]
            > list '('

            ERROR: not a regular expression: unclosed group: (

            For usage try 'help "list"'

            Took T seconds
        "#]],
    );
}

#[test]
fn namespaces() {
    check(
        "create_namespace 'ns2', {'owner' => 'blog team'}
list_namespace
list_namespace 'ns.*'
create 'ns2:t', 'f'
create_namespace 'ns2'
drop_namespace 'ns2'
disable 'ns2:t'
drop 'ns2:t'
drop_namespace 'ns2'
drop_namespace 'ns2'
drop_namespace 'default'
create_namespace 'a b'
list_namespace_tables 'nosuch'",
        expect![[r#"
            > create_namespace 'ns2', {'owner' => 'blog team'}
            Took T seconds
            > list_namespace
            NAMESPACE
            default
            hbase
            ns2
            3 row(s)
            Took T seconds
            > list_namespace 'ns.*'
            NAMESPACE
            ns2
            1 row(s)
            Took T seconds
            > create 'ns2:t', 'f'
            Created table ns2:t
            Took T seconds
            => Hbase::Table - ns2:t
            > create_namespace 'ns2'

            ERROR: org.apache.hadoop.hbase.NamespaceExistException: Namespace ns2 already exists

            For usage try 'help "create_namespace"'

            Took T seconds
            > drop_namespace 'ns2'

            ERROR: org.apache.hadoop.hbase.constraint.ConstraintException: Only empty namespaces can be removed. Namespace ns2 has 1 tables

            For usage try 'help "drop_namespace"'

            Took T seconds
            > disable 'ns2:t'
            Took T seconds
            > drop 'ns2:t'
            Took T seconds
            > drop_namespace 'ns2'
            Took T seconds
            > drop_namespace 'ns2'

            ERROR: Unknown namespace ns2!

            For usage try 'help "drop_namespace"'

            Took T seconds
            > drop_namespace 'default'

            ERROR: org.apache.hadoop.hbase.constraint.ConstraintException: Reserved namespace default cannot be removed.

            For usage try 'help "drop_namespace"'

            Took T seconds
            > create_namespace 'a b'

            ERROR: illegal namespace: only letters, digits and _ are allowed, not ' ', name=a b

            For usage try 'help "create_namespace"'

            Took T seconds
            > list_namespace_tables 'nosuch'
            TABLE

            ERROR: Unknown namespace nosuch!

            For usage try 'help "list_namespace_tables"'

            Took T seconds
        "#]],
    );
}

#[test]
fn what_cannot_be_created() {
    check(
        "create 't', 'f'
create 't', 'f'
create 'bad name', 'f'
create 'x', {NAME => 'f', VERSIONS => 0}
create 'x', {NAME => 'f', VERSIONS => 'many'}
create 'x', {NAME => 'f', TTL => 'soon'}
create 'x', {NAME => 'f', COMPRESSION => 'lzo'}
create 'x', {NAME => 'f', COLOUR => 'red'}
create 'x', 'f:g'
create 'x', 'f', 'f'
create 'x', 'f', COLOUR => 'red'
create 'x', 'f', VERSIONS => 3
create 'x', 'f', DURABILITY => 'FSYNC'
create 'x', {NAME => 'f', KEY => '[id text]'}
create 'x', 'f', SPLITS => ['a', 'a']
create 'x', 'f', SPLITS => ['', 'a']
create 'x', 'f', SPLITS => ['a\\q']
create 'x', 5
create 'x', SPLITS => ['a']
create 'x'
create 'nons:x', 'f'
create 'hbase:x', 'f'",
        expect![[r#"
            > create 't', 'f'
            Created table t
            Took T seconds
            => Hbase::Table - t
            > create 't', 'f'

            ERROR: Table already exists: t!

            For usage try 'help "create"'

            Took T seconds
            > create 'bad name', 'f'

            ERROR: Illegal character code:32, < > at 3. User-space table qualifiers may only contain 'alphanumeric characters' and digits: bad name

            For usage try 'help "create"'

            Took T seconds
            > create 'x', {NAME => 'f', VERSIONS => 0}

            ERROR: Maximum versions must be positive

            For usage try 'help "create"'

            Took T seconds
            > create 'x', {NAME => 'f', VERSIONS => 'many'}

            ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: VERSIONS of family f must be a number from 0 to 2147483647: many

            For usage try 'help "create"'

            Took T seconds
            > create 'x', {NAME => 'f', TTL => 'soon'}

            ERROR: TTL must be seconds, '1 DAY 2 HOURS' or 'FOREVER': soon

            For usage try 'help "create"'

            Took T seconds
            > create 'x', {NAME => 'f', COMPRESSION => 'lzo'}

            ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: COMPRESSION LZO of family f is not supported: supported=NONE, GZ, SNAPPY, LZ4, ZSTD

            For usage try 'help "create"'

            Took T seconds
            > create 'x', {NAME => 'f', COLOUR => 'red'}

            ERROR: a family has no option COLOUR

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f:g'

            ERROR: illegal family name: must not hold : / \ or control characters, name=f:g

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', 'f'

            ERROR: a table has a family once: family=f

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', COLOUR => 'red'

            ERROR: table x has no option COLOUR

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', VERSIONS => 3

            ERROR: VERSIONS belongs to a family: {NAME => 'cf', VERSIONS => …}

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', DURABILITY => 'FSYNC'

            ERROR: DURABILITY must be one of ASYNC_WAL, FSYNC_WAL, SKIP_WAL, SYNC_WAL, USE_DEFAULT: FSYNC

            For usage try 'help "create"'

            Took T seconds
            > create 'x', {NAME => 'f', KEY => '[id text]'}

            ERROR: a family has no option KEY

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', SPLITS => ['a', 'a']

            ERROR: All split keys must be unique, found duplicate: a, a

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', SPLITS => ['', 'a']

            ERROR: Empty split key must not be passed in the split keys.

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', SPLITS => ['a\q']

            ERROR: a backslash must begin \xHH with two hex digits: at=1, text=a\q

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 5

            ERROR: a family is a text or a hash, not a number

            For usage try 'help "create"'

            Took T seconds
            > create 'x', SPLITS => ['a']

            ERROR: Table must have at least one column family

            For usage try 'help "create"'

            Took T seconds
            > create 'x'

            ERROR: Table must have at least one column family

            For usage try 'help "create"'

            Took T seconds
            > create 'nons:x', 'f'

            ERROR: Unknown namespace nons!

            For usage try 'help "create"'

            Took T seconds
            > create 'hbase:x', 'f'

            ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: hbase:x: the hbase namespace is the system's

            For usage try 'help "create"'

            Took T seconds
        "#]],
    );
}

#[test]
fn the_catalog_is_read_and_never_written() {
    check(
        "create_namespace 'ns'
create 't', 'f'
scan 'hbase:namespace', {COLUMNS => 'info:d', LIMIT => 2}
get 'hbase:meta', 't', 'table:state'
scan 'hbase:meta', {COLUMNS => 'table'}
scan 'hbase:meta', {COLUMNS => 'table', REVERSED => true, LIMIT => 1}
put 'hbase:meta', 't', 'table:state', 'x'",
        expect![[r#"
            > create_namespace 'ns'
            Took T seconds
            > create 't', 'f'
            Created table t
            Took T seconds
            => Hbase::Table - t
            > scan 'hbase:namespace', {COLUMNS => 'info:d', LIMIT => 2}
            ROW  COLUMN+CELL
             default column=info:d, timestamp=NOW, value=\x0A\x07default
             hbase column=info:d, timestamp=NOW, value=\x0A\x05hbase
            2 row(s)
            Took T seconds
            > get 'hbase:meta', 't', 'table:state'
            COLUMN  CELL
             table:state timestamp=NOW, value=\x08\x00
            1 row(s)
            Took T seconds
            > scan 'hbase:meta', {COLUMNS => 'table'}
            ROW  COLUMN+CELL
             hbase:namespace column=table:state, timestamp=NOW, value=\x08\x00
             t column=table:state, timestamp=NOW, value=\x08\x00
            2 row(s)
            Took T seconds
            > scan 'hbase:meta', {COLUMNS => 'table', REVERSED => true, LIMIT => 1}
            ROW  COLUMN+CELL
             t column=table:state, timestamp=NOW, value=\x08\x00
            1 row(s)
            Took T seconds
            > put 'hbase:meta', 't', 'table:state', 'x'

            ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: hbase:meta is made from the manifest and cannot be written

            For usage try 'help "put"'

            Took T seconds
        "#]],
    );
}

#[test]
fn splits_and_merges_are_switched_off_and_on() {
    check(
        "create 'post', 'cf', SPLITS => ['m']
splitormerge_enabled 'SPLIT'
splitormerge_switch 'SPLIT', false
splitormerge_switch 'split', false
split 'post', 'f'
splitormerge_switch 'SPLIT', true
split 'post', 'f'
splitormerge_enabled 'MERGE'
splitormerge_enabled 'BALANCER'
splitormerge_switch 'MERGE', 'on'
get_splits 'post'",
        expect![[r#"
            > create 'post', 'cf', SPLITS => ['m']
            Created table post
            Took T seconds
            => Hbase::Table - post
            > splitormerge_enabled 'SPLIT'
            true
            Took T seconds
            > splitormerge_switch 'SPLIT', false
            true
            Took T seconds
            > splitormerge_switch 'split', false
            false
            Took T seconds
            > split 'post', 'f'

            ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: Split region post,,ID.MD5. failed due to split switch off

            For usage try 'help "split"'

            Took T seconds
            > splitormerge_switch 'SPLIT', true
            false
            Took T seconds
            > split 'post', 'f'
            Took T seconds
            > splitormerge_enabled 'MERGE'
            true
            Took T seconds
            > splitormerge_enabled 'BALANCER'

            ERROR: a switch is 'SPLIT' or 'MERGE': BALANCER

            For usage try 'help "splitormerge_enabled"'

            Took T seconds
            > splitormerge_switch 'MERGE', 'on'

            ERROR: BOOLEAN must be true or false: 'on'

            For usage try 'help "splitormerge_switch"'

            Took T seconds
            > get_splits 'post'
            Total number of splits = 3
            f
            m
            Took T seconds
            => ["f", "m"]
        "#]],
    );
}

#[test]
fn files_are_merged_and_regions_taken_out_of_service_where_they_are_known() {
    check(
        "create 'post', 'cf'
compact 'post'
major_compact 'post', 'cf'
compact 'post', 'other'
major_compact 'none'
disable 'post'
compact 'post'
unassign 'none'
assign 'post,,1.d41d8cd98f00b204e9800998ecf8427e.'
move 'none', 'server,16020,1'",
        expect![[r#"
            > create 'post', 'cf'
            Created table post
            Took T seconds
            => Hbase::Table - post
            > compact 'post'
            Took T seconds
            > major_compact 'post', 'cf'
            Took T seconds
            > compact 'post', 'other'

            ERROR: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family other does not exist in region post,,ID.MD5. in table 'post', {NAME => 'cf'}

            For usage try 'help "compact"'

            Took T seconds
            > major_compact 'none'

            ERROR: Unknown table none!

            For usage try 'help "major_compact"'

            Took T seconds
            > disable 'post'
            Took T seconds
            > compact 'post'

            ERROR: Table post is disabled!

            For usage try 'help "compact"'

            Took T seconds
            > unassign 'none'

            ERROR: no such table or region, as list_regions names them: none

            For usage try 'help "unassign"'

            Took T seconds
            > assign 'post,,1.d41d8cd98f00b204e9800998ecf8427e.'

            ERROR: no such table or region, as list_regions names them: post,,1.d41d8cd98f00b204e9800998ecf8427e.

            For usage try 'help "assign"'

            Took T seconds
            > move 'none', 'server,16020,1'

            ERROR: wrong number of arguments (given 2, expected 1)

            For usage try 'help "move"'

            Took T seconds
        "#]],
    );
}

#[test]
fn compression_of_merges_and_what_is_kept_without_effect_can_be_declared() {
    check(
        "create 't', {NAME => 'f', COMPRESSION_COMPACT => 'gz', COMPRESSION_COMPACT_MINOR => 'lz4', IS_MOB => true, MOB_THRESHOLD => 102400}
alter 't', {NAME => 'f', COMPRESSION_COMPACT_MAJOR => 'ZSTD', IN_MEMORY_COMPACTION => 'basic', DFS_REPLICATION => 1, STORAGE_POLICY => 'hot', MOB_COMPACT_PARTITION_POLICY => 'daily'}
describe 't'
alter 't', {NAME => 'f', COMPRESSION_COMPACT => 'LZO'}
alter 't', {NAME => 'f', IS_MOB => 'perhaps'}
alter 't', {NAME => 'f', MOB_THRESHOLD => 'many'}
alter 't', IS_MOB => true",
        expect![[r#"
            > create 't', {NAME => 'f', COMPRESSION_COMPACT => 'gz', COMPRESSION_COMPACT_MINOR => 'lz4', IS_MOB => true, MOB_THRESHOLD => 102400}
            Created table t
            Took T seconds
            => Hbase::Table - t
            > alter 't', {NAME => 'f', COMPRESSION_COMPACT_MAJOR => 'ZSTD', IN_MEMORY_COMPACTION => 'basic', DFS_REPLICATION => 1, STORAGE_POLICY => 'hot', MOB_COMPACT_PARTITION_POLICY => 'daily'}
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > describe 't'
            Table t is ENABLED
            t, {TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)', COMPRESSION_COMPACT => 'GZ', COMPRESSION_COMPACT_MAJOR => 'ZSTD', COMPRESSION_COMPACT_MINOR => 'LZ4', DFS_REPLICATION => '1', IN_MEMORY_COMPACTION => 'BASIC', IS_MOB => 'true', MOB_COMPACT_PARTITION_POLICY => 'DAILY', MOB_THRESHOLD => '102400', STORAGE_POLICY => 'HOT'}

            1 row(s)
            Quota is disabled
            Took T seconds
            > alter 't', {NAME => 'f', COMPRESSION_COMPACT => 'LZO'}

            ERROR: COMPRESSION_COMPACT LZO of family f is not supported: supported=NONE, GZ, SNAPPY, LZ4, ZSTD

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', {NAME => 'f', IS_MOB => 'perhaps'}

            ERROR: IS_MOB must be true or false: 'perhaps'

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', {NAME => 'f', MOB_THRESHOLD => 'many'}

            ERROR: MOB_THRESHOLD must be bytes, or as '1 GB 512 MB': many

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', IS_MOB => true

            ERROR: IS_MOB belongs to a family: {NAME => 'cf', IS_MOB => …}

            For usage try 'help "alter"'

            Took T seconds
        "#]],
    );
}

#[test]
fn tables_are_disabled_enabled_and_dropped_by_pattern_when_somebody_says_so() {
    check(
        "create 'a1', 'f'
create 'a2', 'f'
create 'b', 'f'
disable 'a1'
drop_all 'a.*'
n
drop_all 'a.*'
y
disable_all '.*'
yes
enable_all 'default:.*'
y
enable_all 'b'
Y
drop_all 'c.*'
disable_all '('
list",
        expect![[r#"
            > create 'a1', 'f'
            Created table a1
            Took T seconds
            => Hbase::Table - a1
            > create 'a2', 'f'
            Created table a2
            Took T seconds
            => Hbase::Table - a2
            > create 'b', 'f'
            Created table b
            Took T seconds
            => Hbase::Table - b
            > disable 'a1'
            Took T seconds
            > drop_all 'a.*'
            a1
            a2

            Drop the above 2 tables (y/n)?
            Took T seconds
            > n
            > drop_all 'a.*'
            a1
            a2

            Drop the above 2 tables (y/n)?
            Took T seconds
            > y
            table:a2, error:Table a2 should be disabled!
            1 tables successfully dropped
            1 tables not dropped due to an exception: a2
            > disable_all '.*'
            a2
            b

            Disable the above 2 tables (y/n)?
            Took T seconds
            > yes
            2 tables successfully disabled
            > enable_all 'default:.*'
            a2
            b

            Enable the above 2 tables (y/n)?
            Took T seconds
            > y
            2 tables successfully enabled
            > enable_all 'b'
            b

            Enable the above 1 tables (y/n)?
            Took T seconds
            > Y
            table:b, error:Table b is enabled already
            0 tables successfully enabled
            1 tables not enabled due to an exception: b
            > drop_all 'c.*'
            No tables matched the regex c.*
            Took T seconds
            > disable_all '('

            ERROR: not a regular expression: unclosed group: (

            For usage try 'help "disable_all"'

            Took T seconds
            > list
            TABLE
            a2
            b
            2 row(s)
            Took T seconds
            => ["a2", "b"]
        "#]],
    );
}

#[test]
fn a_namespace_is_described_and_altered() {
    check(
        "create_namespace 'shop', {'owner' => 'sales', 'x' => '1'}
describe_namespace 'shop'
alter_namespace 'shop', {METHOD => 'set', 'owner' => 'ann', 'y' => 2}, {METHOD => 'unset', NAME => 'x'}
describe_namespace 'shop'
alter_namespace 'shop', {METHOD => 'unset', NAME => 'x'}
alter_namespace 'shop', {METHOD => 'unset', NAME => 'y', 'owner' => 'me'}
alter_namespace 'shop', {METHOD => 'remove', NAME => 'y'}
alter_namespace 'shop', {'owner' => 'me'}
alter_namespace 'shop', {METHOD => 'set', 'hbase.namespace.quota.maxtables' => 5}
alter_namespace 'nosuch', {METHOD => 'set', 'owner' => 'me'}
describe_namespace 'nosuch'
describe_namespace 'default'",
        expect![[r#"
            > create_namespace 'shop', {'owner' => 'sales', 'x' => '1'}
            Took T seconds
            > describe_namespace 'shop'
            DESCRIPTION
            {NAME => 'shop', owner => 'sales', x => '1'}
            Quota is disabled
            Took T seconds
            > alter_namespace 'shop', {METHOD => 'set', 'owner' => 'ann', 'y' => 2}, {METHOD => 'unset', NAME => 'x'}
            Took T seconds
            > describe_namespace 'shop'
            DESCRIPTION
            {NAME => 'shop', owner => 'ann', y => '2'}
            Quota is disabled
            Took T seconds
            > alter_namespace 'shop', {METHOD => 'unset', NAME => 'x'}

            ERROR: Could not find configuration: x

            For usage try 'help "alter_namespace"'

            Took T seconds
            > alter_namespace 'shop', {METHOD => 'unset', NAME => 'y', 'owner' => 'me'}

            ERROR: unset takes METHOD and NAME, not owner

            For usage try 'help "alter_namespace"'

            Took T seconds
            > alter_namespace 'shop', {METHOD => 'remove', NAME => 'y'}

            ERROR: Unknown method: remove

            For usage try 'help "alter_namespace"'

            Took T seconds
            > alter_namespace 'shop', {'owner' => 'me'}

            ERROR: METHOD is missing: 'set' or 'unset'

            For usage try 'help "alter_namespace"'

            Took T seconds
            > alter_namespace 'shop', {METHOD => 'set', 'hbase.namespace.quota.maxtables' => 5}
            Took T seconds
            > alter_namespace 'nosuch', {METHOD => 'set', 'owner' => 'me'}

            ERROR: Unknown namespace nosuch!

            For usage try 'help "alter_namespace"'

            Took T seconds
            > describe_namespace 'nosuch'

            ERROR: Unknown namespace nosuch!

            For usage try 'help "describe_namespace"'

            Took T seconds
            > describe_namespace 'default'
            DESCRIPTION
            {NAME => 'default'}
            Quota is disabled
            Took T seconds
        "#]],
    );
}
