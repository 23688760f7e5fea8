//! Errors for queries that are invalid, or invalid for a key.

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
        expected a value; put text in quotes: 'bob': offset=7
          user = bob
                 ^"#]],
    );
    check(
        template,
        "user = 123",
        expect![[r#"
        field `user` is text, which needs quotes; write '123': offset=7
          user = 123
                 ^"#]],
    );
    check(
        template,
        "user = \"bob\"",
        expect![[r#"
        unexpected character `"`; put text in single quotes: '…': offset=7
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
            field `user` is not a time, `during` is for times: offset=0
              user during 2022
              ^"#]],
    );
    check(
        template,
        "n starts with '1'",
        expect![[r#"
            field `n` is not text; `starts with`, `ends with` and `under` are for texts; compare, or use between: offset=0
              n starts with '1'
              ^"#]],
    );
    check(
        template,
        "user != 'bob'",
        expect![[r#"
        `!=` is not in the query language; it would read nearly every row; use < and >: offset=5
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
        null cannot be compared; use `is null`: offset=7
          user = null
                 ^"#]],
    );
    check(
        template,
        "user start with 'b'",
        expect![[r#"
            expected =, <, <=, >, >=, between, in, starts with, ends with, under, during, matches or is null; did you mean `starts`?: offset=5
              user start with 'b'
                   ^"#]],
    );
    check(
        template,
        "user in 'b'",
        expect![[r#"
        expected `(` after `in`: offset=8
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
            expected a name, not the column d:subject; a query asks for fields of the key, and for columns by their declared names: offset=0
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

#[test]
fn constants_that_a_type_cannot_compare_are_reported() {
    check(
        "[d f64][e enum(a,b)]",
        "e = 'c'",
        expect![[r#"
            field `e` unknown label 'c'; labels: a, b: offset=4
              e = 'c'
                  ^"#]],
    );
    check(
        "[d f64]",
        "d = 'x'",
        expect![[r#"
        field `d` takes a number, not the text 'x': offset=4
          d = 'x'
              ^"#]],
    );
    check(
        "[b bool]",
        "b = 1",
        expect![[r#"
        field `b` takes true or false, not 1: offset=4
          b = 1
              ^"#]],
    );
    check(
        "[b bytes 2]",
        "b = 'ab'",
        expect![[r#"
        field `b` takes bytes, not the text 'ab': offset=4
          b = 'ab'
              ^"#]],
    );
    check(
        "[b bytes 2]",
        "b = x'0'",
        expect![[r#"
        expected an even number of hex digits: x'00ff': offset=4
          b = x'0'
              ^"#]],
    );
    check(
        "[u uuid]",
        "u = '67e5'",
        expect![[r#"
        field `u` not a uuid: text='67e5': offset=4
          u = '67e5'
              ^"#]],
    );
    check(
        "[ip ipv4]",
        "ip = '10.0.0.256'",
        expect![[r#"
        field `ip` not an IPv4 address: text='10.0.0.256': offset=5
          ip = '10.0.0.256'
               ^"#]],
    );
    check(
        "[ip ipv4]",
        "ip > 10.0.0",
        expect![[r#"
        field `ip` takes an IPv4 address, not 10.0.0: offset=5
          ip > 10.0.0
               ^"#]],
    );
    check(
        "[h hex 4]",
        "h = 'AB12'",
        expect![[r#"
        field `h` expected hex digits, 0-9 and a-f: text='AB12': offset=4
          h = 'AB12'
              ^"#]],
    );
    check(
        "[at millis]",
        "at >= 20221201",
        expect![[r#"
        20221201 may be a time or a count of millis; write 2022-12-01, or 020221201 for the count: offset=6
          at >= 20221201
                ^"#]],
    );
    check(
        "[d ymd]",
        "d in (2022-12-01, 202212010800)",
        expect![[r#"
        202212010800 may be a time or a count of days; write 2022-12-01T08:00, or 0202212010800 for the count: offset=18
          d in (2022-12-01, 202212010800)
                            ^"#]],
    );
    check(
        "[u text md5 4]",
        "u > 'a'",
        expect![[r#"
        keys hold only a hash of `u`; use = or in: offset=0
          u > 'a'
          ^"#]],
    );
    check(
        "[u text md5 4]",
        "hash(u) = 0x01",
        expect![[r#"
            field `u` takes exactly 4 bytes: len=1: offset=10
              hash(u) = 0x01
                        ^"#]],
    );
    check(
        "[u text]",
        "u under 'com'",
        expect![[r#"
        field `u` is not a domain, `under` is for the type `domain`: offset=0
          u under 'com'
          ^"#]],
    );
    check(
        "[n u8]",
        "n under 'com'",
        expect![[r#"
            field `n` is not text; `starts with`, `ends with` and `under` are for texts; compare, or use between: offset=0
              n under 'com'
              ^"#]],
    );
    check(
        "[r repeat(u8 u8)]",
        "r = (1, 2)",
        expect![[r#"
        field `r` takes groups of 2 values: (1, 2): offset=5
          r = (1, 2)
               ^"#]],
    );
    check(
        "[r repeat(u8)]",
        "r > (1)",
        expect![[r#"
        field `r` is a list: use =, in or starts with: offset=0
          r > (1)
          ^"#]],
    );
    check(
        "[r repeat(u8)]",
        "r = 1",
        expect![[r#"
        field `r` takes a list such as ((1, 2), (3, 4)), not 1: offset=4
          r = 1
              ^"#]],
    );
    check(
        "[n u8]",
        "n = (1)",
        expect![[r#"
        field `n` takes one value, not a list: offset=4
          n = (1)
              ^"#]],
    );
    check(
        "[n u8]",
        "n is not 3",
        expect![[r#"
        expected `null`: offset=9
          n is not 3
                   ^"#]],
    );
    check(
        "[n u8]",
        "n ends 3",
        expect![[r#"
        expected `with`: offset=7
          n ends 3
                 ^"#]],
    );
    check(
        "[d date]",
        "d during '2022-13'",
        expect![[r#"
        expected a month from 01 to 12: offset=15
          d during '2022-13'
                         ^"#]],
    );
    check(
        "[d decimal]",
        "d = 1.x",
        expect![[r#"
        field `d` takes a whole number, not 1.x: offset=4
          d = 1.x
              ^"#]],
    );
    check(
        "[a u8]",
        "a in ((((1))))",
        expect![[r#"
        field `a` takes one value, not a list: offset=6
          a in ((((1))))
                ^"#]],
    );
}

#[test]
fn parentheses_change_nothing() {
    let printed = |query: &str| Predicate::parse(query).unwrap().to_string();
    for query in [
        "(user = 'bob' and n in (1, 2))",
        "((user = 'bob')) and (((n in (1, 2))))",
        "(user = 'bob' and (n in (1, 2)))",
        "( user = 'bob' ) and n in (1, 2)",
    ] {
        assert_eq!(printed(query), printed("user = 'bob' and n in (1, 2)"), "{query}");
    }
    let deep = format!("{}n = 1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(printed(&deep), printed("n = 1"));
    let template = "[user text]_[n u8]";
    check(
        template,
        "(user = 'bob' and (n = 1)",
        expect![[r#"
            `(` without a `)` after it: offset=0
              (user = 'bob' and (n = 1)
              ^"#]],
    );
    check(
        template,
        "(user = 'bob' n = 1)",
        expect![[r#"
            expected `and` or `)`: offset=14
              (user = 'bob' n = 1)
                            ^"#]],
    );
    check(
        template,
        "user = 'bob')",
        expect![[r#"
            expected `and` or the end of the query: offset=12
              user = 'bob')
                          ^"#]],
    );
    check(
        template,
        "user = 'bob' and ()",
        expect![[r#"
            expected the name of a field: offset=18
              user = 'bob' and ()
                                ^"#]],
    );
    check(
        template,
        "(user = 'bob' or n = 1)",
        expect![[r#"
            `or` is not in the query language; for several values of a field use in (…): offset=14
              (user = 'bob' or n = 1)
                            ^"#]],
    );
}
