//! Queries by indexes: the law, and plan examples.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use proptest::sample::Index as At;
use rowhouse_model::{Columns, RowRange};
use rowhouse_schema::{
    CellBytes, ColumnSchema, Direction, Entry, IndexPlan, IndexSchema, KeySchema, Plan, Predicate,
    TimeZone, Value, WhyNot,
};

use crate::cell;
use crate::draw::{self, Case, cases, value};

/// A query's rows in key order, by the key plan.
fn rows_by_key(case: &Case, plan: &Plan, selected: &Columns) -> Vec<Vec<u8>> {
    let shown = |cells: &rowhouse_model::Row| {
        cells.cells().any(|cell| plan.shows(selected, cell.family(), cell.qualifier()))
    };
    let matching = case.rows.iter().filter(|(row, cells)| {
        plan.ranges().iter().any(|range| range.contains(row))
            && case.key.decode(row).is_ok_and(|values| plan.matches(&values))
            && plan.column_filter().is_none_or(|filter| filter.matches(cells) == Ok(true))
            && shown(cells)
    });
    matching.map(|(row, _)| row.clone()).collect()
}

/// A query's rows in entry order, by an index.
fn rows_by_index(
    case: &Case,
    plan: &IndexPlan,
    selected: &Columns,
    backwards: bool,
) -> Vec<Vec<u8>> {
    let mut entries: BTreeMap<Vec<u8>, &(Vec<u8>, rowhouse_model::Row)> = BTreeMap::new();
    let of_row: BTreeMap<&Vec<u8>, Vec<Entry>> = case
        .rows
        .iter()
        .map(|(row, cells)| (row, case.index.entries(row, cells).unwrap()))
        .collect();
    for pair in &case.rows {
        for entry in &of_row[&pair.0] {
            assert!(entries.insert(entry.key.to_vec(), pair).is_none());
        }
    }
    let in_plan = |range: &RowRange, entry: &[u8]| range.contains(entry);
    let mut rows = Vec::new();
    let direction = if backwards { Direction::Reverse } else { Direction::Forward };
    let mut keys: Vec<_> = entries.iter().collect();
    if backwards {
        keys.reverse();
    }
    for (entry, (row, cells)) in keys {
        let is_in = plan.plan().ranges().iter().any(|range| in_plan(range, entry));
        let values = case.index.template().decode(entry).unwrap();
        assert_eq!(plan.holds(entry), is_in && plan.plan().matches(&values));
        if !plan.holds(entry) {
            continue;
        }
        assert_eq!(&case.index.row_key(entry).unwrap(), row);
        let first = plan.first_matching(&of_row[row], direction).unwrap();
        let shows = |cell: rowhouse_model::KeyValue<'_>| {
            plan.row_plan().shows(selected, cell.family(), cell.qualifier())
        };
        if first.key == *entry
            && plan.matches_row(row, cells) == Ok(true)
            && cells.cells().any(shows)
        {
            rows.push(row.clone());
        }
    }
    rows
}

fn names() -> Vec<&'static str> {
    vec!["a", "b", "c", "s", "t", "n", "i", "f", "m", "h", "x", "q.v", "q.w", "g.v", "shard"]
}

/// A condition on a field or column, with a constant that has the type; it may be invalid.
pub(crate) fn condition(case: &Case, name: &str, kind: u8, at: &[At]) -> Predicate {
    let of_type = |of: &rowhouse_schema::FieldType| of.to_string();
    let template = |column: &str| case.columns.column(column).unwrap().template().cloned();
    let field_type = match (case.key.field(name), case.columns.column(name), name.split_once('.')) {
        (_, _, Some((column, field))) => {
            of_type(template(column).unwrap().field(field).unwrap().field_type())
        }
        (Some(field), ..) => of_type(field.field_type()),
        (None, Ok(column), None) => of_type(column.field_type()),
        _ => "u8".to_owned(),
    };
    let value = |nth: usize| -> Value { value(&field_type, &at[nth]) };
    let all = Predicate::all();
    match kind {
        0 => all.lt(name, value(0)),
        1 => all.le(name, value(0)),
        2 => all.gt(name, value(0)),
        3 => all.ge(name, value(0)),
        4..=8 => all.eq(name, value(0)),
        9 => all.between(name, value(0), value(1)),
        10 | 11 => all.one_of(name, [value(0), value(1), value(2)]),
        12 => all.starts_with(name, value(0)),
        13 => all.is_null(name),
        14 => all.is_not_null(name),
        _ => all.ends_with(name, value(0)),
    }
}

