//! Tests of scans.

use expect_test::expect;

use super::check;

const ROWS: &str = r#"create 'post', 'cf', 'log', SPLITS => ['row3']
put 'post', "bin\x00key", 'cf:title', 'binary row key', 1
put 'post', 'row1', 'cf:title', 'Hello', 2
put 'post', 'row1', 'log:seen', 'yes', 3
put 'post', 'row2', 'cf:title', 'Second', 4
put 'post', 'row3', 'cf:title', 'Third', 5
put 'post', 'row4', 'log:seen', 'no', 6
"#;

#[test]
fn ranges_limits_and_columns() {
    check(
        &format!(
            "{ROWS}scan 'post'
scan 'post', {{COLUMNS => 'cf:title', LIMIT => 2}}
scan 'post', {{COLUMNS => ['log', 'cf:nosuch']}}
scan 'post', {{STARTROW => 'row2', STOPROW => 'row4'}}
scan 'post', STARTROW => 'row2', LIMIT => 2, CACHE => 1
scan 'post', ROWPREFIXFILTER => 'bin'
scan 'post', TIMERANGE => [2, 4]
scan 'post', TIMESTAMP => 6
scan 'post', STARTROW => 'x'
scan 'post', REVERSED => true
scan 'post', LIMIT => 0
scan 'post', TIMERANGE => [2]
scan 'post', TIMERANGE => [4, 2]
scan 'post', 'row1'"
        ),
        expect![[r#"
            > create 'post', 'cf', 'log', SPLITS => ['row3']
            Created table post
            Took T seconds
            => Hbase::Table - post
            > put 'post', "bin\x00key", 'cf:title', 'binary row key', 1
            Took T seconds
            > put 'post', 'row1', 'cf:title', 'Hello', 2
            Took T seconds
            > put 'post', 'row1', 'log:seen', 'yes', 3
            Took T seconds
            > put 'post', 'row2', 'cf:title', 'Second', 4
            Took T seconds
            > put 'post', 'row3', 'cf:title', 'Third', 5
            Took T seconds
            > put 'post', 'row4', 'log:seen', 'no', 6
            Took T seconds
            > scan 'post'
            ROW  COLUMN+CELL
             bin\x00key column=cf:title, timestamp=1970-01-01T00:00:00.001, value=binary row key
             row1 column=cf:title, timestamp=1970-01-01T00:00:00.002, value=Hello
             row1 column=log:seen, timestamp=1970-01-01T00:00:00.003, value=yes
             row2 column=cf:title, timestamp=1970-01-01T00:00:00.004, value=Second
             row3 column=cf:title, timestamp=1970-01-01T00:00:00.005, value=Third
             row4 column=log:seen, timestamp=1970-01-01T00:00:00.006, value=no
            5 row(s)
            Took T seconds
            > scan 'post', {COLUMNS => 'cf:title', LIMIT => 2}
            ROW  COLUMN+CELL
             bin\x00key column=cf:title, timestamp=1970-01-01T00:00:00.001, value=binary row key
             row1 column=cf:title, timestamp=1970-01-01T00:00:00.002, value=Hello
            2 row(s)
            Took T seconds
            > scan 'post', {COLUMNS => ['log', 'cf:nosuch']}
            ROW  COLUMN+CELL
             row1 column=log:seen, timestamp=1970-01-01T00:00:00.003, value=yes
             row4 column=log:seen, timestamp=1970-01-01T00:00:00.006, value=no
            2 row(s)
            Took T seconds
            > scan 'post', {STARTROW => 'row2', STOPROW => 'row4'}
            ROW  COLUMN+CELL
             row2 column=cf:title, timestamp=1970-01-01T00:00:00.004, value=Second
             row3 column=cf:title, timestamp=1970-01-01T00:00:00.005, value=Third
            2 row(s)
            Took T seconds
            > scan 'post', STARTROW => 'row2', LIMIT => 2, CACHE => 1
            ROW  COLUMN+CELL
             row2 column=cf:title, timestamp=1970-01-01T00:00:00.004, value=Second
             row3 column=cf:title, timestamp=1970-01-01T00:00:00.005, value=Third
            2 row(s)
            Took T seconds
            > scan 'post', ROWPREFIXFILTER => 'bin'
            ROW  COLUMN+CELL
             bin\x00key column=cf:title, timestamp=1970-01-01T00:00:00.001, value=binary row key
            1 row(s)
            Took T seconds
            > scan 'post', TIMERANGE => [2, 4]
            ROW  COLUMN+CELL
             row1 column=cf:title, timestamp=1970-01-01T00:00:00.002, value=Hello
             row1 column=log:seen, timestamp=1970-01-01T00:00:00.003, value=yes
            1 row(s)
            Took T seconds
            > scan 'post', TIMESTAMP => 6
            ROW  COLUMN+CELL
             row4 column=log:seen, timestamp=1970-01-01T00:00:00.006, value=no
            1 row(s)
            Took T seconds
            > scan 'post', STARTROW => 'x'
            ROW  COLUMN+CELL
            0 row(s)
            Took T seconds
            > scan 'post', REVERSED => true
            ROW  COLUMN+CELL
             row4 column=log:seen, timestamp=1970-01-01T00:00:00.006, value=no
             row3 column=cf:title, timestamp=1970-01-01T00:00:00.005, value=Third
             row2 column=cf:title, timestamp=1970-01-01T00:00:00.004, value=Second
             row1 column=cf:title, timestamp=1970-01-01T00:00:00.002, value=Hello
             row1 column=log:seen, timestamp=1970-01-01T00:00:00.003, value=yes
             bin\x00key column=cf:title, timestamp=1970-01-01T00:00:00.001, value=binary row key
            5 row(s)
            Took T seconds
            > scan 'post', LIMIT => 0

            ERROR: LIMIT must be 1 or more: 0

            For usage try 'help "scan"'

            Took T seconds
            > scan 'post', TIMERANGE => [2]

            ERROR: TIMERANGE must be [from, to]: [2]

            For usage try 'help "scan"'

            Took T seconds
            > scan 'post', TIMERANGE => [4, 2]

            ERROR: time range ends before it begins: 4..2

            For usage try 'help "scan"'

            Took T seconds
            > scan 'post', 'row1'

            ERROR: OPTIONS must be a hash, not a text: 'row1'

            For usage try 'help "scan"'

            Took T seconds
        "#]],
    );
}

#[test]
fn counting() {
    check(
        &format!(
            "{ROWS}count 'post'
count 'post', 2
count 'post', {{INTERVAL => 2, CACHE => 1000, STARTROW => 'row'}}
count 'post', COLUMNS => 'log'
count 'post', INTERVAL => 0"
        ),
        expect![[r#"
            > create 'post', 'cf', 'log', SPLITS => ['row3']
            Created table post
            Took T seconds
            => Hbase::Table - post
            > put 'post', "bin\x00key", 'cf:title', 'binary row key', 1
            Took T seconds
            > put 'post', 'row1', 'cf:title', 'Hello', 2
            Took T seconds
            > put 'post', 'row1', 'log:seen', 'yes', 3
            Took T seconds
            > put 'post', 'row2', 'cf:title', 'Second', 4
            Took T seconds
            > put 'post', 'row3', 'cf:title', 'Third', 5
            Took T seconds
            > put 'post', 'row4', 'log:seen', 'no', 6
            Took T seconds
            > count 'post'
            5 row(s)
            Took T seconds
            => 5
            > count 'post', 2
            Current count: 2, row: row1
            Current count: 4, row: row3
            5 row(s)
            Took T seconds
            => 5
            > count 'post', {INTERVAL => 2, CACHE => 1000, STARTROW => 'row'}
            Current count: 2, row: row2
            Current count: 4, row: row4
            4 row(s)
            Took T seconds
            => 4
            > count 'post', COLUMNS => 'log'
            2 row(s)
            Took T seconds
            => 2
            > count 'post', INTERVAL => 0

            ERROR: INTERVAL must be 1 or more: 0

            For usage try 'help "count"'

            Took T seconds
        "#]],
    );
}

#[test]
fn filters_raw_cells_and_parts_of_rows() {
    check(
        "\
create 'post', {NAME => 'cf', VERSIONS => 3}
put 'post', 'row1', 'cf:a', 'one', 1
put 'post', 'row1', 'cf:b', 'two', 2
put 'post', 'row2', 'cf:a', 'three', 3
deleteall 'post', 'row2', 'cf:a', 3
append 'post', 'row1', 'cf:n', 'xy'
append 'post', 'row1', 'cf:n', 'z', {TTL => 60000}
scan 'post', FILTER => \"PrefixFilter('row1') AND ValueFilter(=, 'substring:o')\"
get 'post', 'row1', {FILTER => \"QualifierFilter(>, 'binary:a') AND KeyOnlyFilter()\"}
count 'post', FILTER => \"FirstKeyOnlyFilter()\"
scan 'post', {RAW => true, VERSIONS => 3, STARTROW => 'row2'}
scan 'post', {BATCH => 1, LIMIT => 1}
scan 'post', FILTER => \"PrefixFilter('row1' AND\"
",
        expect![[r#"
            > create 'post', {NAME => 'cf', VERSIONS => 3}
            Created table post
            Took T seconds
            => Hbase::Table - post
            > put 'post', 'row1', 'cf:a', 'one', 1
            Took T seconds
            > put 'post', 'row1', 'cf:b', 'two', 2
            Took T seconds
            > put 'post', 'row2', 'cf:a', 'three', 3
            Took T seconds
            > deleteall 'post', 'row2', 'cf:a', 3
            Took T seconds
            > append 'post', 'row1', 'cf:n', 'xy'
            CURRENT VALUE = xy
            Took T seconds
            > append 'post', 'row1', 'cf:n', 'z', {TTL => 60000}
            CURRENT VALUE = xyz
            Took T seconds
            > scan 'post', FILTER => "PrefixFilter('row1') AND ValueFilter(=, 'substring:o')"
            ROW  COLUMN+CELL
             row1 column=cf:a, timestamp=1970-01-01T00:00:00.001, value=one
             row1 column=cf:b, timestamp=1970-01-01T00:00:00.002, value=two
            1 row(s)
            Took T seconds
            > get 'post', 'row1', {FILTER => "QualifierFilter(>, 'binary:a') AND KeyOnlyFilter()"}
            COLUMN  CELL
             cf:b timestamp=1970-01-01T00:00:00.002, value=
             cf:n timestamp=NOW, value=
            1 row(s)
            Took T seconds
            > count 'post', FILTER => "FirstKeyOnlyFilter()"
            1 row(s)
            Took T seconds
            => 1
            > scan 'post', {RAW => true, VERSIONS => 3, STARTROW => 'row2'}
            ROW  COLUMN+CELL
             row2 column=cf:a, timestamp=1970-01-01T00:00:00.003, type=DeleteColumn
             row2 column=cf:a, timestamp=1970-01-01T00:00:00.003, value=three
            1 row(s)
            Took T seconds
            > scan 'post', {BATCH => 1, LIMIT => 1}
            ROW  COLUMN+CELL
             row1 column=cf:a, timestamp=1970-01-01T00:00:00.001, value=one
             row1 column=cf:b, timestamp=1970-01-01T00:00:00.002, value=two
             row1 column=cf:n, timestamp=NOW, value=xyz
            1 row(s)
            Took T seconds
            > scan 'post', FILTER => "PrefixFilter('row1' AND"

            ERROR: not a filter: ')' is missing behind arguments, at=23, text=PrefixFilter('row1' AND

            For usage try 'help "scan"'

            Took T seconds
        "#]],
    );
}

#[test]
fn bounds_in_the_wrong_order_are_pointed_out() {
    check(
        r#"create 't', 'f'
put 't', 'b', 'f:q', 'v', 1
scan 't', {STARTROW => 'c', STOPROW => 'a'}
scan 't', {STARTROW => 'a', STOPROW => 'c', REVERSED => true}
scan 't', {STARTROW => 'c', STOPROW => 'a', REVERSED => true}
scan 't', {STARTROW => 'a', STOPROW => 'a'}"#,
        expect![[r#"
            > create 't', 'f'
            Created table t
            Took T seconds
            => Hbase::Table - t
            > put 't', 'b', 'f:q', 'v', 1
            Took T seconds
            > scan 't', {STARTROW => 'c', STOPROW => 'a'}
            ROW  COLUMN+CELL
            0 row(s)
            STARTROW comes after STOPROW: no row is between them (REVERSED => true reads backward)
            Took T seconds
            > scan 't', {STARTROW => 'a', STOPROW => 'c', REVERSED => true}
            ROW  COLUMN+CELL
            0 row(s)
            STARTROW comes before STOPROW: a reversed scan starts at the greater row
            Took T seconds
            > scan 't', {STARTROW => 'c', STOPROW => 'a', REVERSED => true}
            ROW  COLUMN+CELL
             b column=f:q, timestamp=1970-01-01T00:00:00.001, value=v
            1 row(s)
            Took T seconds
            > scan 't', {STARTROW => 'a', STOPROW => 'a'}
            ROW  COLUMN+CELL
            0 row(s)
            Took T seconds
        "#]],
    );
}
