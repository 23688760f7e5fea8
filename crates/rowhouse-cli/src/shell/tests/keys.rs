//! Tests of tables that declare their key.

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
            WARNING: K3 order is not that of the values: `blogger` stands before `_`: 'user0' comes before 'user', since `0` is less than `_`; use string if that matters
            WARNING: K6 long key: `at` takes 19 bytes, 8 in binary: 110 MB for ten million rows of one cell each
            WARNING: K8 keys are not unique: two events of one `blogger` with the same `at` (in millis) are one row; if there can be such, put an id behind it
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

            ERROR: table plain declares no key; declare one when it is made: TableSpec::new("plain").key("[user text]_[at millis desc]"), or in the shell: alter 'plain', KEY => '[user text]_[at millis desc]'

            For usage try 'help "scan"'

            Took T seconds
        "#]],
    );
}

#[test]
fn what_is_to_be_thought_about_a_template_is_told_when_it_is_declared() {
    check(
        "create 'metrics', 'd', KEY => '[at millis digits 13]#[metric text]'
create 'mail', 'd', KEY => '[bucket 16 of user][user string][at millis desc]'",
        expect![[r#"
            > create 'metrics', 'd', KEY => '[at millis digits 13]#[metric text]'
            WARNING: K1 leading time: `at` comes first, so the rows of each moment go to one region: put it behind another field, or a bucket in front
            WARNING: K6 long key: `at` takes 13 bytes, 6 in binary: 70 MB for ten million rows of one cell each
            Created table metrics
            Took T seconds
            => Hbase::Table - metrics
            > create 'mail', 'd', KEY => '[bucket 16 of user][user string][at millis desc]'
            WARNING: K8 keys are not unique: two events of one `user` with the same `at` (in millis) are one row; if there can be such, put an id behind it
            Created table mail
            Took T seconds
            => Hbase::Table - mail
        "#]],
    );
}

#[test]
fn a_template_is_altered_where_rows_fit_it() {
    check(
        "create 'blog', 'cf', SPLITS => ['5']
put 'blog', '123_9223370367001975807', 'cf:title', 'a', 1
put 'blog', '9_9223370367001975807', 'cf:title', 'b', 1
alter 'blog', KEY => '[blogger text]_[at millis digits desc]'
scan 'blog'
put 'blog', 'about', 'cf:title', 'no post', 1
alter 'blog', {KEY => '[who text]_[at millis digits desc]'}
describe 'blog'
alter 'blog', KEY => '[who text]_[at millis digits desc]', FORCE => true
query 'blog', \"at during 2022-12\"
alter 'blog', KEY => '[who txt]'
alter 'blog', 'cf2', KEY => '[who text]'
alter 'blog', FORCE => true
alter 'nosuch', KEY => '[who text]'
disable 'blog'
alter 'blog', KEY => '[who text]'
alter 'blog', KEY => '[who text]', FORCE => true",
        expect![[r#"
            > create 'blog', 'cf', SPLITS => ['5']
            Created table blog
            Took T seconds
            => Hbase::Table - blog
            > put 'blog', '123_9223370367001975807', 'cf:title', 'a', 1
            Took T seconds
            > put 'blog', '9_9223370367001975807', 'cf:title', 'b', 1
            Took T seconds
            > alter 'blog', KEY => '[blogger text]_[at millis digits desc]'
            all rows that were looked at fit: rows=2
            WARNING: K3 order is not that of the values: `blogger` stands before `_`: 'user0' comes before 'user', since `0` is less than `_`; use string if that matters
            WARNING: K6 long key: `at` takes 19 bytes, 8 in binary: 110 MB for ten million rows of one cell each
            WARNING: K8 keys are not unique: two events of one `blogger` with the same `at` (in millis) are one row; if there can be such, put an id behind it
            Updating all regions with the new schema...
            2/2 regions updated.
            Done.
            Took T seconds
            > scan 'blog'
            ROW  COLUMN+CELL
             # blogger='123', at=2022-12-01T00:00:00.000Z
             123_9223370367001975807 column=cf:title, timestamp=1970-01-01T00:00:00.001, value=a
             # blogger='9', at=2022-12-01T00:00:00.000Z
             9_9223370367001975807 column=cf:title, timestamp=1970-01-01T00:00:00.001, value=b
            2 row(s)
            Took T seconds
            > put 'blog', 'about', 'cf:title', 'no post', 1
            Took T seconds
            > alter 'blog', {KEY => '[who text]_[at millis digits desc]'}

            ERROR: the key of table blog is left as it is, rows do not fit the template: 1 of 3 rows that were looked at do not fit, the first is about: key does not fit: field `who`: the literal `_` is missing: at=5

            For usage try 'help "alter"'

            Took T seconds
            > describe 'blog'
            Table blog is ENABLED
            blog, {TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT', 'rowhouse.key' => '1 [blogger text]_[at millis digits desc]'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'cf', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            1 row(s)
            Quota is disabled
            Took T seconds
            > alter 'blog', KEY => '[who text]_[at millis digits desc]', FORCE => true
            WARNING: K3 order is not that of the values: `who` stands before `_`: 'user0' comes before 'user', since `0` is less than `_`; use string if that matters
            WARNING: K6 long key: `at` takes 19 bytes, 8 in binary: 110 MB for ten million rows of one cell each
            WARNING: K8 keys are not unique: two events of one `who` with the same `at` (in millis) are one row; if there can be such, put an id behind it
            Updating all regions with the new schema...
            2/2 regions updated.
            Done.
            Took T seconds
            > query 'blog', "at during 2022-12"
            ROW  COLUMN+CELL
             # who='123', at=2022-12-01T00:00:00.000Z
             123_9223370367001975807 column=cf:title, timestamp=1970-01-01T00:00:00.001, value=a
             # who='9', at=2022-12-01T00:00:00.000Z
             9_9223370367001975807 column=cf:title, timestamp=1970-01-01T00:00:00.001, value=b
             # key does not fit: field `who`: the literal `_` is missing: at=5
             about column=cf:title, timestamp=1970-01-01T00:00:00.001, value=no post
            3 row(s)
            Took T seconds
            > alter 'blog', KEY => '[who txt]'

            ERROR: unknown type `txt`; did you mean `text`?: offset=5
              [who txt]
                   ^

            For usage try 'help "alter"'

            Took T seconds
            > alter 'blog', 'cf2', KEY => '[who text]'

            ERROR: KEY is altered by itself: rows are looked at first

            For usage try 'help "alter"'

            Took T seconds
            > alter 'blog', FORCE => true

            ERROR: FORCE belongs to KEY

            For usage try 'help "alter"'

            Took T seconds
            > alter 'nosuch', KEY => '[who text]'

            ERROR: Table nosuch does not exist.

            For usage try 'help "alter"'

            Took T seconds
            > disable 'blog'
            Took T seconds
            > alter 'blog', KEY => '[who text]'

            ERROR: Table blog is disabled!

            For usage try 'help "alter"'

            Took T seconds
            > alter 'blog', KEY => '[who text]', FORCE => true
            Updating all regions with the new schema...
            2/2 regions updated.
            Done.
            Took T seconds
        "#]],
    );
}

#[test]
fn where_regions_begin_and_end_is_told_by_the_fields_that_are_whole_there() {
    check(
        r#"create 'mail', 'd', KEY => '[bucket 16 of user][user string][at millis desc]', SPLITS => ["\x04", "\x04bob\x00\x01", "\x08"]
get_splits 'mail'
list_regions 'mail'
list_regions 'mail', DECODE => false
create 'plain', 'd', SPLITS => ['10', 'a long split key']
get_splits 'plain'
list_regions 'plain'
list_regions 'nosuch'"#,
        expect![[r#"
            > create 'mail', 'd', KEY => '[bucket 16 of user][user string][at millis desc]', SPLITS => ["\x04", "\x04bob\x00\x01", "\x08"]
            WARNING: K8 keys are not unique: two events of one `user` with the same `at` (in millis) are one row; if there can be such, put an id behind it
            Created table mail
            Took T seconds
            => Hbase::Table - mail
            > get_splits 'mail'
            Total number of splits = 4
             # bucket=4, …
            \x04
             # bucket=4, user='bob', …
            \x04bob\x00\x01
             # bucket=8, …
            \x08
            Took T seconds
            => ["\x04", "\x04bob\x00\x01", "\x08"]
            > list_regions 'mail'
                                                                      REGION_NAME |       START_KEY |         END_KEY |
             -------------------------------------------------------------------- | --------------- | --------------- |
             # from … to bucket=4, …
                            mail,,ID.MD5. |                 |            \x04 |
             # from bucket=4, … to bucket=4, user='bob', …
                        mail,\x04,ID.MD5. |            \x04 | \x04bob\x00\x01 |
             # from bucket=4, user='bob', … to bucket=8, …
             mail,\x04bob\x00\x01,ID.MD5. | \x04bob\x00\x01 |            \x08 |
             # from bucket=8, … to …
                        mail,\x08,ID.MD5. |            \x08 |                 |
             4 rows
            Took T seconds
            > list_regions 'mail', DECODE => false
                                                                      REGION_NAME |       START_KEY |         END_KEY |
             -------------------------------------------------------------------- | --------------- | --------------- |
                            mail,,ID.MD5. |                 |            \x04 |
                        mail,\x04,ID.MD5. |            \x04 | \x04bob\x00\x01 |
             mail,\x04bob\x00\x01,ID.MD5. | \x04bob\x00\x01 |            \x08 |
                        mail,\x08,ID.MD5. |            \x08 |                 |
             4 rows
            Took T seconds
            > create 'plain', 'd', SPLITS => ['10', 'a long split key']
            Created table plain
            Took T seconds
            => Hbase::Table - plain
            > get_splits 'plain'
            Total number of splits = 3
            10
            a long split key
            Took T seconds
            => ["10", "a long split key"]
            > list_regions 'plain'
                                                                        REGION_NAME |        START_KEY |          END_KEY |
             ---------------------------------------------------------------------- | ---------------- | ---------------- |
                             plain,,ID.MD5. |                  |               10 |
                           plain,10,ID.MD5. |               10 | a long split key |
             plain,a long split key,ID.MD5. | a long split key |                  |
             3 rows
            Took T seconds
            > list_regions 'nosuch'

            ERROR: Table nosuch does not exist.

            For usage try 'help "list_regions"'

            Took T seconds
        "#]],
    );
}

#[test]
fn scans_begin_and_end_at_the_first_fields_of_keys() {
    check(
        "create 'mail', 'd', KEY => '[user string][at date]'
put 'mail', {user => 'al', at => '2024-01-01'}, 'd:a', '1', 1
put 'mail', {user => 'bob', at => '2024-01-01'}, 'd:a', '2', 1
put 'mail', {user => 'bob', at => '2024-01-02'}, 'd:a', '3', 1
put 'mail', {user => 'cid', at => '2024-01-01'}, 'd:a', '4', 1
scan 'mail', ROWPREFIXFILTER => {user => 'bob'}, MAXLENGTH => 36
scan 'mail', STARTROW => {user => 'bob'}, STOPROW => {user => 'cid'}, DECODE => false
scan 'mail', {STARTROW => {user => 'bob', at => '2024-01-02'}, DECODE => false}
scan 'mail', {STARTROW => {user => 'bob'}, STOPROW => {user => 'al'}, REVERSED => true, DECODE => false}
count 'mail', STOPROW => {user => 'bob'}
scan 'mail', STARTROW => {at => '2024-01-01'}
scan 'mail', STARTROW => {user => 'bob', to => 'cid'}
scan 'mail', STARTROW => {}
get 'mail', {user => 'bob', at => '2024-01-01'}, {MAXLENGTH => 9, DECODE => false}
get 'mail', {user => 'bob', at => '2024-01-01'}, {MAXLENGTH => 0}
deleteall 'mail', {ROWPREFIXFILTER => {user => 'bob'}}
count 'mail'
create 'salted', 'd', KEY => '[salt 2][user string]'
scan 'salted', STARTROW => {user => 'bob'}
create 'plain', 'd'
scan 'plain', STARTROW => {user => 'bob'}",
        expect![[r#"
            > create 'mail', 'd', KEY => '[user string][at date]'
            WARNING: K8 keys are not unique: two events of one `user` with the same `at` (in days) are one row; if there can be such, put an id behind it
            Created table mail
            Took T seconds
            => Hbase::Table - mail
            > put 'mail', {user => 'al', at => '2024-01-01'}, 'd:a', '1', 1
            Took T seconds
            > put 'mail', {user => 'bob', at => '2024-01-01'}, 'd:a', '2', 1
            Took T seconds
            > put 'mail', {user => 'bob', at => '2024-01-02'}, 'd:a', '3', 1
            Took T seconds
            > put 'mail', {user => 'cid', at => '2024-01-01'}, 'd:a', '4', 1
            Took T seconds
            > scan 'mail', ROWPREFIXFILTER => {user => 'bob'}, MAXLENGTH => 36
            ROW  COLUMN+CELL
             # user='bob', at=2024-01-01
             bob\x00\x01\x80\x00M\x0B column=d:a, timestamp=1970-01-01T00:00:00.001, v
             # user='bob', at=2024-01-02
             bob\x00\x01\x80\x00M\x0C column=d:a, timestamp=1970-01-01T00:00:00.001, v
            2 row(s)
            Took T seconds
            > scan 'mail', STARTROW => {user => 'bob'}, STOPROW => {user => 'cid'}, DECODE => false
            ROW  COLUMN+CELL
             bob\x00\x01\x80\x00M\x0B column=d:a, timestamp=1970-01-01T00:00:00.001, value=2
             bob\x00\x01\x80\x00M\x0C column=d:a, timestamp=1970-01-01T00:00:00.001, value=3
            2 row(s)
            Took T seconds
            > scan 'mail', {STARTROW => {user => 'bob', at => '2024-01-02'}, DECODE => false}
            ROW  COLUMN+CELL
             bob\x00\x01\x80\x00M\x0C column=d:a, timestamp=1970-01-01T00:00:00.001, value=3
             cid\x00\x01\x80\x00M\x0B column=d:a, timestamp=1970-01-01T00:00:00.001, value=4
            2 row(s)
            Took T seconds
            > scan 'mail', {STARTROW => {user => 'bob'}, STOPROW => {user => 'al'}, REVERSED => true, DECODE => false}
            ROW  COLUMN+CELL
             bob\x00\x01\x80\x00M\x0C column=d:a, timestamp=1970-01-01T00:00:00.001, value=3
             bob\x00\x01\x80\x00M\x0B column=d:a, timestamp=1970-01-01T00:00:00.001, value=2
            2 row(s)
            Took T seconds
            > count 'mail', STOPROW => {user => 'bob'}
            1 row(s)
            Took T seconds
            => 1
            > scan 'mail', STARTROW => {at => '2024-01-01'}
            ROW  COLUMN+CELL

            ERROR: where rows begin and end is said by the first fields of their keys, without a gap: first=user, at, given=at

            For usage try 'help "scan"'

            Took T seconds
            > scan 'mail', STARTROW => {user => 'bob', to => 'cid'}
            ROW  COLUMN+CELL

            ERROR: where rows begin and end is said by the first fields of their keys, without a gap: first=user, at, given=user, to

            For usage try 'help "scan"'

            Took T seconds
            > scan 'mail', STARTROW => {}
            ROW  COLUMN+CELL

            ERROR: where rows begin and end is said by the first fields of their keys, without a gap: first=user, at, given=

            For usage try 'help "scan"'

            Took T seconds
            > get 'mail', {user => 'bob', at => '2024-01-01'}, {MAXLENGTH => 9, DECODE => false}
            COLUMN  CELL
             d:a timestamp
            1 row(s)
            Took T seconds
            > get 'mail', {user => 'bob', at => '2024-01-01'}, {MAXLENGTH => 0}

            ERROR: MAXLENGTH must be 1 or more: 0

            For usage try 'help "get"'

            Took T seconds
            > deleteall 'mail', {ROWPREFIXFILTER => {user => 'bob'}}
            Took T seconds
            > count 'mail'
            2 row(s)
            Took T seconds
            => 2
            > create 'salted', 'd', KEY => '[salt 2][user string]'
            WARNING: K5 random salt: `salt 2` is random: a get by the other fields asks for 2 keys, and the same fields may make several rows; use bucket where rows are read by their key
            Created table salted
            Took T seconds
            => Hbase::Table - salted
            > scan 'salted', STARTROW => {user => 'bob'}
            ROW  COLUMN+CELL

            ERROR: rows with these fields do not stand together, a query reads them: ranges=2

            For usage try 'help "scan"'

            Took T seconds
            > create 'plain', 'd'
            Created table plain
            Took T seconds
            => Hbase::Table - plain
            > scan 'plain', STARTROW => {user => 'bob'}
            ROW  COLUMN+CELL

            ERROR: table plain declares no key; declare one when it is made: TableSpec::new("plain").key("[user text]_[at millis desc]"), or in the shell: alter 'plain', KEY => '[user text]_[at millis desc]'

            For usage try 'help "scan"'

            Took T seconds
        "#]],
    );
}

#[test]
fn a_text_is_never_a_stored_hash_and_what_is_shown_is_one() {
    check(
        "create 'wallets', 'd', KEY => '[wallet text sha1 4]'
put 'wallets', {wallet => '0x01020304'}, 'd:n', 'one', 1
get 'wallets', {wallet => '0x01020304'}
query 'wallets', \"wallet = '0x01020304'\"
get 'wallets', {'hash(wallet)' => '0x98fd74d8'}
query 'wallets', 'hash(wallet) = 0x98fd74d8'
get 'wallets', {'hash(wallet)' => 'bob'}",
        expect![[r#"
            > create 'wallets', 'd', KEY => '[wallet text sha1 4]'
            Created table wallets
            Took T seconds
            => Hbase::Table - wallets
            > put 'wallets', {wallet => '0x01020304'}, 'd:n', 'one', 1
            Took T seconds
            > get 'wallets', {wallet => '0x01020304'}
            COLUMN  CELL
             # \xAA\xFB\xCD.: hash(wallet)=0xaafbcd2e
             d:n timestamp=1970-01-01T00:00:00.001, value=one
            1 row(s)
            Took T seconds
            > query 'wallets', "wallet = '0x01020304'"
            ROW  COLUMN+CELL
             # hash(wallet)=0xaafbcd2e
             \xAA\xFB\xCD. column=d:n, timestamp=1970-01-01T00:00:00.001, value=one
            1 row(s)
            Took T seconds
            > get 'wallets', {'hash(wallet)' => '0x98fd74d8'}
            COLUMN  CELL
            0 row(s)
            Took T seconds
            > query 'wallets', 'hash(wallet) = 0x98fd74d8'
            ROW  COLUMN+CELL
            0 row(s)
            Took T seconds
            > get 'wallets', {'hash(wallet)' => 'bob'}
            COLUMN  CELL

            ERROR: field `hash(wallet)`: expected a stored hash such as 0x00ff: text=bob

            For usage try 'help "get"'

            Took T seconds
        "#]],
    );
}
