//! Rows from a table or file, as workload values.

use std::cmp::Ordering;

use rowhouse_model::{Error, Result};

use crate::value::Value;

/// Values count as growing only from this many row pairs on.
const GROWING_MIN: usize = 20;

/// Rows from a table or a file, in the order in which they were written.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// For each field and column in the workload, the place in the rows.
    pub(super) places: Vec<Option<usize>>,
    pub(super) rows: Vec<Vec<Value>>,
    /// For each field and column, whether the values grow from row to row.
    pub(super) grows: Vec<bool>,
}

impl Sample {
    /// Takes rows with the values of `names`, for fields and columns with the names `selected`.
    pub(super) fn new(selected: &[&str], names: &[&str], rows: Vec<Vec<Value>>) -> Self {
        let place = |selected: &&str| names.iter().position(|name| name == selected);
        let places: Vec<_> = selected.iter().map(place).collect();
        let grows = |place: &Option<usize>| place.is_some_and(|place| growing(&rows, place));
        let grows = places.iter().map(grows).collect();
        Self { places, rows, grows }
    }

    /// Returns the value at a place in a row.
    pub(super) fn value(&self, place: usize, number: u64) -> Result<Value> {
        let row = usize::try_from(number).ok().and_then(|number| self.rows.get(number));
        let beyond = || Error::invalid(format!("the sample has no such row: row={number}"));
        row.and_then(|row| row.get(place)).cloned().ok_or_else(beyond)
    }

    /// Returns the millisecond after the greatest time at a place, since 1970.
    pub(super) fn end_millis(&self, place: usize) -> Option<i64> {
        let times = self.rows.iter().filter_map(|row| row.get(place)?.as_time());
        times.map(|time| time.as_millis() + 1).max()
    }
}

/// Returns true if values grow: nearly all are greater than the values a quarter of the rows
/// earlier. Rows written at one moment may be in any order.
fn growing(rows: &[Vec<Value>], place: usize) -> bool {
    let values: Vec<&Value> =
        rows.iter().filter_map(|row| row.get(place)).filter(|value| !value.is_null()).collect();
    let lag = (values.len() / 4).max(1);
    let later = values.iter().skip(lag);
    let orders = values.iter().zip(later).filter_map(|(one, other)| compare(one, other));
    let mut grown = 0;
    let mut all = 0;
    for order in orders {
        all += 1;
        grown += usize::from(order == Ordering::Less);
    }
    all >= GROWING_MIN && grown * 20 >= all * 19
}

/// Compares two numbers, times or texts.
fn compare(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => Some(one.cmp(other)),
        _ => match (one.as_time(), other.as_time()) {
            (Some(one), Some(other)) => Some(one.cmp(&other)),
            _ => Some(one.as_integer()?.cmp(&other.as_integer()?)),
        },
    }
}