/// A value that a row has, so that a condition on it matches some row.
pub(crate) fn value_of_row(case: &Case, name: &str, at: &At) -> Option<Value> {
    let (row, cells) = case.rows.get(at.index(case.rows.len().max(1)))?;
    if let Some((column, field)) = name.split_once('.') {
        let mut named = cells.cells().filter_map(|cell| {
            case.columns.decode(cell.family(), cell.qualifier(), cell.value()).ok()
        });
        return Some(named.find(|it| it.column.name() == column)?.fields?[field].clone());
    }
    if let Ok(column) = case.columns.column(name) {
        return column.decode_value(&cells.value(column.family(), column.qualifier()?)?).ok();
    }
    Some(case.key.decode(row).ok()?.get(name)?.clone())
}

/// A query that mostly has conditions on the index fields, which some row meets, and the columns
/// that it requests.
fn query(case: &Case, drawn: &[Drawn], choice: u8) -> (Predicate, Columns) {
    let mut declared: Vec<&str> =
        case.index.template().fields().iter().map(|field| field.name()).collect();
    let templated = declared.iter().find_map(|name| Some(name.split_once('.')?.0));
    let appended = case.key.fields().len().min(declared.len() - 1);
    declared.retain(|name| *name != "row");
    let mut predicate = Predicate::all();
    for (nth, name) in declared.iter().enumerate() {
        let Some((_, kind, at)) = drawn.get(nth) else { break };
        let is_appended = nth + appended >= declared.len();
        if at[2].index(if is_appended { 3 } else { 8 }) == 0 {
            continue;
        }
        let nullable = case.index.template().field(name).unwrap().is_nullable();
        predicate = match (value_of_row(case, name, &drawn[0].2[0]), kind) {
            (_, 12) if nullable => predicate.is_null(name),
            (_, 13..) if nullable => predicate.is_not_null(name),
            (Some(value), 0) if !value.is_null() => predicate.ge(name, value),
            (Some(value), 1) if !value.is_null() => predicate.le(name, value),
            (Some(value), 2..=12) if !value.is_null() => predicate.eq(name, value),
            _ => predicate.and(condition(case, name, *kind, at)),
        };
    }
    for (name, kind, at) in drawn.iter().skip(declared.len()) {
        let name = *name.get(&names());
        predicate = predicate.and(condition(case, name, *kind, at));
    }
    if let Some(condition) = case.index.condition() {
        predicate = match choice % 8 {
            0 => predicate,
            1 => predicate.is_not_null("n"),
            2 => predicate.is_not_null("s"),
            _ => predicate.and(condition.clone()),
        };
    }
    let mut columns = Columns::all();
    match (templated, choice / 8 % 8) {
        (Some("q"), 1..) => columns.add_family("q"),
        (Some(_), 1..) => columns.add_column("r", "_\u{0}"),
        (_, 1) => columns.add_family("d"),
        (_, 2) => columns.add_column("d", "n"),
        _ => {}
    }
    (predicate, columns)
}

type Drawn = (At, u8, Vec<At>);

fn drawn() -> impl Strategy<Value = (Vec<Drawn>, u8)> {
    let condition = (any::<At>(), 0..16_u8, prop::collection::vec(any::<At>(), 3));
    (prop::collection::vec(condition, 1..5), any::<u8>())
}

