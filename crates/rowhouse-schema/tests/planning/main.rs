//! Plans, case by case.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod buckets;
mod ranges;
mod small_fields;
mod texts;
mod times;
mod types;

use expect_test::Expect;
use rowhouse_schema::{KeySchema, Predicate};

fn check(template: &str, query: &str, expected: Expect) {
    let schema = KeySchema::parse(template).unwrap();
    let plan = Predicate::parse(query).and_then(|predicate| schema.plan(&predicate));
    expected.assert_eq(&plan.map_or_else(|error| error.to_string(), |plan| plan.to_string()));
}
