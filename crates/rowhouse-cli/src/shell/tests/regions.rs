//! Tests of locating rows, of compactions, and of cloning declarations of tables.

use expect_test::expect;

use super::check;

#[test]
fn a_row_is_located_whether_it_is_there_or_not() {
    check(
        r#"create 'blog', 'cf', SPLITS => ['m']
locate_region 'blog', 'a'
locate_region 'blog', 'm'
create 'mail', 'd', KEY => '[salt 2][user string][at millis]', SPLITS => ["\x01"]
locate_region 'mail', {user => 'bob', at => 5}
disable 'blog'
locate_region 'blog', 'a'
locate_region 'nosuch', 'a'
locate_region 'blog', ''
locate_region 'blog'"#,
        expect![[r#"
            > create 'blog', 'cf', SPLITS => ['m']
            Created table blog
            Took T seconds
            => Hbase::Table - blog
            > locate_region 'blog', 'a'
            HOST  REGION
             SERVER {ENCODED => MD5, NAME => 'blog,,ID.MD5.', STARTKEY => '', ENDKEY => 'm'}
            1 row(s)
            Took T seconds
            > locate_region 'blog', 'm'
            HOST  REGION
             SERVER {ENCODED => MD5, NAME => 'blog,m,ID.MD5.', STARTKEY => 'm', ENDKEY => ''}
            1 row(s)
            Took T seconds
            > create 'mail', 'd', KEY => '[salt 2][user string][at millis]', SPLITS => ["\x01"]
            WARNING: K5 random salt: `salt 2` is random: a get by the other fields asks for 2 keys, and the same fields may make several rows; use bucket where rows are read by their key
            WARNING: K8 keys are not unique: two events of one `user` with the same `at` (in millis) are one row; if there can be such, put an id behind it
            Created table mail
            Took T seconds
            => Hbase::Table - mail
            > locate_region 'mail', {user => 'bob', at => 5}
            HOST  REGION
             SERVER {ENCODED => MD5, NAME => 'mail,,ID.MD5.', STARTKEY => '', ENDKEY => '\x01'}
             SERVER {ENCODED => MD5, NAME => 'mail,\x01,ID.MD5.', STARTKEY => '\x01', ENDKEY => ''}
            2 row(s)
            Took T seconds
            > disable 'blog'
            Took T seconds
            > locate_region 'blog', 'a'

            ERROR: Table blog is disabled!

            For usage try 'help "locate_region"'

            Took T seconds
            > locate_region 'nosuch', 'a'

            ERROR: Unknown table nosuch!

            For usage try 'help "locate_region"'

            Took T seconds
            > locate_region 'blog', ''

            ERROR: Row length is 0

            For usage try 'help "locate_region"'

            Took T seconds
            > locate_region 'blog'

            ERROR: wrong number of arguments (given 1, expected 2)

            For usage try 'help "locate_region"'

            Took T seconds
        "#]],
    );
}

#[test]
fn a_table_without_merges_is_in_no_state_of_them() {
    check(
        "create 'blog', 'cf', SPLITS => ['m']
put 'blog', 'a', 'cf:title', 'x'
compaction_state 'blog'
disable 'blog'
compaction_state 'blog'
compaction_state 'nosuch'",
        expect![[r#"
            > create 'blog', 'cf', SPLITS => ['m']
            Created table blog
            Took T seconds
            => Hbase::Table - blog
            > put 'blog', 'a', 'cf:title', 'x'
            Took T seconds
            > compaction_state 'blog'
            NONE
            Took T seconds
            > disable 'blog'
            Took T seconds
            > compaction_state 'blog'
            NONE
            Took T seconds
            > compaction_state 'nosuch'

            ERROR: Unknown table nosuch!

            For usage try 'help "compaction_state"'

            Took T seconds
        "#]],
    );
}

#[test]
fn a_table_is_declared_as_another_is_with_its_splits_or_without() {
    check(
        "create 'blog', {NAME => 'cf', VERSIONS => 3}, KEY => '[user string][at millis desc]', SPLITS => ['g', 'm']
put 'blog', 'a', 'cf:title', 'x'
clone_table_schema 'blog', 'blog2'
describe 'blog2'
get_splits 'blog2'
count 'blog2'
clone_table_schema 'blog', 'blog3', false
get_splits 'blog3'
clone_table_schema 'blog', 'blog3'
clone_table_schema 'nosuch', 'blog4'
clone_table_schema 'blog', 'blog4', 'perhaps'",
        expect![[r#"
            > create 'blog', {NAME => 'cf', VERSIONS => 3}, KEY => '[user string][at millis desc]', SPLITS => ['g', 'm']
            WARNING: K8 keys are not unique: two events of one `user` with the same `at` (in millis) are one row; if there can be such, put an id behind it
            Created table blog
            Took T seconds
            => Hbase::Table - blog
            > put 'blog', 'a', 'cf:title', 'x'
            Took T seconds
            > clone_table_schema 'blog', 'blog2'
            Took T seconds
            > describe 'blog2'
            Table blog2 is ENABLED
            blog2, {TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT', 'rowhouse.key' => '1 [user string][at millis desc]'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'cf', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '3', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            1 row(s)
            Quota is disabled
            Took T seconds
            > get_splits 'blog2'
            Total number of splits = 3
             # g…
            g
             # m…
            m
            Took T seconds
            => ["g", "m"]
            > count 'blog2'
            0 row(s)
            Took T seconds
            => 0
            > clone_table_schema 'blog', 'blog3', false
            Took T seconds
            > get_splits 'blog3'
            Total number of splits = 1
            Took T seconds
            => []
            > clone_table_schema 'blog', 'blog3'

            ERROR: Table already exists: blog3!

            For usage try 'help "clone_table_schema"'

            Took T seconds
            > clone_table_schema 'nosuch', 'blog4'

            ERROR: Unknown table nosuch!

            For usage try 'help "clone_table_schema"'

            Took T seconds
            > clone_table_schema 'blog', 'blog4', 'perhaps'

            ERROR: KEEP SPLITS must be true or false: 'perhaps'

            For usage try 'help "clone_table_schema"'

            Took T seconds
        "#]],
    );
}

#[test]
fn the_filters_of_the_language_are_shown() {
    check(
        "show_filters",
        expect![[r#"
        > show_filters
        ColumnCountGetFilter
        ColumnPaginationFilter
        ColumnPrefixFilter
        ColumnRangeFilter
        ColumnValueFilter
        DependentColumnFilter
        FamilyFilter
        FirstKeyOnlyFilter
        InclusiveStopFilter
        KeyOnlyFilter
        MultipleColumnPrefixFilter
        PageFilter
        PrefixFilter
        QualifierFilter
        RowFilter
        SingleColumnValueExcludeFilter
        SingleColumnValueFilter
        TimestampsFilter
        ValueFilter
        Took T seconds
    "#]],
    );
}
