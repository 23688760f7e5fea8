//! Template language properties, over random templates, values, keys and queries.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod brute;
mod draw;
mod qualifiers;
mod words;

use std::cmp::Ordering;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rowhouse_model::{RowRange, escape};
use rowhouse_schema::{
    Direction, Field, FieldValue, KeySchema, Plan, PlanOrder, Predicate, RANGES_MAX, RowSequence,
    StreamMerge, Time, Value, Values,
};

use brute::{compare, compare_computed, could_hold, elements, is_stored};
use draw::{Condition, Drawn, Pool, Row, drawn, pools, row, rows, schemas};

/// Templates with one field, one for each way to read constants.
const PLANNED: &[&str] = &[
    "[n u8]",
    "[n millis]",
    "[n ymd desc]",
    "[n f64]",
    "[n bool]",
    "[n enum(a,b)]",
    "[n decimal]",
    "[n text]_",
    "[n domain]",
    "[n uuid]",
    "[n blob]",
    "[n hex 2]",
    "[n repeat(u8 u8)]",
    "[n text md5 2]",
    "[n blob xxh3 2]",
    "[n u8 null first]",
    "[bucket 4 of n][n i64 floor 10]",
    "[n java.double]",
    "[n ordered.numeric]",
    "[n ordered.blob_var]",
    "[n phoenix.varchar null first]",
    "[n phoenix.decimal desc]",
    "[n phoenix.char 2]",
    "[n phoenix.timestamp]",
    "[n tuple.string]",
    "[n tuple.int null first]",
    "[n ordered_code.float64 desc]",
];

/// Compares two rows by the order that the fields report; `None` if they report none.
fn promised(schema: &KeySchema, a: &Values, b: &Values) -> Option<Ordering> {
    for element in elements(schema) {
        let order = match element {
            Ok(field) => compare(schema, &field, field.order(), a, b)?,
            Err(nth) => compare_computed(&a.computed_values()[nth], &b.computed_values()[nth]),
        };
        if order.is_ne() {
            return Some(order);
        }
    }
    Some(Ordering::Equal)
}

/// Compares two rows by the order that a plan reports; `None` if it reports none.
fn planned(schema: &KeySchema, order: &PlanOrder, a: &Values, b: &Values) -> Option<Ordering> {
    for ordered in order.fields() {
        let field = schema.field(&ordered.name).unwrap();
        let order = compare(schema, field, ordered.order, a, b)?;
        if order.is_ne() {
            return Some(order);
        }
    }
    None
}

fn conditions<'s>(
    schema: &'s KeySchema,
    pool: &Pool,
    drawn: &[Drawn],
) -> Vec<(&'s Field, Condition)> {
    let draw = |(field, kind, values): &Drawn| {
        let field = field.get(schema.fields());
        (field, Condition::draw(*kind, field, pool, values))
    };
    drawn.iter().map(draw).collect()
}

/// Returns the query with these conditions.
fn query(conditions: &[(&Field, Condition)]) -> Predicate {
    conditions.iter().fold(Predicate::all(), |predicate, (field, condition)| {
        condition.add_to(predicate, field.name())
    })
}

fn is_returned(plan: &Plan, row: &Row) -> bool {
    plan.ranges().iter().any(|range| range.contains(&row.key)) && plan.matches(&row.values)
}

