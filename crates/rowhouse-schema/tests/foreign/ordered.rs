//! `ordered.*` against OrderedBytes.

use expect_test::expect;

use crate::golden::{Expectation, Line, check, fields, lines, words};

/// Returns a value's type, where the value may be null; for null alone it is any type.
fn field(kind: &str, word: &str) -> String {
    let kind = kind.replace("ordered.null", "ordered.int8");
    match (word, kind.ends_with(" desc")) {
        ("null", false) => format!("{kind} null first"),
        ("null", true) => format!("{kind} null last"),
        _ => kind,
    }
}

fn expectation(line: &Line) -> Expectation {
    let kinds: Vec<_> = line.kind.split(", ").collect();
    let types: Vec<_> =
        kinds.iter().zip(words(&line.value)).map(|(kind, word)| field(kind, &word)).collect();
    let template = fields(&types);
    let digits = line.value.bytes().filter(u8::is_ascii_digit).count();
    match line.value.trim_start_matches('-') {
        "Infinity" if line.kind.starts_with("ordered.numeric") => {
            Expectation::Refused(template, "refused: infinity")
        }
        value if value.starts_with("NaN") => Expectation::Refused(template, "refused: NaN"),
        _ if line.kind.starts_with("ordered.numeric") && digits > 31 => {
            Expectation::Ambiguous(template, "refused: rounded by the original")
        }
        _ => Expectation::As(template),
    }
}

#[test]
fn keys_are_those_of_ordered_bytes() {
    expect![[r#"
        ordered.blob_copy: 14 the same
        ordered.blob_copy desc: 6 refused, as by the original
        ordered.blob_copy desc: 8 the same
        ordered.blob_var: 14 the same
        ordered.blob_var desc: 14 the same
        ordered.blob_var, ordered.blob_copy: 1 the same
        ordered.float32: 1 refused: NaN
        ordered.float32: 13 the same
        ordered.float32 desc: 1 refused: NaN
        ordered.float32 desc: 13 the same
        ordered.float64: 2 refused: NaN
        ordered.float64: 13 the same
        ordered.float64 desc: 2 refused: NaN
        ordered.float64 desc: 13 the same
        ordered.int16: 9 the same
        ordered.int16 desc: 9 the same
        ordered.int32: 12 the same
        ordered.int32 desc: 12 the same
        ordered.int64: 25 the same
        ordered.int64 desc: 25 the same
        ordered.int8: 5 the same
        ordered.int8 desc: 5 the same
        ordered.null: 1 the same
        ordered.null desc: 1 the same
        ordered.numeric: 1 refused: NaN
        ordered.numeric: 2 refused: infinity
        ordered.numeric: 2 refused: rounded by the original
        ordered.numeric: 35 the same
        ordered.numeric desc: 1 refused: NaN
        ordered.numeric desc: 2 refused: infinity
        ordered.numeric desc: 2 refused: rounded by the original
        ordered.numeric desc: 35 the same
        ordered.string: 4 refused, as by the original
        ordered.string: 12 the same
        ordered.string desc: 4 refused, as by the original
        ordered.string desc: 12 the same
        ordered.string desc, ordered.numeric: 1 the same
        ordered.string, ordered.int64 desc: 1 the same
        ordered.string, ordered.null, ordered.int32: 1 the same
    "#]]
    .assert_eq(&check(&lines("ordered.txt"), expectation));
}
