//! Query conditions on qualifier fields: the plans, and the errors for mistakes.

use expect_test::{Expect, expect};
use rowhouse_model::{Columns, escape};
use rowhouse_schema::{ColumnSchema, KeySchema, Plan, PlanPart, Predicate, TimeZone};

const COLUMNS: &str = "d:via colour string; f:[at seconds 4 desc][id u8] price f64; \
                       f:!! note string; g:by_[who text] follows bool; g:n count u64; \
                       h:[kind enum(a,b,c)][at seconds 4] event string";

fn plan(query: &str) -> Result<Plan, rowhouse_model::Error> {
    let key = KeySchema::parse("[user string]").unwrap();
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    key.plan_with_columns(&columns, &Predicate::parse(query)?, &TimeZone::UTC)
}

fn check(query: &str, expected: Expect) {
    let plan = plan(query);
    expected.assert_eq(&plan.map_or_else(|error| error.to_string(), |plan| plan.to_string()));
}

#[test]
fn a_plan_reports_the_ranges_of_qualifiers() {
    check(
        "user = 'bob' and price.at >= 2022-12-01 and price.at < 2023",
        expect![[r#"
        ranges: 1
          row bob\x00\x01
        residual: none, the ranges are exact
        qualifiers of price (f:[at seconds 4 desc][id u8]): 1 range
          [\x9CO3\x00, \x9Cx\x11\x80)
          residual: none, the ranges are exact
        order: user ascending
    "#]],
    );
    check(
        "price.at during 2022-12 and price.id = 7 and count > 5",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: none, the ranges are exact
        columns: count > 5 (g:n), checked on each row
        qualifiers of price (f:[at seconds 4 desc][id u8]): 1 range
          [\x9CO3\x00, \x9Cx\x11\x80)
          residual: price.id = 7
        order: user ascending
    "#]],
    );
    check(
        "follows.who in ('eve', 'bob') and price.at = 2022-12-24T18:00",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: none, the ranges are exact
        qualifiers of price (f:[at seconds 4 desc][id u8]): 1 range
          [\x9CX\xC1\xDF, \x9CX\xC1\xE0)
          residual: none, the ranges are exact
        qualifiers of follows (g:by_[who text]): 2 ranges
          qualifier by_bob
          qualifier by_eve
          residual: none, the ranges are exact
        order: user ascending
    "#]],
    );
    check(
        "event.at > 1970-01-01T00:00:09",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: none, the ranges are exact
        qualifiers of event (h:[kind enum(a,b,c)][at seconds 4]): 3 ranges
          [\x00\x00\x00\x00\x0A, \x01)
          [\x01\x00\x00\x00\x0A, \x02)
          [\x02\x00\x00\x00\x0A, \x03)
          residual: none, the ranges are exact
        order: user ascending
    "#]],
    );
    check(
        "price.at < 1960",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: none, the ranges are exact
        qualifiers of price (f:[at seconds 4 desc][id u8]): none, no cell can match
        order: user ascending
    "#]],
    );
    assert!(!plan("price.at > 5").unwrap().is_exact());
    assert!(plan("user = 'bob'").unwrap().qualifiers().is_empty());
}

#[test]
fn a_mistake_in_a_condition_on_a_qualifier_is_pointed_at() {
    check(
        "user = 'bob' and price.att > 5",
        expect![[r#"
        the qualifiers of `price` have no field `att`; did you mean `at`?: offset=23
          user = 'bob' and price.att > 5
                                 ^"#]],
    );
    check(
        "price.when > 5",
        expect![[r#"
        the qualifiers of `price` have no field `when`; they have: at, id: offset=6
          price.when > 5
                ^"#]],
    );
    check(
        "prise.at > 5",
        expect![[r#"
        no column `prise` is declared; did you mean `price`?: offset=0
          prise.at > 5
          ^"#]],
    );
    check(
        "colour.at > 5",
        expect![[r#"
        column `colour` has one qualifier, d:via, without fields; ask for its value: colour = …: offset=0
          colour.at > 5
          ^"#]],
    );
    check(
        "user.at > 5",
        expect![[r#"
        `user` is a field of the key, and has no fields itself: offset=0
          user.at > 5
          ^"#]],
    );
    check(
        "price. > 5",
        expect![[r#"
            expected a field of the qualifiers of `price`: offset=6
              price. > 5
                    ^"#]],
    );
    check(
        "price.at.ms > 5",
        expect![[r#"
            expected a field of the qualifiers of `price`, not at.ms: offset=6
              price.at.ms > 5
                    ^"#]],
    );
    check(
        "price.id > 'five'",
        expect![[r#"
        field `price.id` takes a whole number, not the text 'five': offset=11
          price.id > 'five'
                     ^"#]],
    );
    check(
        "price.id starts with '5'",
        expect![[r#"
            field `price.id` is not text; `starts with`, `ends with` and `under` are for texts; compare, or use between: offset=0
              price.id starts with '5'
              ^"#]],
    );
    check(
        "price > 5",
        expect![[r#"
        `price` is the name of many columns, and has no single value; ask for fields of their qualifiers: price.at = …: offset=0
          price > 5
          ^"#]],
    );
    let key = KeySchema::parse("[user string]").unwrap();
    let undeclared = key.plan(&Predicate::parse("price.at > 5").unwrap()).unwrap_err();
    expect![[r#"
        no column `price` is declared; there are none: offset=0
          price.at > 5
          ^"#]]
    .assert_eq(&undeclared.to_string());
    let built = Predicate::all().gt("price.att", 5);
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    let built = key.plan_with_columns(&columns, &built, &TimeZone::UTC).unwrap_err();
    expect!["the qualifiers of `price` have no field `att`; did you mean `at`?"]
        .assert_eq(&built.to_string());
}

/// Returns the columns and the filter for each read.
fn parts(query: &str, requested: &[(&'static str, Option<&'static str>)]) -> String {
    let mut columns = Columns::all();
    for (family, qualifier) in requested {
        match qualifier {
            Some(qualifier) => columns.add_column(*family, *qualifier),
            None => columns.add_family(*family),
        }
    }
    let part = |part: &PlanPart| {
        let mut of: Vec<String> = Vec::new();
        for (family, qualifiers) in part.columns.families() {
            let named: Vec<_> = qualifiers.named().map(|named| escape(named)).collect();
            of.push(format!("{}:{}", escape(family), named.join(",")));
        }
        let of = if of.is_empty() { "all families".to_owned() } else { of.join(" ") };
        match &part.filter {
            Some(filter) => format!("{of} {}\n", escape(filter.to_string().as_bytes())),
            None => format!("{of}\n"),
        }
    };
    plan(query).unwrap().parts(&columns).iter().map(part).collect()
}

#[test]
fn families_with_conditions_are_read_each_by_itself() {
    let unfiltered = parts("user = 'bob'", &[]);
    expect![[r#"
        all families
    "#]]
    .assert_eq(&unfiltered);
    let all = parts("price.at >= 1970-01-01T00:00:05", &[]);
    expect![[r#"
        all families FamilyFilter(!=, 'binary:f')
        f: ColumnRangeFilter('', true, "\x5CxFF\x5CxFF\x5CxFF\x5CxFB", false)
    "#]]
    .assert_eq(&all);
    let beside = parts("follows.who = 'eve'", &[("d", Some("via")), ("g", None)]);
    // The whole family except qualifiers that begin with `by_`; only one such qualifier is read.
    let prefixes =
        beside.strip_prefix("d:via\ng: MultipleColumnPrefixFilter('', '\\x00', ").unwrap();
    assert!(prefixes.contains("'by^', 'by_eve', 'by`'"), "{prefixes}");
    assert!(prefixes.trim_end().ends_with(r#""\x5CxFE", "\x5CxFF")"#));
    let alone = parts("follows.who = 'eve'", &[("g", Some("n"))]);
    expect![[r#"
        g: QualifierFilter(!=, 'binary:') AND FilterList(OR, ColumnRangeFilter('by_eve', true, 'n\x00', false) AND MultipleColumnPrefixFilter('by_eve', 'n'))
    "#]].assert_eq(&alone);
    let several = parts("event.at = 9", &[("h", None)]);
    expect![[r#"
        h: QualifierFilter(!=, 'binary:') AND FilterList(OR, ColumnRangeFilter('\x00\x00\x00\x00\x09', true, '\x02\x00\x00\x00\x09\x00', false) AND MultipleColumnPrefixFilter('\x00\x00\x00\x00\x09', '\x01\x00\x00\x00\x09', '\x02\x00\x00\x00\x09'))
    "#]].assert_eq(&several);
    let nothing = parts("price.at < 1960", &[("f", None)]);
    expect![[r#"
        f: QualifierFilter(!=, 'binary:') AND FilterList(OR, ColumnRangeFilter('!!', true, '!!\x00', false))
    "#]]
    .assert_eq(&nothing);
    let nothing = parts("price.at < 1960", &[("f", Some("other"))]);
    expect![[r""]].assert_eq(&nothing);
}
