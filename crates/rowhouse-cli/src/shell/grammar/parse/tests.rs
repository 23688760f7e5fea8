use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::shell::grammar::quoted;

fn check(script: &str, expected: Expect) {
    let shown = match parse(script) {
        Parsed::Whole(statements) => statements
            .iter()
            .map(|Statement { command, arguments, .. }| {
                let arguments: Vec<_> = arguments.iter().map(ToString::to_string).collect();
                format!("{command} {}\n", arguments.join(", "))
            })
            .collect(),
        Parsed::Open(fault) => format!("open: {}\n", fault.in_script(script)),
        Parsed::Wrong(fault) => format!("wrong: {}\n", fault.in_script(script)),
    };
    expected.assert_eq(&shown);
}

#[test]
fn calls_with_and_without_parentheses_are_the_same() {
    check(
        "put 't','r','f:q','v'; put('t', 'r', 'f:q', 'v')\nlist",
        expect![[r#"
            put 't', 'r', 'f:q', 'v'
            put 't', 'r', 'f:q', 'v'
            list 
        "#]],
    );
}

#[test]
fn hashes_stand_in_braces_or_bare_at_the_end() {
    check(
        "get 't', 'r', {COLUMN => 'cf:title', VERSIONS => 3}\n\
         get 't', 'r', COLUMN => 'cf:title', VERSIONS => 3\n\
         create 't', 'a', {NAME => 'b', 'TTL' => 60,}, SPLITS => ['1', '2',], METADATA => {'x' => 'y'}",
        expect![[r#"
            get 't', 'r', {'COLUMN' => 'cf:title', 'VERSIONS' => 3}
            get 't', 'r', {'COLUMN' => 'cf:title', 'VERSIONS' => 3}
            create 't', 'a', {'NAME' => 'b', 'TTL' => 60}, {'SPLITS' => ['1', '2'], 'METADATA' => {'x' => 'y'}}
        "#]],
    );
}

#[test]
fn texts_have_rubys_escapes() {
    check(
        r#"x 'a\x00\'\\\n', "a\x00\xff\u5206\u{5206 41}\n\t\\\"\e\101\s", '分', "\#{x}#""#,
        expect![[r#"
            x "a\x5Cx00'\x5C\x5Cn", "a\x00\xFF\xE5\x88\x86\xE5\x88\x86A\x0A\x09\x5C\"\x1BA ", "\xE5\x88\x86", '#{x}#'
        "#]],
    );
}

#[test]
fn numbers_constants_and_words() {
    check(
        "x 1, -3, +4, 1_000, 0x1F, NAME, true, false, nil, -9223372036854775808",
        expect![[r#"
            x 1, -3, 4, 1000, 31, NAME, true, false, nil, -9223372036854775808
        "#]],
    );
    check(
        "x 0.75, -1.50, +1_000.25, 1e3, 1.5e-7, 2E+20, 0.0, 123456789.012345",
        expect![[r#"
            x 0.75, -1.5, 1000.25, 1000.0, 1.5e-07, 2.0e+20, 0.0, 123456789.012345
        "#]],
    );
}

#[test]
fn comments_and_continued_lines() {
    check(
        "# nothing\nput 't', # table\n  'r', # row\n 'f:q', \\\n 'v' # done\n;;\nscan 't', {\n LIMIT =>\n 1\n}\n x('a'\n,\n 'b'\n)",
        expect![[r#"
            put 't', 'r', 'f:q', 'v'
            scan 't', {'LIMIT' => 1}
            x 'a', 'b'
        "#]],
    );
}

#[test]
fn an_unfinished_statement_is_open() {
    for script in ["put 't',", "put 't', 'r", "scan 't', {", "scan('t'", "x [1", "x A =>", "x \"\\"]
    {
        assert!(matches!(parse(script), Parsed::Open(_)), "{script}");
    }
    check(
        "put 't', {X =>",
        expect![[r#"
            open: expected a value, found the end
              put 't', {X =>
                            ^
        "#]],
    );
}

#[test]
fn mistake_before_an_open_text_is_reported_at_once() {
    check(
        "put 't', 'r, 'f:q', 'v'\nput 't', 'r', 'f:q', 'v'\n",
        expect![[r#"
            wrong: expected `,` or the end of the command, found `f`
              put 't', 'r, 'f:q', 'v'
                            ^
        "#]],
    );
    check(
        "list\nput 't', 'r\nput 't', 'r2",
        expect![[r#"
            wrong: expected `,` or the end of the command, found `t`; the text before it has 2 lines: is the closing quote of the first missing?
              put 't', 'r2
                   ^
        "#]],
    );
    let Parsed::Wrong(fault) = parse("list\nput 't', 'r\nput 't', 'r2") else { panic!() };
    assert_eq!((fault.command_at, fault.at), (5, 22));
}

#[test]
fn mistakes_are_pointed_at() {
    check(
        "list\nget 't' 'r'",
        expect![[r#"
            wrong: expected `,` or the end of the command, found a text
              get 't' 'r'
                      ^
        "#]],
    );
    check(
        "put t, 'r'",
        expect![[r#"
            wrong: `t` is not known here; put texts in quotes: 't'
              put t, 'r'
                  ^
        "#]],
    );
    check(
        "put '分', ]",
        expect![[r#"
            wrong: expected a value, found `]`
              put '分', ]
                   　   ^
        "#]],
    );
    check(
        "put 't', 1.5.6",
        expect![[r#"
            wrong: `1.5.6` is not a whole number of at most 64 bits; put texts in quotes
              put 't', 1.5.6
                       ^
        "#]],
    );
    check(
        "put 't', 0.1234567890123456",
        expect![[r#"
            wrong: `0.1234567890123456` does not fit into 64 bits; put texts in quotes
              put 't', 0.1234567890123456
                       ^
        "#]],
    );
    check(
        "get 't', {1 => 2}",
        expect![[r#"
            wrong: the name in `NAME => value` must be a word or a text, not a number
              get 't', {1 => 2}
                        ^
        "#]],
    );
    check(
        "put 't', \"\\xg\"",
        expect![[r#"
            wrong: \x wants one or two hex digits
              put 't', "\xg"
                        ^
        "#]],
    );
    check(
        "t.put 'r'",
        expect![[r#"
            wrong: `.` is not known here
              t.put 'r'
               ^
        "#]],
    );
    check(
        "create （'t'）",
        expect![[r#"
            wrong: `（` is not known here: a full-width character; type `(`
              create （'t'）
                     ^
        "#]],
    );
    check(
        "create ‘t’",
        expect![[r#"
            wrong: `‘` is not known here: a full-width character; type `'`
              create ‘t’
                     ^
        "#]],
    );
    check(
        "scan 't', LIMIT => 1, 'x'",
        expect![[r#"
            wrong: after a pair, only further pairs `NAME => value` are allowed
              scan 't', LIMIT => 1, 'x'
                                    ^
        "#]],
    );
}

proptest! {
    #[test]
    fn reading_a_printed_text_gives_the_same_bytes(bytes: Vec<u8>) {
        let script = format!("x {}", quoted(&bytes));
        let Parsed::Whole(statements) = parse(&script) else { panic!("{script}") };
        prop_assert_eq!(&statements[0].arguments[..], &[Value::Text(bytes.into())]);
    }

    #[test]
    fn nothing_makes_the_parser_panic(script in r#"[a-zA-Z0-9'"{}\[\](),;=>#\\ \nxu分.-]{0,40}"#) {
        let _ = parse(&script);
    }
}

#[test]
fn too_deep_nesting_is_refused_without_recursion() {
    let deep = format!("get 't', {}", "[".repeat(100_000));
    assert!(matches!(parse(&deep), Parsed::Wrong(_)));
    let fine = format!("get 't', {}{}", "[".repeat(60), "]".repeat(60));
    assert!(matches!(parse(&fine), Parsed::Whole(_)));
}
