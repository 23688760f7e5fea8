//! The template language, and its errors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod computed;
mod mistakes;
mod modifiers;
mod printing;
mod types;
mod values;

use expect_test::Expect;
use rowhouse_schema::KeySchema;

fn check(template: &str, expected: Expect) {
    let text = match KeySchema::parse(template) {
        Ok(schema) => schema.to_string(),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&text);
}
