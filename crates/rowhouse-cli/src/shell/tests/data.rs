//! Tests of writing, reading and deleting cells.

use expect_test::expect;

use super::check;

#[test]
fn put_and_get() {
    check(
        r#"create 'post', {NAME => 'cf', VERSIONS => 3}, 'log'
put 'post', 'row1', 'cf:title', 'Hello'
put 'post', 'row1', 'cf:title', 'Older', 1000
put 'post', 'row1', 'cf:', 'empty qualifier', 60000
put 'post', 'row1', 'log', 'family alone', 60000
put 'post', 'row1', 'cf:分栏', '随笔', 0
put 'post', 'row1', "cf:\x00\xff", "bin\x00\x01\xff end", 1300
put 'post', 'row1', 'cf:n', 12, 1
get 'post', 'row1'
get 'post', 'row1', 'cf:title'
get 'post', 'row1', {COLUMN => 'cf:title', VERSIONS => 3}
get 'post', 'row1', {COLUMN => 'cf:title', TIMESTAMP => 1000}
get 'post', 'row1', {COLUMNS => ['cf:title', 'log'], TIMERANGE => [0, 1001]}
get 'post', 'row1', TIMERANGE => [0, 1001]
get 'post', 'row1', ['cf:n', 'log:']
get 'post', 'row1', 'cf:n', 'log', VERSIONS => 2
get 'post', 'row1', 'cf:nosuchcol'
get 'post', 'row2'"#,
        expect![[r#"
            > create 'post', {NAME => 'cf', VERSIONS => 3}, 'log'
            Created table post
            Took T seconds
            => Hbase::Table - post
            > put 'post', 'row1', 'cf:title', 'Hello'
            Took T seconds
            > put 'post', 'row1', 'cf:title', 'Older', 1000
            Took T seconds
            > put 'post', 'row1', 'cf:', 'empty qualifier', 60000
            Took T seconds
            > put 'post', 'row1', 'log', 'family alone', 60000
            Took T seconds
            > put 'post', 'row1', 'cf:分栏', '随笔', 0
            Took T seconds
            > put 'post', 'row1', "cf:\x00\xff", "bin\x00\x01\xff end", 1300
            Took T seconds
            > put 'post', 'row1', 'cf:n', 12, 1
            Took T seconds
            > get 'post', 'row1'
            COLUMN  CELL
             cf: timestamp=1970-01-01T00:01, value=empty qualifier
             cf:\x00\xFF timestamp=1970-01-01T00:00:01.300, value=bin\x00\x01\xFF end
             cf:n timestamp=1970-01-01T00:00:00.001, value=12
             cf:title timestamp=NOW, value=Hello
             cf:\xE5\x88\x86\xE6\xA0\x8F timestamp=1970-01-01T00:00, value=\xE9\x9A\x8F\xE7\xAC\x94
             log: timestamp=1970-01-01T00:01, value=family alone
            1 row(s)
            Took T seconds
            > get 'post', 'row1', 'cf:title'
            COLUMN  CELL
             cf:title timestamp=NOW, value=Hello
            1 row(s)
            Took T seconds
            > get 'post', 'row1', {COLUMN => 'cf:title', VERSIONS => 3}
            COLUMN  CELL
             cf:title timestamp=NOW, value=Hello
             cf:title timestamp=1970-01-01T00:00:01, value=Older
            1 row(s)
            Took T seconds
            > get 'post', 'row1', {COLUMN => 'cf:title', TIMESTAMP => 1000}
            COLUMN  CELL
             cf:title timestamp=1970-01-01T00:00:01, value=Older
            1 row(s)
            Took T seconds
            > get 'post', 'row1', {COLUMNS => ['cf:title', 'log'], TIMERANGE => [0, 1001]}
            COLUMN  CELL
             cf:title timestamp=1970-01-01T00:00:01, value=Older
            1 row(s)
            Took T seconds
            > get 'post', 'row1', TIMERANGE => [0, 1001]
            COLUMN  CELL
             cf:n timestamp=1970-01-01T00:00:00.001, value=12
             cf:title timestamp=1970-01-01T00:00:01, value=Older
             cf:\xE5\x88\x86\xE6\xA0\x8F timestamp=1970-01-01T00:00, value=\xE9\x9A\x8F\xE7\xAC\x94
            1 row(s)
            Took T seconds
            > get 'post', 'row1', ['cf:n', 'log:']
            COLUMN  CELL
             cf:n timestamp=1970-01-01T00:00:00.001, value=12
             log: timestamp=1970-01-01T00:01, value=family alone
            1 row(s)
            Took T seconds
            > get 'post', 'row1', 'cf:n', 'log', VERSIONS => 2
            COLUMN  CELL
             cf:n timestamp=1970-01-01T00:00:00.001, value=12
             log: timestamp=1970-01-01T00:01, value=family alone
            1 row(s)
            Took T seconds
            > get 'post', 'row1', 'cf:nosuchcol'
            COLUMN  CELL
            0 row(s)
            Took T seconds
            > get 'post', 'row2'
            COLUMN  CELL
            0 row(s)
            Took T seconds
        "#]],
    );
}

#[test]
fn versions_as_in_hbase() {
    check(
        "create 'vers', {NAME => 'f', VERSIONS => 5}
put 'vers', 'r', 'f:c', 'v1', 100
put 'vers', 'r', 'f:c', 'v2', 200
put 'vers', 'r', 'f:c', 'v3', 300
get 'vers', 'r', {COLUMN => 'f:c', VERSIONS => 5}
get 'vers', 'r', {COLUMN => 'f:c', VERSIONS => 2}
get 'vers', 'r', {TIMESTAMP => 200}
get 'vers', 'r', {TIMERANGE => [150, 250]}
delete 'vers', 'r', 'f:c', 200
scan 'vers', {VERSIONS => 5}
delete 'vers', 'r', 'f:c'
scan 'vers', {VERSIONS => 5}
deleteall 'vers', 'r', 'f:c', 300
scan 'vers', {VERSIONS => 5}",
        expect![[r#"
            > create 'vers', {NAME => 'f', VERSIONS => 5}
            Created table vers
            Took T seconds
            => Hbase::Table - vers
            > put 'vers', 'r', 'f:c', 'v1', 100
            Took T seconds
            > put 'vers', 'r', 'f:c', 'v2', 200
            Took T seconds
            > put 'vers', 'r', 'f:c', 'v3', 300
            Took T seconds
            > get 'vers', 'r', {COLUMN => 'f:c', VERSIONS => 5}
            COLUMN  CELL
             f:c timestamp=1970-01-01T00:00:00.300, value=v3
             f:c timestamp=1970-01-01T00:00:00.200, value=v2
             f:c timestamp=1970-01-01T00:00:00.100, value=v1
            1 row(s)
            Took T seconds
            > get 'vers', 'r', {COLUMN => 'f:c', VERSIONS => 2}
            COLUMN  CELL
             f:c timestamp=1970-01-01T00:00:00.300, value=v3
             f:c timestamp=1970-01-01T00:00:00.200, value=v2
            1 row(s)
            Took T seconds
            > get 'vers', 'r', {TIMESTAMP => 200}
            COLUMN  CELL
             f:c timestamp=1970-01-01T00:00:00.200, value=v2
            1 row(s)
            Took T seconds
            > get 'vers', 'r', {TIMERANGE => [150, 250]}
            COLUMN  CELL
             f:c timestamp=1970-01-01T00:00:00.200, value=v2
            1 row(s)
            Took T seconds
            > delete 'vers', 'r', 'f:c', 200
            Took T seconds
            > scan 'vers', {VERSIONS => 5}
            ROW  COLUMN+CELL
             r column=f:c, timestamp=1970-01-01T00:00:00.300, value=v3
             r column=f:c, timestamp=1970-01-01T00:00:00.100, value=v1
            1 row(s)
            Took T seconds
            > delete 'vers', 'r', 'f:c'
            Took T seconds
            > scan 'vers', {VERSIONS => 5}
            ROW  COLUMN+CELL
             r column=f:c, timestamp=1970-01-01T00:00:00.100, value=v1
            1 row(s)
            Took T seconds
            > deleteall 'vers', 'r', 'f:c', 300
            Took T seconds
            > scan 'vers', {VERSIONS => 5}
            ROW  COLUMN+CELL
            0 row(s)
            Took T seconds
        "#]],
    );
}

#[test]
fn deleteall_of_rows_families_and_prefixes() {
    check(
        "create 't', 'f', 'g'
put 't', 'a1', 'f:x', '1', 10; put 't', 'a1', 'g:x', '1', 10; put 't', 'a2', 'f:x', '1', 10
put 't', 'b', 'f:x', '1', 10; put 't', 'b', 'f:y', '1', 30; put 't', 'c', 'f:x', '1', 10
delete 't', 'c', 'f', 10
deleteall 't', 'a1', 'g'
deleteall 't', 'b', '', 20
scan 't'
deleteall 't', {ROWPREFIXFILTER => 'a', CACHE => 1}
deleteall 't', 'b'
scan 't'
deleteall 't', {CACHE => 1}
deleteall 't', {ROWPREFIXFILTER => 'a', COLOUR => 'red'}",
        expect![[r#"
            > create 't', 'f', 'g'
            Created table t
            Took T seconds
            => Hbase::Table - t
            > put 't', 'a1', 'f:x', '1', 10; put 't', 'a1', 'g:x', '1', 10; put 't', 'a2', 'f:x', '1', 10
            Took T seconds
            Took T seconds
            Took T seconds
            > put 't', 'b', 'f:x', '1', 10; put 't', 'b', 'f:y', '1', 30; put 't', 'c', 'f:x', '1', 10
            Took T seconds
            Took T seconds
            Took T seconds
            > delete 't', 'c', 'f', 10
            Took T seconds
            > deleteall 't', 'a1', 'g'
            Took T seconds
            > deleteall 't', 'b', '', 20
            Took T seconds
            > scan 't'
            ROW  COLUMN+CELL
             a1 column=f:x, timestamp=1970-01-01T00:00:00.010, value=1
             a2 column=f:x, timestamp=1970-01-01T00:00:00.010, value=1
             b column=f:y, timestamp=1970-01-01T00:00:00.030, value=1
            3 row(s)
            Took T seconds
            > deleteall 't', {ROWPREFIXFILTER => 'a', CACHE => 1}
            Took T seconds
            > deleteall 't', 'b'
            Took T seconds
            > scan 't'
            ROW  COLUMN+CELL
            0 row(s)
            Took T seconds
            > deleteall 't', {CACHE => 1}

            ERROR: instead of a row, deleteall takes {ROWPREFIXFILTER => 'prefix'}

            For usage try 'help "deleteall"'

            Took T seconds
            > deleteall 't', {ROWPREFIXFILTER => 'a', COLOUR => 'red'}

            ERROR: deleteall has no option COLOUR

            For usage try 'help "deleteall"'

            Took T seconds
        "#]],
    );
}

#[test]
fn counters() {
    check(
        "create 'post', 'cf'
incr 'post', 'ctr', 'cf:hits', 1
get 'post', 'ctr'
incr 'post', 'ctr', 'cf:hits'
incr 'post', 'ctr', 'cf:hits', -3
get_counter 'post', 'ctr', 'cf:hits'
get_counter 'post', 'ctr', 'cf:nosuch'
put 'post', 'ctr', 'cf:title', 'Hello'
incr 'post', 'ctr', 'cf:title', 1
get_counter 'post', 'ctr', 'cf:title'
incr 'post', 'ctr', 'cf'
incr 'post', 'ctr', 'cf:hits', '1'",
        expect![[r#"
            > create 'post', 'cf'
            Created table post
            Took T seconds
            => Hbase::Table - post
            > incr 'post', 'ctr', 'cf:hits', 1
            COUNTER VALUE = 1
            Took T seconds
            > get 'post', 'ctr'
            COLUMN  CELL
             cf:hits timestamp=NOW, value=\x00\x00\x00\x00\x00\x00\x00\x01
            1 row(s)
            Took T seconds
            > incr 'post', 'ctr', 'cf:hits'
            COUNTER VALUE = 2
            Took T seconds
            > incr 'post', 'ctr', 'cf:hits', -3
            COUNTER VALUE = -1
            Took T seconds
            > get_counter 'post', 'ctr', 'cf:hits'
            COUNTER VALUE = -1
            Took T seconds
            > get_counter 'post', 'ctr', 'cf:nosuch'
            No counter found at specified coordinates
            Took T seconds
            > put 'post', 'ctr', 'cf:title', 'Hello'
            Took T seconds
            > incr 'post', 'ctr', 'cf:title', 1

            ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: Field is not a long, it's 5 bytes wide

            For usage try 'help "incr"'

            Took T seconds
            > get_counter 'post', 'ctr', 'cf:title'

            ERROR: Field is not a long, it's 5 bytes wide

            For usage try 'help "get_counter"'

            Took T seconds
            > incr 'post', 'ctr', 'cf'

            ERROR: a column is FAMILY:QUALIFIER or the name of a declared one, its qualifier is missing: 'cf'

            For usage try 'help "incr"'

            Took T seconds
            > incr 'post', 'ctr', 'cf:hits', '1'

            ERROR: AMOUNT must be a number, not a text: '1'

            For usage try 'help "incr"'

            Took T seconds
        "#]],
    );
}

#[test]
fn values_are_shown_by_converters_of_columns_and_by_a_formatter() {
    check(
        "create 'post', 'cf'
incr 'post', 'r', 'cf:hits', 258
put 'post', 'r', 'cf:title', 'für'
get 'post', 'r', 'cf:hits:toLong', 'cf:title:toString'
get 'post', 'r', {COLUMN => 'cf:hits:c(org.apache.hadoop.hbase.util.Bytes).toLong'}
scan 'post', {COLUMNS => 'cf:hits:toLong', FORMATTER => 'toHex'}
scan 'post', FORMATTER => 'toString'
get 'post', 'r', 'cf:title:toLong'
flush 'post', 'cf'
flush 'post', 'nosuch'",
        expect![[r#"
            > create 'post', 'cf'
            Created table post
            Took T seconds
            => Hbase::Table - post
            > incr 'post', 'r', 'cf:hits', 258
            COUNTER VALUE = 258
            Took T seconds
            > put 'post', 'r', 'cf:title', 'für'
            Took T seconds
            > get 'post', 'r', 'cf:hits:toLong', 'cf:title:toString'
            COLUMN  CELL
             cf:hits timestamp=NOW, value=258
             cf:title timestamp=NOW, value=für
            1 row(s)
            Took T seconds
            > get 'post', 'r', {COLUMN => 'cf:hits:c(org.apache.hadoop.hbase.util.Bytes).toLong'}
            COLUMN  CELL
             cf:hits timestamp=NOW, value=258
            1 row(s)
            Took T seconds
            > scan 'post', {COLUMNS => 'cf:hits:toLong', FORMATTER => 'toHex'}
            ROW  COLUMN+CELL
             r column=cf:hits, timestamp=NOW, value=258
            1 row(s)
            Took T seconds
            > scan 'post', FORMATTER => 'toString'
            ROW  COLUMN+CELL
             r column=cf:hits, timestamp=NOW, value=\x00\x00\x00\x00\x00\x00\x01\x02
             r column=cf:title, timestamp=NOW, value=für
            1 row(s)
            Took T seconds
            > get 'post', 'r', 'cf:title:toLong'
            COLUMN  CELL
             cf:title timestamp=NOW, value=f\xC3\xBCr (not for toLong: 4 bytes)
            1 row(s)
            Took T seconds
            > flush 'post', 'cf'
            Took T seconds
            > flush 'post', 'nosuch'

            ERROR: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family nosuch does not exist in region post,,ID.MD5. in table 'post', {NAME => 'cf'}

            For usage try 'help "flush"'

            Took T seconds
        "#]],
    );
}
