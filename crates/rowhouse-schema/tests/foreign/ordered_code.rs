//! `ordered_code.*` against google/orderedcode.

use expect_test::expect;

use crate::golden::{Expectation, Line, check, fields, lines, words};

fn expectation(line: &Line) -> Expectation {
    if line.kind.contains("infinity") {
        return Expectation::Outside("no type: what is greater than every text");
    }
    let field = |(kind, word): (&str, String)| {
        if word.starts_with("0x") { kind.replace("string", "bytes") } else { kind.to_owned() }
    };
    let types: Vec<_> = line.kind.split(", ").zip(words(&line.value)).map(field).collect();
    let template = fields(&types);
    match line.kind.as_str() {
        // A text at a key's end needs no separate type.
        kind if kind.contains("trailing_string") => {
            let template = template.replace("ordered_code.trailing_string", "text");
            match line.value.as_str() {
                _ if line.kind.ends_with(" desc") => Expectation::Outside("out of order: no type"),
                "\"\"" => Expectation::Refused(template, "refused: no key is empty"),
                "0xff" => Expectation::Outside("no type: bytes without an end"),
                _ => Expectation::As(template),
            }
        }
        _ if line.value == "NaN" => Expectation::Refused(template, "refused: NaN"),
        _ if line.value == "-0" => Expectation::Begins(template),
        _ => Expectation::As(template),
    }
}

#[test]
fn keys_are_those_of_ordered_code() {
    expect![[r#"
        ordered_code.float64: 1 refused: NaN
        ordered_code.float64: 13 the same
        ordered_code.float64 desc: 1 refused: NaN
        ordered_code.float64 desc: 13 the same
        ordered_code.infinity: 1 no type: what is greater than every text
        ordered_code.infinity desc: 1 no type: what is greater than every text
        ordered_code.int64: 36 the same
        ordered_code.int64 desc: 36 the same
        ordered_code.string: 22 the same
        ordered_code.string desc: 22 the same
        ordered_code.string desc, ordered_code.uint64: 1 the same
        ordered_code.string, ordered_code.infinity, ordered_code.string: 1 no type: what is greater than every text
        ordered_code.string, ordered_code.int64 desc: 1 the same
        ordered_code.string, ordered_code.trailing_string: 1 the same
        ordered_code.trailing_string: 1 no type: bytes without an end
        ordered_code.trailing_string: 1 refused: no key is empty
        ordered_code.trailing_string: 2 the same
        ordered_code.trailing_string desc: 4 out of order: no type
        ordered_code.uint64: 12 the same
        ordered_code.uint64 desc: 12 the same
    "#]].assert_eq(&check(&lines("ordered-code.txt"), expectation));
}
