//! `java.*` against `Bytes.toBytes`.

use expect_test::expect;

use crate::golden::{Expectation, Line, check, lines};

fn expectation(line: &Line) -> Expectation {
    match line.kind.as_str() {
        // A text needs no separate type.
        "java.string" if line.value != "\"\"" => Expectation::As("[a text]".to_owned()),
        "java.string" => Expectation::Refused("[a text]".to_owned(), "refused: no key is empty"),
        "java.decimal" => Expectation::Outside("without order: no type"),
        _ if line.value.starts_with("NaN") => {
            Expectation::Refused(format!("[a {}]", line.kind), "refused: NaN")
        }
        kind => Expectation::As(format!("[a {kind}]")),
    }
}

#[test]
fn keys_are_those_of_bytes_to_bytes() {
    expect![[r#"
        java.boolean: 2 the same
        java.decimal: 11 without order: no type
        java.double: 2 refused: NaN
        java.double: 13 the same
        java.float: 1 refused: NaN
        java.float: 13 the same
        java.int: 12 the same
        java.long: 25 the same
        java.short: 9 the same
        java.string: 1 refused: no key is empty
        java.string: 14 the same
    "#]]
    .assert_eq(&check(&lines("java.txt"), expectation));
}

/// Java expressions that create keys; `v` is the value.
fn expression(line: &Line) -> Expectation {
    let number = line.value.parse::<i128>();
    let as_template = |template: &str| Expectation::As(template.to_owned());
    let refused = |template: &str, why| Expectation::Refused(template.to_owned(), why);
    match (line.kind.as_str(), number) {
        ("Long.toString(Long.MAX_VALUE - v)", Ok(0..=8_223_372_036_854_775_807)) => {
            as_template("[a millis digits desc]")
        }
        ("Long.toString(Long.MAX_VALUE - v)", _) => {
            refused("[a millis digits desc]", "refused: not of 19 digits, so out of order")
        }
        ("Long.MAX_VALUE - v", Ok(0..)) => as_template("[a millis desc]"),
        ("Long.MAX_VALUE - v", _) => {
            refused("[a millis desc]", "refused: the subtraction overflows")
        }
        (r#"String.format("%010d", v)"#, Ok(0..=9_999_999_999)) => as_template("[a digits 10]"),
        (r#"String.format("%010d", v)"#, _) => {
            refused("[a digits 10]", "refused: not of 10 digits, so out of order")
        }
        ("new StringBuilder(v).reverse().toString()", _) if line.value == "\"\"" => {
            refused("[a text reverse]", "refused: no key is empty")
        }
        ("new StringBuilder(v).reverse().toString()", _) => as_template("[a text reverse]"),
        ("md5(v)", _) => as_template("[a text md5 16]"),
        (kind, _) => match kind.strip_prefix("Bytes.toBytes((byte) (Long.hashCode(v) % ") {
            Some("200))") => Expectation::Outside("a byte that wraps: no form"),
            Some(count) => {
                let count = count.trim_end_matches(')');
                Expectation::Begins(format!("[bucket {count} of a by java.hashcode][a java.long]"))
            }
            None => Expectation::Outside("no form of a template"),
        },
    }
}

#[test]
fn keys_are_those_of_expressions_often_copied() {
    expect![[r#"
        Bytes.toBytes((byte) (Long.hashCode(v) % 16)): 14 the same
        Bytes.toBytes((byte) (Long.hashCode(v) % 200)): 3 a byte that wraps: no form
        Bytes.toBytes((byte) (Long.hashCode(v) % 4)): 14 the same
        Bytes.toBytes((byte) (Long.hashCode(v) % 50)): 14 the same
        Bytes.toBytes((byte) (Math.abs(Long.hashCode(v)) % 16)): 3 no form of a template
        Bytes.toBytes(Long.hashCode(v) % 16): 3 no form of a template
        Bytes.toBytes(new String(md5(v), ISO-8859-1)): 5 no form of a template
        Bytes.toBytes(new String(md5(v), US-ASCII)): 5 no form of a template
        Bytes.toBytes(new String(md5(v), UTF-8)): 5 no form of a template
        Long.MAX_VALUE - v: 2 refused: the subtraction overflows
        Long.MAX_VALUE - v: 14 the same
        Long.toString(Long.MAX_VALUE - v): 5 refused: not of 19 digits, so out of order
        Long.toString(Long.MAX_VALUE - v): 11 the same
        String.format("%010d", v): 5 refused: not of 10 digits, so out of order
        String.format("%010d", v): 4 the same
        md5(v): 5 the same
        new String(md5(v), ISO-8859-1).getBytes(ISO-8859-1): 5 no form of a template
        new String(md5(v), US-ASCII).getBytes(US-ASCII): 5 no form of a template
        new String(md5(v), UTF-8).getBytes(UTF-8): 5 no form of a template
        new StringBuilder(v).reverse().toString(): 1 refused: no key is empty
        new StringBuilder(v).reverse().toString(): 10 the same
        new byte[] {(byte) (Long.hashCode(v) % 200)}: 3 no form of a template
    "#]]
    .assert_eq(&check(&lines("java-text.txt"), expression));
}
