//! `reverse` reverses the form before it: the characters, if `digits` or `hex` write characters.

use rowhouse_schema::{KeySchema, Predicate, Value};

const UUID: &str = "67e55044-10b1-426f-9247-bb680e5fe0c8";

fn key(template: &str, value: Value) -> String {
    let schema = KeySchema::parse(template).unwrap();
    let key = schema.encode(&[("v", value.clone())]).unwrap();
    assert_eq!(schema.decode(&key).unwrap()["v"], value, "{template}");
    rowhouse_model::escape(&key)
}

#[test]
fn hex_digits_are_reversed_in_every_type() {
    let bytes = || Value::Bytes(vec![0x12, 0x34]);
    assert_eq!(key("[v bytes 2 hex]", bytes()), "1234");
    assert_eq!(key("[v bytes 2 hex reverse]", bytes()), "4321");
    assert_eq!(key("[v u16 hex reverse]", Value::Unsigned(0x1234)), "4321");
    assert_eq!(key("[v hex 4 reverse]", "1234".into()), "4321");
    assert_eq!(key("[v digits 4 reverse]", Value::Unsigned(1234)), "4321");
    let uuid = rowhouse_schema::Uuid::parse(UUID).unwrap();
    assert_eq!(key("[v uuid hex reverse]", uuid.into()), "8c0ef5e086bb7429f6241b0144055e76");

    // Otherwise it reverses the value's bytes or characters.
    assert_eq!(key("[v bytes 2 reverse]", bytes()), "4\\x12");
    assert_eq!(key("[v u16 reverse]", Value::Unsigned(0x1234)), "4\\x12");
    assert_eq!(key("[v string reverse]", "ab".into()), "ba\\x00\\x01");
}

#[test]
fn plans_find_digits_in_reverse_order() {
    let rows: Vec<Vec<u8>> = (0..=0x3FF_u16).map(|n| (n * 61).to_be_bytes().to_vec()).collect();
    let schema = KeySchema::parse("[v bytes 2 hex reverse][n u8]").unwrap();
    for query in [
        "v = 0x1e80",
        "v in (0x1e80, 0x0000, 0xffff)",
        "v ends with 0x80",
        "v ends with x''",
        "v ends with 0x001e80",
        "v starts with 0x1e",
        "v < 0x1e80",
        "v >= 0x1e80 and v ends with 0x35",
    ] {
        let plan = schema.plan(&Predicate::parse(query).unwrap()).unwrap();
        let raw = KeySchema::parse("[v bytes 2][n u8]").unwrap();
        let brute = raw.plan(&Predicate::parse(query).unwrap()).unwrap();
        for row in &rows {
            let given = [("v", Value::from(row.clone())), ("n", 7.into())];
            let key = schema.encode(&given).unwrap();
            let is_hit = plan.ranges().iter().any(|range| range.contains(&key))
                && plan.matches(&schema.decode(&key).unwrap());
            let key = raw.encode(&given).unwrap();
            let expected = brute.ranges().iter().any(|range| range.contains(&key))
                && brute.matches(&raw.decode(&key).unwrap());
            assert_eq!(is_hit, expected, "{query}: {row:?}");
        }
    }
    let plan = schema.plan(&Predicate::parse("v ends with 0x80").unwrap()).unwrap();
    assert_eq!(plan.ranges()[0].start, "08");
    assert!(plan.is_exact());
}

/// Returns true if a row with this value is in a query's answer.
fn is_answer(schema: &KeySchema, query: &str, value: u64) -> bool {
    let plan = schema.plan(&Predicate::parse(query).unwrap()).unwrap();
    let key = schema.encode(&[("v", value.into()), ("n", 7.into())]).unwrap();
    plan.ranges().iter().any(|range| range.contains(&key))
        && plan.matches(&schema.decode(&key).unwrap())
}

#[test]
fn first_and_last_digits_of_a_number_are_matched_in_every_form() {
    let values: Vec<u64> = (0..400).map(|n| n * 37 % 10_000).chain([678, 5678, 6780]).collect();
    let queries = [
        "v ends with '678'",
        "v ends with 8",
        "v ends with '05'",
        "v ends with ''",
        "v ends with '0678'",
        "v ends with '00678'",
        "v ends with '8' and v ends with '78'",
        "v ends with '8' and v ends with '7'",
        "v ends with '8' and v > 5000",
        "v ends with '8' and v = 678",
        "v ends with '9' and v in (678, 679)",
        "v ends with '8' and v between 678 and 678",
        "v starts with '06'",
        "v starts with '0' and v ends with '8'",
        "v starts with '12345'",
    ];
    for template in ["[v digits 4][n u8]", "[v digits 4 reverse][n u8]", "[v digits 4 desc][n u8]"]
    {
        let schema = KeySchema::parse(template).unwrap();
        for query in queries {
            for &value in &values {
                let digits = format!("{value:04}");
                let expected = query.split(" and ").all(|condition| {
                    let constant = |word: &str| {
                        condition.split_once(word).map(|(_, constant)| constant.trim_matches('\''))
                    };
                    match (constant("ends with "), constant("starts with ")) {
                        (Some(end), _) => digits.ends_with(end),
                        (_, Some(start)) => digits.starts_with(start),
                        _ if condition.ends_with("> 5000") => value > 5000,
                        _ if condition.contains(" in ") => [678, 679].contains(&value),
                        // `between 678 and 678` is split into two parts.
                        _ => value == 678,
                    }
                });
                assert_eq!(
                    is_answer(&schema, query, value),
                    expected,
                    "{template} {query} {value}"
                );
            }
        }
    }
    let schema = KeySchema::parse("[phone digits 11 reverse]").unwrap();
    let plan = schema.plan(&Predicate::parse("phone ends with '678'").unwrap()).unwrap();
    assert_eq!(plan.to_string().lines().nth(1), Some("  [876, 877)"));
    assert!(plan.is_exact());
    let refused =
        |query: &str| schema.plan(&Predicate::parse(query).unwrap()).unwrap_err().to_string();
    assert!(refused("phone ends with 'x'").starts_with("field `phone` takes decimal digits"));
    assert!(refused("phone under '678'").contains("not a domain"));
}