/// Returns two flags: the row's given values match, and they could match judging by the key.
fn expected_match(
    schema: &KeySchema,
    conditions: &[(&Field, Condition)],
    row: &Row,
) -> (bool, bool) {
    let fields = || schema.fields().iter().enumerate();
    let of = |field: &Field| -> Vec<&Condition> {
        let of = conditions.iter().filter(|(other, _)| other.name() == field.name());
        of.map(|(_, condition)| condition).collect()
    };
    let expected = fields().all(|(nth, field)| {
        of(field).iter().all(|condition| condition.holds(field, &row.given[nth]))
    });
    let could = fields().all(|(nth, field)| {
        let stored = &row.values[field.name()];
        could_hold(field, &of(field), &row.given[nth], stored)
    });
    (expected, could)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn printed_templates_parse_as_equal(schema in schemas()) {
        let again = KeySchema::parse(&schema.to_string()).unwrap();
        prop_assert_eq!(again.to_string(), schema.to_string());
        prop_assert_eq!(again, schema);
    }

    /// L1 and L2: keys decode to the given values, or to the part that keys hold, and all bytes
    /// that fit decode to values that encode to the same bytes.
    #[test]
    fn keys_that_fit_come_back(
        schema in schemas(), pool in pools(), row_at in rows(), noise: Vec<(Index, u8, u8)>,
    ) {
        for (nth, at) in row_at.iter().enumerate() {
            let Some(Row { given, mut key, values }) = row(&schema, &pool, at) else { continue };
            prop_assert_eq!(escape(&values.encode().unwrap()), escape(&key), "L1 {}", &schema);
            for (field, given) in schema.fields().iter().zip(&given) {
                let stored = &values[field.name()];
                prop_assert!(
                    is_stored(field, given, stored), "L2 {}: {} {}", &schema, given, stored
                );
            }
            for (place, kind, byte) in noise.iter().take(nth % 3) {
                let place = place.index(key.len() + 1);
                match kind % 3 {
                    0 => key.insert(place, *byte),
                    1 => { key.truncate(place); }
                    _ => if let Some(at) = key.get_mut(place) { *at = *byte },
                }
            }
            if let Ok(values) = schema.decode(&key) {
                prop_assert_eq!(escape(&values.encode().unwrap()), escape(&key), "{}", &schema);
            }
        }
    }

    /// Encoding by position and by name uses the fast path if there is one; encoding borrowed
    /// values uses the generic path.
    #[test]
    fn keys_are_made_and_refused_alike_and_read_into_used_memory(
        schema in schemas(), pool in pools(), row_at in rows(),
    ) {
        let mut used = Vec::new();
        for at in &row_at {
            let fields = schema.fields().iter();
            let given: Vec<Value> =
                fields.clone().zip(at).map(|(field, at)| pool.value(field, at)).collect();
            let made = |made: &dyn Fn(&mut Vec<u8>) -> rowhouse_model::Result<()>| {
                let mut out = b"before".to_vec();
                let result = made(&mut out).map_err(|error| error.to_string());
                (result, escape(&out))
            };
            let general = |nth: usize| FieldValue::from(given[nth].clone());
            let pairs: Vec<_> = fields.map(Field::name).zip(given.iter().cloned()).collect();
            let expected = made(&|out| schema.encode_fields(general, out));
            prop_assert_eq!(&made(&|out| schema.encode_values(&given, out)), &expected, "{}", &schema);
            prop_assert_eq!(&made(&|out| schema.encode_into(&pairs, out)), &expected, "{}", &schema);

            let Some(Row { key, values, .. }) = row(&schema, &pool, at) else { continue };
            schema.decode_into(&key, &mut used).unwrap();
            let values: Vec<_> = pairs.iter().map(|(name, _)| values[*name].clone()).collect();
            prop_assert_eq!(&used, &values, "{}", &schema);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(
        text in r"([\[\]\\x0-9a-f_ :+T.'=<>(),分é-]|text|digits |desc|and |n = |in |enum\(|repeat\(|of |by md5|null |floor |pad |salt )*",
    ) {
        if let Ok(schema) = KeySchema::parse(&format!("[n u8]{text}")) {
            prop_assert_eq!(KeySchema::parse(&schema.to_string()).unwrap(), schema);
        }
        for template in [text.clone(), format!("[n {text}]"), format!("[{text}][n u8]"), format!("[bucket {text}][n u8]")] {
            if let Ok(schema) = KeySchema::parse(&template) {
                prop_assert_eq!(KeySchema::parse(&schema.to_string()).unwrap(), schema);
            }
        }
        let _ = Predicate::parse(&text);
        for test in ["=", "<", "in", "starts with", "during"] {
            let Ok(query) = Predicate::parse(&format!("n {test} {text}")) else { continue };
            for template in PLANNED {
                let _ = KeySchema::parse(template).unwrap().plan(&query);
            }
        }
        let _ = Time::parse(&text);
        let _ = Time::parse(&format!("2022-12-01T{text}"));
    }

    #[test]
    fn any_bytes_decode_or_are_refused(schema in schemas(), key: Vec<u8>) {
        let _ = schema.logical_key(&key);
        if let Ok(values) = schema.decode(&key) {
            prop_assert_eq!(values.encode().unwrap(), key);
        }
    }

    /// L3: keys come in the order that the fields report.
    #[test]
    fn keys_are_in_the_order_of_their_fields(schema in schemas(), pool in pools(), at in rows()) {
        let rows: Vec<_> = at.iter().filter_map(|at| row(&schema, &pool, at)).collect();
        for a in &rows {
            for b in &rows {
                if let Some(order) = promised(&schema, &a.values, &b.values) {
                    prop_assert_eq!(
                        a.key.cmp(&b.key), order, "{}: {} and {}", &schema, &a.values, &b.values
                    );
                }
            }
        }
    }

    /// L4: the rows in the ranges that pass the residual are those that match the query.
    #[test]
    fn plans_return_the_rows_that_match(
        schema in schemas(), pool in pools(), at in rows(), drawn in drawn(), by_bucket: bool,
    ) {
        let rows: Vec<_> = at.iter().filter_map(|at| row(&schema, &pool, at)).collect();
        let conditions = conditions(&schema, &pool, &drawn);
        let predicate = query(&conditions);
        // Queries can have conditions on a named computed field too.
        let named = schema.computed().iter().find_map(|computed| computed.name());
        let bucket = named.zip(rows.first()).filter(|_| by_bucket)
            .map(|(name, row)| (name, row.values[name].clone()));
        let predicate = match bucket.clone() {
            Some((name, value)) => predicate.eq(name, value),
            None => predicate,
        };
        let plan = schema.plan(&predicate);
        prop_assert!(plan.is_ok(), "{}: {}: {}", &schema, &predicate, plan.unwrap_err());
        let plan = plan.unwrap();

        prop_assert!(plan.ranges().len() <= RANGES_MAX);
        for pair in plan.ranges().windows(2) {
            prop_assert!(pair[0].stop <= pair[1].start && !pair[0].stop.is_empty(), "{}", &plan);
        }

        for row in &rows {
            let (expected, could) = expected_match(&schema, &conditions, row);
            let in_bucket = bucket.as_ref().is_none_or(|(name, value)| row.values[*name] == *value);
            let expected = expected && in_bucket;
            let could = could && in_bucket;
            let inside = plan.ranges().iter().any(|range| range.contains(&row.key));
            let returned = is_returned(&plan, row);
            let case = || format!(
                "{schema}\n{} of {:?}\n{predicate}\n{plan}", escape(&row.key), row.given
            );
            prop_assert!(returned || !expected, "not found: {}", case());
            prop_assert!(could || !returned, "found: {}", case());
            prop_assert!(!plan.is_exact() || !inside || could, "not exact: {}", case());
        }
        // A printed query parses to an equal one, unless a four-digit number becomes a year.
        if !pool.numbers.iter().any(|number| (1000..=9999).contains(number)) {
            let again = Predicate::parse(&predicate.to_string());
            prop_assert!(again.is_ok(), "{}", again.unwrap_err());
            let again = schema.plan(&again.unwrap());
            prop_assert!(again.is_ok(), "{}", again.unwrap_err());
            prop_assert_eq!(again.unwrap().to_string(), plan.to_string(), "{}", predicate);
        }
    }

    /// A stream's rows come in logical key order, which is the order that the plan reports.
    #[test]
    fn streams_are_in_the_order_of_logical_keys(
        schema in schemas(), pool in pools(), at in rows(), drawn in drawn(),
    ) {
        let conditions = conditions(&schema, &pool, &drawn);
        let predicate = query(&conditions);
        let plan = schema.plan(&predicate).unwrap();
        let of_streams: Vec<RowRange> = plan.streams().flat_map(|s| s.ranges().to_vec()).collect();
        prop_assert_eq!(&of_streams, plan.ranges());
        if plan.order().sequence() == RowSequence::Physical {
            return Ok(());
        }
        let mut rows: Vec<_> = at.iter().filter_map(|at| row(&schema, &pool, at)).collect();
        rows.retain(|row| is_returned(&plan, row));
        rows.sort_by(|a, b| a.key.cmp(&b.key));
        rows.dedup_by(|a, b| a.key == b.key);
        let logical = |row: &Row| schema.logical_key(&row.key).unwrap().into_owned();
        for stream in plan.streams() {
            let of_stream: Vec<_> = rows.iter()
                .filter(|row| stream.ranges().iter().any(|range| range.contains(&row.key)))
                .collect();
            for pair in of_stream.windows(2) {
                prop_assert!(logical(pair[0]) <= logical(pair[1]), "{}\n{}\n{}", &schema, &predicate, &plan);
            }
        }
        if plan.order().sequence() == RowSequence::AsRead {
            prop_assert!(rows.windows(2).all(|pair| logical(&pair[0]) <= logical(&pair[1])));
        }
        rows.sort_by_key(|row| (logical(row), row.key.clone()));
        for pair in rows.windows(2) {
            let order = planned(&schema, plan.order(), &pair[0].values, &pair[1].values);
            prop_assert!(order.is_none_or(Ordering::is_lt), "{}\n{}\n{}\n{:?} {:?}", &schema, &predicate, &plan, &pair[0].values, &pair[1].values);
        }
    }
}

/// Returns a plan's rows, merged, in the plan's direction.
fn merged<'r>(plan: &Plan, rows: &'r [Row], direction: Direction) -> Vec<&'r Row> {
    let mut matching: Vec<_> = rows.iter().filter(|row| is_returned(plan, row)).collect();
    let logical = |row: &Row| match plan.order().sequence() {
        RowSequence::Merged => row.values.schema().logical_key(&row.key).unwrap().into_owned(),
        RowSequence::AsRead | RowSequence::Physical => Vec::new(),
    };
    matching.sort_by_key(|row| (logical(row), row.key.clone()));
    matching.dedup_by(|a, b| a.key == b.key);
    if direction == Direction::Reverse {
        matching.reverse();
    }
    matching
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    /// Pages with two rows together return all rows, once each and in order.
    #[test]
    fn pages_are_the_whole(
        schema in schemas(), pool in pools(), at in rows(), drawn in drawn(), reverse: bool,
    ) {
        let conditions = conditions(&schema, &pool, &drawn[..drawn.len().min(1)]);
        let predicate = query(&conditions);
        let plan = schema.plan(&predicate).unwrap();
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let rows: Vec<_> = at.iter().filter_map(|at| row(&schema, &pool, at)).collect();
        let whole: Vec<_> = merged(&plan, &rows, direction).iter().map(|row| &row.key).collect();

        if plan.is_exact() && plan.order().sequence() == RowSequence::Merged {
            prop_assert_eq!(merged_by_streams(&plan, &rows, direction), whole.clone(), "{}", &plan);
        }
        let mut paged = Vec::new();
        let mut rest = plan.clone();
        loop {
            let page = merged(&rest, &rows, direction);
            let Some(last) = page.iter().take(2).next_back() else { break };
            paged.extend(page.iter().take(2).map(|row| &row.key));
            let token = plan.page_token(&last.key, direction).unwrap();
            rest = plan.resume(&token, direction).unwrap();
        }
        prop_assert_eq!(paged, whole, "{}\n{}\n{}", &schema, &predicate, &plan);
    }
}

