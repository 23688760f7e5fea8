//! With a sample of all keys, plan estimates are exact.

use proptest::prelude::*;
use rowhouse_schema::{KeySchema, Predicate, Statistics};

/// Keys with small numbers in buckets. The tests add keys that do not fit, and region starts.
fn schema() -> KeySchema {
    KeySchema::parse("[bucket 4 of a][a u8][b u8]").unwrap()
}

proptest! {
    #[test]
    fn a_sample_of_all_keys_gives_the_rows_read_and_returned(
        rows in prop::collection::btree_set((0u8..20, 0u8..20), 0..60),
        unfit in prop::collection::btree_set(prop::collection::vec(0u8..5, 1..3), 0..5),
        starts in prop::collection::btree_set(prop::collection::vec(0u8..5, 1..3), 0..6),
        (a, b) in (0u8..20, 0u8..20),
        query in prop::sample::select(vec!["a = {a} and b >= {b}", "b = {b}", "a >= {a}", "a = {a} and a = 300"]),
    ) {
        let schema = schema();
        let encode = |(a, b): &(u8, u8)| schema.encode(&[("a", (*a).into()), ("b", (*b).into())]).unwrap();
        let mut keys: Vec<Vec<u8>> = rows.iter().map(encode).map(|key| key.to_vec()).collect();
        keys.extend(unfit);
        let query = query.replace("{a}", &a.to_string()).replace("{b}", &b.to_string());
        let plan = schema.plan(&Predicate::parse(&query).unwrap()).unwrap();
        let starts: Vec<Vec<u8>> = [Vec::new()].into_iter().chain(starts).collect();
        let known = Statistics::regions(starts.clone()).unwrap().sample(keys.clone(), keys.len() as u64);
        let estimate = plan.estimate(&known);

        let is_read = |key: &Vec<u8>| plan.ranges().iter().any(|range| range.contains(key));
        let is_given = |key: &&Vec<u8>| schema.decode(key).is_ok_and(|values| plan.matches(&values));
        let read: Vec<_> = keys.iter().filter(|key| is_read(key)).collect();
        let given = read.iter().filter(|key| is_given(key)).count() as u64;
        let expected = (read.len() as u64, given, keys.len() as u64);
        let rows = estimate.rows.map(|rows| (rows.read, rows.given, rows.all));
        prop_assert_eq!(rows, (!keys.is_empty()).then_some(expected));

        let ends = starts.iter().skip(1).map(Some).chain([None]);
        let touched = starts.iter().zip(ends).filter(|(start, stop)| {
            plan.ranges().iter().any(|range| {
                (range.stop.is_empty() || range.stop[..] > start[..])
                    && stop.is_none_or(|stop| range.start[..] < stop[..])
            })
        });
        prop_assert_eq!(estimate.regions, Some((touched.count(), starts.len())));
    }
}

#[test]
fn regions_that_leave_a_gap_or_overlap_are_refused() {
    assert!(Statistics::regions([b"a".to_vec()]).is_err());
    assert!(Statistics::regions([b"".to_vec(), b"b".to_vec(), b"b".to_vec()]).is_err());
    assert!(Statistics::regions::<Vec<u8>>([]).is_err());
}

#[test]
fn unknown_statistics_are_not_reported() {
    let schema = schema();
    let plan = schema.plan(&Predicate::all()).unwrap();
    assert_eq!(plan.estimate(&Statistics::default()).to_string(), "");
}
