//! Tests of refusals and their messages.

use expect_test::expect;

use super::check;

#[test]
fn tables_that_are_not_there() {
    check(
        "get 'nosuch', 'r'
put 'nosuch', 'r', 'cf:a', '1'
scan 'nosuch'
count 'nosuch'
incr 'nosuch', 'r', 'cf:a'
delete 'nosuch', 'r', 'cf:a'
disable 'nosuch'
enable 'nosuch'
drop 'nosuch'
describe 'nosuch'
is_enabled 'nosuch'
flush 'nosuch'",
        expect![[r#"
            > get 'nosuch', 'r'
            COLUMN  CELL

            ERROR: Unknown table nosuch!

            For usage try 'help "get"'

            Took T seconds
            > put 'nosuch', 'r', 'cf:a', '1'

            ERROR: Unknown table nosuch!

            For usage try 'help "put"'

            Took T seconds
            > scan 'nosuch'
            ROW  COLUMN+CELL

            ERROR: Unknown table nosuch!

            For usage try 'help "scan"'

            Took T seconds
            > count 'nosuch'

            ERROR: Unknown table nosuch!

            For usage try 'help "count"'

            Took T seconds
            > incr 'nosuch', 'r', 'cf:a'

            ERROR: Unknown table nosuch!

            For usage try 'help "incr"'

            Took T seconds
            > delete 'nosuch', 'r', 'cf:a'

            ERROR: Unknown table nosuch!

            For usage try 'help "delete"'

            Took T seconds
            > disable 'nosuch'

            ERROR: Table nosuch does not exist.

            For usage try 'help "disable"'

            Took T seconds
            > enable 'nosuch'

            ERROR: Table nosuch does not exist.

            For usage try 'help "enable"'

            Took T seconds
            > drop 'nosuch'

            ERROR: Table nosuch does not exist.

            For usage try 'help "drop"'

            Took T seconds
            > describe 'nosuch'

            ERROR: Table nosuch does not exist.

            For usage try 'help "describe"'

            Took T seconds
            > is_enabled 'nosuch'

            ERROR: Unknown table nosuch!

            For usage try 'help "is_enabled"'

            Took T seconds
            > flush 'nosuch'

            ERROR: Unknown table nosuch!

            For usage try 'help "flush"'

            Took T seconds
        "#]],
    );
}

#[test]
fn disabled_tables_and_unknown_families() {
    check(
        "create 'post', 'cf'
put 'post', 'r', 'nofam:a', '1'
get 'post', 'r', 'nofam:a'
scan 'post', COLUMNS => 'nofam'
incr 'post', 'r', 'nofam:a'
deleteall 'post', 'r', 'nofam'
deleteall 'post', {ROWPREFIXFILTER => ''}
alter 'post', NAME => 'cf', IN_MEMORY => 'yes'
exit 3
drop 'post'
disable 'post'
get 'post', 'x'
put 'post', 'x', 'cf:a', '1'
scan 'post'
flush 'post'",
        expect![[r#"
            > create 'post', 'cf'
            Created table post
            Took T seconds
            => Hbase::Table - post
            > put 'post', 'r', 'nofam:a', '1'

            ERROR: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family nofam does not exist in region post,,ID.MD5. in table 'post', {NAME => 'cf'}

            For usage try 'help "put"'

            Took T seconds
            > get 'post', 'r', 'nofam:a'
            COLUMN  CELL

            ERROR: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family nofam does not exist in region post,,ID.MD5. in table 'post', {NAME => 'cf'}

            For usage try 'help "get"'

            Took T seconds
            > scan 'post', COLUMNS => 'nofam'
            ROW  COLUMN+CELL

            ERROR: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family nofam does not exist in region post,,ID.MD5. in table 'post', {NAME => 'cf'}

            For usage try 'help "scan"'

            Took T seconds
            > incr 'post', 'r', 'nofam:a'

            ERROR: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family nofam does not exist in region post,,ID.MD5. in table 'post', {NAME => 'cf'}

            For usage try 'help "incr"'

            Took T seconds
            > deleteall 'post', 'r', 'nofam'

            ERROR: org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family nofam does not exist in region post,,ID.MD5. in table 'post', {NAME => 'cf'}

            For usage try 'help "deleteall"'

            Took T seconds
            > deleteall 'post', {ROWPREFIXFILTER => ''}

            ERROR: ROWPREFIXFILTER must not be empty: truncate empties a table

            For usage try 'help "deleteall"'

            Took T seconds
            > alter 'post', NAME => 'cf', IN_MEMORY => 'yes'

            ERROR: IN_MEMORY YES of family cf is not supported: supported=TRUE, FALSE

            For usage try 'help "alter"'

            Took T seconds
            > exit 3

            ERROR: wrong number of arguments (given 1, expected 0)

            For usage try 'help "exit"'

            Took T seconds
            > drop 'post'

            ERROR: Table post is enabled. Disable it first.

            For usage try 'help "drop"'

            Took T seconds
            > disable 'post'
            Took T seconds
            > get 'post', 'x'
            COLUMN  CELL

            ERROR: Table post is disabled!

            For usage try 'help "get"'

            Took T seconds
            > put 'post', 'x', 'cf:a', '1'

            ERROR: Table post is disabled!

            For usage try 'help "put"'

            Took T seconds
            > scan 'post'
            ROW  COLUMN+CELL

            ERROR: Table post is disabled!

            For usage try 'help "scan"'

            Took T seconds
            > flush 'post'

            ERROR: Table post is disabled!

            For usage try 'help "flush"'

            Took T seconds
        "#]],
    );
}

#[test]
fn arguments_that_make_no_sense() {
    check(
        "create 'post', 'cf'
get 'post'
put 'post', 'r', 'cf'
put 'post', 'r', 'cf:a', '1', 2, {}, 3
put 'post', '', 'cf:a', '1'
put 'post', 'r', ':a', '1'
put 'post', 'r', '', '1'
put 'post', 'r', 'cf:a', '1', -1
put 'post', 'r', 'cf:a', '1', 'now'
put 'post', 'r', 'cf:a', ['1']
put 'post', 'r', 'cf:a', '1', {VISIBILITY => 'x'}
put 'post', 'r', 'cf:a', '1', 5, {VISIBILITY => 'x'}
put {A => 1}, 'r', 'cf:a', '1'
get 'post', 'r', {FORMATTER => 'toText'}
get 'post', 'r', 'cf:title:toInteger'
get 'post', 'r', {COLUMN => 'cf:a', COLUMN => 'cf:b'}
get 'post', 'r', VERSIONS => 0
get 'post', 'r', TIMESTAMP => 1, TIMERANGE => [1, 2]
scan 'post', COLOUR => 'red'
scan 'post', ALLOW_PARTIAL_RESULTS => true
scan 'post', DECODE => 'yes'
count 'post', 'x'",
        expect![[r#"
            > create 'post', 'cf'
            Created table post
            Took T seconds
            => Hbase::Table - post
            > get 'post'

            ERROR: wrong number of arguments (given 1, expected 2+)

            For usage try 'help "get"'

            Took T seconds
            > put 'post', 'r', 'cf'

            ERROR: wrong number of arguments (given 3, expected 4..6)

            For usage try 'help "put"'

            Took T seconds
            > put 'post', 'r', 'cf:a', '1', 2, {}, 3

            ERROR: wrong number of arguments (given 7, expected 4..6)

            For usage try 'help "put"'

            Took T seconds
            > put 'post', '', 'cf:a', '1'

            ERROR: Row length is 0

            For usage try 'help "put"'

            Took T seconds
            > put 'post', 'r', ':a', '1'

            ERROR: a column is FAMILY:QUALIFIER, its family is missing: ':a'

            For usage try 'help "put"'

            Took T seconds
            > put 'post', 'r', '', '1'

            ERROR: a column is FAMILY:QUALIFIER, its family is missing: ''

            For usage try 'help "put"'

            Took T seconds
            > put 'post', 'r', 'cf:a', '1', -1

            ERROR: Timestamp cannot be negative. ts=-1

            For usage try 'help "put"'

            Took T seconds
            > put 'post', 'r', 'cf:a', '1', 'now'

            ERROR: TIMESTAMP must be a number, not a text: 'now'

            For usage try 'help "put"'

            Took T seconds
            > put 'post', 'r', 'cf:a', ['1']

            ERROR: VALUE must be a text, not an array

            For usage try 'help "put"'

            Took T seconds
            > put 'post', 'r', 'cf:a', '1', {VISIBILITY => 'x'}

            ERROR: option VISIBILITY of put is not supported yet

            For usage try 'help "put"'

            Took T seconds
            > put 'post', 'r', 'cf:a', '1', 5, {VISIBILITY => 'x'}

            ERROR: option VISIBILITY of put is not supported yet

            For usage try 'help "put"'

            Took T seconds
            > put {A => 1}, 'r', 'cf:a', '1'

            ERROR: TABLE must be a text, not a hash

            For usage try 'help "put"'

            Took T seconds
            > get 'post', 'r', {FORMATTER => 'toText'}

            ERROR: a converter is one of toBoolean, toDouble, toFloat, toHex, toInt, toLong, toShort, toString, toStringBinary: toText

            For usage try 'help "get"'

            Took T seconds
            > get 'post', 'r', 'cf:title:toInteger'

            ERROR: a converter is one of toBoolean, toDouble, toFloat, toHex, toInt, toLong, toShort, toString, toStringBinary: toInteger

            For usage try 'help "get"'

            Took T seconds
            > get 'post', 'r', {COLUMN => 'cf:a', COLUMN => 'cf:b'}

            ERROR: option COLUMN of get is given twice

            For usage try 'help "get"'

            Took T seconds
            > get 'post', 'r', VERSIONS => 0

            ERROR: VERSIONS must be 1 or more: 0

            For usage try 'help "get"'

            Took T seconds
            > get 'post', 'r', TIMESTAMP => 1, TIMERANGE => [1, 2]

            ERROR: TIMESTAMP and TIMERANGE exclude each other

            For usage try 'help "get"'

            Took T seconds
            > scan 'post', COLOUR => 'red'

            ERROR: scan has no option COLOUR

            For usage try 'help "scan"'

            Took T seconds
            > scan 'post', ALLOW_PARTIAL_RESULTS => true

            ERROR: option ALLOW_PARTIAL_RESULTS of scan is not supported yet

            For usage try 'help "scan"'

            Took T seconds
            > scan 'post', DECODE => 'yes'

            ERROR: DECODE must be true or false: 'yes'

            For usage try 'help "scan"'

            Took T seconds
            > count 'post', 'x'

            ERROR: OPTIONS must be a hash, not a text: 'x'

            For usage try 'help "count"'

            Took T seconds
        "#]],
    );
}

#[test]
fn lines_that_are_no_commands() {
    check(
        "get 't' 'r'
foo
gte 'post'
t = create 'post', 'f'
put post, 'r'
help 'nosuch'
scan 'post', {LIMIT =>
  1
put 'post', 'r",
        expect![[r#"
            > get 't' 'r'

            ERROR: expected `,` or the end of the command, found a text
              get 't' 'r'
                      ^

            For usage try 'help'

            > foo

            ERROR: unknown command `foo`

            For usage try 'help'

            > gte 'post'

            ERROR: unknown command `gte`; did you mean `get`?

            For usage try 'help'

            > t = create 'post', 'f'

            ERROR: `=` is not known here
              t = create 'post', 'f'
                ^

            For usage try 'help'

            > put post, 'r'

            ERROR: `post` is not known here; put texts in quotes: 'post'
              put post, 'r'
                  ^

            For usage try 'help'

            > help 'nosuch'

            ERROR: unknown command `nosuch`

            For usage try 'help "help"'

            Took T seconds
            > scan 'post', {LIMIT =>
            >   1
            > put 'post', 'r

            ERROR: this text does not end
              put 'post', 'r
                          ^

            For usage try 'help'

        "#]],
    );
}

#[test]
fn hbases_other_commands_and_settings_without_effect_are_refused_by_name() {
    check(
        "alter 't', COLOUR => 'red'
list_procedures
regioninfo 't'
help 'balancer'
create_namespace 'q'
create 'q', 'f', {METADATA => {'READONLY' => 'perhaps'}}
exists 'hbase:meta'
exists 'hbase:nope'
is_enabled 'hbase:nope'",
        expect![[r#"
            > alter 't', COLOUR => 'red'

            ERROR: alter has no option COLOUR

            For usage try 'help "alter"'

            Took T seconds
            > list_procedures

            ERROR: command `list_procedures` is in HBase's own shell only; in rowhouse, what changes tables is done when its command returns, so that nothing is under way to be listed

            For usage try 'help'

            > regioninfo 't'

            ERROR: command `regioninfo` is in HBase's own shell only; in rowhouse, list_regions 'TABLE' tells where regions begin and end

            For usage try 'help'

            > help 'balancer'

            ERROR: command `balancer` is in HBase's own shell only; in rowhouse, one process serves all regions, and none is balanced; move moves a region of a cluster

            For usage try 'help "help"'

            Took T seconds
            > create_namespace 'q'
            Took T seconds
            > create 'q', 'f', {METADATA => {'READONLY' => 'perhaps'}}

            ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: READONLY PERHAPS of table q is not supported: supported=TRUE, FALSE

            For usage try 'help "create"'

            Took T seconds
            > exists 'hbase:meta'
            Table hbase:meta does exist
            Took T seconds
            => true
            > exists 'hbase:nope'
            Table hbase:nope does not exist
            Took T seconds
            => false
            > is_enabled 'hbase:nope'

            ERROR: Unknown table hbase:nope!

            For usage try 'help "is_enabled"'

            Took T seconds
        "#]],
    );
}

#[test]
fn tables_that_hbases_sanity_checks_refuse() {
    check(
        "create 't', 'f', MAX_FILESIZE => 1000
create 't', 'f', MAX_FILESIZE => 1000, CONFIGURATION => {'hbase.table.sanity.checks' => 'false'}
alter 't', MEMSTORE_FLUSHSIZE => '1 KB', METADATA => {'hbase.table.sanity.checks' => 'true'}",
        expect![[r#"
            > create 't', 'f', MAX_FILESIZE => 1000

            ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: MAX_FILESIZE for table descriptor or "hbase.hregion.max.filesize" (1000) is too small, which might cause over splitting into unmanageable number of regions. Set hbase.table.sanity.checks to false at conf or table descriptor if you want to bypass sanity checks: table=t, min=2097152

            For usage try 'help "create"'

            Took T seconds
            > create 't', 'f', MAX_FILESIZE => 1000, CONFIGURATION => {'hbase.table.sanity.checks' => 'false'}
            Created table t
            Took T seconds
            => Hbase::Table - t
            > alter 't', MEMSTORE_FLUSHSIZE => '1 KB', METADATA => {'hbase.table.sanity.checks' => 'true'}

            ERROR: MAX_FILESIZE for table descriptor or "hbase.hregion.max.filesize" (1000) is too small, which might cause over splitting into unmanageable number of regions. Set hbase.table.sanity.checks to false at conf or table descriptor if you want to bypass sanity checks: table=t, min=2097152

            For usage try 'help "alter"'

            Took T seconds
        "#]],
    );
}
