//! Index properties, over random keys, columns, indexes and rows.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rowhouse_model::Row;
use rowhouse_schema::{EntryHeader, IndexSchema, TimeZone, Value};

use crate::draw::{Case, cases};

/// A row's entry keys, found the long way: by name, from the printed full form.
fn slow_entries(case: &Case, row: &[u8], cells: &Row) -> BTreeSet<Vec<u8>> {
    let mut keys = BTreeSet::new();
    let Ok(key) = case.key.decode(row) else { return keys };
    if cells.is_empty() || !meets_condition(case, row, cells) {
        return keys;
    }
    let names: Vec<_> = case.index.template().fields().iter().map(|it| it.name()).collect();
    let templated = names.iter().find_map(|name| Some(name.split_once('.')?.0));
    let mut variants = vec![None];
    if let Some(name) = templated {
        variants = Vec::new();
        for cell in cells.cells() {
            let named = case.columns.decode(cell.family(), cell.qualifier(), cell.value());
            let named = named.ok().filter(|named| named.column.name() == name);
            variants.extend(named.and_then(|named| named.fields).map(Some));
        }
    }
    for fields in &variants {
        let value = |name: &str| -> Value {
            if let Some((_, field)) = name.split_once('.') {
                return fields.as_ref().unwrap()[field].clone();
            }
            let is_lossy = |it: &rowhouse_schema::Field| it.is_hashed() || it.is_floored();
            if case.key.field(name).is_some_and(|field| !is_lossy(field)) {
                return key[name].clone();
            }
            let Ok(column) = case.columns.column(name) else { return row.into() };
            let value = cells.value(column.family(), column.qualifier().unwrap());
            let value = value.map(|value| column.decode_value(&value).ok());
            value.flatten().unwrap_or(Value::Null)
        };
        let mut pairs: Vec<_> = names.iter().map(|name| (*name, value(name))).collect();
        let is_null = |(name, value): &(&str, Value)| {
            let named = case.index.template().fields().iter().filter(|it| it.name() == *name);
            value.is_null() && named.clone().any(|field| !field.is_nullable())
        };
        if pairs.iter().any(is_null) {
            continue;
        }
        pairs.sort_by_key(|pair| pair.0);
        pairs.dedup_by_key(|pair| pair.0);
        keys.insert(case.index.template().encode(&pairs).unwrap().to_vec());
    }
    keys
}

fn meets_condition(case: &Case, row: &[u8], cells: &Row) -> bool {
    let Some(query) = case.index.condition() else { return true };
    let plan = case.key.plan_with_columns(&case.columns, query, &TimeZone::UTC).unwrap();
    plan.ranges().iter().any(|range| range.contains(row))
        && plan.matches(&case.key.decode(row).unwrap())
        && plan.column_filter().is_none_or(|filter| filter.matches(cells) == Ok(true))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn printed_declarations_parse_as_equal(case in cases()) {
        let text = case.index.to_string();
        let again = IndexSchema::parse(&text, Some(&case.key), Some(&case.columns)).unwrap();
        prop_assert_eq!(&again.indexes()[0], &case.index);
        prop_assert_eq!(again.to_string(), text);
    }

    #[test]
    fn rows_have_the_entries_of_a_slow_model_and_entries_know_their_row(case in cases()) {
        for (row, cells) in &case.rows {
            let entries = case.index.entries(row, cells).unwrap();
            let keys: Vec<_> = entries.iter().map(|entry| entry.key.to_vec()).collect();
            let expected: Vec<_> = slow_entries(&case, row, cells).into_iter().collect();
            prop_assert_eq!(&keys, &expected, "{:?}", &case.index);
            for entry in &entries {
                prop_assert_eq!(&case.index.row_key(&entry.key).unwrap(), row, "{:?}", &case.index);
                prop_assert_eq!(entry.covered.len(), case.index.covers().len());
            }
            prop_assert!(entries.is_empty() || case.index.fits(row));
        }
    }

    /// Cells outside `columns()` never matter.
    #[test]
    fn the_columns_of_an_index_decide_its_entries(case in cases()) {
        let columns = case.index.columns();
        for (row, cells) in &case.rows {
            let selected = |cell: &rowhouse_model::Cell| {
                columns.has_column(cell.family(), cell.qualifier())
            };
            let some = Row::new(cells.to_cells().into_iter().filter(selected).collect());
            let all = case.index.entries(row, cells);
            let some = case.index.entries(row, &some);
            prop_assert_eq!(all.unwrap(), some.unwrap(), "{:?}", &case.index);
        }
    }

    /// Entries are equal in their unique part exactly if their declared fields are, and a scan over
    /// the entries that begin with one part finds no others.
    #[test]
    fn the_unique_part_is_that_of_equal_fields(case in cases()) {
        let text = format!("i {} unique", case.index.declared_template());
        let indexes = IndexSchema::parse(&text, Some(&case.key), Some(&case.columns));
        let Ok(indexes) = indexes else { return Ok(()) };
        let index = &indexes.indexes()[0];
        let computed = index.template().computed().len();
        let declared = index.declared_template().matches('[').count() - computed;
        let mut parts: Vec<(Vec<u8>, Vec<Value>)> = Vec::new();
        for (row, cells) in &case.rows {
            for entry in index.entries(row, cells).unwrap() {
                let values = index.template().decode(&entry.key).unwrap();
                let values = values.as_slice()[..declared].to_vec();
                let Some(part) = index.unique_prefix(&entry.key) else {
                    prop_assert!(values.iter().any(Value::is_null));
                    continue;
                };
                prop_assert!(entry.key.starts_with(part));
                for (other, its) in &parts {
                    prop_assert_eq!(other == part, its == &values, "{:?}", &index);
                    let distinct = other == part || !part.starts_with(other);
                    prop_assert!(distinct, "{:?}", &index);
                }
                parts.push((part.to_vec(), values));
            }
        }
    }

    #[test]
    fn any_bytes_are_an_entry_or_refused(case in cases(), bytes: Vec<u8>) {
        let _ = case.index.row_key(&bytes);
        let _ = case.index.unique_prefix(&bytes);
    }

    #[test]
    fn headers_come_back_and_any_bytes_are_one_or_refused(
        certain_until: i64,
        timestamps in prop::collection::vec(prop::option::of(0..i64::MAX), 0..4),
        bytes: Vec<u8>,
    ) {
        let header = EntryHeader { certain_until, timestamps };
        prop_assert_eq!(&EntryHeader::decode(&header.encode()).unwrap(), &header);
        if let Ok(header) = EntryHeader::decode(&bytes) {
            prop_assert_eq!(header.encode(), bytes);
        }
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place_in_it(
        words in prop::collection::vec(
            proptest::sample::select(&["i", " ", "[", "]", "s", "n", "a", " desc", " unique",
                " covers", " where ", "'", ";", "\n", "_", "\\", ".", "q.v", "bucket 3", "=", "é",
                " null first", ",", "memory", "salt 2", " of ", "search ", "x", " simple", " english",
                "search x simple"][..]),
            0..14),
    ) {
        let text: String = words.concat();
        let key = rowhouse_schema::KeySchema::parse("[a string][b u8]").unwrap();
        let columns = rowhouse_schema::ColumnSchema::parse(crate::draw::COLUMNS).unwrap();
        match IndexSchema::parse(&text, Some(&key), Some(&columns)) {
            Ok(read) => {
                let again = IndexSchema::parse(&read.to_string(), Some(&key), Some(&columns));
                prop_assert_eq!(again.unwrap(), read);
            }
            Err(error) => prop_assert!(error.message().contains("offset="), "{}", error),
        }
    }
}