/// Checks that an index returns a query's rows, and in their order where it says so, if it serves
/// the query. Returns the plan.
fn check_law(
    case: &Case,
    query: &Predicate,
    selected: &Columns,
    backwards: bool,
) -> Result<IndexPlan, WhyNot> {
    let plan = case.index.plan(&case.key, &case.columns, query, &TimeZone::UTC, selected)?;
    let by_key = case.key.plan_with_columns(&case.columns, query, &TimeZone::UTC).unwrap();
    let mut expected = rows_by_key(case, &by_key, selected);
    let mut returned = rows_by_index(case, &plan, selected, backwards);
    if backwards {
        returned.reverse();
    }
    if plan.is_in_key_order() {
        assert_eq!(returned, expected, "{}\n{query}\n{plan}", case.index);
    }
    returned.sort();
    expected.sort();
    assert_eq!(returned, expected, "{}\n{query}\n{plan}", case.index);
    Ok(plan)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    /// The law: an index that serves a query returns the query's rows.
    #[test]
    fn an_index_returns_the_rows_that_the_key_returns(
        case in cases(),
        (drawn, choice) in drawn(),
        backwards: bool,
    ) {
        let (query, selected) = query(&case, &drawn, choice);
        // Many queries are not served; `many_queries_are_served_by_their_index` counts the others.
        let _ = check_law(&case, &query, &selected, backwards);
    }

    /// Where entries decide everything, no row has to be judged.
    #[test]
    fn an_entry_that_decides_the_query_is_of_a_row_that_matches(
        case in cases(),
        (drawn, choice) in drawn(),
    ) {
        let (query, selected) = query(&case, &drawn, choice);
        let plan = case.index.plan(&case.key, &case.columns, &query, &TimeZone::UTC, &selected);
        let Ok(plan) = plan else { return Ok(()) };
        for (family, qualifiers) in selected.families().filter(|_| plan.is_covered(&selected)) {
            let covers = case.index.covered_columns();
            for qualifier in qualifiers.named() {
                let is_covered = |column: &rowhouse_schema::Column| {
                    (column.family(), column.qualifier()) == (family, Some(qualifier))
                };
                prop_assert!(covers.iter().any(is_covered));
            }
        }
        if !plan.is_decided() {
            return Ok(());
        }
        for (row, cells) in &case.rows {
            for entry in case.index.entries(row, cells).unwrap() {
                if plan.holds(&entry.key) {
                    prop_assert_eq!(plan.matches_row(row, cells), Ok(true), "{}\n{}", &query, &plan);
                }
            }
        }
    }
}

/// A table with these rows: each value's text, by name; `!` is a value that does not fit.
fn case(key: &str, index: &str, rows: &[&[(&str, &str)]]) -> Case {
    let key = KeySchema::parse(key).unwrap();
    let columns = ColumnSchema::parse(draw::COLUMNS).unwrap();
    let indexes = IndexSchema::parse(index, Some(&key), Some(&columns)).unwrap();
    let row = |values: &&[(&str, &str)]| {
        let (of_key, of_columns): (Vec<_>, Vec<_>) =
            values.iter().partition(|(name, _)| name.starts_with("key."));
        let of_key: Vec<_> = of_key
            .iter()
            .map(|(name, text)| {
                let name = name.trim_start_matches("key.");
                (name, key.field(name).unwrap().parse_value(text).unwrap())
            })
            .collect();
        let row = key.encode(&of_key).unwrap().to_vec();
        let cell = |(name, text): &(&str, &str)| match *text {
            "!" => CellBytes { value: "\u{1}\u{2}\u{3}".into(), ..cell(&columns, name, "1") },
            text if *name == "g" => {
                let v =
                    if text == "null" { Value::Null } else { text.parse::<u8>().unwrap().into() };
                columns.encode_with("g", &[("v", v)], "x").unwrap()
            }
            text => cell(&columns, name, text),
        };
        let cells: Vec<_> = of_columns.iter().map(|it| (cell(it), 1)).collect();
        (row.clone(), crate::row(&row, cells))
    };
    let mut rows: Vec<_> = rows.iter().map(row).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    Case { index: indexes.indexes()[0].clone(), key, columns, rows }
}

