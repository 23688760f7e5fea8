//! Ranges and residuals for conditions.

use super::check;
use expect_test::expect;
use rowhouse_schema::{KeySchema, Predicate, RANGES_MAX};

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
        ranges: 1, reads the whole table
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
        ranges: 1, reads the whole table
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
            ranges: 1, reads the whole table
              […, …)
            residual: none, the ranges are exact
            order: n ascending
        "#]],
    );
    check(
        "[at millis]",
        "at > 1960",
        expect![[r#"
        ranges: 1, reads the whole table
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
        ranges: 1, reads the whole table
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
        ranges: 1, reads the whole table
          […, …)
        residual: n = 3
        order: user ascending as stored, n ascending
    "#]],
    );
}

#[test]
fn an_empty_query_plans_every_key_that_can_fit() {
    check(
        "[user string]",
        "",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: none, the ranges are exact
        order: user ascending
    "#]],
    );
    check(
        "post-[user string]",
        "",
        expect![[r#"
        ranges: 1, reads the whole table
          [post-, post.)
        residual: none, the ranges are exact
        order: user ascending
    "#]],
    );
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
    for (a, b, c, expected) in
        [(4, 6, 7, true), (4, 5, 7, false), (4, 6, 8, false), (598, 598, 7, true)]
    {
        let key = schema.encode(&[("a", a.into()), ("b", b.into()), ("c", c.into())]).unwrap();
        let inside = plan.ranges().iter().any(|range| range.contains(&key));
        assert_eq!(inside && plan.matches(&schema.decode(&key).unwrap()), expected);
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
fn a_plan_of_every_key_says_so_with_a_literal_or_buckets_in_front_too() {
    let whole = |template: &str, query: &str| {
        let schema = KeySchema::parse(template).unwrap();
        let plan = schema.plan(&Predicate::parse(query).unwrap()).unwrap();
        let is_reported =
            plan.to_string().lines().next().unwrap().ends_with("reads the whole table");
        assert_eq!(plan.reads_whole_table(), is_reported, "{template} {query}");
        is_reported
    };
    assert!(whole("[user string][n u8]", "n = 7"));
    assert!(whole("[user string][n u8]", ""));
    assert!(whole("blog_[user text]", "user ends with 'x'"));
    assert!(whole("[bucket 4 of user][user string]", ""));
    assert!(!whole("[bucket 4 of user][user string]", "user >= 'b'"));
    assert!(!whole("[bucket 4 of user as b][user string]", "b in (0, 1, 2)"));
    assert!(whole("[bucket 4 of user as b][user string]", "b in (0, 1, 2, 3)"));
    assert!(!whole("[user string]", "user = 'bob'"));
    assert!(!whole("[n u8]", "n > 300"), "nothing is read");
}
