//! Runs every comparison with every short text over every row with such texts. If one key is a
//! prefix of another, or ends without the separator, this detects ranges that are a byte too long
//! or too short.

use std::cmp::Ordering;

use rowhouse_schema::{KeySchema, Predicate, Value};

const CHARS: &[char] = &['\0', '\u{1}', 'a'];

/// Returns all texts with at most two characters.
fn texts() -> Vec<Value> {
    let one = CHARS.iter().map(|c| c.to_string());
    let two = CHARS.iter().flat_map(|c| CHARS.iter().map(move |d| format!("{c}{d}")));
    [String::new()].into_iter().chain(one).chain(two).map(Value::from).collect()
}

type AddCondition = fn(Predicate, &str, Value) -> Predicate;
type Holds = fn(Ordering) -> bool;

const COMPARISONS: &[(AddCondition, Holds)] = &[
    (|all, name, value| all.lt(name, value), Ordering::is_lt),
    (|all, name, value| all.le(name, value), Ordering::is_le),
    (|all, name, value| all.eq(name, value), Ordering::is_eq),
    (|all, name, value| all.ge(name, value), Ordering::is_ge),
    (|all, name, value| all.gt(name, value), Ordering::is_gt),
];

struct Row {
    a: Value,
    b: Value,
    key: Vec<u8>,
}

/// Returns all rows for a template with two texts that the template accepts.
fn rows(schema: &KeySchema) -> Vec<Row> {
    let values = || texts().into_iter().chain([Value::Null]);
    let pairs = values().flat_map(|a| values().map(move |b| (a.clone(), b)));
    let row = |(a, b): (Value, Value)| {
        let key = schema.encode(&[("a", a.clone()), ("b", b.clone())]).ok()?.to_vec();
        assert_eq!(schema.decode(&key).unwrap().as_slice(), [a.clone(), b.clone()], "{schema}");
        Some(Row { a, b, key })
    };
    pairs.filter_map(row).collect()
}

fn passes(value: &Value, constant: &Value, holds: Holds) -> bool {
    match (value.as_str(), constant.as_str()) {
        (Some(value), Some(constant)) => holds(value.cmp(constant)),
        _ => false,
    }
}

/// Plans a query and compares the ranges with the expected rows.
fn check(schema: &KeySchema, rows: &[Row], query: &Predicate, expected: impl Fn(&Row) -> bool) {
    let plan = schema.plan(query).unwrap();
    assert!(plan.is_exact(), "{schema}: {query}: {plan}");
    for row in rows {
        let is_in_ranges = plan.ranges().iter().any(|range| range.contains(&row.key));
        assert_eq!(is_in_ranges, expected(row), "{schema}: {query}: {} {}\n{plan}", row.a, row.b);
    }
}

fn check_all(template: &str, rows_min: usize) {
    let schema = KeySchema::parse(template).unwrap();
    let rows = rows(&schema);
    assert!(rows.len() >= rows_min, "{template}: {}", rows.len());
    for constant in texts() {
        for (add, holds) in COMPARISONS {
            let query = add(Predicate::all(), "a", constant.clone());
            check(&schema, &rows, &query, |row| passes(&row.a, &constant, *holds));
            for a in texts() {
                let query = add(Predicate::all().eq("a", a.clone()), "b", constant.clone());
                let expected = |row: &Row| row.a == a && passes(&row.b, &constant, *holds);
                check(&schema, &rows, &query, expected);
            }
        }
        let query = Predicate::all().eq("a", constant.clone());
        check(&schema, &rows, &query, |row| row.a == constant);
    }
    for a in texts() {
        let query = Predicate::all().eq("a", a.clone()).is_null("b");
        check(&schema, &rows, &query, |row| row.a == a && row.b.is_null());
    }
    check(&schema, &rows, &Predicate::all().is_null("a"), |row| row.a.is_null());
    check(&schema, &rows, &Predicate::all().is_not_null("a"), |row| !row.a.is_null());
}

#[test]
fn tuples() {
    check_all("[a tuple.string][b tuple.string]", 169);
    check_all("[a tuple.string null first][b tuple.string null first]", 196);
    check_all("[a tuple.string]x[b tuple.string null first]", 182);
}

#[test]
fn phoenix() {
    for a in ["", " desc"] {
        for b in ["", " desc"] {
            check_all(&format!("[a phoenix.varchar{a}][b phoenix.varchar{b}]"), 36);
            let nullable =
                format!("[a phoenix.varchar{a} null first][b phoenix.varchar{b} null first]");
            check_all(&nullable, 48);
            check_all(&format!("x{nullable}"), 48);
        }
    }
}

#[test]
fn bigtable() {
    check_all("[a bigtable.ordered_string][b bigtable.ordered_string]", 168);
    check_all("x[a bigtable.ordered_string][b bigtable.ordered_string]", 168);
}

#[test]
fn ordered_bytes_and_ordered_code() {
    for desc in ["", " desc"] {
        let null = if desc.is_empty() { "null first" } else { "null last" };
        check_all(&format!("[a ordered.string{desc}][b ordered.string]"), 36);
        check_all(&format!("[a ordered.string{desc} {null}][b ordered.string{desc} {null}]"), 49);
        check_all(&format!("[a ordered_code.string{desc}][b ordered_code.string{desc}]"), 169);
    }
    check_all("[a kiji.string][b kiji.string]", 36);
}