#[test]
fn a_field_in_another_direction_is_not_in_key_order() {
    let rows: [&[_]; 2] = [
        &[("key.a", "x"), ("key.b", "1"), ("s", "eve")],
        &[("key.a", "x"), ("key.b", "2"), ("s", "eve")],
    ];
    for (index, in_order) in [("i [s][a][b]", false), ("i [s][a][b desc]", true), ("i [s]", true)] {
        let case = case("[a string][b u8 desc]", index, &rows);
        let query = Predicate::parse("s = 'eve'").unwrap();
        let plan = check_law(&case, &query, &Columns::all(), false).unwrap();
        assert_eq!(plan.is_in_key_order(), in_order, "{index}");
    }
}

#[test]
fn a_value_that_does_not_fit_does_not_meet_a_condition_on_values() {
    let rows: [&[_]; 2] = [&[("key.b", "1"), ("n", "!")], &[("key.b", "2"), ("n", "1")]];
    let case = case("[b u8]", "i [b] where n >= 0", &rows);
    let served = |query: &str| {
        let query = Predicate::parse(query).unwrap();
        check_law(&case, &query, &Columns::all(), false).is_ok()
    };
    // The row with the value that does not fit has a cell, and no entry.
    assert!(!served("n is not null"));
    assert!(!served("b = 1"));
    assert!(served("n <= 9"));
}

#[test]
fn the_key_and_a_column_with_its_hash_decide_together() {
    let rows: [&[_]; 2] = [
        &[("key.s", "eve"), ("key.b", "1"), ("s", "eve")],
        &[("key.s", "bob"), ("key.b", "1"), ("s", "eve")],
    ];
    let case = case("[s text md5 2][b u8]", "i [s]", &rows);
    let query = Predicate::parse("s = 'eve'").unwrap();
    let plan = check_law(&case, &query, &Columns::all(), false).unwrap();
    assert!(!plan.is_decided());
}

#[test]
fn nulls_of_the_key_and_of_qualifiers_may_have_no_entry() {
    let rows: [&[_]; 2] = [
        &[("key.a", "null"), ("key.b", "1"), ("n", "1"), ("g", "null")],
        &[("key.a", "x"), ("key.b", "1"), ("n", "1"), ("g", "7")],
    ];
    let served = |index: &str, query: &str, family: &'static str| {
        let case = case("[a string null first][b u8]", index, &rows);
        let query = Predicate::parse(query).unwrap();
        let mut selected = Columns::all();
        selected.add_family(family);
        check_law(&case, &query, &selected, false).is_ok()
    };
    assert!(!served("i [a]", "b = 1", "d"));
    assert!(!served("i [a]", "a is null", "d"));
    assert!(served("i [a]", "a is not null", "d"));
    assert!(served("i [a null last]", "a is null", "d"));
    let mut selected = Columns::all();
    selected.add_column("r", "_\x01\x07");
    let qualifiers = |index: &str, query: &str| {
        let case = case("[a string null first][b u8]", index, &rows);
        check_law(&case, &Predicate::parse(query).unwrap(), &selected, false).is_ok()
    };
    assert!(!qualifiers("i [g.v]", "g.v is null"));
    assert!(qualifiers("i [g.v]", "g.v is not null"));
    assert!(qualifiers("i [g.v]", "g.v >= 7"));
    assert!(qualifiers("i [g.v null last]", "g.v is null"));
}

