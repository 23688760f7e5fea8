//! `bigtable.*` against Google's proxy.

use expect_test::expect;

use crate::golden::{Line, Said, check, fields, lines};

fn said(line: &Line) -> Said {
    let kinds = line.kind.strip_prefix("bigtable.ordered_code(").unwrap().trim_end_matches(')');
    let field = |kind: &str| match kind {
        "int64_big_endian" => "bigtable.big_endian_int64".to_owned(),
        // A timestamp is its microseconds.
        "timestamp" => "bigtable.ordered_int64".to_owned(),
        kind => format!("bigtable.ordered_{kind}"),
    };
    let types: Vec<_> = kinds.split(", ").map(field).collect();
    match &line.key {
        Some(key) if key.is_empty() => Said::Refused(fields(&types), "refused: no key is empty"),
        None if line.value.starts_with("0x,") => {
            Said::Outside("an empty field, as an empty text is")
        }
        _ => Said::As(fields(&types)),
    }
}

#[test]
fn keys_are_those_of_bigtable() {
    expect![[r#"
        bigtable.ordered_code(bytes): 7 the same
        bigtable.ordered_code(bytes, string): 1 an empty field, as an empty text is
        bigtable.ordered_code(bytes, string): 1 the same
        bigtable.ordered_code(int64): 24 the same
        bigtable.ordered_code(int64, int64): 1 the same
        bigtable.ordered_code(int64, string): 1 the same
        bigtable.ordered_code(int64_big_endian): 1 refused, as by the original
        bigtable.ordered_code(int64_big_endian): 4 the same
        bigtable.ordered_code(int64_big_endian, string): 1 the same
        bigtable.ordered_code(string): 8 the same
        bigtable.ordered_code(string, int64): 2 the same
        bigtable.ordered_code(string, int64, string): 1 the same
        bigtable.ordered_code(string, int64_big_endian): 1 the same
        bigtable.ordered_code(string, string): 1 refused: no key is empty
        bigtable.ordered_code(string, string): 4 the same
        bigtable.ordered_code(string, string, string): 4 the same
        bigtable.ordered_code(timestamp): 3 the same
    "#]]
    .assert_eq(&check(&lines("bigtable.txt"), said));
}
