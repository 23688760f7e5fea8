//! What a plan says, case by case.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use expect_test::{Expect, expect};
use rowhouse_schema::{KeySchema, Predicate, RANGES_MAX, TimeZone};

fn check(template: &str, query: &str, expected: Expect) {
    let schema = KeySchema::parse(template).unwrap();
    let plan = Predicate::parse(query).and_then(|predicate| schema.plan(&predicate));
    expected.assert_eq(&plan.map_or_else(|error| error.to_string(), |plan| plan.to_string()));
}

#[test]
fn neighbours_make_one_range() {
    check(
        "[n u8][m u8]",
        "n in (3, 1, 2, 7, 7)",
        expect![[r#"
        ranges: 2
          [\x01, \x04)
          [\x07, \x08)
        residual: none, the ranges are exact
        order: n ascending, m ascending
    "#]],
    );
    check(
        "[n u8]",
        "n in (1, 2, 4)",
        expect![[r#"
        ranges: 2
          [\x01, \x03)
          row \x04
        residual: none, the ranges are exact
        order: n ascending
    "#]],
    );
    check(
        "[n digits 3]",
        "n in (8, 9, 10)",
        expect![[r#"
        ranges: 1
          [008, 011)
        residual: none, the ranges are exact
        order: n ascending
    "#]],
    );
    check(
        "[n u8]",
        "n >= 5 and n <= 5",
        expect![[r#"
        ranges: 1
          row \x05
        residual: none, the ranges are exact
        order: n ascending
    "#]],
    );
    check(
        "[n u8 desc]",
        "n > 200",
        expect![[r#"
        ranges: 1
          […, 7)
        residual: none, the ranges are exact
        order: n descending
    "#]],
    );
}

#[test]
fn constants_outside_the_domain_clamp() {
    check(
        "[n u8][m u8]",
        "n < 300",
        expect![[r#"
        ranges: 1
          […, …)
        residual: none, the ranges are exact
        order: n ascending, m ascending
    "#]],
    );
    check(
        "[n u8][m u8]",
        "n > 300 and m = 1",
        expect![[r#"
        ranges: none, no row can match
        residual: none, the ranges are exact
        order: n ascending, m ascending
    "#]],
    );
    check(
        "x[n u8]",
        "n > -1",
        expect![[r#"
        ranges: 1
          [x, y)
        residual: none, the ranges are exact
        order: n ascending
    "#]],
    );
    check(
        "[n u8]",
        "n = 300",
        expect![[r#"
        ranges: none, no row can match
        residual: none, the ranges are exact
        order: n ascending
    "#]],
    );
    check(
        "[n u64]",
        "n < 123456789012345678901234567890123456789012345678901234567890",
        expect![[r#"
            ranges: 1
              […, …)
            residual: none, the ranges are exact
            order: n ascending
        "#]],
    );
    check(
        "[at millis]",
        "at > 1960",
        expect![[r#"
        ranges: 1
          […, …)
        residual: none, the ranges are exact
        order: at ascending
    "#]],
    );
    check(
        "[at millis]",
        "at < 1960",
        expect![[r#"
        ranges: none, no row can match
        residual: none, the ranges are exact
        order: at ascending
    "#]],
    );
    check(
        "[at seconds 4]",
        "at < 2200",
        expect![[r#"
        ranges: 1
          […, …)
        residual: none, the ranges are exact
        order: at ascending
    "#]],
    );
    check(
        "[user string]",
        "user is null",
        expect![[r#"
        ranges: none, no row can match
        residual: none, the ranges are exact
        order: user ascending
    "#]],
    );
    check(
        "[n i8]",
        "n > 1 and n < 1",
        expect![[r#"
        ranges: none, no row can match
        residual: none, the ranges are exact
        order: n ascending
    "#]],
    );
    check(
        "[user text]_[n u8]",
        "user = 'a_b'",
        expect![[r#"
        ranges: none, no row can match
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
}

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
fn small_fields_are_gone_through() {
    check(
        "[shard digits 1][at millis digits 13]",
        "at during 2022 and shard >= 8",
        expect![[r#"
        ranges: 2
          [81640995200000, 81672531200000)
          [91640995200000, 91672531200000)
        residual: none, the ranges are exact
        order: shard ascending, at ascending
    "#]],
    );
    check(
        "[shard digits 1 desc]-[user string][at millis]",
        "user = 'bob' and shard between 2 and 3",
        expect![[r#"
            ranges: 2
              [6-bob\x00\x01, 6-bob\x00\x02)
              [7-bob\x00\x01, 7-bob\x00\x02)
            residual: none, the ranges are exact
            order: shard descending, user ascending, at ascending
        "#]],
    );
    check(
        "[shard u16][user string]",
        "user = 'bob'",
        expect![[r#"
        ranges: 1
          […, …)
        residual: user = 'bob'
        order: shard ascending, user ascending
    "#]],
    );
}

#[test]
fn texts_that_stand_out_of_order_have_ranges_of_their_own() {
    check(
        "[user text]_[n u8]",
        "user < 'ab!c'",
        expect![[r#"
        ranges: 2
          […, ab!c)
          [ab_, ab`)
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
    check(
        "[user text]_[n u8]",
        "user >= 'ab!c'",
        expect![[r#"
        ranges: 2
          [ab!c, ab_)
          [ab`, …)
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
    check(
        "[user text]_[n u8]",
        "user <= 'a_b'",
        expect![[r#"
        ranges: 1
          […, a`)
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
    check(
        "[user text]ab[n u8]",
        "user starts with 'xa'",
        expect![[r#"
        ranges: 2
          [xa, xab)
          [xac, xb)
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
    check(
        "[user text]_[n u8]",
        "user in ('b', 'a', 'a!') and n >= 128",
        expect![[r#"
        ranges: 3
          [a!_\x80, a!`)
          [a_\x80, a`)
          [b_\x80, b`)
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
}

/// A key of `ab` lies in the range of `a`, as if `b…` were the number.
#[test]
fn names_that_begin_one_another_leave_all_the_rest_to_be_checked() {
    check(
        "[user text][n u8]",
        "user in ('a', 'ab') and n < 255",
        expect![[r#"
        ranges: 1
          [a, a\xFF)
        residual: user in ('a', 'ab') and n < 255
        order: by the bytes of the key
    "#]],
    );
    check(
        "[user text][n u8]",
        "user in ('a', 'ab') and n in (1, 98)",
        expect![[r#"
        ranges: 4
          row a\x01
          row ab
          row ab\x01
          row abb
        residual: user in ('a', 'ab') and n in (1, 98)
        order: by the bytes of the key
    "#]],
    );
    check(
        "[user text][n u8]",
        "user = 'a' and n < 255",
        expect![[r#"
        ranges: 1
          [a, a\xFF)
        residual: user = 'a'
        order: user ascending, n ascending
    "#]],
    );
}

#[test]
fn later_conditions_remain() {
    check(
        "[at millis digits 13]-[user string]-[n u8]",
        "at during 2022 and user = 'bob' and n > 3",
        expect![[r#"
            ranges: 1
              [1640995200000, 1672531200000)
            residual: user = 'bob' and n > 3
            order: at ascending, user ascending, n ascending
        "#]],
    );
    check(
        "[user text]#[n u8]",
        "n = 3",
        expect![[r#"
        ranges: 1
          […, …)
        residual: n = 3
        order: user ascending as stored, n ascending
    "#]],
    );
}

#[test]
fn nothing_asked_is_everything_that_can_fit() {
    check(
        "[user string]",
        "",
        expect![[r#"
        ranges: 1
          […, …)
        residual: none, the ranges are exact
        order: user ascending
    "#]],
    );
    check(
        "post-[user string]",
        "",
        expect![[r#"
        ranges: 1
          [post-, post.)
        residual: none, the ranges are exact
        order: user ascending
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
fn too_many_ranges_become_wider_ones() {
    let schema = KeySchema::parse("[a u32]-[b u32]-[c u8]").unwrap();
    let many = || (0..300_u32).map(|n| n * 2);
    let query = Predicate::all().one_of("a", many()).one_of("b", many()).eq("c", 7);
    let plan = schema.plan(&query).unwrap();
    assert!(plan.ranges().len() <= RANGES_MAX);
    assert!(plan.ranges().len() > RANGES_MAX / 2);
    assert!(
        plan.to_string().ends_with("note: more than 10000 ranges were needed, these are wider\n")
    );
    for (a, b, c, asked) in
        [(4, 6, 7, true), (4, 5, 7, false), (4, 6, 8, false), (598, 598, 7, true)]
    {
        let key = schema.encode(&[("a", a.into()), ("b", b.into()), ("c", c.into())]).unwrap();
        let inside = plan.ranges().iter().any(|range| range.contains(&key));
        assert_eq!(inside && plan.matches(&schema.decode(&key).unwrap()), asked);
    }

    let one = KeySchema::parse("[a u64]").unwrap();
    let query = Predicate::all().one_of("a", (0..25_000_u64).map(|n| n * 2));
    assert!(one.plan(&query).unwrap().ranges().len() <= RANGES_MAX);

    let long = KeySchema::parse("[a text]~[b u8]").unwrap();
    let plan = long.plan(&Predicate::all().lt("a", "a".repeat(40_000))).unwrap();
    assert!(plan.ranges().len() <= RANGES_MAX && !plan.is_exact());
    assert!(plan.ranges().iter().all(|range| range.stop.len() <= 32_767));
}

#[test]
fn every_type_is_compared_in_its_own_order() {
    check(
        "[d date][n u8]",
        "d >= 2022-12-01 and d < 2023",
        expect![[r#"
        ranges: 1
          [\x80\x00K\x7F, \x80\x00K\x9E)
        residual: none, the ranges are exact
        order: d ascending, n ascending
    "#]],
    );
    check(
        "[d ymd]-[n u8]",
        "d during 2022-12",
        expect![[r#"
        ranges: 1
          [20221201, 20230101)
        residual: none, the ranges are exact
        order: d ascending, n ascending
    "#]],
    );
    check(
        "[d ymd]-[n u8]",
        "d = 2022-12-01T08:00",
        expect![[r#"
        ranges: none, no row can match
        residual: none, the ranges are exact
        order: d ascending, n ascending
    "#]],
    );
    check(
        "[at ymdhm]",
        "at > 2022-12-01T08:25:30",
        expect![[r#"
        ranges: 1
          [202212010826, …)
        residual: none, the ranges are exact
        order: at ascending
    "#]],
    );
    check(
        "[d date desc]",
        "d between 2022-12-01 and 2022-12-31",
        expect![[r#"
        ranges: 1
          [\x7F\xFF\xB4b, \x7F\xFF\xB4\x81)
        residual: none, the ranges are exact
        order: d descending (newest first)
    "#]],
    );
    check(
        "[f f64]",
        "f = 0",
        expect![[r#"
        ranges: 1
          [\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF, \x80\x00\x00\x00\x00\x00\x00\x01)
        residual: none, the ranges are exact
        order: f ascending
    "#]],
    );
    check(
        "[f f64]",
        "f > 0 and f <= 1.5",
        expect![[r#"
        ranges: 1
          [\x80\x00\x00\x00\x00\x00\x00\x01, \xBF\xF8\x00\x00\x00\x00\x00\x01)
        residual: none, the ranges are exact
        order: f ascending
    "#]],
    );
    check(
        "[f f32 desc]",
        "f >= 0.1",
        expect![[r#"
        ranges: 1
          […, B333)
        residual: none, the ranges are exact
        order: f descending
    "#]],
    );
    check(
        "[f f64]",
        "f < -inf",
        expect![[r#"
        ranges: none, no row can match
        residual: none, the ranges are exact
        order: f ascending
    "#]],
    );
    check(
        "[b bool][n u8]",
        "b = true",
        expect![[r#"
        ranges: 1
          [\x01, \x02)
        residual: none, the ranges are exact
        order: b ascending, n ascending
    "#]],
    );
    check(
        "[e enum(low,mid=7,high)][n u8]",
        "e >= 'mid'",
        expect![[r#"
        ranges: 1
          [\x07, …)
        residual: none, the ranges are exact
        order: e ascending, n ascending
    "#]],
    );
    check(
        "[e enum(low,mid=7,high)]",
        "e in ('low', 'high')",
        expect![[r#"
        ranges: 2
          […, \x01)
          row \x02
        residual: none, the ranges are exact
        order: e ascending
    "#]],
    );
    check(
        "[u uuid]",
        "u >= '67e55044-10b1-426f-9247-bb680e5fe0c8'",
        expect![[r#"
        ranges: 1
          [g\xE5PD\x10\xB1Bo\x92G\xBBh\x0E_\xE0\xC8, …)
        residual: none, the ranges are exact
        order: u ascending
    "#]],
    );
    check(
        "[u uuid hex]",
        "u starts with '67e5'",
        expect![[r#"
        ranges: 1
          [67e5, 67e6)
        residual: none, the ranges are exact
        order: u ascending
    "#]],
    );
    check(
        "[b bytes 2 desc]",
        "b < 0x0100",
        expect![[r#"
        ranges: 1
          [\xFF, …)
        residual: none, the ranges are exact
        order: b descending
    "#]],
    );
    check(
        "[b blob][n u8]",
        "b starts with x'00ff'",
        expect![[r#"
        ranges: 1
          [\x00\xFF\xFF, \x01)
        residual: none, the ranges are exact
        order: b ascending, n ascending
    "#]],
    );
    check(
        "[h hex 4]",
        "h between 'ab' and 'ac00'",
        expect![[r#"
        ranges: 1
          [ab, ac01)
        residual: none, the ranges are exact
        order: h ascending
    "#]],
    );
    check(
        "[t text 3][n u8]",
        "t > 'ab'",
        expect![[r#"
            ranges: 1
              [ab\x01, …)
            residual: none, the ranges are exact
            order: t ascending, n ascending
        "#]],
    );
    check(
        "[t text 3][n u8]",
        "t <= 'abcd'",
        expect![[r#"
        ranges: 1
          […, abd)
        residual: none, the ranges are exact
        order: t ascending, n ascending
    "#]],
    );
    check(
        "[t text 3 desc]",
        "t starts with 'a'",
        expect![[r#"
        ranges: 1
          [\x9E, \x9F)
        residual: none, the ranges are exact
        order: t descending
    "#]],
    );
    check(
        "[t text 4 pad ~]",
        "t < 'abc'",
        expect![[r#"
        ranges: 4
          […, abc)
          row ab~~
          row a~~~
          row ~~~~
        residual: none, the ranges are exact
        order: t ascending as stored
    "#]],
    );
    check(
        "[t text 4 pad ~]",
        "t starts with 'a~'",
        expect![[r#"
        ranges: 2
          [a~, a~~~)
          [a~~\x7F, a\x7F)
        residual: none, the ranges are exact
        order: t ascending as stored
    "#]],
    );
    check(
        "[d decimal]",
        "d between 5 and 250",
        expect![[r#"
        ranges: 1
          [10, :)
        residual: d between 5 and 250
        order: d ascending as stored
    "#]],
    );
    check(
        "[d decimal]_[n u8]",
        "d = 12 and n < 3",
        expect![[r#"
        ranges: 1
          [12_, 12_\x03)
        residual: none, the ranges are exact
        order: d ascending, n ascending
    "#]],
    );
    check(
        "[r repeat(u8 text 2)]",
        "r starts with ((1, 'ab'))",
        expect![[r#"
        ranges: 1
          [\x01ab, \x01ac)
        residual: none, the ranges are exact
        order: r ascending as stored
    "#]],
    );
    check(
        "[r repeat(u8)]",
        "r in ((1, 2), ())",
        expect![[r#"
        ranges: 1
          row \x01\x02
        residual: none, the ranges are exact
        order: r ascending as stored
    "#]],
    );
}

#[test]
fn null_is_asked_for_by_name() {
    check(
        "[n u8 null first][m u8]",
        "n is null",
        expect![[r#"
        ranges: 1
          [\x00, \x01)
        residual: none, the ranges are exact
        order: n ascending, m ascending
    "#]],
    );
    check(
        "[n u8 null first][m u8]",
        "n is not null",
        expect![[r#"
        ranges: 1
          [\x01, \x02)
        residual: none, the ranges are exact
        order: n ascending, m ascending
    "#]],
    );
    check(
        "[n u8 null last][m u8]",
        "n < 7",
        expect![[r#"
        ranges: 1
          [\x00, \x00\x07)
        residual: none, the ranges are exact
        order: n ascending, m ascending
    "#]],
    );
    check(
        "[n u8 desc null last][m u8]",
        "n >= 7 and m = 1",
        expect![[r#"
        ranges: 249
          row \x00\x00\x01
          row \x00\x01\x01
          row \x00\x02\x01
          row \x00\x03\x01
          row \x00\x04\x01
          row \x00\x05\x01
          row \x00\x06\x01
          row \x00\x07\x01
          row \x00\x08\x01
          row \x00\x09\x01
          row \x00\x0A\x01
          row \x00\x0B\x01
          row \x00\x0C\x01
          row \x00\x0D\x01
          row \x00\x0E\x01
          row \x00\x0F\x01
          row \x00\x10\x01
          row \x00\x11\x01
          row \x00\x12\x01
          row \x00\x13\x01
          and 229 more
        residual: none, the ranges are exact
        order: n descending, m ascending
    "#]],
    );
    check(
        "[n u8][m u8]",
        "n is not null",
        expect![[r#"
        ranges: 1
          […, …)
        residual: none, the ranges are exact
        order: n ascending, m ascending
    "#]],
    );
    check(
        "[s string null first]",
        "s in ('a', 'b')",
        expect![[r#"
        ranges: 2
          row \x01a\x00\x01
          row \x01b\x00\x01
        residual: none, the ranges are exact
        order: s ascending
    "#]],
    );
}

#[test]
fn text_in_reverse_is_asked_for_by_its_end() {
    check(
        "[user text reverse]_[n u8]",
        "user ends with '99'",
        expect![[r#"
        ranges: 1
          [99, 9:)
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
    check(
        "[user text reverse]_[n u8]",
        "user = 'bob'",
        expect![[r#"
        ranges: 1
          [bob_, bob`)
        residual: none, the ranges are exact
        order: user ascending, n ascending
    "#]],
    );
    check(
        "[user text reverse]_[n u8]",
        "user starts with 'b'",
        expect![[r#"
        ranges: 1
          […, …)
        residual: user starts with 'b'
        order: user ascending as stored, n ascending
    "#]],
    );
    check(
        "[n u32 reverse]",
        "n in (1, 256)",
        expect![[r#"
        ranges: 2
          row \x00\x01\x00\x00
          row \x01\x00\x00\x00
        residual: none, the ranges are exact
        order: n ascending as stored
    "#]],
    );
    check(
        "[host domain]_[n u8]",
        "host under 'example.com'",
        expect![[r#"
        ranges: 2
          [com.example., com.example/)
          [com.example_, com.example`)
        residual: none, the ranges are exact
        order: host ascending as stored, n ascending
    "#]],
    );
    check(
        "[host domain]_[n u8]",
        "host = 'www.example.com' and n > 3",
        expect![[r#"
        ranges: 1
          [com.example.www_\x04, com.example.www`)
        residual: none, the ranges are exact
        order: host ascending, n ascending
    "#]],
    );
}

#[test]
fn floored_values_are_found_by_their_step() {
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

#[test]
fn buckets_of_what_is_pinned_are_asked_and_otherwise_all() {
    check(
        "[bucket 4 of a,b][a u8][b u8]",
        "a = 1 and b in (1, 2, 3)",
        expect![[r#"
        ranges: 2, in 2 streams
          2: row \x02\x01\x03
          3: [\x03\x01\x01, \x03\x01\x03)
        residual: none, the ranges are exact
        order: a ascending, b ascending; merged from the buckets
    "#]],
    );
    check(
        "[bucket 4 of a,b][a u8][b u8]",
        "a = 1",
        expect![[r#"
        ranges: 4, in 4 streams
          0: [\x00\x01, \x00\x02)
          1: [\x01\x01, \x01\x02)
          2: [\x02\x01, \x02\x02)
          3: [\x03\x01, \x03\x02)
        residual: none, the ranges are exact
        order: a ascending, b ascending; merged from the buckets
    "#]],
    );
    check(
        "[bucket 4][a u8]-[b u8]",
        "a = 1 and b = 2",
        expect![[r#"
        ranges: 1
          3: row \x03\x01-\x02
        residual: none, the ranges are exact
        order: a ascending, b ascending
    "#]],
    );
    check(
        "[bucket 4 of user digits as shard][user string]",
        "shard = 2",
        expect![[r#"
        ranges: 1
          2: [2, 3)
        residual: none, the ranges are exact
        order: user ascending
    "#]],
    );
    check(
        "[tenant u8][bucket 3 of user][user string]",
        "tenant in (1, 2) and user >= 'b'",
        expect![[r#"
            ranges: 6, in 6 streams
              0: [\x01\x00b\x00\x01, \x01\x01)
              1: [\x01\x01b\x00\x01, \x01\x02)
              2: [\x01\x02b\x00\x01, \x01\x03)
              0: [\x02\x00b\x00\x01, \x02\x01)
              1: [\x02\x01b\x00\x01, \x02\x02)
              2: [\x02\x02b\x00\x01, \x02\x03)
            residual: none, the ranges are exact
            order: tenant ascending, user ascending; merged from the buckets
        "#]],
    );
    check(
        "[tenant u8][bucket 3 of user][user string]",
        "tenant < 100 and user = 'b'",
        expect![[r#"
            ranges: 100, in 100 streams
              2: row \x00\x02b\x00\x01
              2: row \x01\x02b\x00\x01
              2: row \x02\x02b\x00\x01
              2: row \x03\x02b\x00\x01
              2: row \x04\x02b\x00\x01
              2: row \x05\x02b\x00\x01
              2: row \x06\x02b\x00\x01
              2: row \x07\x02b\x00\x01
              2: row \x08\x02b\x00\x01
              2: row \x09\x02b\x00\x01
              2: row \x0A\x02b\x00\x01
              2: row \x0B\x02b\x00\x01
              2: row \x0C\x02b\x00\x01
              2: row \x0D\x02b\x00\x01
              2: row \x0E\x02b\x00\x01
              2: row \x0F\x02b\x00\x01
              2: row \x10\x02b\x00\x01
              2: row \x11\x02b\x00\x01
              2: row \x12\x02b\x00\x01
              2: row \x13\x02b\x00\x01
              and 80 more
            residual: none, the ranges are exact
            order: tenant ascending, user ascending
        "#]],
    );
    check(
        "[at millis][bucket 3 of user][user string]",
        "at > 2022 and user = 'b'",
        expect![[r#"
            ranges: 1
              [\x00\x00\x01~\x12\xEF\x9C\x01, …)
            residual: user = 'b'
            order: physical, by the bytes of the key
        "#]],
    );
    check(
        "[at millis][bucket 3 of at][user string]",
        "at > 2022",
        expect![[r#"
        ranges: 1
          [\x00\x00\x01~\x12\xEF\x9C\x01, …)
        residual: none, the ranges are exact
        order: at ascending, user ascending
    "#]],
    );
    check(
        "[hash 2 of id][id text]",
        "id in ('a', 'b')",
        expect![[r#"
        ranges: 2, in 2 streams
          x'575a': row WZb
          x'e6c6': row \xE6\xC6a
        residual: none, the ranges are exact
        order: id ascending; merged from the buckets
    "#]],
    );
    check(
        "[bucket 3 of id][id text md5 2]",
        "id = 'a'",
        expect![[r#"
        ranges: 1
          1: row \x01\x0C\xC1
        residual: none, the ranges are exact
        order: id ascending
        note: keys hold only the hash of id, which other values have too
    "#]],
    );
    check(
        "[bucket 3 of id][id text md5 2]",
        "id = 0x0cc1",
        expect![[r#"
        ranges: 3, in 3 streams
          0: row \x00\x0C\xC1
          1: row \x01\x0C\xC1
          2: row \x02\x0C\xC1
        residual: none, the ranges are exact
        order: id ascending; merged from the buckets
        note: keys hold only the hash of id, which other values have too
    "#]],
    );
    check(
        "[salt 3][user text][n u8]",
        "user in ('a', 'ab') and n = 1",
        expect![[r#"
        ranges: 6, in 3 streams
          0: row \x00a\x01
          0: row \x00ab\x01
          1: row \x01a\x01
          1: row \x01ab\x01
          2: row \x02a\x01
          2: row \x02ab\x01
        residual: none, the ranges are exact
        order: by the bytes of the key; merged from the buckets
    "#]],
    );
}

#[test]
fn small_fields_of_any_type_are_gone_through() {
    check(
        "[b bool][n u32]",
        "n = 7",
        expect![[r#"
        ranges: 2
          row \x00\x00\x00\x00\x07
          row \x01\x00\x00\x00\x07
        residual: none, the ranges are exact
        order: b ascending, n ascending
    "#]],
    );
    check(
        "[e enum(x,y=9) desc]-[b bool null first]-[n u32]",
        "n = 7",
        expect![[r#"
        ranges: 6
          row \xF6-\x00-\x00\x00\x00\x07
          row \xF6-\x01\x00-\x00\x00\x00\x07
          row \xF6-\x01\x01-\x00\x00\x00\x07
          row \xFF-\x00-\x00\x00\x00\x07
          row \xFF-\x01\x00-\x00\x00\x00\x07
          row \xFF-\x01\x01-\x00\x00\x00\x07
        residual: none, the ranges are exact
        order: e descending, b ascending, n ascending
    "#]],
    );
    check(
        "[n u8 floor 100][m u32]",
        "m = 7",
        expect![[r#"
        ranges: 3
          row \x00\x00\x00\x00\x07
          row d\x00\x00\x00\x07
          row \xC8\x00\x00\x00\x07
        residual: none, the ranges are exact
        order: n ascending as stored, m ascending
    "#]],
    );
}
