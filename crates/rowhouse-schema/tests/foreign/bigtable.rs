//! `bigtable.*` against Google's proxy.

use expect_test::expect;
use rowhouse_schema::KeySchema;

use crate::golden::{Expectation, Line, check, fields, lines};

fn expectation(line: &Line) -> Expectation {
    let kinds = line.kind.strip_prefix("bigtable.ordered_code(").unwrap().trim_end_matches(')');
    let field = |kind: &str| match kind {
        "int64_big_endian" => "bigtable.big_endian_int64".to_owned(),
        // A timestamp is stored as microseconds.
        "timestamp" => "bigtable.ordered_int64".to_owned(),
        kind => format!("bigtable.ordered_{kind}"),
    };
    let types: Vec<_> = kinds.split(", ").map(field).collect();
    match &line.key {
        Some(key) if key.is_empty() => {
            Expectation::Refused(fields(&types), "refused: no key is empty")
        }
        None if line.value.starts_with("0x,") => {
            Expectation::Outside("an empty field, as an empty text is")
        }
        _ => Expectation::As(fields(&types)),
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
    .assert_eq(&check(&lines("bigtable.txt"), expectation));
}

/// There are no test vectors: only Bigtable's server encodes these structs. The rules come from the
/// server's `types.proto`: fields joined by a delimiter, none at the end, and no field contains the
/// delimiter's first byte.
#[test]
fn a_delimited_struct_is_its_fields_between_literals() {
    let schema = KeySchema::parse("[user text]#[day text]#[tail text]").unwrap();
    let key = |user: &str, day: &str, tail: &str| {
        schema.encode(&[("user", user.into()), ("day", day.into()), ("tail", tail.into())])
    };
    assert_eq!(key("bob", "20221224", "x").unwrap(), "bob#20221224#x");
    assert_eq!(key("", "", "").unwrap(), "##");
    assert_eq!(schema.decode(b"a##").unwrap().to_string(), "user='a', day='', tail=''");
    assert!(key("b#b", "", "").is_err());
    let long = KeySchema::parse(r"[user text]\x00\x01[n java.long]\x00\x01[tail text]").unwrap();
    let key =
        long.encode(&[("user", "bob".into()), ("n", 7.into()), ("tail", "x".into())]).unwrap();
    assert_eq!(key, &b"bob\0\x01\0\0\0\0\0\0\0\x07\0\x01x"[..]);
    assert_eq!(long.decode(&key).unwrap().to_string(), "user='bob', n=7, tail='x'");
}
