//! Tests of naming and finding rows by the fields of their keys.

use expect_test::expect;

use super::check;

#[test]
fn rows_are_written_read_and_deleted_by_the_fields_of_their_keys() {
    check(
        r#"create 'mail', 'd', KEY => '[user string][at millis desc]'
put 'mail', {user => 'bob', at => '2022-12-05T10:00'}, 'd:subject', 'hello', 1
put('mail', {'user' => 'bob', 'at' => 1669852800000}, 'd:subject', 'first', 1)
get 'mail', {user => 'bob', at => '2022-12-05T10:00Z'}
get 'mail', user => 'bob', at => '2022-12-05T18:00+08:00'
get 'mail', {user => 'bob', at => '2022-12-05T10:00'}, COLUMN => 'd:subject', DECODE => false
get 'mail', {user => 'ann', at => '2022-12-05T10:00'}
incr 'mail', {user => 'bob', at => '2022-12-01'}, 'd:read'
get_counter 'mail', {user => 'bob', at => '2022-12-01'}, 'd:read'
delete 'mail', {user => 'bob', at => '2022-12-01'}, 'd:read'
deleteall 'mail', {user => 'bob', at => '2022-12-01'}
scan 'mail'
scan 'mail', DECODE => false
count 'mail', INTERVAL => 1
get 'mail', {user => 'bob'}
get 'mail', {user => 'bob', att => '2022-12-01'}
get 'mail', {user => 'bob', at => 'soon'}
get 'mail', {COLUMN => 'd:subject'}
get 'mail', {user => {of => 'bob'}, at => 1}
create 'plain', 'cf'
get 'plain', {user => 'bob'}"#,
        expect![[r#"
            > create 'mail', 'd', KEY => '[user string][at millis desc]'
            WARNING: K8 keys are not unique: two events of one `user` with the same `at` (in millis) are one row; if there can be such, put an id behind it
            Created table mail
            Took T seconds
            => Hbase::Table - mail
            > put 'mail', {user => 'bob', at => '2022-12-05T10:00'}, 'd:subject', 'hello', 1
            Took T seconds
            > put('mail', {'user' => 'bob', 'at' => 1669852800000}, 'd:subject', 'first', 1)
            Took T seconds
            > get 'mail', {user => 'bob', at => '2022-12-05T10:00Z'}
            COLUMN  CELL
             # bob\x00\x01\x7F\xFF\xFE{\x1EE\x9A\xFF: user='bob', at=2022-12-05T10:00:00.000Z
             d:subject timestamp=1970-01-01T00:00:00.001, value=hello
            1 row(s)
            Took T seconds
            > get 'mail', user => 'bob', at => '2022-12-05T18:00+08:00'
            COLUMN  CELL
             # bob\x00\x01\x7F\xFF\xFE{\x1EE\x9A\xFF: user='bob', at=2022-12-05T10:00:00.000Z
             d:subject timestamp=1970-01-01T00:00:00.001, value=hello
            1 row(s)
            Took T seconds
            > get 'mail', {user => 'bob', at => '2022-12-05T10:00'}, COLUMN => 'd:subject', DECODE => false
            COLUMN  CELL
             d:subject timestamp=1970-01-01T00:00:00.001, value=hello
            1 row(s)
            Took T seconds
            > get 'mail', {user => 'ann', at => '2022-12-05T10:00'}
            COLUMN  CELL
            0 row(s)
            Took T seconds
            > incr 'mail', {user => 'bob', at => '2022-12-01'}, 'd:read'
            COUNTER VALUE = 1
            Took T seconds
            > get_counter 'mail', {user => 'bob', at => '2022-12-01'}, 'd:read'
            COUNTER VALUE = 1
            Took T seconds
            > delete 'mail', {user => 'bob', at => '2022-12-01'}, 'd:read'
            Took T seconds
            > deleteall 'mail', {user => 'bob', at => '2022-12-01'}
            Took T seconds
            > scan 'mail'
            ROW  COLUMN+CELL
             # user='bob', at=2022-12-05T10:00:00.000Z
             bob\x00\x01\x7F\xFF\xFE{\x1EE\x9A\xFF column=d:subject, timestamp=1970-01-01T00:00:00.001, value=hello
            1 row(s)
            Took T seconds
            > scan 'mail', DECODE => false
            ROW  COLUMN+CELL
             bob\x00\x01\x7F\xFF\xFE{\x1EE\x9A\xFF column=d:subject, timestamp=1970-01-01T00:00:00.001, value=hello
            1 row(s)
            Took T seconds
            > count 'mail', INTERVAL => 1
             # user='bob', at=2022-12-05T10:00:00.000Z
            Current count: 1, row: bob\x00\x01\x7F\xFF\xFE{\x1EE\x9A\xFF
            1 row(s)
            Took T seconds
            => 1
            > get 'mail', {user => 'bob'}
            COLUMN  CELL

            ERROR: field `at`: no value given

            For usage try 'help "get"'

            Took T seconds
            > get 'mail', {user => 'bob', att => '2022-12-01'}
            COLUMN  CELL

            ERROR: the key has no field `att`; did you mean `at`?

            For usage try 'help "get"'

            Took T seconds
            > get 'mail', {user => 'bob', at => 'soon'}
            COLUMN  CELL

            ERROR: field `at`: expected a year of 4 digits: offset=0
              soon
              ^

            For usage try 'help "get"'

            Took T seconds
            > get 'mail', {COLUMN => 'd:subject'}

            ERROR: ROW must be a text, not a hash

            For usage try 'help "get"'

            Took T seconds
            > get 'mail', {user => {of => 'bob'}, at => 1}
            COLUMN  CELL

            ERROR: field `user`: a hash is no value: {'of' => 'bob'}

            For usage try 'help "get"'

            Took T seconds
            > create 'plain', 'cf'
            Created table plain
            Took T seconds
            => Hbase::Table - plain
            > get 'plain', {user => 'bob'}
            COLUMN  CELL

            ERROR: table plain declares no key; declare one when it is made: TableSpec::new("plain").key("[user text]_[at millis desc]"), or in the shell: alter 'plain', KEY => '[user text]_[at millis desc]'

            For usage try 'help "get"'

            Took T seconds
        "#]],
    );
}

#[test]
fn of_a_key_with_a_salt_every_row_is_meant_unless_it_is_given() {
    check(
        r"create 'salted', 'd', KEY => '[salt 3 a-c as shard]-[id text]'
put 'salted', {shard => 'b', id => 'foo'}, 'd:q', 'older', 1
put 'salted', {shard => 'a', id => 'foo'}, 'd:q', 'newer', 2
put 'salted', {shard => 'a', id => 'bar'}, 'd:q', 'other', 2
get 'salted', {id => 'foo'}
get 'salted', {id => 'foo', shard => 'b'}
incr 'salted', {id => 'foo'}, 'd:n'
deleteall 'salted', {id => 'foo'}
scan 'salted'
put 'salted', {id => 'drawn'}, 'd:q', 'x', 1
get 'salted', {id => 'drawn'}, DECODE => false",
        expect![[r#"
            > create 'salted', 'd', KEY => '[salt 3 a-c as shard]-[id text]'
            WARNING: K5 random salt: `salt 3 a-c as shard` is random: a get by the other fields asks for 3 keys, and the same fields may make several rows; use bucket where rows are read by their key
            Created table salted
            Took T seconds
            => Hbase::Table - salted
            > put 'salted', {shard => 'b', id => 'foo'}, 'd:q', 'older', 1
            Took T seconds
            > put 'salted', {shard => 'a', id => 'foo'}, 'd:q', 'newer', 2
            Took T seconds
            > put 'salted', {shard => 'a', id => 'bar'}, 'd:q', 'other', 2
            Took T seconds
            > get 'salted', {id => 'foo'}
            COLUMN  CELL
             # a-foo: id='foo'
             d:q timestamp=1970-01-01T00:00:00.002, value=newer
             # b-foo: id='foo'
             d:q timestamp=1970-01-01T00:00:00.001, value=older
            2 row(s)
            Took T seconds
            > get 'salted', {id => 'foo', shard => 'b'}
            COLUMN  CELL
             # b-foo: id='foo'
             d:q timestamp=1970-01-01T00:00:00.001, value=older
            1 row(s)
            Took T seconds
            > incr 'salted', {id => 'foo'}, 'd:n'

            ERROR: `salt 3 a-c as shard`: no salt given: name it (`as shard`) and give it, or use a random one

            For usage try 'help "incr"'

            Took T seconds
            > deleteall 'salted', {id => 'foo'}
            Took T seconds
            > scan 'salted'
            ROW  COLUMN+CELL
             # id='bar'
             a-bar column=d:q, timestamp=1970-01-01T00:00:00.002, value=other
            1 row(s)
            Took T seconds
            > put 'salted', {id => 'drawn'}, 'd:q', 'x', 1
            Took T seconds
            > get 'salted', {id => 'drawn'}, DECODE => false
            COLUMN  CELL
             d:q timestamp=1970-01-01T00:00:00.001, value=x
            1 row(s)
            Took T seconds
        "#]],
    );
}

#[test]
fn queries_print_rows_pages_and_plans() {
    check(
        r#"create 'mail', 'd', KEY => '[user string][at millis desc]', SPLITS => ['b', 'c']
put 'mail', {user => 'bob', at => '2022-12-05T10:00'}, 'd:subject', 'three', 1
put 'mail', {user => 'bob', at => '2022-12-03T10:00'}, 'd:subject', 'two', 1
put 'mail', {user => 'bob', at => '2022-12-01T10:00'}, 'd:subject', 'one', 1
put 'mail', {user => 'bob', at => '2022-12-01T10:00'}, 'd:read', 'yes', 1
put 'mail', {user => 'ann', at => '2022-12-05T10:00'}, 'd:subject', 'not his', 1
put 'mail', "bob\x00\x01?", 'd:subject', 'no time', 1
query 'mail', "user = 'bob' and at >= 2022-12-02"
query 'mail', "user = 'bob'", LIMIT => 2
query 'mail', "user = 'bob'", LIMIT => 2, OFFSET => 1, COLUMN => 'd:subject', DECODE => false
query 'mail', "user = 'nobody'"
explain 'mail', "user = 'bob' and at >= 2022-12-02"
explain 'mail', "at >= 2022-12-02"
query 'mail', "user = bob"
query 'mail', "sender = 'bob'"
query 'mail', "user = 'bob'", PAGE => 'x'
query 'mail', "user = 'bob'", REVERSED => true
explain 'mail', "user >"
create 'plain', 'cf'
query 'plain', "user = 'bob'""#,
        expect![[r#"
            > create 'mail', 'd', KEY => '[user string][at millis desc]', SPLITS => ['b', 'c']
            WARNING: K8 keys are not unique: two events of one `user` with the same `at` (in millis) are one row; if there can be such, put an id behind it
            Created table mail
            Took T seconds
            => Hbase::Table - mail
            > put 'mail', {user => 'bob', at => '2022-12-05T10:00'}, 'd:subject', 'three', 1
            Took T seconds
            > put 'mail', {user => 'bob', at => '2022-12-03T10:00'}, 'd:subject', 'two', 1
            Took T seconds
            > put 'mail', {user => 'bob', at => '2022-12-01T10:00'}, 'd:subject', 'one', 1
            Took T seconds
            > put 'mail', {user => 'bob', at => '2022-12-01T10:00'}, 'd:read', 'yes', 1
            Took T seconds
            > put 'mail', {user => 'ann', at => '2022-12-05T10:00'}, 'd:subject', 'not his', 1
            Took T seconds
            > put 'mail', "bob\x00\x01?", 'd:subject', 'no time', 1
            Took T seconds
            > query 'mail', "user = 'bob' and at >= 2022-12-02"
            ROW  COLUMN+CELL
             # key does not fit: field `at`: needs 8 bytes, 1 are left: at=5
             bob\x00\x01? column=d:subject, timestamp=1970-01-01T00:00:00.001, value=no time
             # user='bob', at=2022-12-05T10:00:00.000Z
             bob\x00\x01\x7F\xFF\xFE{\x1EE\x9A\xFF column=d:subject, timestamp=1970-01-01T00:00:00.001, value=three
             # user='bob', at=2022-12-03T10:00:00.000Z
             bob\x00\x01\x7F\xFF\xFE{(\x92R\xFF column=d:subject, timestamp=1970-01-01T00:00:00.001, value=two
            3 row(s)
            Took T seconds
            > query 'mail', "user = 'bob'", LIMIT => 2
            ROW  COLUMN+CELL
             # key does not fit: field `at`: needs 8 bytes, 1 are left: at=5
             bob\x00\x01? column=d:subject, timestamp=1970-01-01T00:00:00.001, value=no time
             # user='bob', at=2022-12-05T10:00:00.000Z
             bob\x00\x01\x7F\xFF\xFE{\x1EE\x9A\xFF column=d:subject, timestamp=1970-01-01T00:00:00.001, value=three
            2 row(s)
            next page: PAGE => '01003613541c886ee348a8cfc0a18611a771626f6200017ffffe7b1e459affbb6fb87a'
            Took T seconds
            > query 'mail', "user = 'bob'", LIMIT => 2, OFFSET => 1, COLUMN => 'd:subject', DECODE => false
            ROW  COLUMN+CELL
             bob\x00\x01\x7F\xFF\xFE{\x1EE\x9A\xFF column=d:subject, timestamp=1970-01-01T00:00:00.001, value=three
             bob\x00\x01\x7F\xFF\xFE{(\x92R\xFF column=d:subject, timestamp=1970-01-01T00:00:00.001, value=two
            2 row(s)
            next page: PAGE => '01003613541c886ee348a8cfc0a18611a771626f6200017ffffe7b289252ffbe41ec90'
            Took T seconds
            > query 'mail', "user = 'nobody'"
            ROW  COLUMN+CELL
            0 row(s)
            Took T seconds
            > explain 'mail', "user = 'bob' and at >= 2022-12-02"
            ranges: 1
              [bob\x00\x01, bob\x00\x01\x7F\xFF\xFE{/\xDE\x00\x00)
            residual: none, the ranges are exact
            order: user ascending, at descending (newest first)
            regions: 1 of 3
            read: one range after the other
            filter: nowhere but in the ranges
            fields:
              [user string] ordered
              [at millis desc] ordered
            Took T seconds
            > explain 'mail', "at >= 2022-12-02"
            ranges: 1, reads the whole table
              […, …)
            residual: at >= 2022-12-02
            order: user ascending, at descending (newest first)
            regions: 3 of 3
            read: one range after the other
            filter: on each row's decoded key, by the residual
            fields:
              [user string] ordered
              [at millis desc] ordered
            Took T seconds
            > query 'mail', "user = bob"

            ERROR: expected a value; a text stands in quotes: 'bob': offset=7
              user = bob
                     ^

            For usage try 'help "query"'

            Took T seconds
            > query 'mail', "sender = 'bob'"

            ERROR: the key has no field `sender`; it has: user, at; a query names columns as they are declared: COLUMNS => 'FAMILY:QUALIFIER sender string': offset=0
              sender = 'bob'
              ^

            For usage try 'help "query"'

            Took T seconds
            > query 'mail', "user = 'bob'", PAGE => 'x'

            ERROR: the page token is not one: expected hex digits

            For usage try 'help "query"'

            Took T seconds
            > query 'mail', "user = 'bob'", REVERSED => true
            ROW  COLUMN+CELL
             # user='bob', at=2022-12-01T10:00:00.000Z
             bob\x00\x01\x7F\xFF\xFE{2\xDF\x0A\xFF column=d:read, timestamp=1970-01-01T00:00:00.001, value=yes
             bob\x00\x01\x7F\xFF\xFE{2\xDF\x0A\xFF column=d:subject, timestamp=1970-01-01T00:00:00.001, value=one
             # user='bob', at=2022-12-03T10:00:00.000Z
             bob\x00\x01\x7F\xFF\xFE{(\x92R\xFF column=d:subject, timestamp=1970-01-01T00:00:00.001, value=two
             # user='bob', at=2022-12-05T10:00:00.000Z
             bob\x00\x01\x7F\xFF\xFE{\x1EE\x9A\xFF column=d:subject, timestamp=1970-01-01T00:00:00.001, value=three
             # key does not fit: field `at`: needs 8 bytes, 1 are left: at=5
             bob\x00\x01? column=d:subject, timestamp=1970-01-01T00:00:00.001, value=no time
            4 row(s)
            Took T seconds
            > explain 'mail', "user >"

            ERROR: expected a value: a text in quotes, a number or a time: offset=6
              user >
                    ^

            For usage try 'help "explain"'

            Took T seconds
            > create 'plain', 'cf'
            Created table plain
            Took T seconds
            => Hbase::Table - plain
            > query 'plain', "user = 'bob'"

            ERROR: table plain declares no key; declare one when it is made: TableSpec::new("plain").key("[user text]_[at millis desc]"), or in the shell: alter 'plain', KEY => '[user text]_[at millis desc]'

            For usage try 'help "query"'

            Took T seconds
        "#]],
    );
}

#[test]
fn a_page_leads_on_to_the_next() {
    check(
        r#"create 'mail', 'd', KEY => '[user string][at millis desc]'
put 'mail', {user => 'bob', at => 3}, 'd:q', 'three', 1
put 'mail', {user => 'bob', at => 2}, 'd:q', 'two', 1
put 'mail', {user => 'bob', at => 1}, 'd:q', 'one', 1
query 'mail', "user = 'bob'", LIMIT => 2, DECODE => false
query 'mail', "user = 'bob'", LIMIT => 2, PAGE => '01003613541c886ee348a8cfc0a18611a771626f6200017ffffffffffffffd20f1f884', DECODE => false
query 'mail', "user = 'bob'", PAGE => '01003613541c886ee348a8cfc0a18611a771626f6200017ffffffffffffffd20f1f884', DECODE => false"#,
        expect![[r#"
            > create 'mail', 'd', KEY => '[user string][at millis desc]'
            WARNING: K8 keys are not unique: two events of one `user` with the same `at` (in millis) are one row; if there can be such, put an id behind it
            Created table mail
            Took T seconds
            => Hbase::Table - mail
            > put 'mail', {user => 'bob', at => 3}, 'd:q', 'three', 1
            Took T seconds
            > put 'mail', {user => 'bob', at => 2}, 'd:q', 'two', 1
            Took T seconds
            > put 'mail', {user => 'bob', at => 1}, 'd:q', 'one', 1
            Took T seconds
            > query 'mail', "user = 'bob'", LIMIT => 2, DECODE => false
            ROW  COLUMN+CELL
             bob\x00\x01\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFC column=d:q, timestamp=1970-01-01T00:00:00.001, value=three
             bob\x00\x01\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFD column=d:q, timestamp=1970-01-01T00:00:00.001, value=two
            2 row(s)
            next page: PAGE => '01003613541c886ee348a8cfc0a18611a771626f6200017ffffffffffffffd20f1f884'
            Took T seconds
            > query 'mail', "user = 'bob'", LIMIT => 2, PAGE => '01003613541c886ee348a8cfc0a18611a771626f6200017ffffffffffffffd20f1f884', DECODE => false
            ROW  COLUMN+CELL
             bob\x00\x01\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFE column=d:q, timestamp=1970-01-01T00:00:00.001, value=one
            1 row(s)
            Took T seconds
            > query 'mail', "user = 'bob'", PAGE => '01003613541c886ee348a8cfc0a18611a771626f6200017ffffffffffffffd20f1f884', DECODE => false
            ROW  COLUMN+CELL
             bob\x00\x01\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFE column=d:q, timestamp=1970-01-01T00:00:00.001, value=one
            1 row(s)
            Took T seconds
        "#]],
    );
}

#[test]
fn buckets_are_merged_and_keys_that_do_not_fit_are_counted() {
    check(
        r#"create 'mail', 'd', KEY => '[bucket 3 of user][user string][at millis desc]'
put 'mail', {user => 'bob', at => 3}, 'd:q', 'of bob', 1
put 'mail', {user => 'ann', at => 2}, 'd:q', 'of ann', 1
put 'mail', "\x00x", 'd:q', 'of nobody', 1
query 'mail', "user >= 'a'", LIMIT => 5
explain 'mail', "user >= 'a'""#,
        expect![[r#"
            > create 'mail', 'd', KEY => '[bucket 3 of user][user string][at millis desc]'
            WARNING: K8 keys are not unique: two events of one `user` with the same `at` (in millis) are one row; if there can be such, put an id behind it
            Created table mail
            Took T seconds
            => Hbase::Table - mail
            > put 'mail', {user => 'bob', at => 3}, 'd:q', 'of bob', 1
            Took T seconds
            > put 'mail', {user => 'ann', at => 2}, 'd:q', 'of ann', 1
            Took T seconds
            > put 'mail', "\x00x", 'd:q', 'of nobody', 1
            Took T seconds
            > query 'mail', "user >= 'a'", LIMIT => 5
            ROW  COLUMN+CELL
             # user='ann', at=1970-01-01T00:00:00.002Z
             \x00ann\x00\x01\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFD column=d:q, timestamp=1970-01-01T00:00:00.001, value=of ann
             # user='bob', at=1970-01-01T00:00:00.003Z
             \x00bob\x00\x01\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFC column=d:q, timestamp=1970-01-01T00:00:00.001, value=of bob
            2 row(s)
            left out, keys that do not fit the template: 1
            Took T seconds
            > explain 'mail', "user >= 'a'"
            ranges: 3, in 3 streams
              0: [\x00a\x00\x01, \x01)
              1: [\x01a\x00\x01, \x02)
              2: [\x02a\x00\x01, \x03)
            residual: none, the ranges are exact
            order: user ascending, at descending (newest first); merged from the buckets
            regions: 1 of 1
            read: the streams side by side, merged by the key without its buckets
            filter: nowhere but in the ranges
            fields:
              [user string] ordered
              [at millis desc] ordered
              [bucket 3 of user] computed
            Took T seconds
        "#]],
    );
}
