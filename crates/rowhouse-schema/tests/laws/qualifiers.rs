//! The property that conditions on qualifier fields have: the cells in a family that are read and
//! shown are exactly the ones that plain filtering selects.

use proptest::prelude::*;
use proptest::sample::Index;
use rowhouse_filter::{FilterRun, FilterVerdict};
use rowhouse_model::{Bytes, CellKind, CellRef, Columns, Key, escape};
use rowhouse_schema::{ColumnSchema, KeySchema, PlanPart, Predicate, TimeZone};

use crate::draw::{Row, drawn, pools, row, rows, schemas};
use crate::{conditions, expected_match};

/// Returns the qualifiers that a part's filter passes, read like a store does: it seeks where the
/// filter tells it to.
fn let_through(part: &PlanPart, family: &[u8], qualifiers: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let Some(filter) = &part.filter else { return qualifiers.to_vec() };
    let mut run = FilterRun::new(filter, false).unwrap();
    let mut through = Vec::new();
    let mut from = Vec::new();
    run.reset();
    for qualifier in qualifiers {
        if *qualifier < from {
            continue;
        }
        let kind = CellKind::Put as u8;
        let key = Key { row: b"row", family, qualifier, timestamp: 1, kind };
        let cell = CellRef { key, value: b"", tags: b"", sequence: 0 };
        match run.judge(&cell) {
            FilterVerdict::Include | FilterVerdict::IncludeAndNextColumn => {
                through.push(qualifier.clone());
            }
            FilterVerdict::Skip | FilterVerdict::NextColumn => {}
            FilterVerdict::SeekToHint => from = run.hint(&cell).unwrap().qualifier.to_vec(),
            FilterVerdict::NextRow => break,
            FilterVerdict::IncludeAndNextRow => panic!("no such filter is made"),
        }
    }
    through
}

/// Returns a family's qualifiers that pass the parts and are shown.
fn shown(
    plan: &rowhouse_schema::Plan,
    requested: &Columns,
    family: &[u8],
    qualifiers: &[Vec<u8>],
) -> Vec<Vec<u8>> {
    let parts = plan.parts(requested);
    let of_family = parts.iter().filter(|part| part.columns.selects_family(family));
    let mut read: Vec<_> = of_family
        .flat_map(|part| {
            let mut through = let_through(part, family, qualifiers);
            through.retain(|qualifier| part.columns.has_column(family, qualifier));
            through
        })
        .collect();
    read.retain(|qualifier| plan.shows(requested, family, qualifier));
    read
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_cells_read_are_those_that_plain_filtering_leaves(
        schema in schemas().prop_filter("qualifiers have no computed fields", |schema| schema.computed().is_empty()),
        pool in pools(),
        at in rows(),
        drawn in drawn().prop_filter("a condition", |drawn| !drawn.is_empty()),
        noise in prop::collection::vec((any::<Index>(), any::<Index>(), any::<u8>()), 0..12),
        selection in 0..4_u8,
    ) {
        let declared = format!("f:{schema} many u8; g:{schema} other u8; f:~~one~~ single u8");
        let columns = ColumnSchema::parse(&declared);
        prop_assume!(columns.is_ok());
        let columns = columns.unwrap();
        let rows: Vec<Row> = at.iter().filter_map(|at| row(&schema, &pool, at)).collect();
        let conditions = conditions(&schema, &pool, &drawn);
        let predicate = conditions.iter().fold(Predicate::all(), |predicate, (field, condition)| {
            condition.add_to(predicate, &format!("many.{}", field.name()))
        });
        let key = KeySchema::parse("[user string]").unwrap();
        let plan = key.plan_with_columns(&columns, &predicate, &TimeZone::UTC);
        prop_assume!(plan.is_ok());
        let plan = plan.unwrap();

        // The stored qualifiers, damaged copies of some, and another declared one.
        let mut qualifiers: Vec<Vec<u8>> = rows.iter().map(|row| row.key.clone()).collect();
        for (of, place, byte) in &noise {
            let Some(mut spoiled) = (!rows.is_empty()).then(|| of.get(&rows).key.clone()) else { break };
            match byte % 3 {
                0 => spoiled.truncate(place.index(spoiled.len())),
                1 => spoiled.insert(place.index(spoiled.len()), *byte),
                _ => { let at = place.index(spoiled.len()); spoiled[at] = *byte; }
            }
            qualifiers.push(spoiled);
        }
        qualifiers.push(b"~~one~~".to_vec());
        qualifiers.sort();
        qualifiers.dedup();

        let mut requested = Columns::all();
        match selection {
            0 => {}
            1 => requested.add_family("f"),
            2 => requested.add_column("f", "~~one~~"),
            _ => requested.add_family("g"),
        }
        let shown_of_f = shown(&plan, &requested, b"f", &qualifiers);
        let lead = lead(&schema);
        for qualifier in &qualifiers {
            let is_shown = shown_of_f.contains(qualifier);
            let text = || format!("{declared}: {predicate}: {}", escape(qualifier));
            if qualifier == b"~~one~~" {
                prop_assert_eq!(is_shown, requested.has_column(b"f", qualifier), "{}", text());
                continue;
            }
            let put = rows.iter().find(|row| row.key == *qualifier);
            match put {
                Some(row) => {
                    let (is_expected, could) = expected_match(&schema, &conditions, row);
                    prop_assert!(is_shown || !is_expected, "a cell too few: {}", text());
                    prop_assert!(!is_shown || could, "a cell too many: {}", text());
                }
                None if !qualifier.starts_with(&lead) => {
                    prop_assert_eq!(is_shown, requested.has_column(b"f", qualifier), "{}", text());
                }
                None if schema.decode(qualifier).is_err() => prop_assert!(!is_shown, "{}", text()),
                None => {}
            }
            let many = &plan.qualifiers()[0];
            let is_inside = many.ranges().any(|range| range.contains(qualifier));
            prop_assert!(!many.matches(qualifier) || is_inside, "{}", text());
            let fits = schema.decode(qualifier).is_ok();
            if many.residual().is_none() && is_inside && fits {
                prop_assert!(many.matches(qualifier), "not exact: {}", text());
            }
        }
        // The query has no conditions on the other columns with the same template.
        let shown_of_g = shown(&plan, &requested, b"g", &qualifiers);
        let is_requested = |qualifier: &&Vec<u8>| requested.has_column(b"g", qualifier);
        let expected: Vec<_> = qualifiers.iter().filter(is_requested).cloned().collect();
        prop_assert_eq!(shown_of_g, expected);
    }
}

/// Returns the literal with which a template begins.
fn lead(schema: &KeySchema) -> Bytes {
    let text = schema.to_string();
    let mut escaped = false;
    let open = text.char_indices().find(|(_, c)| {
        let is_open = *c == '[' && !escaped;
        escaped = *c == '\\' && !escaped;
        is_open
    });
    let literal = &text[..open.unwrap().0];
    if literal.is_empty() {
        return Bytes::new();
    }
    let columns = ColumnSchema::parse(&format!("f:{literal} name u8")).unwrap();
    Bytes::copy_from_slice(columns.columns()[0].qualifier().unwrap())
}