/// How often the law above says something.
#[test]
fn many_queries_are_served_by_their_index() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut served = 0;
    let mut ordered = 0;
    let mut nonempty = 0;
    let cases = cases();
    let drawn = drawn();
    for _ in 0..1000 {
        let case = cases.new_tree(&mut runner).unwrap().current();
        let (drawn, choice) = drawn.new_tree(&mut runner).unwrap().current();
        let (query, selected) = query(&case, &drawn, choice);
        let plan = case.index.plan(&case.key, &case.columns, &query, &TimeZone::UTC, &selected);
        let Ok(plan) = plan else { continue };
        served += 1;
        ordered += usize::from(plan.is_in_key_order());
        nonempty += usize::from(!rows_by_index(&case, &plan, &selected, false).is_empty());
    }
    assert!(served > 400 && ordered > 120 && nonempty > 150, "{served} {ordered} {nonempty}");
}

const COLUMNS: &str = "d:s sender string; d:n size u64; d:t subject string; d:h host domain; f:[tag string][n u8] tagged u8";

fn check_columns(selected: &Columns, index: &str, query: &str, expected: Expect) {
    let key = KeySchema::parse("[user string][at millis desc]").unwrap();
    let columns = ColumnSchema::parse(COLUMNS).unwrap();
    let indexes = IndexSchema::parse(index, Some(&key), Some(&columns)).unwrap();
    let query = Predicate::parse(query).unwrap();
    let plan = indexes.indexes()[0].plan(&key, &columns, &query, &TimeZone::UTC, selected);
    let covered = |plan: IndexPlan| {
        if plan.is_covered(selected) { format!("{plan}covered\n") } else { plan.to_string() }
    };
    expected.assert_eq(&plan.map_or_else(|why: WhyNot| format!("not: {why}"), covered));
}

fn check(index: &str, query: &str, expected: Expect) {
    check_columns(&Columns::all(), index, query, expected);
}

