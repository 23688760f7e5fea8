//! What a query is told that is not one, or not one for this key.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use expect_test::{Expect, expect};
use rowhouse_schema::{KeySchema, Predicate};

fn check(template: &str, query: &str, expected: Expect) {
    let schema = KeySchema::parse(template).unwrap();
    let plan = Predicate::parse(query).and_then(|predicate| schema.plan(&predicate));
    expected.assert_eq(&plan.map_or_else(|error| error.to_string(), |plan| plan.to_string()));
}

#[test]
fn mistakes_are_pointed_at() {
    let template = "[user text]_[at millis][n u8]";
    check(
        template,
        "usr = 'bob'",
        expect![[r#"
        the key has no field `usr`; did you mean `user`?: offset=0
          usr = 'bob'
          ^"#]],
    );
    check(
        template,
        "user = bob",
        expect![[r#"
        expected a value; a text stands in quotes: 'bob': offset=7
          user = bob
                 ^"#]],
    );
    check(
        template,
        "user = 123",
        expect![[r#"
        field `user` is a text, which stands in quotes; write '123': offset=7
          user = 123
                 ^"#]],
    );
    check(
        template,
        "user = \"bob\"",
        expect![[r#"
        unexpected character `"`; texts stand in single quotes: '…': offset=7
          user = "bob"
                 ^"#]],
    );
    check(
        template,
        "user = 'bob",
        expect![[r#"
        this quote is never closed: offset=7
          user = 'bob
                 ^"#]],
    );
    check(
        template,
        "n = '7'",
        expect![[r#"
            field `n` takes a whole number, not the text '7': offset=4
              n = '7'
                  ^"#]],
    );
    check(
        template,
        "n = 7.5",
        expect![[r#"
            field `n` takes a whole number, not 7.5: offset=4
              n = 7.5
                  ^"#]],
    );
    check(
        template,
        "n = 2022-12-01",
        expect![[r#"
            field `n` takes a whole number, not 2022-12-01: offset=4
              n = 2022-12-01
                  ^"#]],
    );
    check(
        template,
        "at during 2022-13",
        expect![[r#"
        expected a month from 01 to 12: offset=15
          at during 2022-13
                         ^"#]],
    );
    check(
        template,
        "at >= '2022-12-1'",
        expect![[r#"
        expected a day of 2 digits: offset=15
          at >= '2022-12-1'
                         ^"#]],
    );
    check(
        template,
        "user during 2022",
        expect![[r#"
            field `user` is no time, `during` is for times: offset=0
              user during 2022
              ^"#]],
    );
    check(
        template,
        "n starts with '1'",
        expect![[r#"
            field `n` is no text; `starts with`, `ends with` and `under` are for texts; compare, or use between: offset=0
              n starts with '1'
              ^"#]],
    );
    check(
        template,
        "user != 'bob'",
        expect![[r#"
        `!=` is not in the query language; it would read nearly every row; ask with < and with >: offset=5
          user != 'bob'
               ^"#]],
    );
    check(
        template,
        "user = 'bob' or n = 1",
        expect![[r#"
        `or` is not in the query language; for several values of a field use in (…): offset=13
          user = 'bob' or n = 1
                       ^"#]],
    );
    check(
        template,
        "user = 'bob' n = 1",
        expect![[r#"
        expected `and` or the end of the query: offset=13
          user = 'bob' n = 1
                       ^"#]],
    );
    check(
        template,
        "user = null",
        expect![[r#"
        nothing compares with null; ask with `is null`: offset=7
          user = null
                 ^"#]],
    );
    check(
        template,
        "user start with 'b'",
        expect![[r#"
            expected =, <, <=, >, >=, between, in, starts with, ends with, under, during or is null; did you mean `starts`?: offset=5
              user start with 'b'
                   ^"#]],
    );
    check(
        template,
        "user in 'b'",
        expect![[r#"
        expected `(` behind `in`: offset=8
          user in 'b'
                  ^"#]],
    );
    check(
        template,
        "n in (1 2)",
        expect![[r#"
        expected `,` or `)`: offset=8
          n in (1 2)
                  ^"#]],
    );
    check(
        template,
        "d:subject = 'x'",
        expect![[r#"
        `d:subject` is not supported yet by this version of rowhouse; a query asks for fields of the key: offset=0
          d:subject = 'x'
          ^"#]],
    );
    check(
        template,
        "user =",
        expect![[r#"
        expected a value: a text in quotes, a number or a time: offset=6
          user =
                ^"#]],
    );
    check(
        template,
        "分 = 1",
        expect![[r#"
        expected the name of a field, not 分: offset=0
          分 = 1
          ^"#]],
    );
}
