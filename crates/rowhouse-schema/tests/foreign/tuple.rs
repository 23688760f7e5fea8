//! `tuple.*` against FoundationDB's tuple layer.

use expect_test::expect;
use rowhouse_schema::{KeySchema, Predicate};

use crate::golden::{Expectation, Line, check, fields, lines, words};

fn expectation(line: &Line) -> Expectation {
    let kinds: Vec<_> = line.kind.split(", ").collect();
    if line.kind.contains("nested") {
        return Expectation::Outside("no type, but literals: see below");
    }
    if line.kind == "tuple.versionstamp" {
        return Expectation::Outside("no type: the database makes its bytes");
    }
    // Null alone has any type.
    let field = |(kind, word): (&&str, String)| match word.as_str() {
        "null" => "tuple.int null first".to_owned(),
        _ => (*kind).to_owned(),
    };
    let types: Vec<_> = kinds.iter().zip(words(&line.value)).map(field).collect();
    let template = fields(&types);
    match line.value.as_str() {
        value if value.len() > 38 && line.kind == "tuple.int" => {
            Expectation::Refused(template, "refused: more than 38 digits")
        }
        "2^2040-1" => Expectation::Refused(template, "refused: more than 38 digits"),
        _ => Expectation::As(template),
    }
}

#[test]
fn keys_are_those_of_the_tuple_layer() {
    expect![[r#"
        tuple.bool: 2 the same
        tuple.bytes: 14 the same
        tuple.double: 15 the same
        tuple.float: 14 the same
        tuple.int: 1 refused, as by the original
        tuple.int: 3 refused: more than 38 digits
        tuple.int: 31 the same
        tuple.nested(), tuple.int: 1 no type, but literals: see below
        tuple.nested(tuple.nested(tuple.null)), tuple.bool: 1 no type, but literals: see below
        tuple.nested(tuple.string, tuple.null), tuple.int: 1 no type, but literals: see below
        tuple.null: 1 the same
        tuple.string: 15 the same
        tuple.string, tuple.int: 2 the same
        tuple.string, tuple.null, tuple.bytes: 1 the same
        tuple.uuid: 3 the same
        tuple.versionstamp: 2 no type: the database makes its bytes
    "#]]
    .assert_eq(&check(&lines("tuple.txt"), expectation));
}

#[test]
fn a_tuple_within_a_tuple_is_its_elements_between_literals() {
    let templates = [
        (r"\x05[a tuple.string]\x00\xFF\x00[b tuple.int]", "a='a', b=0"),
        (r"\x05\x00[a tuple.int]", "a=1"),
        (r"\x05\x05\x00\xFF\x00\x00[a tuple.bool]", "a=true"),
    ];
    let nested = lines("tuple.txt").into_iter().filter(|line| line.kind.contains("nested"));
    let nested: Vec<_> = nested.collect();
    assert_eq!(nested.len(), templates.len());
    for (line, (template, values)) in nested.iter().zip(templates) {
        let key = line.key.as_ref().unwrap();
        let decoded = KeySchema::parse(template).unwrap().decode(key).unwrap();
        assert_eq!(decoded.to_string(), values, "{}", line.shown());
        assert_eq!(decoded.encode().unwrap(), key, "{}", line.shown());
    }
}

#[test]
fn the_guides_keys_of_tuples_within_tuples_are_as_it_draws_them() {
    let schema = KeySchema::parse(r"\x05[a tuple.string][b tuple.int]\x00[c tuple.int]").unwrap();
    let key = schema.encode(&[("a", "x".into()), ("b", 7.into()), ("c", 1.into())]).unwrap();
    assert_eq!(key, &b"\x05\x02x\0\x15\x07\0\x15\x01"[..]);
    let schema = KeySchema::parse(r"\x05[a tuple.string]\x00\xFF\x00[c tuple.int]").unwrap();
    let key = schema.encode(&[("a", "x".into()), ("c", 1.into())]).unwrap();
    assert_eq!(key, &b"\x05\x02x\0\0\xFF\0\x15\x01"[..]);
}

#[test]
fn comparisons_find_no_nan_and_is_not_null_does() {
    let schema = KeySchema::parse("[x tuple.double null first]").unwrap();
    let matches = |query: &str, x: f64| {
        let plan = schema.plan(&Predicate::parse(query).unwrap()).unwrap();
        let key = schema.encode(&[("x", x.into())]).unwrap();
        let is_in_ranges = plan.ranges().iter().any(|range| range.contains(&key));
        is_in_ranges && plan.matches(&schema.decode(&key).unwrap())
    };
    for nan in [f64::NAN, -f64::NAN, f64::from_bits(0x7FF0_0000_0000_0001)] {
        for query in ["x > 5", "x <= 5", "x between -inf and inf", "x in (0, 1)", "x is null"] {
            assert!(!matches(query, nan), "{query}");
        }
        assert!(matches("x is not null", nan) && matches("", nan));
    }
    for infinite in [f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches("x between -inf and inf", infinite) && matches("x is not null", infinite));
    }
    assert!(matches("x = 0", -0.0) && matches("x = 0", 0.0) && !matches("x < 0", -0.0));
}
