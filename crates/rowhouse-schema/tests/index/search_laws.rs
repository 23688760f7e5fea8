//! Search laws: the value and key ranges hold a query's rows, and no others where the plan says so.

use proptest::prelude::*;
use proptest::sample::Index as At;
use rowhouse_model::{Row, RowRange};
use rowhouse_schema::{IndexSchema, KeySchema, Predicate, SearchPlan, TimeZone};

use crate::draw::{Case, cases};
use crate::plans::{condition, value_of_row};

/// Names for columns, for key fields, and for qualifier fields.
const NAMES: &[&str] = &[
    "s", "t", "n", "i", "u", "f", "o", "e", "m", "y", "h", "x", "j", "k", "r", "l", "a", "b", "c",
    "q.v", "q.w", "g.v",
];

/// A name, the kind of a condition on it, and the constants.
type Drawn = (At, u8, Vec<At>);

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let condition = (any::<At>(), 0..16_u8, prop::collection::vec(any::<At>(), 4));
    prop::collection::vec(condition, 1..4)
}

/// A full-text index on the column `z`, and on every name that can be a value.
fn index(case: &Case, key: Option<&KeySchema>) -> IndexSchema {
    let mut text = "text search z keyword".to_owned();
    for name in NAMES {
        let longer = format!("{text}, {name}");
        if IndexSchema::parse(&longer, key, Some(&case.columns)).is_ok() {
            text = longer;
        }
    }
    IndexSchema::parse(&text, key, Some(&case.columns)).unwrap()
}

/// A query that mostly finds rows: most constants are values in a row.
fn query(case: &Case, drawn: &[Drawn]) -> Predicate {
    drawn.iter().fold(Predicate::all(), |query, (name, kind, at)| {
        let name = *name.get(NAMES);
        match value_of_row(case, name, &at[3]).filter(|value| !value.is_null()) {
            Some(value) if *kind < 4 => query.ge(name, value),
            Some(value) if *kind < 8 => query.le(name, value),
            Some(value) if *kind < 10 => query.eq(name, value),
            _ => query.and(condition(case, name, *kind, at)),
        }
    })
}

/// Returns true if a row has a value in each field's ranges.
fn has_values(plan: &SearchPlan, cells: &Row) -> bool {
    let values = plan.index().search().unwrap().values(cells);
    plan.values().iter().all(|(at, ranges)| {
        values.iter().any(|(of, value)| of == at && RowRange::one_contains(ranges, value))
    })
}

/// Checks a plan against the key plan. Returns true if it decides a query that has conditions on
/// values.
fn check(case: &Case, conditions: &Predicate) -> Option<bool> {
    let query = conditions.clone().matches("z", "word");
    let indexes = index(case, Some(&case.key));
    let key = Some(&case.key);
    let plan = indexes.search_plan(key, &case.columns, &query, &TimeZone::UTC, None).ok()?;
    let rows = case.key.plan_with_columns(&case.columns, conditions, &TimeZone::UTC).unwrap();
    for (row, cells) in &case.rows {
        let in_key = RowRange::one_contains(rows.ranges(), row)
            && case.key.decode(row).is_ok_and(|values| rows.matches(&values));
        let filter = rows.column_filter();
        let passes = in_key && filter.is_none_or(|filter| filter.matches(cells) == Ok(true));
        let is_candidate = plan.matches_key(row) && has_values(&plan, cells);
        let context = || format!("{}\n{query}\n{plan}row {row:?} {cells:?}", indexes);
        assert!(!passes || is_candidate, "{}", context());
        assert_eq!(plan.matches_row(row, cells) == Ok(true), passes, "{}", context());
        if !plan.needs_cells() {
            assert_eq!(is_candidate, passes, "{}", context());
        }
        if plan.is_decided() {
            let in_ranges = RowRange::one_contains(plan.key_ranges(), row);
            let decided = in_ranges && plan.index().fits(row) && has_values(&plan, cells);
            assert_eq!(decided, passes, "{}", context());
        }
    }
    Some(plan.is_decided() && !plan.values().is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_row_of_the_answer_is_in_the_ranges(case in cases(), drawn in drawn()) {
        let _ = check(&case, &query(&case, &drawn));
    }

    #[test]
    fn without_a_key_template_the_values_decide(case in cases(), drawn in drawn()) {
        let conditions = query(&case, &drawn);
        let indexes = index(&case, None);
        let query = conditions.clone().matches("z", "word");
        let plan = indexes.search_plan(None, &case.columns, &query, &TimeZone::UTC, None);
        let Ok(plan) = plan else { return Ok(()) };
        prop_assert!(plan.is_decided());
        let key = KeySchema::parse("[the_key blob]").unwrap();
        let rows = key.plan_with_columns(&case.columns, &conditions, &TimeZone::UTC).unwrap();
        for (_, cells) in &case.rows {
            let passes = rows.column_filter().is_none_or(|it| it.matches(cells) == Ok(true));
            prop_assert_eq!(has_values(&plan, cells), passes, "{}\n{}", query, plan);
        }
    }
}

/// Guards the other tests: they would pass if no query had a plan.
#[test]
fn many_searches_are_decided_by_values() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut planned = 0;
    let mut decided = 0;
    let cases = cases();
    let drawn = drawn();
    for _ in 0..300 {
        let case = cases.new_tree(&mut runner).unwrap().current();
        let drawn = drawn.new_tree(&mut runner).unwrap().current();
        let Some(is_decided) = check(&case, &query(&case, &drawn)) else { continue };
        planned += 1;
        decided += usize::from(is_decided);
    }
    assert!(planned > 100 && decided > 40, "{planned} {decided}");
}
