//! `tuple.*` against FoundationDB's tuple layer.

use expect_test::expect;

use crate::golden::{Line, Said, check, fields, lines, words};

fn said(line: &Line) -> Said {
    let kinds: Vec<_> = line.kind.split(", ").collect();
    if line.kind.contains("nested") {
        return Said::Outside("no type: tuples within a tuple");
    }
    if line.kind == "tuple.versionstamp" {
        return Said::Outside("no type: the database makes its bytes");
    }
    // A type that only null has is any other.
    let field = |(kind, word): (&&str, String)| match word.as_str() {
        "null" => "tuple.int null first".to_owned(),
        _ => (*kind).to_owned(),
    };
    let types: Vec<_> = kinds.iter().zip(words(&line.value)).map(field).collect();
    let template = fields(&types);
    match line.value.as_str() {
        value if value.starts_with("NaN") => Said::Refused(template, "refused: NaN"),
        value if value.len() > 38 && line.kind == "tuple.int" => {
            Said::Refused(template, "refused: more than 38 digits")
        }
        "2^2040-1" => Said::Refused(template, "refused: more than 38 digits"),
        _ => Said::As(template),
    }
}

#[test]
fn keys_are_those_of_the_tuple_layer() {
    expect![[r#"
        tuple.bool: 2 the same
        tuple.bytes: 14 the same
        tuple.double: 2 refused: NaN
        tuple.double: 13 the same
        tuple.float: 1 refused: NaN
        tuple.float: 13 the same
        tuple.int: 1 refused, as by the original
        tuple.int: 3 refused: more than 38 digits
        tuple.int: 31 the same
        tuple.nested(), tuple.int: 1 no type: tuples within a tuple
        tuple.nested(tuple.nested(tuple.null)), tuple.bool: 1 no type: tuples within a tuple
        tuple.nested(tuple.string, tuple.null), tuple.int: 1 no type: tuples within a tuple
        tuple.null: 1 the same
        tuple.string: 15 the same
        tuple.string, tuple.int: 2 the same
        tuple.string, tuple.null, tuple.bytes: 1 the same
        tuple.uuid: 3 the same
        tuple.versionstamp: 2 no type: the database makes its bytes
    "#]]
    .assert_eq(&check(&lines("tuple.txt"), said));
}
