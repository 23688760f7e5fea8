//! Column declarations: their printed form, and the errors for mistakes.

use expect_test::{Expect, expect};
use rowhouse_schema::{ColumnSchema, KeySchema};

fn check(text: &str, expected: Expect) {
    let columns = ColumnSchema::parse(text);
    expected.assert_eq(&columns.map_or_else(|error| error.to_string(), |read| read.to_string()));
}

#[test]
fn declarations_print_one_after_the_other() {
    check(
        "d:via   myVeryImportantAttribute string\n\n  d:n count\ti64 ;;\r\nf:[at millis desc][id u32] price f64;",
        expect![
            "d:via myVeryImportantAttribute string; d:n count i64; f:[at millis desc][id u32] price f64"
        ],
    );
    check("", expect![""]);
    check(" ;\n", expect![""]);
    check(
        r"d: whole blob; d:a;\x20b odd text 3 pad \x3B",
        expect![[r#"d: whole blob; d:a;\x20b odd text 3 pad \x3B"#]],
    );
    check(
        "d:s state enum(a;b,c=9); d:t tags repeat(u8 text 1 pad ;)",
        expect![[r#"d:s state enum(a;b,c=9); d:t tags repeat(u8 text 1 pad \x3B)"#]],
    );
    check(
        "é:a_[x text]_[y u8] xy decimal; é:b_[x text] z digits 3",
        expect!["é:a_[x text]_[y u8] xy decimal; é:b_[x text] z digits 3"],
    );
    check(
        "d:n count u64 digits 20; d:i id uuid hex; d:h hash hex 32",
        expect!["d:n count u64 digits 20; d:i id uuid hex; d:h hash hex 32"],
    );
}

#[test]
fn a_mistake_in_a_declaration_is_pointed_at() {
    check(
        "via colour string",
        expect![[r#"
        expected family:qualifier, not via; for example d:via colour string: offset=0
          via colour string
          ^"#]],
    );
    check(
        "d:via",
        expect![[r#"
            expected a name and a type after `d:via`; for example d:via via string: offset=5
              d:via
                   ^"#]],
    );
    check(
        "d:n; d:m count u64",
        expect![[r#"
        expected a name, not d:m; a declaration is family:qualifier, a name and a type: offset=5
          d:n; d:m count u64
               ^"#]],
    );
    check(
        "d:count u64",
        expect![[r#"
            expected a type after `u64`; the name comes first: for example d:count count u64: offset=11
              d:count u64
                         ^"#]],
    );
    check(
        "d:count count",
        expect![[r#"
        expected a type after `count`; for example d:count count string: offset=13
          d:count count
                       ^"#]],
    );
    check(
        "d:n d:m u64",
        expect![[r#"
        expected a name, not d:m; a declaration is family:qualifier, a name and a type: offset=4
          d:n d:m u64
              ^"#]],
    );
    check(
        "d:n my-count u64",
        expect![[r#"
            `my-count` is not a name; a name has ASCII letters, digits and _, and does not begin with a digit: offset=6
              d:n my-count u64
                    ^"#]],
    );
    check(
        "d:n count long",
        expect![[r#"
        unknown type `long`; did you mean `i64` (or `u64`)?: offset=10
          d:n count long
                    ^"#]],
    );
    check(
        "d:n count u64 dsc",
        expect![[r#"
        unknown modifier `dsc`; did you mean `desc`?: offset=14
          d:n count u64 dsc
                        ^"#]],
    );
    check(
        "d:n count u64 desc",
        expect![[r#"
        `desc` is for keys, a value is stored as it is: offset=14
          d:n count u64 desc
                        ^"#]],
    );
    check(
        "d:n count text md5 4",
        expect![[r#"
        `md5` is for keys, a value is stored as it is: offset=15
          d:n count text md5 4
                         ^"#]],
    );
    check(
        "d:n count u64 null first",
        expect![[r#"
        `null` is for keys, a value is stored as it is; a column without a value does not exist: offset=14
          d:n count u64 null first
                        ^"#]],
    );
    check(
        "d:n count u64 hex hex",
        expect![[r#"
        `hex` is written twice: offset=18
          d:n count u64 hex hex
                            ^"#]],
    );
    check(
        r"d:n\q count u64",
        expect![[r#"
        expected \[, \], \\ or \xHH: offset=3
          d:n\q count u64
             ^"#]],
    );
    check(
        ".d:n count u64",
        expect![[r#"
        illegal family name: must not begin with a full stop, name=.d: offset=0
          .d:n count u64
          ^"#]],
    );
    check(
        ":n count u64",
        expect![[r#"
        illegal family name: must have 1 to 127 bytes, has 0, name=: offset=0
          :n count u64
          ^"#]],
    );
    check(
        "[d text]:n count u64",
        expect![[r#"
            a family has no fields, only its qualifiers: offset=0
              [d text]:n count u64
              ^"#]],
    );
    check(
        "d:[at mills] count u64",
        expect![[r#"
        unknown type `mills`; did you mean `millis`?: offset=6
          d:[at mills] count u64
                ^"#]],
    );
    check(
        "d:[at millis count u64",
        expect![[r#"
            this `[` is never closed; a literal bracket is \[: offset=2
              d:[at millis count u64
                ^"#]],
    );
    check(
        "d:[at millis\n] count u64",
        expect![[r#"
            this `[` is never closed; a literal bracket is \[: line=1, offset=2
              d:[at millis
                ^"#]],
    );
    check(
        "d:[bucket 4 of at][at millis] count u64",
        expect![[r#"
        `bucket 4 of at` is for keys; within a row there is nothing to spread: offset=2
          d:[bucket 4 of at][at millis] count u64
            ^"#]],
    );
    check(
        "d:a one u64\nd:b two u64\n  d:c two u64",
        expect![[r#"
        the name `two` is used twice: line=3, offset=6
            d:c two u64
                ^"#]],
    );
}

#[test]
fn a_qualifier_belongs_to_one_column() {
    check("d:a one u64; e:a two u64", expect!["d:a one u64; e:a two u64"]);
    check(
        "d:a one u64; d:a two u64",
        expect![[r#"
            d:a is the column `one` already: offset=13
              d:a one u64; d:a two u64
                           ^"#]],
    );
    check(
        "d:a one u64; d:[x text] two u64",
        expect![[r#"
        the qualifier of `one` fits the template of `two` too; begin the template with a literal: offset=13
          d:a one u64; d:[x text] two u64
                       ^"#]],
    );
    check(
        "d:[x text] two u64; d:a one u64",
        expect![[r#"
        the qualifier of `one` fits the template of `two` too; begin the template with a literal: offset=20
          d:[x text] two u64; d:a one u64
                              ^"#]],
    );
    check("d:a one u64; d:[x u32] two u64", expect!["d:a one u64; d:[x u32] two u64"]);
    check(
        "d:a_[x u32] one u64; d:a[x u32] two u64",
        expect![[r#"
        a qualifier could be one of `one` or of `two`: they begin with `a_` and `a`; begin each template of a family with a literal of its own: offset=21
          d:a_[x u32] one u64; d:a[x u32] two u64
                               ^"#]],
    );
    check("d:[x u32] one u64; e:[x u32] two u64", expect!["d:[x u32] one u64; e:[x u32] two u64"]);
}

#[test]
fn a_name_is_of_a_field_and_a_column_only_where_the_key_holds_too_little() {
    let check = |key: &str, columns: &str, expected: Expect| {
        let columns = ColumnSchema::parse(columns).unwrap();
        let checked = columns.check_key(&KeySchema::parse(key).unwrap());
        expected.assert_eq(&checked.map_or_else(|error| error.to_string(), |()| "both".into()));
    };
    check("[user text md5 4]", "d:u user string", expect!["both"]);
    check("[base seconds 4 floor 1h]", "d:b base seconds", expect!["both"]);
    check("[n u32 floor 10]", "d:n n digits 10", expect!["both"]);
    check(
        "[user text]",
        "d:u user string",
        expect![
            "`user` is a field of the key and a column: the key holds the value already, so choose another name"
        ],
    );
    check(
        "[user text md5 4]",
        "d:u user u64",
        expect!["`user` is a field of the key and a column: their values differ, `text` and `u64`"],
    );
    check(
        "[base seconds 4 floor 1h]",
        "d:b base millis",
        expect![
            "`base` is a field of the key and a column: their values differ, `seconds 4` and `millis`"
        ],
    );
    check(
        "[user text md5 4]",
        "d:[x u8] user string",
        expect![
            "`user` is a field of the key and a column: a column of many qualifiers has no single value"
        ],
    );
    check(
        "[bucket 4 of user as b][user text]",
        "d:b b u8",
        expect![
            "`b` is a field of the key and a column: names are unique, so choose another for the column"
        ],
    );
}