#[test]
fn conditions_on_the_fields_of_an_index_are_ranges_of_entries() {
    check(
        "i [sender]",
        "sender = 'eve'",
        expect![[r#"
        index: i [sender string][user string][at millis desc]
        ranges: 1
          [eve\x00\x01, eve\x00\x02)
        residual: none, the ranges are exact
        order: sender ascending, user ascending, at descending (newest first)
        rows: in key order, decided by their entries
    "#]],
    );
    check(
        "i [sender]",
        "sender = 'eve' and at during 2022-12 and size > 5",
        expect![[r#"
        index: i [sender string][user string][at millis desc]
        ranges: 1
          [eve\x00\x01, eve\x00\x02)
        residual: at during 2022-12
        order: sender ascending, user ascending, at descending (newest first)
        rows: in key order, judged by size > 5
    "#]],
    );
    check(
        "i [sender]",
        "sender in ('eve', 'bob') and user = 'a'",
        expect![[r#"
        index: i [sender string][user string][at millis desc]
        ranges: 2
          [bob\x00\x01a\x00\x01, bob\x00\x01a\x00\x02)
          [eve\x00\x01a\x00\x01, eve\x00\x01a\x00\x02)
        residual: none, the ranges are exact
        order: sender ascending, user ascending, at descending (newest first)
        rows: in the order of the index, decided by their entries
    "#]],
    );
    check(
        "i [at floor 1d]",
        "at during 2022-12-24T18",
        expect![[r#"
            index: i [at millis floor 1d][user string][at millis desc]
            ranges: 1
              [\x00\x00\x01\x85Am\xE8\x00, \x00\x00\x01\x85Am\xE8\x01)
            residual: at during 2022-12-24T18
            order: at ascending as stored, user ascending, at descending (newest first)
            rows: in the order of the index, decided by their entries
        "#]],
    );
    check(
        "i [sender md5 4]",
        "sender = 'eve'",
        expect![[r#"
        index: i [sender string md5 4][user string][at millis desc]
        ranges: 1
          [\xFAj\x91\xEF, \xFAj\x91\xF0)
        residual: none, the ranges are exact
        order: sender ascending, user ascending, at descending (newest first)
        note: keys hold only the hash of sender, which other values have too
        rows: in key order, judged by sender = 'eve'
    "#]],
    );
    check(
        "i [host]",
        "host under 'example.com' and host < 'x'",
        expect![[r#"
        index: i [host string][user string][at millis desc]
        ranges: 1
          […, x\x00\x01)
        residual: none, the ranges are exact
        order: host ascending, user ascending, at descending (newest first)
        rows: in the order of the index, judged by host under 'example.com'
    "#]],
    );
    check(
        "i [size null last]",
        "size is null",
        expect![[r#"
        index: i [size u64 null last][user string][at millis desc]
        ranges: 1
          [\x01, \x02)
        residual: none, the ranges are exact
        order: size ascending, user ascending, at descending (newest first)
        rows: in key order, judged by size is null
    "#]],
    );
    check(
        "i [bucket 4 of sender][sender]",
        "sender = 'eve'",
        expect![[r#"
        index: i [bucket 4 of sender][sender string][user string][at millis desc]
        ranges: 1
          0: [\x00eve\x00\x01, \x00eve\x00\x02)
        residual: none, the ranges are exact
        order: sender ascending, user ascending, at descending (newest first)
        rows: in key order, decided by their entries
    "#]],
    );
    check(
        "i [sender] where size > 10",
        "sender = 'eve' and size between 20 and 30",
        expect![[r#"
        index: i [sender string][user string][at millis desc]
        ranges: 1
          [eve\x00\x01, eve\x00\x02)
        residual: none, the ranges are exact
        order: sender ascending, user ascending, at descending (newest first)
        rows: in key order, judged by size between 20 and 30
    "#]],
    );
}

#[test]
fn an_index_says_why_it_does_not_serve_a_query() {
    check(
        "i [sender]",
        "size > 5",
        expect!["not: `sender` may be null, and the query has no condition on its value"],
    );
    check(
        "i [sender]",
        "sender is not null",
        expect![
            "not: `sender is not null` is also true of cells that are not values of the type, which have no entries; compare the value instead: `sender >= ''`"
        ],
    );
    check(
        "i [sender] where size > 10",
        "sender = 'eve'",
        expect!["not: its condition size > 10 does not follow from the query"],
    );
    check(
        "i [sender] where size > 10",
        "sender = 'eve' and size >= 10",
        expect!["not: its condition size > 10 does not follow from the query"],
    );
    check(
        "i [tagged.tag]",
        "tagged.tag = 'x'",
        expect![
            "not: a row without a cell of `tagged` has no entry: the query must ask for fields of its qualifiers, and for no other cells"
        ],
    );
    check(
        "i [sender]",
        "sendr = 'x'",
        expect![[r#"
        not: there is no `sendr`; did you mean `sender`?; fields of the key: user, at; columns: sender, size, subject, host, tagged: offset=0
          sendr = 'x'
          ^"#]],
    );
    check(
        "i [host]",
        "host under 'example.com'",
        expect![[r#"
        index: i [host string][user string][at millis desc]
        ranges: 1, reads the whole table
          […, …)
        residual: none, the ranges are exact
        order: host ascending, user ascending, at descending (newest first)
        rows: in the order of the index, judged by host under 'example.com'
    "#]],
    );
}

#[test]
fn an_index_of_qualifiers_serves_reads_of_their_column() {
    let mut selected = Columns::all();
    selected.add_family("f");
    check_columns(
        &selected,
        "i [tagged.tag]",
        "tagged.tag = 'x' and tagged.n > 3",
        expect![[r#"
        index: i [tagged.tag string][user string][at millis desc]
        ranges: 1
          [x\x00\x01, x\x00\x02)
        residual: none, the ranges are exact
        order: tagged.tag ascending, user ascending, at descending (newest first)
        rows: in key order, judged by tagged.n > 3
    "#]],
    );
    check_columns(
        &selected,
        "i [tagged.tag]",
        "user = 'bob'",
        expect![
            "not: a row without a cell of `tagged` has no entry: the query must ask for fields of its qualifiers, and for no other cells"
        ],
    );
    selected.add_family("d");
    check_columns(
        &selected,
        "i [tagged.tag]",
        "tagged.tag = 'x'",
        expect![
            "not: a row without a cell of `tagged` has no entry: the query must ask for fields of its qualifiers, and for no other cells"
        ],
    );
}

#[test]
fn an_index_covers_the_columns_it_names() {
    let mut selected = Columns::all();
    selected.add_column("d", "t");
    check_columns(
        &selected,
        "i [sender] covers subject",
        "sender = 'eve'",
        expect![[r#"
        index: i [sender string][user string][at millis desc]
        ranges: 1
          [eve\x00\x01, eve\x00\x02)
        residual: none, the ranges are exact
        order: sender ascending, user ascending, at descending (newest first)
        rows: in key order, decided by their entries
        covered
    "#]],
    );
    check_columns(
        &selected,
        "i [sender] covers subject",
        "sender = 'eve' and size = 1",
        expect![[r#"
        index: i [sender string][user string][at millis desc]
        ranges: 1
          [eve\x00\x01, eve\x00\x02)
        residual: none, the ranges are exact
        order: sender ascending, user ascending, at descending (newest first)
        rows: in key order, judged by size = 1
    "#]],
    );
    check_columns(
        &selected,
        "i [sender] covers size",
        "sender = 'eve'",
        expect![[r#"
        index: i [sender string][user string][at millis desc]
        ranges: 1
          [eve\x00\x01, eve\x00\x02)
        residual: none, the ranges are exact
        order: sender ascending, user ascending, at descending (newest first)
        rows: in key order, decided by their entries
    "#]],
    );
}

#[test]
fn conditions_that_a_query_must_imply_are_compared_by_constants() {
    let implies = |condition: &str, query: &str| {
        let key = KeySchema::parse("[user string][at millis desc]").unwrap();
        let columns = ColumnSchema::parse(COLUMNS).unwrap();
        let text = format!("i [user] where {condition}");
        let indexes = IndexSchema::parse(&text, Some(&key), Some(&columns)).unwrap();
        let query = Predicate::parse(query).unwrap();
        let index = &indexes.indexes()[0];
        index.plan(&key, &columns, &query, &TimeZone::UTC, &Columns::all()).is_ok()
    };
    for (condition, query, expected) in [
        ("size > 10", "size > 10", true),
        ("size > 10", "size >= 11", true),
        ("size > 10", "size >= 10", false),
        ("size > 10", "size in (11, 12)", true),
        ("size > 10", "size in (10, 12)", false),
        ("size in (1, 2, 3)", "size in (1, 3)", true),
        ("size in (1, 2, 3)", "size between 1 and 3", false),
        ("size in (1, 2)", "size = 2", true),
        ("size is not null", "size = 2", true),
        ("size is not null", "size is not null", true),
        ("size is not null", "size is null", false),
        ("size is null", "size is null", true),
        ("size is null", "size = 1", false),
        ("size >= 0", "size is not null", false),
        ("subject = 'a'", "subject = 'a'", true),
        ("subject = 'a'", "subject in ('a')", true),
        ("subject starts with 'a'", "subject starts with 'ab'", true),
        ("subject starts with 'ab'", "subject starts with 'a'", false),
        ("subject starts with 'a'", "subject = 'abc'", true),
        ("subject >= 'a'", "subject > 'a'", true),
        ("subject > 'a'", "subject >= 'a'", false),
        ("subject < 'b'", "subject <= 'a'", true),
        ("host under 'example.com'", "host under 'example.com'", true),
        ("host under 'example.com'", "host = 'www.example.com'", true),
        ("at >= 2022", "at during 2022-12", true),
        ("at >= 2022", "at >= 2021-12", false),
        ("user = 'bob' and size > 1", "size > 1", false),
        ("user = 'bob' and size > 1", "size > 2 and user = 'bob'", true),
    ] {
        assert_eq!(implies(condition, query), expected, "{condition} of {query}");
    }
}
