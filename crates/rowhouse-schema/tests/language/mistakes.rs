//! Errors for invalid templates.

use super::check;
use expect_test::expect;
use rowhouse_model::ErrorKind;
use rowhouse_schema::KeySchema;

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
        expected two hex digits after \x: offset=1
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
        expected a type after `user`; for example [user string]: offset=5
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
        superfluous space: offset=6
          [user  string]
                ^"#]],
    );
    check(
        "[user string ]",
        expect![[r#"
        superfluous space: offset=12
          [user string ]
                      ^"#]],
    );
    check(
        "[ user string]",
        expect![[r#"
        superfluous space: offset=1
          [ user string]
           ^"#]],
    );
    check(
        "[1user string]",
        expect![[r#"
            `1user` is not a name; a name has ASCII letters, digits and _, and does not begin with a digit: offset=1
              [1user string]
               ^"#]],
    );
    check(
        "[us-er string]",
        expect![[r#"
            `us-er` is not a name; a name has ASCII letters, digits and _, and does not begin with a digit: offset=3
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
            unknown type `u128`; types are: text string blob domain decimal u8…u64 i8…i64 f32 f64 bool enum uuid ipv4 bytes hex digits millis micros nanos seconds date ymd ymdhm ymdhms repeat: offset=3
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
            unknown type `quux`; types are: text string blob domain decimal u8…u64 i8…i64 f32 f64 bool enum uuid ipv4 bytes hex digits millis micros nanos seconds date ymd ymdhm ymdhms repeat: offset=3
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
        `digits` must be before `desc`: offset=11
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
        expected a type after `user`, not a number; for example [user digits 8]: offset=6
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
            `user` has no end: after `text` must come the end of the key, a literal, or only fields of fixed width, and `name string` has none; use [user string], or put a literal such as _ after it: offset=1
              [user text][name string]
               ^"#]],
    );
    check(
        "[user text][name text]",
        expect![[r#"
            `user` has no end: after `text` must come the end of the key, a literal, or only fields of fixed width, and `name text` has none; use [user string], or put a literal such as _ after it: offset=1
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
