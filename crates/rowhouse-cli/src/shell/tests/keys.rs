//! Tables that declare their key.

use expect_test::expect;

use super::check;

#[test]
fn the_template_is_declared_described_and_keys_are_decoded_by_it() {
    check(
        "create 'blog', 'cf', KEY => '[blogger text]_[at millis digits desc]'
describe 'blog'
put 'blog', '123_9223370367001975807', 'cf:title', '十二月', 1
put 'blog', 'about', 'cf:title', 'no post', 1
scan 'blog'
scan 'blog', DECODE => false
get 'blog', '123_9223370367001975807'
get 'blog', 'about', DECODE => true
get 'blog', 'nosuch', DECODE => true
create 'bad', 'cf', KEY => '[at mills]'
create 'plain', 'cf'
scan 'plain', DECODE => true",
        expect![[r#"
            > create 'blog', 'cf', KEY => '[blogger text]_[at millis digits desc]'
            Created table blog
            Took T seconds
            => Hbase::Table - blog
            > describe 'blog'
            Table blog is ENABLED
            blog, {TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT', 'rowhouse.key' => '1 [blogger text]_[at millis digits desc]'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'cf', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            1 row(s)
            Quota is disabled
            Took T seconds
            > put 'blog', '123_9223370367001975807', 'cf:title', '十二月', 1
            Took T seconds
            > put 'blog', 'about', 'cf:title', 'no post', 1
            Took T seconds
            > scan 'blog'
            ROW  COLUMN+CELL
             # blogger='123', at=2022-12-01T00:00:00.000Z
             123_9223370367001975807 column=cf:title, timestamp=1970-01-01T00:00:00.001, value=\xE5\x8D\x81\xE4\xBA\x8C\xE6\x9C\x88
             # key does not fit: field `blogger`: the literal `_` is missing: at=5
             about column=cf:title, timestamp=1970-01-01T00:00:00.001, value=no post
            2 row(s)
            Took T seconds
            > scan 'blog', DECODE => false
            ROW  COLUMN+CELL
             123_9223370367001975807 column=cf:title, timestamp=1970-01-01T00:00:00.001, value=\xE5\x8D\x81\xE4\xBA\x8C\xE6\x9C\x88
             about column=cf:title, timestamp=1970-01-01T00:00:00.001, value=no post
            2 row(s)
            Took T seconds
            > get 'blog', '123_9223370367001975807'
            COLUMN  CELL
             # 123_9223370367001975807: blogger='123', at=2022-12-01T00:00:00.000Z
             cf:title timestamp=1970-01-01T00:00:00.001, value=\xE5\x8D\x81\xE4\xBA\x8C\xE6\x9C\x88
            1 row(s)
            Took T seconds
            > get 'blog', 'about', DECODE => true
            COLUMN  CELL
             # about: key does not fit: field `blogger`: the literal `_` is missing: at=5
             cf:title timestamp=1970-01-01T00:00:00.001, value=no post
            1 row(s)
            Took T seconds
            > get 'blog', 'nosuch', DECODE => true
            COLUMN  CELL
            0 row(s)
            Took T seconds
            > create 'bad', 'cf', KEY => '[at mills]'

            ERROR: unknown type `mills`; did you mean `millis`?: offset=4
              [at mills]
                  ^

            For usage try 'help "create"'

            Took T seconds
            > create 'plain', 'cf'
            Created table plain
            Took T seconds
            => Hbase::Table - plain
            > scan 'plain', DECODE => true
            ROW  COLUMN+CELL

            ERROR: table plain declares no key; declare one when it is made: TableSpec::new("plain").key("[user text]_[at millis desc]"), or in the shell: create 'plain', 'cf', KEY => '[user text]_[at millis desc]'

            For usage try 'help "scan"'

            Took T seconds
        "#]],
    );
}
