//! Tests of declared columns in output and queries.

use expect_test::expect;

use super::check;

#[test]
fn cells_are_shown_by_their_names_and_found_by_their_values() {
    check(
        r#"create 'mail', 'd', 'f', KEY => '[user string]', COLUMNS => 'd:s subject string; d:n size u32; f:by_[who text] read bool'
describe 'mail'
put 'mail', {user => 'bob'}, 'd:s', 'Christmas', 1
put 'mail', {user => 'bob'}, 'd:n', "\x00\x00N ", 1
put 'mail', {user => 'bob'}, 'd:other', 'x', 1
put 'mail', {user => 'bob'}, 'f:by_eve', "\x01", 1
put 'mail', {user => 'eve'}, 'd:n', 'many', 1
put 'mail', {user => 'zoe'}, 'd:n', 'a lot', 1
get 'mail', {user => 'bob'}
scan 'mail'
scan 'mail', DECODE => false
query 'mail', "size > 10000 and size < 30000"
query 'mail', "size > 10000 and size < 30000", LIMIT => 1, COLUMN => 'f'
query 'mail', "subject is null", DECODE => true
query 'mail', "sice > 5"
explain 'mail', "user = 'bob' and size > 5""#,
        expect![[r#"
            > create 'mail', 'd', 'f', KEY => '[user string]', COLUMNS => 'd:s subject string; d:n size u32; f:by_[who text] read bool'
            Created table mail
            Took T seconds
            => Hbase::Table - mail
            > describe 'mail'
            Table mail is ENABLED
            mail, {TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT', 'rowhouse.columns' => '1 d:s subject string; d:n size u32; f:by_[who text] read bool', 'rowhouse.key' => '1 [user string]'}}}
            COLUMN FAMILIES DESCRIPTION
            {NAME => 'd', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            {NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

            2 row(s)
            Quota is disabled
            Took T seconds
            > put 'mail', {user => 'bob'}, 'd:s', 'Christmas', 1
            Took T seconds
            > put 'mail', {user => 'bob'}, 'd:n', "\x00\x00N ", 1
            Took T seconds
            > put 'mail', {user => 'bob'}, 'd:other', 'x', 1
            Took T seconds
            > put 'mail', {user => 'bob'}, 'f:by_eve', "\x01", 1
            Took T seconds
            > put 'mail', {user => 'eve'}, 'd:n', 'many', 1
            Took T seconds
            > put 'mail', {user => 'zoe'}, 'd:n', 'a lot', 1
            Took T seconds
            > get 'mail', {user => 'bob'}
            COLUMN  CELL
             # bob\x00\x01: user='bob'
             #   size=20000
             d:n timestamp=1970-01-01T00:00:00.001, value=\x00\x00N 
             d:other timestamp=1970-01-01T00:00:00.001, value=x
             #   subject='Christmas'
             d:s timestamp=1970-01-01T00:00:00.001, value=Christmas
             #   read[who='eve']=true
             f:by_eve timestamp=1970-01-01T00:00:00.001, value=\x01
            1 row(s)
            Took T seconds
            > scan 'mail'
            ROW  COLUMN+CELL
             # user='bob'
             #   size=20000
             bob\x00\x01 column=d:n, timestamp=1970-01-01T00:00:00.001, value=\x00\x00N 
             bob\x00\x01 column=d:other, timestamp=1970-01-01T00:00:00.001, value=x
             #   subject='Christmas'
             bob\x00\x01 column=d:s, timestamp=1970-01-01T00:00:00.001, value=Christmas
             #   read[who='eve']=true
             bob\x00\x01 column=f:by_eve, timestamp=1970-01-01T00:00:00.001, value=\x01
             # user='eve'
             #   size=1835101817
             eve\x00\x01 column=d:n, timestamp=1970-01-01T00:00:00.001, value=many
             # user='zoe'
             #   value of `size` does not fit: the bytes go on behind the value: at=4
             zoe\x00\x01 column=d:n, timestamp=1970-01-01T00:00:00.001, value=a lot
            3 row(s)
            Took T seconds
            > scan 'mail', DECODE => false
            ROW  COLUMN+CELL
             bob\x00\x01 column=d:n, timestamp=1970-01-01T00:00:00.001, value=\x00\x00N 
             bob\x00\x01 column=d:other, timestamp=1970-01-01T00:00:00.001, value=x
             bob\x00\x01 column=d:s, timestamp=1970-01-01T00:00:00.001, value=Christmas
             bob\x00\x01 column=f:by_eve, timestamp=1970-01-01T00:00:00.001, value=\x01
             eve\x00\x01 column=d:n, timestamp=1970-01-01T00:00:00.001, value=many
             zoe\x00\x01 column=d:n, timestamp=1970-01-01T00:00:00.001, value=a lot
            3 row(s)
            Took T seconds
            > query 'mail', "size > 10000 and size < 30000"
            ROW  COLUMN+CELL
             # user='bob'
             #   size=20000
             bob\x00\x01 column=d:n, timestamp=1970-01-01T00:00:00.001, value=\x00\x00N 
             bob\x00\x01 column=d:other, timestamp=1970-01-01T00:00:00.001, value=x
             #   subject='Christmas'
             bob\x00\x01 column=d:s, timestamp=1970-01-01T00:00:00.001, value=Christmas
             #   read[who='eve']=true
             bob\x00\x01 column=f:by_eve, timestamp=1970-01-01T00:00:00.001, value=\x01
            1 row(s)
            left out, columns asked for that are no values of their type: 1
            Took T seconds
            > query 'mail', "size > 10000 and size < 30000", LIMIT => 1, COLUMN => 'f'
            ROW  COLUMN+CELL
             # user='bob'
             #   read[who='eve']=true
             bob\x00\x01 column=f:by_eve, timestamp=1970-01-01T00:00:00.001, value=\x01
            1 row(s)
            left out, columns asked for that are no values of their type: 1
            Took T seconds
            > query 'mail', "subject is null", DECODE => true
            ROW  COLUMN+CELL
             # user='eve'
             #   size=1835101817
             eve\x00\x01 column=d:n, timestamp=1970-01-01T00:00:00.001, value=many
             # user='zoe'
             #   value of `size` does not fit: the bytes go on behind the value: at=4
             zoe\x00\x01 column=d:n, timestamp=1970-01-01T00:00:00.001, value=a lot
            2 row(s)
            Took T seconds
            > query 'mail', "sice > 5"

            ERROR: there is no `sice`; did you mean `size`?; fields of the key: user; columns: subject, size, read: offset=0
              sice > 5
              ^

            For usage try 'help "query"'

            Took T seconds
            > explain 'mail', "user = 'bob' and size > 5"
            ranges: 1
              row bob\x00\x01
            residual: none, the ranges are exact
            columns: size > 5 (d:n), checked on each row
            order: user ascending
            regions: 1 of 1
            read: one range after the other
            filter: on each row's columns
            fields:
              [user string] ordered
            Took T seconds
        "#]],
    );
}

#[test]
fn columns_are_declared_anew() {
    check(
        r#"create 't', 'd', COLUMNS => 'd:n count u16'
put 't', 'r', 'd:n', 'ab', 1
get 't', 'r'
get 't', 'r', DECODE => true
alter 't', COLUMNS => 'd:n letters string'
get 't', 'r'
alter 't', COLUMNS => 'e:n letters string'
alter 't', COLUMNS => 'd:n letters strin'
alter 't', COLUMNS => 'd:n letters string', FORCE => true
alter 't', KEY => '[n text]', COLUMNS => 'd:n letters string'
alter 'nosuch', COLUMNS => 'd:n letters string'
create 'u', 'd', COLUMNS => 'e:n count u16'
create 'u', 'd', COLUMNS => 'd:n count'
create 'u', 'd', KEY => '[count u8]', COLUMNS => 'd:n count u16'"#,
        expect![[r#"
            > create 't', 'd', COLUMNS => 'd:n count u16'
            Created table t
            Took T seconds
            => Hbase::Table - t
            > put 't', 'r', 'd:n', 'ab', 1
            Took T seconds
            > get 't', 'r'
            COLUMN  CELL
             #   count=24930
             d:n timestamp=1970-01-01T00:00:00.001, value=ab
            1 row(s)
            Took T seconds
            > get 't', 'r', DECODE => true
            COLUMN  CELL
             #   count=24930
             d:n timestamp=1970-01-01T00:00:00.001, value=ab
            1 row(s)
            Took T seconds
            > alter 't', COLUMNS => 'd:n letters string'
            Updating all regions with the new schema...
            1/1 regions updated.
            Done.
            Took T seconds
            > get 't', 'r'
            COLUMN  CELL
             #   letters='ab'
             d:n timestamp=1970-01-01T00:00:00.001, value=ab
            1 row(s)
            Took T seconds
            > alter 't', COLUMNS => 'e:n letters string'

            ERROR: column `letters` is in a family that the table does not declare: family=e, declared=d

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', COLUMNS => 'd:n letters strin'

            ERROR: unknown type `strin`; did you mean `string`?: offset=12
              d:n letters strin
                          ^

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', COLUMNS => 'd:n letters string', FORCE => true

            ERROR: FORCE belongs to KEY

            For usage try 'help "alter"'

            Took T seconds
            > alter 't', KEY => '[n text]', COLUMNS => 'd:n letters string'

            ERROR: KEY and COLUMNS are altered one after the other

            For usage try 'help "alter"'

            Took T seconds
            > alter 'nosuch', COLUMNS => 'd:n letters string'

            ERROR: Table nosuch does not exist.

            For usage try 'help "alter"'

            Took T seconds
            > create 'u', 'd', COLUMNS => 'e:n count u16'

            ERROR: column `count` is in a family that the table does not declare: family=e, declared=d

            For usage try 'help "create"'

            Took T seconds
            > create 'u', 'd', COLUMNS => 'd:n count'

            ERROR: expected a type behind `count`; for example d:n count string: offset=9
              d:n count
                       ^

            For usage try 'help "create"'

            Took T seconds
            > create 'u', 'd', KEY => '[count u8]', COLUMNS => 'd:n count u16'

            ERROR: `count` is a field of the key and a column: the key holds the value already, so choose another name

            For usage try 'help "create"'

            Took T seconds
        "#]],
    );
}

#[test]
fn columns_are_written_read_and_deleted_by_their_names() {
    check(
        r#"create 'mail', 'd', 'f', 'size', KEY => '[user string]', COLUMNS => 'd:s subject string; d:n bytes u32; d:t sent seconds 4 tz +08:00; d:d d u8; f:by_[who text] read bool'
put 'mail', {user => 'bob'}, 'subject', 'Christmas', 1
put 'mail', {user => 'bob'}, 'bytes', 20000, 1
put 'mail', {user => 'bob'}, 'sent', '2022-12-24', 1
put 'mail', {user => 'bob'}, 'd', 'of the family', 1
put 'mail', {user => 'bob'}, 'd:d', "\x07", 1
put 'mail', {user => 'bob'}, 'f:by_eve', "\x01", 1
put 'mail', {user => 'bob'}, 'bytes', 'many', 1
put 'mail', {user => 'bob'}, 'read', 'true', 1
get 'mail', {user => 'bob'}, 'sent', 'bytes'
get 'mail', {user => 'bob'}, {COLUMN => 'd', VERSIONS => 2}
scan 'mail', COLUMNS => ['subject', 'read'], DECODE => false
query 'mail', "bytes > 5", COLUMN => 'subject'
delete 'mail', {user => 'bob'}, 'subject'
delete 'mail', {user => 'bob'}, 'read'
count 'mail', COLUMN => 'subject'"#,
        expect![[r#"
            > create 'mail', 'd', 'f', 'size', KEY => '[user string]', COLUMNS => 'd:s subject string; d:n bytes u32; d:t sent seconds 4 tz +08:00; d:d d u8; f:by_[who text] read bool'
            Created table mail
            Took T seconds
            => Hbase::Table - mail
            > put 'mail', {user => 'bob'}, 'subject', 'Christmas', 1
            Took T seconds
            > put 'mail', {user => 'bob'}, 'bytes', 20000, 1
            Took T seconds
            > put 'mail', {user => 'bob'}, 'sent', '2022-12-24', 1
            Took T seconds
            > put 'mail', {user => 'bob'}, 'd', 'of the family', 1
            Took T seconds
            > put 'mail', {user => 'bob'}, 'd:d', "\x07", 1
            Took T seconds
            > put 'mail', {user => 'bob'}, 'f:by_eve', "\x01", 1
            Took T seconds
            > put 'mail', {user => 'bob'}, 'bytes', 'many', 1

            ERROR: column `bytes`: expected a whole number: offset=0
              many
              ^

            For usage try 'help "put"'

            Took T seconds
            > put 'mail', {user => 'bob'}, 'read', 'true', 1

            ERROR: `read` has many qualifiers, those of by_[who text]: name one by its fields, {read => {FIELD => value}}, or as 'f:…'

            For usage try 'help "put"'

            Took T seconds
            > get 'mail', {user => 'bob'}, 'sent', 'bytes'
            COLUMN  CELL
             # bob\x00\x01: user='bob'
             #   bytes=20000
             d:n timestamp=1970-01-01T00:00:00.001, value=\x00\x00N 
             #   sent=2022-12-24T00:00:00.000+08:00
             d:t timestamp=1970-01-01T00:00:00.001, value=c\xA5\xD0\x80
            1 row(s)
            Took T seconds
            > get 'mail', {user => 'bob'}, {COLUMN => 'd', VERSIONS => 2}
            COLUMN  CELL
             # bob\x00\x01: user='bob'
             d: timestamp=1970-01-01T00:00:00.001, value=of the family
             #   d=7
             d:d timestamp=1970-01-01T00:00:00.001, value=\x07
             #   bytes=20000
             d:n timestamp=1970-01-01T00:00:00.001, value=\x00\x00N 
             #   subject='Christmas'
             d:s timestamp=1970-01-01T00:00:00.001, value=Christmas
             #   sent=2022-12-24T00:00:00.000+08:00
             d:t timestamp=1970-01-01T00:00:00.001, value=c\xA5\xD0\x80
            1 row(s)
            Took T seconds
            > scan 'mail', COLUMNS => ['subject', 'read'], DECODE => false
            ROW  COLUMN+CELL
             bob\x00\x01 column=d:s, timestamp=1970-01-01T00:00:00.001, value=Christmas
             bob\x00\x01 column=f:by_eve, timestamp=1970-01-01T00:00:00.001, value=\x01
            1 row(s)
            Took T seconds
            > query 'mail', "bytes > 5", COLUMN => 'subject'
            ROW  COLUMN+CELL
             # user='bob'
             #   subject='Christmas'
             bob\x00\x01 column=d:s, timestamp=1970-01-01T00:00:00.001, value=Christmas
            1 row(s)
            Took T seconds
            > delete 'mail', {user => 'bob'}, 'subject'
            Took T seconds
            > delete 'mail', {user => 'bob'}, 'read'

            ERROR: `read` has many qualifiers, those of by_[who text]: name one by its fields, {read => {FIELD => value}}, or as 'f:…'

            For usage try 'help "delete"'

            Took T seconds
            > count 'mail', COLUMN => 'subject'
            0 row(s)
            Took T seconds
            => 0
        "#]],
    );
}

#[test]
fn a_declared_name_stands_for_its_column_in_every_command() {
    check(
        r#"create 'posts', 'c', KEY => '[id string]', COLUMNS => 'c:v views java.long; c:n stars i64; c:t text string; c:by_[who text] read bool'
incr 'posts', 'a', 'views', 5
incr 'posts', 'a', 'views'
get_counter 'posts', 'a', 'views'
append 'posts', 'a', 'text', 'one'
append 'posts', 'a', 'text', ' two'
deleteall 'posts', 'a', 'views'
deleteall 'posts', {ROWPREFIXFILTER => 'a'}, 'text'
get 'posts', 'a'
incr 'posts', 'a', 'read'
incr 'posts', 'a', 'stars'
get_counter 'posts', 'a', 'c'"#,
        expect![[r#"
            > create 'posts', 'c', KEY => '[id string]', COLUMNS => 'c:v views java.long; c:n stars i64; c:t text string; c:by_[who text] read bool'
            Created table posts
            Took T seconds
            => Hbase::Table - posts
            > incr 'posts', 'a', 'views', 5
            COUNTER VALUE = 5
            Took T seconds
            > incr 'posts', 'a', 'views'
            COUNTER VALUE = 6
            Took T seconds
            > get_counter 'posts', 'a', 'views'
            COUNTER VALUE = 6
            Took T seconds
            > append 'posts', 'a', 'text', 'one'
            CURRENT VALUE = one
            Took T seconds
            > append 'posts', 'a', 'text', ' two'
            CURRENT VALUE = one two
            Took T seconds
            > deleteall 'posts', 'a', 'views'
            Took T seconds
            > deleteall 'posts', {ROWPREFIXFILTER => 'a'}, 'text'
            Took T seconds
            > get 'posts', 'a'
            COLUMN  CELL
            0 row(s)
            Took T seconds
            > incr 'posts', 'a', 'read'

            ERROR: `read` is bool, and a counter is java.long: eight bytes, the highest first

            For usage try 'help "incr"'

            Took T seconds
            > incr 'posts', 'a', 'stars'

            ERROR: `stars` is i64, and a counter is java.long: eight bytes, the highest first

            For usage try 'help "incr"'

            Took T seconds
            > get_counter 'posts', 'a', 'c'

            ERROR: a column is FAMILY:QUALIFIER or the name of a declared one, its qualifier is missing: 'c'

            For usage try 'help "get_counter"'

            Took T seconds
        "#]],
    );
}

#[test]
fn a_part_of_a_wide_row_is_asked_for_by_the_fields_of_its_qualifiers() {
    check(
        r#"create 'shop', 'd', 'f', KEY => '[item string]', COLUMNS => 'd:n name string; f:[at ymd desc][id u8] price u8; f:!! note string'
put 'shop', {item => 'pen'}, 'd:n', 'Pen', 1
put 'shop', {item => 'pen'}, 'f:!!', 'cheap', 1
put 'shop', {item => 'pen'}, "f:79778769\x01", "\x05", 1
put 'shop', {item => 'pen'}, "f:79778770\x01", "\x06", 1
put 'shop', {item => 'pen'}, "f:79778770\x02", "\x07", 1
put 'shop', {item => 'pen'}, "f:79778869\x01", "\x08", 1
put 'shop', {item => 'ink'}, "f:79778869\x01", "\x09", 1
query 'shop', "price.at during 2022-12 and price.id < 2"
query 'shop', "price.at during 2022-12 and price.id < 2", COLUMN => 'd'
query 'shop', "price.at = 2022-11-30", COLUMN => 'f:none', LIMIT => 1
query 'shop', "price.at = 2022-11-30", COLUMN => 'f:none', LIMIT => 1, REVERSED => true
explain 'shop', "item = 'pen' and price.at during 2022-12 and price.id < 2 and name is not null"
query 'shop', "price.att = 2022"
query 'shop', "name.at = 2022""#,
        expect![[r#"
            > create 'shop', 'd', 'f', KEY => '[item string]', COLUMNS => 'd:n name string; f:[at ymd desc][id u8] price u8; f:!! note string'
            Created table shop
            Took T seconds
            => Hbase::Table - shop
            > put 'shop', {item => 'pen'}, 'd:n', 'Pen', 1
            Took T seconds
            > put 'shop', {item => 'pen'}, 'f:!!', 'cheap', 1
            Took T seconds
            > put 'shop', {item => 'pen'}, "f:79778769\x01", "\x05", 1
            Took T seconds
            > put 'shop', {item => 'pen'}, "f:79778770\x01", "\x06", 1
            Took T seconds
            > put 'shop', {item => 'pen'}, "f:79778770\x02", "\x07", 1
            Took T seconds
            > put 'shop', {item => 'pen'}, "f:79778869\x01", "\x08", 1
            Took T seconds
            > put 'shop', {item => 'ink'}, "f:79778869\x01", "\x09", 1
            Took T seconds
            > query 'shop', "price.at during 2022-12 and price.id < 2"
            ROW  COLUMN+CELL
             # item='pen'
             #   name='Pen'
             pen\x00\x01 column=d:n, timestamp=1970-01-01T00:00:00.001, value=Pen
             #   note='cheap'
             pen\x00\x01 column=f:!!, timestamp=1970-01-01T00:00:00.001, value=cheap
             #   price[at=2022-12-30, id=1]=5
             pen\x00\x01 column=f:79778769\x01, timestamp=1970-01-01T00:00:00.001, value=\x05
             #   price[at=2022-12-29, id=1]=6
             pen\x00\x01 column=f:79778770\x01, timestamp=1970-01-01T00:00:00.001, value=\x06
            1 row(s)
            Took T seconds
            > query 'shop', "price.at during 2022-12 and price.id < 2", COLUMN => 'd'
            ROW  COLUMN+CELL
             # item='pen'
             #   name='Pen'
             pen\x00\x01 column=d:n, timestamp=1970-01-01T00:00:00.001, value=Pen
             #   price[at=2022-12-30, id=1]=5
             pen\x00\x01 column=f:79778769\x01, timestamp=1970-01-01T00:00:00.001, value=\x05
             #   price[at=2022-12-29, id=1]=6
             pen\x00\x01 column=f:79778770\x01, timestamp=1970-01-01T00:00:00.001, value=\x06
            1 row(s)
            Took T seconds
            > query 'shop', "price.at = 2022-11-30", COLUMN => 'f:none', LIMIT => 1
            ROW  COLUMN+CELL
             # item='ink'
             #   price[at=2022-11-30, id=1]=9
             ink\x00\x01 column=f:79778869\x01, timestamp=1970-01-01T00:00:00.001, value=\x09
            1 row(s)
            next page: PAGE => '0100284da298da5062aff9f06d34527dc010696e6b000120ea46ac'
            Took T seconds
            > query 'shop', "price.at = 2022-11-30", COLUMN => 'f:none', LIMIT => 1, REVERSED => true
            ROW  COLUMN+CELL
             # item='pen'
             #   price[at=2022-11-30, id=1]=8
             pen\x00\x01 column=f:79778869\x01, timestamp=1970-01-01T00:00:00.001, value=\x08
            1 row(s)
            next page: PAGE => '0101284da298da5062aff9f06d34527dc01070656e0001b53bda71'
            Took T seconds
            > explain 'shop', "item = 'pen' and price.at during 2022-12 and price.id < 2 and name is not null"
            ranges: 1
              row pen\x00\x01
            residual: none, the ranges are exact
            columns: name is not null (d:n), checked on each row
            qualifiers of price (f:[at ymd desc][id u8]): 1 range
              [79778768, 79778869)
              residual: price.id < 2
            order: item ascending
            regions: 1 of 1
            read: one range after the other
            filter: on each row's columns
            cells: of price those whose qualifiers fit; the store seeks to them
            fields:
              [item string] ordered
            Took T seconds
            > query 'shop', "price.att = 2022"

            ERROR: the qualifiers of `price` have no field `att`; did you mean `at`?: offset=6
              price.att = 2022
                    ^

            For usage try 'help "query"'

            Took T seconds
            > query 'shop', "name.at = 2022"

            ERROR: column `name` has one qualifier, d:n, without fields; ask for its value: name = …: offset=0
              name.at = 2022
              ^

            For usage try 'help "query"'

            Took T seconds
        "#]],
    );
}

#[test]
fn a_column_of_many_qualifiers_is_named_by_the_fields_of_one() {
    check(
        r#"create 'stocks', 'f', 'g', KEY => '[stock string]', COLUMNS => 'f:[at ymd desc] price u32; g:[who text] reads java.long'
put 'stocks', {stock => 'ACME'}, {price => {at => '2022-12-24'}}, 9, 1
incr 'stocks', {stock => 'ACME'}, {reads => {who => 'eve'}}, 3
get_counter 'stocks', {stock => 'ACME'}, {reads => {who => 'eve'}}
get 'stocks', {stock => 'ACME'}, 'price'
delete 'stocks', {stock => 'ACME'}, {price => {at => '2022-12-24'}}, 1
get 'stocks', {stock => 'ACME'}, 'f'
put 'stocks', {stock => 'ACME'}, {price => {on => '2022-12-24'}}, 9
put 'stocks', {stock => 'ACME'}, {cost => {at => '2022-12-24'}}, 9
put 'stocks', {stock => 'ACME'}, {price => {at => '2022-12-24'}}, 'nine'
put 'stocks', {stock => 'ACME'}, 'price', 9
incr 'stocks', {stock => 'ACME'}, {price => {at => '2022-12-24'}}"#,
        expect![[r#"
            > create 'stocks', 'f', 'g', KEY => '[stock string]', COLUMNS => 'f:[at ymd desc] price u32; g:[who text] reads java.long'
            Created table stocks
            Took T seconds
            => Hbase::Table - stocks
            > put 'stocks', {stock => 'ACME'}, {price => {at => '2022-12-24'}}, 9, 1
            Took T seconds
            > incr 'stocks', {stock => 'ACME'}, {reads => {who => 'eve'}}, 3
            COUNTER VALUE = 3
            Took T seconds
            > get_counter 'stocks', {stock => 'ACME'}, {reads => {who => 'eve'}}
            COUNTER VALUE = 3
            Took T seconds
            > get 'stocks', {stock => 'ACME'}, 'price'
            COLUMN  CELL
             # ACME\x00\x01: stock='ACME'
             #   price[at=2022-12-24]=9
             f:79778775 timestamp=1970-01-01T00:00:00.001, value=\x00\x00\x00\x09
            1 row(s)
            Took T seconds
            > delete 'stocks', {stock => 'ACME'}, {price => {at => '2022-12-24'}}, 1
            Took T seconds
            > get 'stocks', {stock => 'ACME'}, 'f'
            COLUMN  CELL
            0 row(s)
            Took T seconds
            > put 'stocks', {stock => 'ACME'}, {price => {on => '2022-12-24'}}, 9

            ERROR: column `price`: the key has no field `on`; it has: at

            For usage try 'help "put"'

            Took T seconds
            > put 'stocks', {stock => 'ACME'}, {cost => {at => '2022-12-24'}}, 9

            ERROR: the table declares no column `cost` whose qualifiers have fields: alter it with COLUMNS => '…'

            For usage try 'help "put"'

            Took T seconds
            > put 'stocks', {stock => 'ACME'}, {price => {at => '2022-12-24'}}, 'nine'

            ERROR: column `price`: expected a whole number: offset=0
              nine
              ^

            For usage try 'help "put"'

            Took T seconds
            > put 'stocks', {stock => 'ACME'}, 'price', 9

            ERROR: `price` has many qualifiers, those of [at ymd desc]: name one by its fields, {price => {FIELD => value}}, or as 'f:…'

            For usage try 'help "put"'

            Took T seconds
            > incr 'stocks', {stock => 'ACME'}, {price => {at => '2022-12-24'}}

            ERROR: `price` is u32, and a counter is java.long: eight bytes, the highest first

            For usage try 'help "incr"'

            Took T seconds
        "#]],
    );
}

#[test]
fn a_row_is_inserted_once() {
    check(
        r#"create 'mail', 'd', KEY => '[user string]', COLUMNS => 'd:s subject string; d:n size u32'
insert 'mail', {user => 'bob'}, {subject => 'Christmas', size => 20000, 'd:other' => 'x'}
insert 'mail', {user => 'bob'}, {subject => 'again'}
insert 'mail', 'eve', {subject => 'bytes'}
insert 'mail', {user => 'zoe'}, {size => 'many'}
insert 'mail', {user => 'zoe'}, {}
insert 'mail', {user => 'zoe'}, 'd:s'
count 'mail'
create 'salted', 'd', KEY => '[salt 4][id string]'
insert 'salted', {id => 'a'}, {'d:s' => 'x'}
query 'mail', "weight > 5"
query 'salted', "title = 'x'""#,
        expect![[r#"
            > create 'mail', 'd', KEY => '[user string]', COLUMNS => 'd:s subject string; d:n size u32'
            Created table mail
            Took T seconds
            => Hbase::Table - mail
            > insert 'mail', {user => 'bob'}, {subject => 'Christmas', size => 20000, 'd:other' => 'x'}
            Took T seconds
            > insert 'mail', {user => 'bob'}, {subject => 'again'}

            ERROR: the row exists already: table=mail, row=bob\x00\x01 (user='bob')

            For usage try 'help "insert"'

            Took T seconds
            > insert 'mail', 'eve', {subject => 'bytes'}
            Took T seconds
            > insert 'mail', {user => 'zoe'}, {size => 'many'}

            ERROR: column `size`: expected a whole number: offset=0
              many
              ^

            For usage try 'help "insert"'

            Took T seconds
            > insert 'mail', {user => 'zoe'}, {}

            ERROR: insert takes the columns of a row as a hash, {COLUMN => value}: {}

            For usage try 'help "insert"'

            Took T seconds
            > insert 'mail', {user => 'zoe'}, 'd:s'

            ERROR: insert takes the columns of a row as a hash, {COLUMN => value}: 'd:s'

            For usage try 'help "insert"'

            Took T seconds
            > count 'mail'
            2 row(s)
            Took T seconds
            => 2
            > create 'salted', 'd', KEY => '[salt 4][id string]'
            WARNING: K5 random salt: `salt 4` is random: a get by the other fields asks for 4 keys, and the same fields may make several rows; use bucket where rows are read by their key
            Created table salted
            Took T seconds
            => Hbase::Table - salted
            > insert 'salted', {id => 'a'}, {'d:s' => 'x'}

            ERROR: a row with a random salt cannot be inserted, the same values may be in another row: use bucket, or give the salt

            For usage try 'help "insert"'

            Took T seconds
            > query 'mail', "weight > 5"

            ERROR: there is no `weight`; fields of the key: user; columns: subject, size: offset=0
              weight > 5
              ^

            For usage try 'help "query"'

            Took T seconds
            > query 'salted', "title = 'x'"

            ERROR: the key has no field `title`; it has: id; a query names columns as they are declared: COLUMNS => 'FAMILY:QUALIFIER title string': offset=0
              title = 'x'
              ^

            For usage try 'help "query"'

            Took T seconds
        "#]],
    );
}
