//! `java.*` against `Bytes.toBytes`.

use expect_test::expect;

use crate::golden::{Line, Said, check, lines};

fn said(line: &Line) -> Said {
    match line.kind.as_str() {
        // What a text is without any type.
        "java.string" if line.value != "\"\"" => Said::As("[a text]".to_owned()),
        "java.string" => Said::Refused("[a text]".to_owned(), "refused: no key is empty"),
        "java.decimal" => Said::Outside("without order: no type"),
        _ if line.value.starts_with("NaN") => {
            Said::Refused(format!("[a {}]", line.kind), "refused: NaN")
        }
        kind => Said::As(format!("[a {kind}]")),
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
    "#]].assert_eq(&check(&lines("java.txt"), said));
}
