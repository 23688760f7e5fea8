//! Times: units, zones and steps.

use super::check;
use expect_test::expect;
use rowhouse_schema::{KeySchema, Predicate, TimeZone};

#[test]
fn times_between_two_units() {
    check(
        "[at seconds 4 digits]",
        "at >= 2022-12-01T00:00:00.500",
        expect![[r#"
        ranges: 1
          [1669852801, …)
        residual: none, the ranges are exact
        order: at ascending
    "#]],
    );
    check(
        "[at seconds 4 digits]",
        "at < 2022-12-01T00:00:00.500",
        expect![[r#"
        ranges: 1
          […, 1669852801)
        residual: none, the ranges are exact
        order: at ascending
    "#]],
    );
    check(
        "[at seconds 4 digits]",
        "at = 2022-12-01T00:00:00.500",
        expect![[r#"
        ranges: none, no row can match
        residual: none, the ranges are exact
        order: at ascending
    "#]],
    );
    check(
        "[at seconds 4 digits]",
        "at during 2022-12-01T00:00:00",
        expect![[r#"
        ranges: 1
          row 1669852800
        residual: none, the ranges are exact
        order: at ascending
    "#]],
    );
    check(
        "[at millis digits 13]",
        "at between '2022-12-01 08:00' and 2022-12-01T10:00+01:00",
        expect![[r#"
            ranges: 1
              [1669881600000, 1669885200001)
            residual: none, the ranges are exact
            order: at ascending
        "#]],
    );
}

#[test]
fn a_zone_moves_times_that_name_none() {
    let schema = KeySchema::parse("[at millis digits 13]").unwrap();
    let beijing = TimeZone::fixed(jiff::tz::offset(8));
    let plan = |query| schema.plan_in(&Predicate::parse(query).unwrap(), &beijing).unwrap();
    expect![[r#"
        ranges: 1
          [1669824000000, 1672502400000)
        residual: none, the ranges are exact
        order: at ascending
    "#]]
    .assert_eq(&plan("at during 2022-12").to_string());
    expect![[r#"
        ranges: 1
          [1669852800000, …)
        residual: none, the ranges are exact
        order: at ascending
    "#]]
    .assert_eq(&plan("at >= 2022-12-01T00:00Z").to_string());
}

#[test]
fn floored_values_are_matched_by_their_step() {
    check(
        "[at seconds 4 floor 1h][n u8]",
        "at >= 2022-12-01T08:30 and at < 2022-12-01T10:30",
        expect![[r#"
            ranges: 1
              [c\x88_\x00, c\x88\x890)
            residual: none, the ranges are exact
            order: at ascending as stored, n ascending
            note: keys hold only the step of at, which other values have too
        "#]],
    );
    check(
        "[at seconds 4 floor 1h][n u8]",
        "at = 2022-12-01T08:30 and n < 3",
        expect![[r#"
        ranges: 1
          [c\x88_\x00, c\x88_\x00\x03)
        residual: none, the ranges are exact
        order: at ascending, n ascending
        note: keys hold only the step of at, which other values have too
    "#]],
    );
    check(
        "[n u8 floor 100]",
        "n > 250",
        expect![[r#"
        ranges: 1
          row \xC8
        residual: none, the ranges are exact
        order: n ascending as stored
        note: keys hold only the step of n, which other values have too
    "#]],
    );
    check(
        "[at millis floor 1d desc]",
        "at during 2022-12-01",
        expect![[r#"
        ranges: 1
          row \x7F\xFF\xFE{5\x04[\xFF
        residual: none, the ranges are exact
        order: at descending as stored (newest first)
        note: keys hold only the step of at, which other values have too
    "#]],
    );
}
