//! What a template may say, and what it is told when it says something else.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use expect_test::{Expect, expect};
use rowhouse_model::ErrorKind;
use rowhouse_schema::{KeySchema, Value};

fn check(template: &str, expected: Expect) {
    let text = match KeySchema::parse(template) {
        Ok(schema) => schema.to_string(),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&text);
}

#[test]
fn literals_print_as_plainly_as_they_can() {
    check(r"\x41b[n u8]\x20\[\]\\-\xff\xE5\x88\x86é", expect![[r#"Ab[n u8]\x20\[\]\\-\xFF分é"#]]);
    check(r"[n u8]\xE3\x80\x80", expect![[r#"[n u8]\xE3\x80\x80"#]]);
}

#[test]
fn mistakes_are_pointed_at() {
    check("", expect!["expected a field such as [user string]: offset=0"]);
    check(
        "abc",
        expect![[r#"
        expected a field such as [user string]: offset=3
          abc
             ^"#]],
    );
    check(
        "[user string",
        expect![[r#"
        this `[` is never closed; a literal bracket is \[: offset=0
          [user string
          ^"#]],
    );
    check(
        "[user [at millis]",
        expect![[r#"
        expected `]` before the next `[`: offset=6
          [user [at millis]
                ^"#]],
    );
    check(
        "user]",
        expect![[r#"
        this `]` closes nothing; a literal bracket is \]: offset=4
          user]
              ^"#]],
    );
    check(
        "a b[n u8]",
        expect![[r#"
        white space in a literal must be escaped; write \x20: offset=1
          a b[n u8]
           ^"#]],
    );
    check(
        r"a\q[n u8]",
        expect![[r#"
        expected \[, \], \\ or \xHH: offset=1
          a\q[n u8]
           ^"#]],
    );
    check(
        r"a\x4[n u8]",
        expect![[r#"
        expected two hex digits behind \x: offset=1
          a\x4[n u8]
           ^"#]],
    );
    check(
        "[]",
        expect![[r#"
        expected a name and a type; for example [user string]: offset=1
          []
           ^"#]],
    );
    check(
        "[user]",
        expect![[r#"
        expected a type behind `user`; for example [user string]: offset=5
          [user]
               ^"#]],
    );
    check(
        "[string]",
        expect![[r#"
        expected a name before the type; for example [id string]: offset=1
          [string]
           ^"#]],
    );
    check(
        "[user  string]",
        expect![[r#"
        a space too many: offset=6
          [user  string]
                ^"#]],
    );
    check(
        "[user string ]",
        expect![[r#"
        a space too many: offset=12
          [user string ]
                      ^"#]],
    );
    check(
        "[ user string]",
        expect![[r#"
        a space too many: offset=1
          [ user string]
           ^"#]],
    );
    check(
        "[1user string]",
        expect![[r#"
        `1user` is not a name; a name has letters, digits and _, and does not begin with a digit: offset=1
          [1user string]
           ^"#]],
    );
    check(
        "[us-er string]",
        expect![[r#"
        `us-er` is not a name; a name has letters, digits and _, and does not begin with a digit: offset=3
          [us-er string]
             ^"#]],
    );
    check(
        "[a u8][a u8]",
        expect![[r#"
        the name `a` is used twice: offset=7
          [a u8][a u8]
                 ^"#]],
    );
    check(
        "分_[at mills desc]",
        expect![[r#"
        unknown type `mills`; did you mean `millis`?: offset=6
          分_[at mills desc]
                ^"#]],
    );
    check(
        "[at timestamp]",
        expect![[r#"
        unknown type `timestamp`; did you mean `millis`?: offset=4
          [at timestamp]
              ^"#]],
    );
    check(
        "[at Millis]",
        expect![[r#"
        unknown type `Millis`; did you mean `millis`?: offset=4
          [at Millis]
              ^"#]],
    );
    check(
        "[n u128]",
        expect![[r#"
            unknown type `u128`; types are: text string blob domain decimal u8…u64 i8…i64 f32 f64 bool enum uuid bytes hex digits millis micros nanos seconds date ymd ymdhm ymdhms repeat: offset=3
              [n u128]
                 ^"#]],
    );
    check(
        "[n long]",
        expect![[r#"
        unknown type `long`; did you mean `i64` (or `u64`)?: offset=3
          [n long]
             ^"#]],
    );
    check(
        "[n quux]",
        expect![[r#"
            unknown type `quux`; types are: text string blob domain decimal u8…u64 i8…i64 f32 f64 bool enum uuid bytes hex digits millis micros nanos seconds date ymd ymdhm ymdhms repeat: offset=3
              [n quux]
                 ^"#]],
    );
    check(
        "[n desc]",
        expect![[r#"
        expected a type before `desc`: offset=3
          [n desc]
             ^"#]],
    );
    check(
        "[n u8 dsec]",
        expect![[r#"
        unknown modifier `dsec`; did you mean `desc`?: offset=6
          [n u8 dsec]
                ^"#]],
    );
    check(
        "[n u8 asc]",
        expect![[r#"
        unknown modifier `asc`; ascending needs no word, leave it out: offset=6
          [n u8 asc]
                ^"#]],
    );
    check(
        "[n u8 text]",
        expect![[r#"
        the field has a type already, `text` is another: offset=6
          [n u8 text]
                ^"#]],
    );
    check(
        "[n u8 desc desc]",
        expect![[r#"
        `desc` is written twice: offset=11
          [n u8 desc desc]
                     ^"#]],
    );
    check(
        "[n u8 desc digits]",
        expect![[r#"
        `digits` stands before `desc`: offset=11
          [n u8 desc digits]
                     ^"#]],
    );
    check(
        "[n u8 digits digits]",
        expect![[r#"
        `digits` is written twice: offset=13
          [n u8 digits digits]
                       ^"#]],
    );
    check(
        "[n u8 digits 39]",
        expect![[r#"
        expected 1 to 38 digits, not 39: offset=13
          [n u8 digits 39]
                       ^"#]],
    );
    check(
        "[n digits]",
        expect![[r#"
        expected `digits N`, how many digits there are: offset=3
          [n digits]
             ^"#]],
    );
    check(
        "[n digits 0]",
        expect![[r#"
        expected 1 to 38 digits, not 0: offset=10
          [n digits 0]
                    ^"#]],
    );
    check(
        "[n digits 5 digits]",
        expect![[r#"
        the type is `digits` already: offset=12
          [n digits 5 digits]
                      ^"#]],
    );
    check(
        "[n i32 digits]",
        expect![[r#"
        digits have no sign, and a sign would break the order; use u32: offset=7
          [n i32 digits]
                 ^"#]],
    );
    check(
        "[n string digits]",
        expect![[r#"
        only numbers and times are written as digits; for a number as text use the type `digits N`: offset=10
          [n string digits]
                    ^"#]],
    );
    check(
        "[at millis 13]",
        expect![[r#"
        `millis` takes no number; for decimal text write `millis digits 13`: offset=11
          [at millis 13]
                     ^"#]],
    );
    check(
        "[at seconds 5]",
        expect![[r#"
        `seconds` has eight bytes, or four: `seconds 4`; for decimal text write `seconds digits 10`: offset=12
          [at seconds 5]
                      ^"#]],
    );
    check(
        "[user 8]",
        expect![[r#"
        expected a type behind `user`, not a number; for example [user digits 8]: offset=6
          [user 8]
                ^"#]],
    );
    check(
        "[bukcet 16 of user]",
        expect![[r#"
        unknown computed field `bukcet`; did you mean `bucket`?: offset=1
          [bukcet 16 of user]
           ^"#]],
    );
    check(
        "[user text desc]",
        expect![[r#"
        `text` has no descending order, its end is not stored; use string, or text N: offset=11
          [user text desc]
                     ^"#]],
    );
    check(
        "[user text][name string]",
        expect![[r#"
            `user` has no end: behind `text` stand the end of the key, a literal, or only fields of fixed width, and `name string` has none; use [user string], or put a literal such as _ behind it: offset=1
              [user text][name string]
               ^"#]],
    );
    check(
        "[user text][name text]",
        expect![[r#"
            `user` has no end: behind `text` stand the end of the key, a literal, or only fields of fixed width, and `name text` has none; use [user string], or put a literal such as _ behind it: offset=1
              [user text][name text]
               ^"#]],
    );
}

#[test]
fn words_of_the_language_that_are_not_supported_yet_are_named() {
    let fields = [
        "n java.decimal",
        "n phoenix.array",
        "n ordered.null",
        "n tuple.nested",
        "bucket 16 of u by hbasewd.one",
        "salt 4 opentsdb.salt",
        "d:subject string",
    ];
    for field in fields {
        let error = KeySchema::parse(&format!("[{field}]")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{field}: {error}");
    }
}

#[test]
fn types_say_what_they_need() {
    check(
        "[e enum]",
        expect![[r#"
        expected parentheses behind `enum`: enum(open,closed): offset=3
          [e enum]
             ^"#]],
    );
    check(
        "[e enum(a,a)]",
        expect![[r#"
        the label `a` is there twice: offset=10
          [e enum(a,a)]
                    ^"#]],
    );
    check(
        "[e enum(a,b=0)]",
        expect![[r#"
        `a` and `b` have the same byte 0: offset=10
          [e enum(a,b=0)]
                    ^"#]],
    );
    check(
        "[e enum(a,b=300)]",
        expect![[r#"
        expected a byte, 0 to 255, for `b=300`: offset=10
          [e enum(a,b=300)]
                    ^"#]],
    );
    check(
        "[e enum(a b)]",
        expect![[r#"
        expected labels such as enum(open,closed): offset=8
          [e enum(a b)]
                  ^"#]],
    );
    check(
        "[e enum(a,b]",
        expect![[r#"
        this parenthesis is never closed, or never opened: offset=3
          [e enum(a,b]
             ^"#]],
    );
    check(
        "[h hex]",
        expect![[r#"
        expected `hex N`, how many characters there are: offset=3
          [h hex]
             ^"#]],
    );
    check(
        "[h hex 0]",
        expect![[r#"
        expected 1 to 32767 characters, not 0: offset=7
          [h hex 0]
                 ^"#]],
    );
    check(
        "[b bytes 40000]",
        expect![[r#"
        expected 1 to 32767 bytes, not 40000: offset=9
          [b bytes 40000]
                   ^"#]],
    );
    check(
        "[t text 8 pad]",
        expect![[r#"
        expected a character to pad with; a space is \x20: offset=13
          [t text 8 pad]
                       ^"#]],
    );
    check(
        "[t text 8 pad ab]",
        expect![[r#"
        expected one ASCII character to pad with, not ab; a space is \x20: offset=14
          [t text 8 pad ab]
                        ^"#]],
    );
    check(
        "[t text 8 pad é]",
        expect![[r#"
        expected one ASCII character to pad with, not é; a space is \x20: offset=14
          [t text 8 pad é]
                        ^"#]],
    );
    check(
        "[r repeat()]",
        expect![[r#"
        expected types of fixed width; for example repeat(u24 u24): offset=10
          [r repeat()]
                    ^"#]],
    );
    check(
        "[r repeat(string)]",
        expect![[r#"
        `string` has no fixed width and cannot be repeated: offset=10
          [r repeat(string)]
                    ^"#]],
    );
    check(
        "[r repeat(u8 bogus)]",
        expect![[r#"
        unknown type `bogus`; types are: text string blob domain decimal u8…u64 i8…i64 f32 f64 bool enum uuid bytes hex digits millis micros nanos seconds date ymd ymdhm ymdhms repeat: offset=13
          [r repeat(u8 bogus)]
                       ^"#]],
    );
    check(
        "[r repeat(u8)]x",
        expect![[r#"
        what is repeated goes on to the end of the key; it is the last field, and nothing stands behind it: offset=1
          [r repeat(u8)]x
           ^"#]],
    );
    check(
        "[r repeat(u8)][n u8]",
        expect![[r#"
        what is repeated goes on to the end of the key; it is the last field, and nothing stands behind it: offset=1
          [r repeat(u8)][n u8]
           ^"#]],
    );
    check(
        "[f float]",
        expect![[r#"
        unknown type `float`; did you mean `f32` (or `f64`)?: offset=3
          [f float]
             ^"#]],
    );
    check(
        "[n u8 upper]",
        expect![[r#"
        unknown modifier `upper`; modifiers are: floor digits hex reverse md5… desc null: offset=6
          [n u8 upper]
                ^"#]],
    );
    check(
        "[d decimal]5[n u8]",
        expect![[r#"
        a digit behind `d` would be read as part of it; put another literal there: offset=1
          [d decimal]5[n u8]
           ^"#]],
    );
    check(
        "[d decimal][s string]",
        expect![[r#"
        `d` has no end: behind `decimal` stand the end of the key, a literal, or only fields of fixed width, and `s string` has none; use [d string], or put a literal such as _ behind it: offset=1
          [d decimal][s string]
           ^"#]],
    );
    check(
        "[d domain][n u8 null first]",
        expect![[r#"
        `d` has no end: behind `domain` stand the end of the key, a literal, or only fields of fixed width, and `n u8 null first` has none; use [d string], or put a literal such as _ behind it: offset=1
          [d domain][n u8 null first]
           ^"#]],
    );
}

#[test]
fn modifiers_say_where_they_stand_and_what_they_exclude() {
    check(
        "[n u8 floor]",
        expect![[r#"
        expected a step behind `floor`: 1h, 15m, 1d, or 100 for a number: offset=11
          [n u8 floor]
                     ^"#]],
    );
    check(
        "[n u8 floor 1h]",
        expect![[r#"
            the field counts no time, write floor 1: offset=12
              [n u8 floor 1h]
                          ^"#]],
    );
    check(
        "[at millis floor 10]",
        expect![[r#"
            a step of time has a unit: 10s, 10m or 10h: offset=17
              [at millis floor 10]
                               ^"#]],
    );
    check(
        "[at seconds floor 10ms]",
        expect![[r#"
            the field's unit is longer than a step of 10ms: offset=18
              [at seconds floor 10ms]
                                ^"#]],
    );
    check(
        "[at millis floor 1w]",
        expect![[r#"
        expected a step such as 1h, 15m, 1d, or 100 for a number: offset=17
          [at millis floor 1w]
                           ^"#]],
    );
    check(
        "[s string floor 10]",
        expect![[r#"
        only whole numbers and times can be floored: offset=10
          [s string floor 10]
                    ^"#]],
    );
    check(
        "[n u8 desc floor 10]",
        expect![[r#"
        `floor` stands before `desc`: offset=11
          [n u8 desc floor 10]
                     ^"#]],
    );
    check(
        "[n u64 hex digits]",
        expect![[r#"
        `hex` and `digits` cannot both be: offset=11
          [n u64 hex digits]
                     ^"#]],
    );
    check(
        "[d date digits]",
        expect![[r#"
        digits have no sign, and a date may be before 1970; for the digits of the calendar use ymd: offset=8
          [d date digits]
                  ^"#]],
    );
    check(
        "[d ymd digits]",
        expect![[r#"
        `ymd` is written in digits already: offset=7
          [d ymd digits]
                 ^"#]],
    );
    check(
        "[s string hex]",
        expect![[r#"
        `string` is not written as hex digits; for text that is hexadecimal use the type `hex N`: offset=10
          [s string hex]
                    ^"#]],
    );
    check(
        "[h hex 4 hex]",
        expect![[r#"
        the type is `hex` already: offset=9
          [h hex 4 hex]
                   ^"#]],
    );
    check(
        "[n u8 reverse desc]",
        expect![[r#"
        there is no order left that `desc` could turn round: offset=14
          [n u8 reverse desc]
                        ^"#]],
    );
    check(
        "[s string md5 4 desc]",
        expect![[r#"
        there is no order left that `desc` could turn round: offset=16
          [s string md5 4 desc]
                          ^"#]],
    );
    check(
        "[s string reverse md5 4]",
        expect![[r#"
        `reverse` is pointless before a hash, which is made of the value: offset=18
          [s string reverse md5 4]
                            ^"#]],
    );
    check(
        "[n u8 digits md5 4]",
        expect![[r#"
        a hash is made of the value, nothing stands between them: offset=13
          [n u8 digits md5 4]
                       ^"#]],
    );
    check(
        "[n u8 floor 10 md5 4]",
        expect![[r#"
        a hash is made of the value, nothing stands between them: offset=15
          [n u8 floor 10 md5 4]
                         ^"#]],
    );
    check(
        "[s string md5]",
        expect![[r#"
        expected `md5 N`, how many bytes are kept: offset=10
          [s string md5]
                    ^"#]],
    );
    check(
        "[s string md5 17]",
        expect![[r#"
        expected 1 to 16 bytes of md5, not 17: offset=14
          [s string md5 17]
                        ^"#]],
    );
    check(
        "[s string md5 4 null first]",
        expect![[r#"
        a hash always has a value: offset=16
          [s string md5 4 null first]
                          ^"#]],
    );
    check(
        "[s string null]",
        expect![[r#"
        expected `null first` or `null last`: offset=10
          [s string null]
                    ^"#]],
    );
    check(
        "[s text null last]",
        expect![[r#"
        `text` cannot be null, its end is not stored; use string, or text N: offset=8
          [s text null last]
                  ^"#]],
    );
    check(
        "[d domain reverse]",
        expect![[r#"
        `domain` is stored in reverse already, part by part: offset=10
          [d domain reverse]
                    ^"#]],
    );
    check(
        "[d domain desc]",
        expect![[r#"
        `domain` has no descending order, its end is not stored; use string, or text N: offset=10
          [d domain desc]
                    ^"#]],
    );
    check(
        "[r repeat(u8) desc]",
        expect![[r#"
        `desc` cannot stand behind repeat(…): offset=14
          [r repeat(u8) desc]
                        ^"#]],
    );
    check(
        "[n u8 null first desc]",
        expect![[r#"
        `desc` stands before `null`: offset=17
          [n u8 null first desc]
                           ^"#]],
    );
    check(
        "[n u8 reversed]",
        expect![[r#"
        unknown modifier `reversed`; did you mean `reverse` (last character first) or `desc` (greatest first)?: offset=6
          [n u8 reversed]
                ^"#]],
    );
    check(
        "[n u8 pad x]",
        expect![[r#"
        `pad` stands behind `text N`: offset=6
          [n u8 pad x]
                ^"#]],
    );
}

#[test]
fn computed_fields_say_what_they_are_of() {
    check(
        "[bucket 0 of a][a u8]",
        expect![[r#"
        expected 1 to 65536 buckets, not 0: offset=8
          [bucket 0 of a][a u8]
                  ^"#]],
    );
    check(
        "[bucket 70000 of a][a u8]",
        expect![[r#"
        expected 1 to 65536 buckets, not 70000: offset=8
          [bucket 70000 of a][a u8]
                  ^"#]],
    );
    check(
        "[bucket 4 of b][a u8]",
        expect![[r#"
        the key has no field `b`: offset=13
          [bucket 4 of b][a u8]
                       ^"#]],
    );
    check(
        "[bucket 4 of abd][abc u8]",
        expect![[r#"
        the key has no field `abd`; did you mean `abc`?: offset=13
          [bucket 4 of abd][abc u8]
                       ^"#]],
    );
    check(
        "[bucket 4 of a,a][a u8]",
        expect![[r#"
        `a` is there twice: offset=15
          [bucket 4 of a,a][a u8]
                         ^"#]],
    );
    check(
        "[bucket 4 of][a u8]",
        expect![[r#"
        expected the names of fields behind `of`, or `rest`: offset=12
          [bucket 4 of][a u8]
                      ^"#]],
    );
    check(
        "[bucket 4 of a by md6][a u8]",
        expect![[r#"
        unknown hash `md6`; hashes are: md5 sha1 sha256 xxh3 murmur3 crc32: offset=18
          [bucket 4 of a by md6][a u8]
                            ^"#]],
    );
    check(
        "[bucket 4 of a desc][a u8]",
        expect![[r#"
        `desc` cannot stand here; in this order: of FIELDS, by HASH, digits or hex, as NAME: offset=15
          [bucket 4 of a desc][a u8]
                         ^"#]],
    );
    check(
        "[bucket 4 hex of a][a u8]",
        expect![[r#"
        `of` cannot stand here; in this order: of FIELDS, by HASH, digits or hex, as NAME: offset=14
          [bucket 4 hex of a][a u8]
                        ^"#]],
    );
    check(
        "[a u8][bucket 4]",
        expect![[r#"
        no field stands behind it to compute it of; name the fields: of user,day: offset=7
          [a u8][bucket 4]
                 ^"#]],
    );
    check(
        "[bucket 4][bucket 2][a u8]",
        expect![[r#"
        nothing computed may stand behind what is computed of the rest; name the fields: of user,day: offset=1
          [bucket 4][bucket 2][a u8]
           ^"#]],
    );
    check(
        "[bucket 4 of b][bucket 2 of a as b][a u8]",
        expect![[r#"
        `b` is computed, and nothing is computed of that: offset=13
          [bucket 4 of b][bucket 2 of a as b][a u8]
                       ^"#]],
    );
    check(
        "[hash 4][a u8]",
        expect![[r#"
        expected `of` and the names of fields; for example [hash 4 of user], or [hash 4 of rest]: offset=7
          [hash 4][a u8]
                 ^"#]],
    );
    check(
        "[hash 9 of a][a u8]",
        expect![[r#"
        expected 1 to 8 bytes of xxh3, not 9: offset=6
          [hash 9 of a][a u8]
                ^"#]],
    );
    check(
        "[hash 17 of a by md5][a u8]",
        expect![[r#"
        expected 1 to 16 bytes of md5, not 17: offset=6
          [hash 17 of a by md5][a u8]
                ^"#]],
    );
    check(
        "[salt 4 abc][a u8]",
        expect![[r#"
        expected 4 characters, `abc` has 3; write the first and the last as in a-d, or all of them: offset=8
          [salt 4 abc][a u8]
                  ^"#]],
    );
    check(
        "[salt 4 aabb][a u8]",
        expect![[r#"
        a character is there twice: offset=8
          [salt 4 aabb][a u8]
                  ^"#]],
    );
    check(
        "[salt 3 a-d][a u8]",
        expect![[r#"
        expected 3 characters, `a-d` has 4; write the first and the last as in a-d, or all of them: offset=8
          [salt 3 a-d][a u8]
                  ^"#]],
    );
    check(
        "[salt 2 as][a u8]",
        expect![[r#"
        expected a name behind `as`: offset=10
          [salt 2 as][a u8]
                    ^"#]],
    );
    check(
        "[salt 2 as a][a u8]",
        expect![[r#"
        the name `a` is used twice: offset=14
          [salt 2 as a][a u8]
                        ^"#]],
    );
    check(
        "[bucket]",
        expect![[r#"
        expected a number behind `bucket`; for example [bucket 16 of user]: offset=7
          [bucket]
                 ^"#]],
    );
    check(
        "[bucket 4 of a as a][a u8]",
        expect![[r#"
        the name `a` is used twice: offset=21
          [bucket 4 of a as a][a u8]
                               ^"#]],
    );
    check(
        "[salt 2]",
        expect![[r#"
        expected a field such as [user string]: offset=8
          [salt 2]
                  ^"#]],
    );
    check(
        "[a u8][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2]",
        expect![[r#"
            too many computed fields: count=9, max=8: offset=78
              [a u8][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2]
                                                                                            ^"#]],
    );
}

#[test]
fn templates_print_as_they_are_written() {
    for template in [
        "[at seconds 4 floor 1h][tags repeat(u24 text 2 pad ~)]",
        r"[a text 8 pad \x20][b hex 3 upper][c enum(x,y=7)][d bytes 2 hex desc]",
        "[bucket 16 of user by md5 digits as shard][user string][n u8 desc null last]",
        "[hash 4 of rest hex][id text]",
        "[salt 4 a-d as shard]-[id text sha256 8 hex]",
        r"[a text 3 pad \x28][b text 3 pad \x29][c text 3 pad \x3B]",
    ] {
        assert_eq!(KeySchema::parse(template).unwrap().to_string(), template);
    }
    // What says nothing is left out.
    check(
        "[bucket 4 of rest by xxh3][e enum(a=0,b)][n text 4 pad \\x00]",
        expect!["[bucket 4][e enum(a,b)][n text 4]"],
    );
}

#[test]
fn values_are_refused_by_name() {
    let check = |template: &str, value: Value, expected: Expect| {
        let schema = KeySchema::parse(template).unwrap();
        expected.assert_eq(&schema.encode(&[("f", value)]).unwrap_err().to_string());
    };
    check(
        "[f text]_",
        "a_b".into(),
        expect![
            "field `f`: a value cannot hold the literal behind the field, it would end there: value='a_b', literal=_"
        ],
    );
    check("[f text]", "".into(), expect!["the values make an empty key, and no row key is empty"]);
    check(
        "[f text]",
        "a".repeat(32_768).into(),
        expect!["the values make a key that is too long: len=32768, max=32767"],
    );
    check("[f text]", 7.into(), expect!["field `f`: takes a text, not the number 7"]);
    check(
        "[f millis]",
        (-1).into(),
        expect![
            "field `f`: a time before 1970 cannot be held, use i64 for a number of millis: value=-1, millis=-1"
        ],
    );
    check(
        "[f millis]",
        "1969-12-31".into(),
        expect![
            "field `f`: a time before 1970 cannot be held, use i64 for a number of millis: value=1969-12-31, millis=-86400000"
        ],
    );
    check(
        "[f millis]",
        "2022-12-01T00:00:00.0001".into(),
        expect!["field `f`: holds millis, the value is finer: value=2022-12-01T00:00:00.000100Z"],
    );
    check(
        "[f millis]",
        "yesterday".into(),
        expect![[r#"
        field `f`: expected a year of 4 digits: offset=0
          yesterday
          ^"#]],
    );
    check(
        "[f u8]",
        256.into(),
        expect!["field `f`: value out of range: value=256, min=0, max=255"],
    );
    check("[f u8]", "7".into(), expect!["field `f`: takes a whole number, not the text '7'"]);
    check(
        "[f u16 digits 2]",
        100.into(),
        expect!["field `f`: value out of range: value=100, min=0, max=99"],
    );
    check(
        "[f digits 3]",
        u128::MAX.into(),
        expect![
            "field `f`: value out of range: value=340282366920938463463374607431768211455, min=0, max=999"
        ],
    );
    check(
        "[f text 3]",
        "abcd".into(),
        expect!["field `f`: the value is too long: value='abcd', len=4, max=3"],
    );
    check(
        "[f text 3 pad ~]",
        "a~".into(),
        expect!["field `f`: a value cannot end in the byte it is padded with: value='a~', pad=~"],
    );
    check("[f bytes 3]", vec![1_u8, 2].into(), expect!["field `f`: takes exactly 3 bytes: len=2"]);
    check("[f bytes 3]", "abc".into(), expect!["field `f`: takes bytes, not the text 'abc'"]);
    check("[f hex 4]", "AB12".into(), expect!["field `f`: not hex digits in lower case: 'AB12'"]);
    check("[f hex 4]", "ab1".into(), expect!["field `f`: takes exactly 4 bytes: len=3"]);
    check("[f uuid]", "67e5".into(), expect!["field `f`: not a uuid: text='67e5'"]);
    check(
        "[f enum(open,closed)]",
        "opne".into(),
        expect!["field `f`: unknown label 'opne'; did you mean 'open'?"],
    );
    check(
        "[f enum(open,closed)]",
        "gone".into(),
        expect!["field `f`: unknown label 'gone'; there are: open, closed"],
    );
    check("[f bool]", 1.into(), expect!["field `f`: takes true or false, not the number 1"]);
    check(
        "[f f64]",
        f64::NAN.into(),
        expect!["field `f`: NaN has no place in an order and cannot be held"],
    );
    check(
        "[f f32]",
        0.1.into(),
        expect!["field `f`: an f32 cannot hold the value exactly, use f64: value=0.1"],
    );
    check("[f f64]", "x".into(), expect!["field `f`: takes a number, not the text 'x'"]);
    check(
        "[f date]",
        "2022-12-01T08".into(),
        expect!["field `f`: holds days, the value is finer: value=2022-12-01T08:00:00.000Z"],
    );
    check(
        "[f ymd]",
        "+10000-01-01".into(),
        expect![
            "field `f`: value out of range: value=+10000-01-01, days=2932897, min=-719528, max=2932896"
        ],
    );
    check(
        "[f decimal]",
        (-1).into(),
        expect![
            "field `f`: value out of range: value=-1, min=0, max=99999999999999999999999999999999999999"
        ],
    );
    check(
        "[f u8]",
        Value::Null,
        expect!["field `f`: has a value always: add null first or null last"],
    );
    check(
        "[f repeat(u8 u8)]",
        Value::List(vec![7.into()]),
        expect!["field `f`: takes groups of 2 values each, not the number 7"],
    );
    check(
        "[f text md5 4]",
        Value::Hashed(vec![1, 2]),
        expect!["field `f`: takes exactly 4 bytes: len=2"],
    );
    let schema = KeySchema::parse("[user string][n u8]").unwrap();
    expect!["field `n`: no value given"]
        .assert_eq(&schema.encode(&[("user", "a".into())]).unwrap_err().to_string());
    expect!["the key has no field `usr`; did you mean `user`?"]
        .assert_eq(&schema.encode(&[("usr", "a".into())]).unwrap_err().to_string());
    expect!["field `n`: given twice"]
        .assert_eq(&schema.encode(&[("n", 1.into()), ("n", 1.into())]).unwrap_err().to_string());
}

#[test]
fn keys_that_do_not_fit_say_where() {
    let check = |template: &str, key: &[u8], expected: Expect| {
        let schema = KeySchema::parse(template).unwrap();
        expected.assert_eq(&schema.decode(key).unwrap_err().to_string());
    };
    check("[f text]", b"", expect!["key does not fit: a row key is never empty: at=0"]);
    check("[f text]", b"a\xffb", expect!["key does not fit: field `f`: not UTF-8: at=1"]);
    check(
        "[f text]_[n u8]",
        b"abc",
        expect!["key does not fit: field `f`: the literal `_` is missing: at=3"],
    );
    check(
        "[f text]_[n u8]",
        b"abc_",
        expect!["key does not fit: field `n`: needs 1 bytes, 0 are left: at=4"],
    );
    check(
        "[f text]_[n u8]",
        b"abc_de",
        expect!["key does not fit: the key goes on behind its last field: at=5"],
    );
    check(
        "[f text][n u16]",
        b"a",
        expect!["key does not fit: field `f`: 2 bytes must follow, 1 are left: at=0"],
    );
    check("x-[f string]", b"y-", expect!["key does not fit: expected the literal `x-`: at=0"]);
    check(
        "[f string]",
        b"ab",
        expect!["key does not fit: field `f`: the terminator is missing: at=2"],
    );
    check(
        "[f string]",
        b"ab\0x",
        expect!["key does not fit: field `f`: neither an escaped zero nor a terminator: at=3"],
    );
    check(
        "[f millis]",
        b"\xff\0\0\0\0\0\0\0",
        expect![[
            r#"key does not fit: field `f`: \xFF\x00\x00\x00\x00\x00\x00\x00 is no value of the field: at=0"#
        ]],
    );
    check(
        "[f digits 3]",
        b"12x",
        expect!["key does not fit: field `f`: 12x is not 3 digits: at=0"],
    );
    check(
        "[f u8 digits]",
        b"300",
        expect!["key does not fit: field `f`: 300 is no value of the field: at=0"],
    );
    check(
        "[f bool]",
        b"\x02",
        expect![[r#"key does not fit: field `f`: \x02 is no value of the field: at=0"#]],
    );
    check(
        "[f enum(a,b)]",
        b"\x02",
        expect![[r#"key does not fit: field `f`: \x02 is no value of the field: at=0"#]],
    );
    check(
        "[f hex 4]",
        b"AB12",
        expect!["key does not fit: field `f`: not hex digits in lower case: 'AB12': at=0"],
    );
    check(
        "[f bytes 2 hex]",
        b"0aFF",
        expect!["key does not fit: field `f`: 0aFF is not 4 hex digits in lower case: at=0"],
    );
    check(
        "[f ymd]",
        b"20230229",
        expect!["key does not fit: field `f`: 20230229 is no value of the field: at=0"],
    );
    check(
        "[f f64]",
        b"\xff\xff\xff\xff\xff\xff\xff\xff",
        expect![[
            r#"key does not fit: field `f`: \xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF is no value of the field: at=0"#
        ]],
    );
    check(
        "[f decimal]",
        b"007",
        expect!["key does not fit: field `f`: 007 is no decimal number: at=0"],
    );
    check(
        "[f seconds 4 floor 1h]",
        b"\0\0\0\x01",
        expect![[
            r#"key does not fit: field `f`: \x00\x00\x00\x01 is no value of the field: at=0"#
        ]],
    );
    check(
        "[f u8 null first]",
        b"\x02",
        expect![
            "key does not fit: field `f`: neither the marker of null nor that of a value: at=0"
        ],
    );
    check(
        "[f repeat(u8 u8)]",
        b"abc",
        expect!["key does not fit: field `f`: not a multiple of 2 bytes are left: len=3: at=0"],
    );
    check(
        "[bucket 4 of f][f u8]",
        b"\x09\x01",
        expect![[r#"key does not fit: `bucket 4 of f`: \x09 is no value of the field: at=0"#]],
    );
    check(
        "[bucket 4 of f][f u8]",
        b"\x00\x01",
        expect![[r#"key does not fit: `bucket 4 of f`: found=\x00, computed=\x03: at=0"#]],
    );
    check(
        "[salt 2 ab][f u8]",
        b"c\x01",
        expect!["key does not fit: `salt 2 ab`: c is no value of the field: at=0"],
    );
}