/// Returns a plan's rows by merging the streams.
fn merged_by_streams<'r>(plan: &Plan, rows: &'r [Row], direction: Direction) -> Vec<&'r Vec<u8>> {
    let mut keys: Vec<_> = rows.iter().map(|row| &row.key).collect();
    keys.sort();
    keys.dedup();
    if direction == Direction::Reverse {
        keys.reverse();
    }
    let mut streams: Vec<_> = plan
        .streams()
        .map(|stream| {
            let inside = |key: &&&Vec<u8>| stream.ranges().iter().any(|range| range.contains(key));
            keys.iter().filter(inside).copied().collect::<Vec<_>>().into_iter()
        })
        .collect();
    let mut merge = StreamMerge::new(plan, direction);
    let mut merged = Vec::new();
    loop {
        while let Some(stream) = merge.requested() {
            match streams[stream].next() {
                Some(key) if merge.is_next(key).unwrap() => merged.push(key),
                Some(key) => merge.offer(key, key).unwrap(),
                None => merge.end(),
            }
        }
        let Some(key) = merge.next_row() else { return merged };
        merged.push(key);
    }
}

/// The random templates have each word often enough, and rows that can be stored.
#[test]
fn random_templates_are_varied() {
    let mut runner = TestRunner::deterministic();
    let mut seen = String::new();
    let mut stored = 0;
    for _ in 0..5000 {
        let case = (schemas(), pools(), rows());
        let (schema, pool, at) = case.new_tree(&mut runner).unwrap().current();
        stored += at.iter().filter(|at| row(&schema, &pool, at).is_some()).count();
        seen.push_str(&schema.to_string());
    }
    assert!(stored > 30_000, "{stored} of 120000");
    let words = "bucket |hash |salt | of rest| by md5| as c1| floor 1h| digits 2| hex| reverse| desc\
                 | null first| null last| md5 1| domain| decimal| repeat(| uuid| f32| text 3 pad\
                 | java.long| java.double| ordered.string| ordered.numeric| ordered.blob_copy| phoenix.varchar\
                 | phoenix.decimal| phoenix.char| phoenix.timestamp| tuple.int| tuple.string| ordered_code.int64\
                 | phoenix.varchar desc null first| null last\
                 | by phoenix.salt| by hbasewd.hash| by java.hashcode";
    for word in words.split('|') {
        let count = seen.matches(word).count();
        assert!(count > 10, "{word}: {count}");
    }
}
