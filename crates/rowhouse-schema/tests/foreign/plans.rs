//! Plans that only foreign types have: breaks in the order, omitted separators, and keys that are
//! prefixes of other keys.

use expect_test::{Expect, expect};
use rowhouse_schema::{KeySchema, Predicate};

#[track_caller]
fn check(template: &str, query: &str, expected: Expect) {
    let schema = KeySchema::parse(template).unwrap();
    let plan = schema.plan(&Predicate::parse(query).unwrap()).unwrap();
    expected.assert_eq(&plan.to_string());
}

#[test]
fn a_range_of_java_numbers_across_zero_is_two() {
    check(
        "[n java.short]",
        "n between -2 and 3",
        expect![[r#"
        ranges: 2
          [\x00\x00, \x00\x04)
          [\xFF\xFE, …)
        residual: none, the ranges are exact
        order: n ascending as stored
    "#]],
    );
    check(
        "[n java.short]",
        "n > 3",
        expect![[r#"
        ranges: 1
          [\x00\x04, \x80)
        residual: none, the ranges are exact
        order: n ascending as stored
    "#]],
    );
    check(
        "[n java.short]",
        "n < -2",
        expect![[r#"
        ranges: 1
          [\x80\x00, \xFF\xFE)
        residual: none, the ranges are exact
        order: n ascending as stored
    "#]],
    );
    check(
        "[f java.float]",
        "f between -1 and 1",
        expect![[r#"
        ranges: 2
          [\x00\x00\x00\x00, ?\x80\x00\x01)
          [\x80\x00\x00\x00, \xBF\x80\x00\x01)
        residual: none, the ranges are exact
        order: f ascending as stored
    "#]],
    );
}

#[test]
fn a_null_at_the_end_of_a_phoenix_key_is_nothing() {
    let template = "[a phoenix.varchar null first][b phoenix.varchar desc null first]";
    check(
        template,
        "a = 'x' and b is null",
        expect![[r#"
        ranges: 1
          row x
        residual: none, the ranges are exact
        order: a ascending, b descending
    "#]],
    );
    check(
        template,
        "a = 'x'",
        expect![[r#"
        ranges: 1
          [x, x\x01)
        residual: none, the ranges are exact
        order: a ascending, b descending
    "#]],
    );
    check(
        template,
        "a = 'x' and b is not null",
        expect![[r#"
        ranges: 1
          [x\x00\x01, x\x01)
        residual: none, the ranges are exact
        order: a ascending, b descending
    "#]],
    );
    check(
        template,
        "a = 'x' and b > 'y'",
        expect![[r#"
        ranges: 1
          [x\x00\x01, x\x00\x86\xFF)
        residual: none, the ranges are exact
        order: a ascending, b descending
    "#]],
    );
    check(
        template,
        "a is null and b = 'y'",
        expect![[r#"
        ranges: 1
          row \x00\x86\xFF
        residual: none, the ranges are exact
        order: a ascending, b descending
    "#]],
    );
}

#[test]
fn a_salt_of_phoenix_is_known_where_the_whole_key_is() {
    let template = "[bucket 16 by phoenix.salt][user phoenix.varchar][at phoenix.date desc]";
    check(
        template,
        "user = 'bob' and at = 1669852800000",
        expect![[r#"
        ranges: 1
          12: row \x0Cbob\x00\x7F\xFF\xFE{5\x04[\xFF
        residual: none, the ranges are exact
        order: user ascending, at descending (newest first)
    "#]],
    );
    let all = KeySchema::parse(template).unwrap();
    let plan = all.plan(&Predicate::parse("user = 'bob'").unwrap()).unwrap();
    assert_eq!(plan.streams().count(), 16);
}

#[test]
fn a_text_of_a_tuple_may_begin_another() {
    check(
        "[a tuple.string][n tuple.int]",
        "a = ''",
        expect![[r#"
        ranges: 1
          [\x02\x00, \x02\x00\xFF)
        residual: none, the ranges are exact
        order: a ascending, n ascending
    "#]],
    );
    check(
        "[a tuple.string][n tuple.int]",
        "a = '' and n >= -1",
        expect![[r#"
        ranges: 1
          [\x02\x00\x13\xFE, \x02\x00\xFF)
        residual: none, the ranges are exact
        order: a ascending, n ascending
    "#]],
    );
    check(
        "[a tuple.string]",
        "a in ('', 'b')",
        expect![[r#"
        ranges: 2
          row \x02\x00
          row \x02b\x00
        residual: none, the ranges are exact
        order: a ascending
    "#]],
    );
}

#[test]
fn constants_that_no_key_can_hold_have_a_place() {
    check(
        "[n ordered.numeric]",
        "n > 1E+900",
        expect![[r#"
        ranges: 1
          [$, …)
        residual: none, the ranges are exact
        order: n ascending
    "#]],
    );
    check(
        "[n ordered.numeric]",
        "n < 1.00000000000000000000000000000000001",
        expect![[r#"
        ranges: 1
          […, \x18\x03\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x14)
        residual: none, the ranges are exact
        order: n ascending
    "#]],
    );
    check(
        "[n phoenix.decimal]",
        "n > -1E+300 and n < 1E-300",
        expect![[r#"
        ranges: 1
          [\x01\x01\x01, \x80\x01)
        residual: none, the ranges are exact
        order: n ascending
    "#]],
    );
    check(
        "[a phoenix.varchar]",
        "a >= ''",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: none, the ranges are exact
        order: a ascending
    "#]],
    );
}
