//! Tests of altering, truncating and pre-splitting tables.

use expect_test::expect;

use super::check;

#[test]
fn families_come_change_and_go() {
    check(
        "create 't', {NAME => 'f', VERSIONS => 3, METADATA => {'note' => 'x'}}
put 't', '1', 'f:a', 'v'
alter 't', 'g'
alter 't', {NAME => 'f', TTL => '1 DAY'}, {NAME => 'h', COMPRESSION => 'lz4'}
alter 't', NAME => 'f', METADATA => {'note' => nil}, CONFIGURATION => {'a.b' => 1}
alter 't', 'f'
desc 't'
alter 't', NAME => 'g', METHOD => 'delete'
alter 't', 'delete' => 'h'
desc 't'
scan 't'",
        expect![[r#"
            > create 't', {NAME => 'f', VERSIONS => 3, METADATA => {'note' => 'x'}}
            Created table t
            Took T seconds
            => Hbase::Table - t
            > put 't', '1', 'f:a', 'v'
            Took T seconds
            > alter 't', 'g'
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > alter 't', {NAME => 'f', TTL => '1 DAY'}, {NAME => 'h', COMPRESSION => 'lz4'}
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > alter 't', NAME => 'f', METADATA => {'note' => nil}, CONFIGURATION => {'a.b' => 1}
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > alter 't', 'f'
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > desc 't'
            Table t is ENABLED
            t, {TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '3', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => '86400 SECONDS (1 DAY)', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)', CONFIGURATION => {'a.b' => '1'}}

            {NAME => 'g', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            {NAME => 'h', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'LZ4', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            3 row(s)
            Quota is disabled
            Took T seconds
            > alter 't', NAME => 'g', METHOD => 'delete'
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > alter 't', 'delete' => 'h'
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > desc 't'
            Table t is ENABLED
            t, {TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '3', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => '86400 SECONDS (1 DAY)', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)', CONFIGURATION => {'a.b' => '1'}}

            1 row(s)
            Quota is disabled
            Took T seconds
            > scan 't'
            ROW  COLUMN+CELL
             1 column=f:a, timestamp=NOW, value=v
            1 row(s)
            Took T seconds
        "#]],
    );
}

#[test]
fn attributes_and_configuration_of_a_table_are_set_and_taken_away() {
    check(
        "create 't', 'f'
alter 't', MAX_FILESIZE => '1 GB 512 MB', OWNER => 'me', METADATA => {'mine' => 'yes', 'other' => 'no'}
alter 't', METHOD => 'table_att', MEMSTORE_FLUSHSIZE => 1048576, CONFIGURATION => {'a.b' => 1, 'c.d' => 2}
desc 't'
alter 't', {NAME => 'g'}, {METHOD => 'table_att_unset', NAME => ['MAX_FILESIZE', 'mine']}, {METHOD => 'table_conf_unset', NAME => 'a.b'}
alter 't', METADATA => {'other' => nil}, CONFIGURATION => {'c.d' => nil}
desc 't'
alter 't', READONLY => true
put 't', '1', 'f:a', 'v'
alter 't', READONLY => false
put 't', '1', 'f:a', 'v'
alter 't', 'coprocessor' => '|org.apache.hadoop.hbase.coprocessor.AggregateImplementation||'
alter 't', 'coprocessor' => '|org.apache.hadoop.hbase.coprocessor.AggregateImplementation||'
desc 't'
alter 't', METHOD => 'table_remove_coprocessor', CLASSNAME => 'org.apache.hadoop.hbase.coprocessor.AggregateImplementation'
alter 't', METHOD => 'table_remove_coprocessor', CLASSNAME => 'org.apache.hadoop.hbase.coprocessor.AggregateImplementation'",
        expect![[r#"
            > create 't', 'f'
            Created table t
            Took T seconds
            => Hbase::Table - t
            > alter 't', MAX_FILESIZE => '1 GB 512 MB', OWNER => 'me', METADATA => {'mine' => 'yes', 'other' => 'no'}
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > alter 't', METHOD => 'table_att', MEMSTORE_FLUSHSIZE => 1048576, CONFIGURATION => {'a.b' => 1, 'c.d' => 2}
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > desc 't'
            Table t is ENABLED
            t, {TABLE_ATTRIBUTES => {MAX_FILESIZE => '1610612736 B (1GB 512MB)', MEMSTORE_FLUSHSIZE => '1048576 B (1MB)', OWNER => 'me', METADATA => {'a.b' => '1', 'c.d' => '2', 'hbase.store.file-tracker.impl' => 'DEFAULT', 'mine' => 'yes', 'other' => 'no'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            1 row(s)
            Quota is disabled
            Took T seconds
            > alter 't', {NAME => 'g'}, {METHOD => 'table_att_unset', NAME => ['MAX_FILESIZE', 'mine']}, {METHOD => 'table_conf_unset', NAME => 'a.b'}
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > alter 't', METADATA => {'other' => nil}, CONFIGURATION => {'c.d' => nil}
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > desc 't'
            Table t is ENABLED
            t, {TABLE_ATTRIBUTES => {MEMSTORE_FLUSHSIZE => '1048576 B (1MB)', OWNER => 'me', METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            {NAME => 'g', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            2 row(s)
            Quota is disabled
            Took T seconds
            > alter 't', READONLY => true
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > put 't', '1', 'f:a', 'v'

            ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: region is read only: region=t,,ID.MD5.

            For usage try 'help "put"'

            Took T seconds
            > alter 't', READONLY => false
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > put 't', '1', 'f:a', 'v'
            Took T seconds
            > alter 't', 'coprocessor' => '|org.apache.hadoop.hbase.coprocessor.AggregateImplementation||'
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > alter 't', 'coprocessor' => '|org.apache.hadoop.hbase.coprocessor.AggregateImplementation||'

            ERROR: Coprocessor org.apache.hadoop.hbase.coprocessor.AggregateImplementation already exists.

            For usage try 'help "alter"'

            Took T seconds
            > desc 't'
            Table t is ENABLED
            t, {TABLE_ATTRIBUTES => {MEMSTORE_FLUSHSIZE => '1048576 B (1MB)', OWNER => 'me', READONLY => 'false', coprocessor$1 => '|org.apache.hadoop.hbase.coprocessor.AggregateImplementation||', METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            {NAME => 'g', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            2 row(s)
            Quota is disabled
            Took T seconds
            > alter 't', METHOD => 'table_remove_coprocessor', CLASSNAME => 'org.apache.hadoop.hbase.coprocessor.AggregateImplementation'
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > alter 't', METHOD => 'table_remove_coprocessor', CLASSNAME => 'org.apache.hadoop.hbase.coprocessor.AggregateImplementation'

            ERROR: the table declares no coprocessor org.apache.hadoop.hbase.coprocessor.AggregateImplementation

            For usage try 'help "alter"'

            Took T seconds
        "#]],
    );
}

#[test]
fn what_cannot_be_altered_is_refused_whole() {
    check(
        "create 't', 'f', KEY => '[id text]', COLUMNS => 'f:n n u32'
create 'u', 'f'
alter 'u', 'delete' => 'f'
alter 't', 'g', {NAME => 'f', VERSIONS => 0}
alter 't', 'g', {NAME => 'f', VERSIONS => 'many'}
alter 't', 'g', {NAME => 'f', COMPRESSION => 'lzo'}
alter 't', 'g', 'delete' => 'nosuch'
alter 't', 'delete' => 'f'
alter 't', 'h', 'delete' => 'f'
alter 't', METHOD => 'delete'
alter 't', METHOD => 'explode', NAME => 'f'
alter 't', METHOD => 'delete', NAME => 'f', VERSIONS => 5
alter 't', METHOD => 'table_att_unset', NAME => 'MAX_FILESIZE'
alter 't', METHOD => 'table_conf_unset', NAME => 'a.b'
alter 't', METHOD => 'table_att_unset'
alter 't', VERSIONS => 5
alter 't', MAX_FILESIZE => 'big'
alter 't', REGION_REPLICATION => 2
alter 't', SPLITS => ['a']
alter 't', COLOUR => 'red'
alter 't', 5
alter 't', 'bad:name'
alter 't', 'g', KEY => '[id text]'
alter 't', 'coprocessor' => '|org.example.Mine|1001|'
alter 't', 'coprocessor' => 'org.example.Mine'
alter 't'
alter 'nosuch', 'f'
alter 'hbase:meta', 'f'
desc 't'",
        expect![[r#"
            > create 't', 'f', KEY => '[id text]', COLUMNS => 'f:n n u32'
            Created table t
            Took T seconds
            => Hbase::Table - t
            > create 'u', 'f'
            Created table u
            Took T seconds
            => Hbase::Table - u
            > alter 'u', 'delete' => 'f'

            ERROR: Table should have at least one column family.

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', 'g', {NAME => 'f', VERSIONS => 0}

            ERROR: Maximum versions must be positive

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', 'g', {NAME => 'f', VERSIONS => 'many'}

            ERROR: VERSIONS of family f must be a number from 0 to 2147483647: many

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', 'g', {NAME => 'f', COMPRESSION => 'lzo'}

            ERROR: COMPRESSION LZO of family f is not supported: supported=NONE, GZ, SNAPPY, LZ4, ZSTD

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', 'g', 'delete' => 'nosuch'

            ERROR: Family 'nosuch' does not exist, so it cannot be deleted

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', 'delete' => 'f'

            ERROR: Table should have at least one column family.

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', 'h', 'delete' => 'f'

            ERROR: column `n` is in a family that the table does not declare: family=f, declared=h

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', METHOD => 'delete'

            ERROR: NAME parameter missing for delete method

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', METHOD => 'explode', NAME => 'f'

            ERROR: Unknown method: explode

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', METHOD => 'delete', NAME => 'f', VERSIONS => 5

            ERROR: alter has no option VERSIONS

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', METHOD => 'table_att_unset', NAME => 'MAX_FILESIZE'

            ERROR: Could not find attribute: MAX_FILESIZE

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', METHOD => 'table_conf_unset', NAME => 'a.b'

            ERROR: Could not find configuration: a.b

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', METHOD => 'table_att_unset'

            ERROR: NAME parameter missing for table_att_unset method

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', VERSIONS => 5

            ERROR: VERSIONS belongs to a family: {NAME => 'cf', VERSIONS => …}

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', MAX_FILESIZE => 'big'

            ERROR: MAX_FILESIZE must be bytes, or as '1 GB 512 MB': big

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', REGION_REPLICATION => 2

            ERROR: option REGION_REPLICATION of alter is not supported yet

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', SPLITS => ['a']

            ERROR: alter has no option SPLITS

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', COLOUR => 'red'

            ERROR: alter has no option COLOUR

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', 5

            ERROR: a family is a text or a hash, not a number

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', 'bad:name'

            ERROR: illegal family name: must not hold : / \ or control characters, name=bad:name

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', 'g', KEY => '[id text]'

            ERROR: KEY is altered by itself: rows are looked at first

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', 'coprocessor' => '|org.example.Mine|1001|'

            ERROR: coprocessor org.example.Mine of table t is not supported: attribute=coprocessor$1, supported=org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint, org.apache.hadoop.hbase.coprocessor.AggregateImplementation

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', 'coprocessor' => 'org.example.Mine'

            ERROR: a coprocessor is declared as PATH|CLASS|PRIORITY|ARGUMENTS: org.example.Mine

            For usage try 'help "alter"'

            Took T seconds
            > alter 't'

            ERROR: wrong number of arguments (given 1, expected 2+)

            For usage try 'help "alter"'

            Took T seconds
            > alter 'nosuch', 'f'

            ERROR: Table nosuch does not exist.

            For usage try 'help "alter"'

            Took T seconds
            > alter 'hbase:meta', 'f'

            ERROR: hbase:meta is made from the manifest and cannot be written

            For usage try 'help "alter"'

            Took T seconds
            > desc 't'
            Table t is ENABLED
            t, {TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT', 'rowhouse.columns' => '1 f:n n u32', 'rowhouse.key' => '1 [id text]'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            1 row(s)
            Quota is disabled
            Took T seconds
        "#]],
    );
}

#[test]
fn columns_and_their_family_come_together() {
    check(
        "create 't', 'f', KEY => '[id text]'
alter 't', 'g', COLUMNS => 'g:n n u32'
put 't', '1', 'g:n', \"\\x00\\x00\\x00\\x07\"
get 't', '1'",
        expect![[r#"
            > create 't', 'f', KEY => '[id text]'
            Created table t
            Took T seconds
            => Hbase::Table - t
            > alter 't', 'g', COLUMNS => 'g:n n u32'
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > put 't', '1', 'g:n', "\x00\x00\x00\x07"
            Took T seconds
            > get 't', '1'
            COLUMN  CELL
             # 1: id='1'
             #   n=7
             g:n timestamp=NOW, value=\x00\x00\x00\x07
            1 row(s)
            Took T seconds
        "#]],
    );
}

#[test]
fn a_disabled_table_is_altered() {
    check(
        "create 't', 'f'
disable 't'
alter 't', 'g'
is_disabled 't'
enable 't'
put 't', '1', 'g:a', 'v'
scan 't'",
        expect![[r#"
            > create 't', 'f'
            Created table t
            Took T seconds
            => Hbase::Table - t
            > disable 't'
            Took T seconds
            > alter 't', 'g'
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > is_disabled 't'
            true
            Took T seconds
            => true
            > enable 't'
            Took T seconds
            > put 't', '1', 'g:a', 'v'
            Took T seconds
            > scan 't'
            ROW  COLUMN+CELL
             1 column=g:a, timestamp=NOW, value=v
            1 row(s)
            Took T seconds
        "#]],
    );
}

#[test]
fn a_table_is_emptied_with_its_regions_or_without() {
    check(
        "create 't', 'f', SPLITS => ['m']
put 't', '1', 'f:a', 'v'
put 't', 'z', 'f:a', 'v'
truncate_preserve 't'
scan 't'
get_splits 't'
put 't', '1', 'f:a', 'v'
disable 't'
truncate 't'
is_enabled 't'
get_splits 't'
put 't', '2', 'f:a', 'v'
scan 't'
truncate 'nosuch'
truncate 't', 1",
        expect![[r#"
            > create 't', 'f', SPLITS => ['m']
            Created table t
            Took T seconds
            => Hbase::Table - t
            > put 't', '1', 'f:a', 'v'
            Took T seconds
            > put 't', 'z', 'f:a', 'v'
            Took T seconds
            > truncate_preserve 't'
            Truncating 't' table (it may take a while):
            Disabling table...
            Truncating table...
            Took T seconds
            > scan 't'
            ROW  COLUMN+CELL
            0 row(s)
            Took T seconds
            > get_splits 't'
            Total number of splits = 2
            m
            Took T seconds
            => ["m"]
            > put 't', '1', 'f:a', 'v'
            Took T seconds
            > disable 't'
            Took T seconds
            > truncate 't'
            Truncating 't' table (it may take a while):
            Truncating table...
            Took T seconds
            > is_enabled 't'
            true
            Took T seconds
            => true
            > get_splits 't'
            Total number of splits = 1
            Took T seconds
            => []
            > put 't', '2', 'f:a', 'v'
            Took T seconds
            > scan 't'
            ROW  COLUMN+CELL
             2 column=f:a, timestamp=NOW, value=v
            1 row(s)
            Took T seconds
            > truncate 'nosuch'

            ERROR: Table nosuch does not exist.

            For usage try 'help "truncate"'

            Took T seconds
            > truncate 't', 1

            ERROR: wrong number of arguments (given 2, expected 1)

            For usage try 'help "truncate"'

            Took T seconds
        "#]],
    );
}

#[test]
fn regions_are_split_at_a_row_or_in_the_middle() {
    check(
        "create 't', 'f'
put 't', 'a', 'f:a', 'v'
put 't', 'b', 'f:a', 'v'
put 't', 'y', 'f:a', 'v'
put 't', 'z', 'f:a', 'v'
split 't', 'm'
get_splits 't'
split 't'
get_splits 't'
scan 't'
split 't', 'm'
split 'nosuch'
merge_region 'one'
merge_region 'one', 'two'",
        expect![[r#"
            > create 't', 'f'
            Created table t
            Took T seconds
            => Hbase::Table - t
            > put 't', 'a', 'f:a', 'v'
            Took T seconds
            > put 't', 'b', 'f:a', 'v'
            Took T seconds
            > put 't', 'y', 'f:a', 'v'
            Took T seconds
            > put 't', 'z', 'f:a', 'v'
            Took T seconds
            > split 't', 'm'
            Took T seconds
            > get_splits 't'
            Total number of splits = 2
            m
            Took T seconds
            => ["m"]
            > split 't'
            Took T seconds
            > get_splits 't'
            Total number of splits = 4
            b
            m
            z
            Took T seconds
            => ["b", "m", "z"]
            > scan 't'
            ROW  COLUMN+CELL
             a column=f:a, timestamp=NOW, value=v
             b column=f:a, timestamp=NOW, value=v
             y column=f:a, timestamp=NOW, value=v
             z column=f:a, timestamp=NOW, value=v
            4 row(s)
            Took T seconds
            > split 't', 'm'

            ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: a region is split at a row behind its first: region=t,m,ID.MD5., row=m, start key=m, end key=z

            For usage try 'help "split"'

            Took T seconds
            > split 'nosuch'

            ERROR: no such table or region, as list_regions names them: nosuch

            For usage try 'help "split"'

            Took T seconds
            > merge_region 'one'

            ERROR: wrong number of arguments (given 1, expected 2+)

            For usage try 'help "merge_region"'

            Took T seconds
            > merge_region 'one', 'two'

            ERROR: no such table or region, as list_regions names them: one

            For usage try 'help "merge_region"'

            Took T seconds
        "#]],
    );
}

#[test]
fn regions_are_made_by_number() {
    check(
        "create 't', 'f', NUMREGIONS => 4, SPLITALGO => 'HexStringSplit'
get_splits 't'
create 'u', 'f', {NUMREGIONS => 4, SPLITALGO => 'UniformSplit'}
get_splits 'u'
create 'x', 'f', NUMREGIONS => 4
create 'x', 'f', SPLITALGO => 'UniformSplit'
create 'x', 'f', NUMREGIONS => 1, SPLITALGO => 'UniformSplit'
create 'x', 'f', NUMREGIONS => 100001, SPLITALGO => 'UniformSplit'
create 'x', 'f', NUMREGIONS => 4, SPLITALGO => 'org.example.Mine'
create 'x', 'f', NUMREGIONS => 4, SPLITALGO => 'UniformSplit', SPLITS => ['a']
create 'x', 'f', SPLITS_FILE => '/no/such/file'
exists 'x'",
        expect![[r#"
            > create 't', 'f', NUMREGIONS => 4, SPLITALGO => 'HexStringSplit'
            Created table t
            Took T seconds
            => Hbase::Table - t
            > get_splits 't'
            Total number of splits = 4
            40000000
            80000000
            c0000000
            Took T seconds
            => ["40000000", "80000000", "c0000000"]
            > create 'u', 'f', {NUMREGIONS => 4, SPLITALGO => 'UniformSplit'}
            Created table u
            Took T seconds
            => Hbase::Table - u
            > get_splits 'u'
            Total number of splits = 4
            @\x00\x00\x00\x00\x00\x00\x00
            \x80\x00\x00\x00\x00\x00\x00\x00
            \xC0\x00\x00\x00\x00\x00\x00\x00
            Took T seconds
            => ["@\x00\x00\x00\x00\x00\x00\x00", "\x80\x00\x00\x00\x00\x00\x00\x00", "\xC0\x00\x00\x00\x00\x00\x00\x00"]
            > create 'x', 'f', NUMREGIONS => 4

            ERROR: Split algorithm must be specified

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', SPLITALGO => 'UniformSplit'

            ERROR: Number of regions must be specified

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', NUMREGIONS => 1, SPLITALGO => 'UniformSplit'

            ERROR: Number of regions must be greater than 1

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', NUMREGIONS => 100001, SPLITALGO => 'UniformSplit'

            ERROR: too many regions: NUMREGIONS=100001, max=100000

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', NUMREGIONS => 4, SPLITALGO => 'org.example.Mine'

            ERROR: SPLITALGO must be one of HexStringSplit, DecimalStringSplit, UniformSplit: org.example.Mine

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', NUMREGIONS => 4, SPLITALGO => 'UniformSplit', SPLITS => ['a']

            ERROR: only one of SPLITS, SPLITS_FILE, and NUMREGIONS with SPLITALGO can be given

            For usage try 'help "create"'

            Took T seconds
            > create 'x', 'f', SPLITS_FILE => '/no/such/file'

            ERROR: Splits file /no/such/file cannot be read: No such file or directory (os error 2)

            For usage try 'help "create"'

            Took T seconds
            > exists 'x'
            Table x does not exist
            Took T seconds
            => false
        "#]],
    );
}

#[test]
fn regions_begin_at_the_lines_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("splits.txt");
    std::fs::write(&path, "b\n\\x00\\xFF\r\nan e\n").unwrap();
    let script = format!("create 't', 'f', SPLITS_FILE => '{}'\nget_splits 't'", path.display());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let data = tempfile::tempdir().unwrap();
    let out = runtime.block_on(super::transcript(data.path().to_str().unwrap(), &script));
    assert!(out.contains(r#"=> ["\x00\xFF", "an e", "b"]"#), "{out}");
}
