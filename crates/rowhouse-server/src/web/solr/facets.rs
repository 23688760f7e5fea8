//! Counts field values.

use std::collections::HashSet;

use rowhouse_model::{Bytes, Error, FacetCount, Result};
use rowhouse_schema::{Index, Value};
use rowhouse_search::Matches;

use super::answer::Data;
use super::request::FieldFacets;

/// Returns a field's counts in the rows found. `all` finds all rows: Solr lists values that no row
/// found has, unless `facet.mincount` is set.
///
/// # Errors
/// `InvalidRequest` for a field without values in the index; read errors.
pub(super) fn of_field(
    request: &FieldFacets,
    index: &Index,
    matches: &Matches,
    all: impl FnOnce() -> Result<Matches>,
) -> Result<Data> {
    let name = declared_name(index, &request.field);
    // By count, and values with the same count by value.
    let mut counts = matches.facets(name, usize::MAX)?;
    counts.retain(|count| count.rows >= request.count_min.max(1));
    let required = request.limit.map(|limit| limit.saturating_add(request.skip));
    let has_enough = !request.by_value
        && request.prefix.is_empty()
        && required.is_some_and(|required| counts.len() >= required);
    if request.count_min == 0 && !has_enough {
        let known: HashSet<Bytes> = counts.iter().map(|count| count.value.clone()).collect();
        let mut others = all()?.facets(name, usize::MAX)?;
        others.retain(|other| !known.contains(&other.value));
        others.sort_by(|one, other| one.value.cmp(&other.value));
        counts.extend(others.into_iter().map(|other| FacetCount { rows: 0, ..other }));
    }
    if request.by_value {
        counts.sort_by(|one, other| one.value.cmp(&other.value));
    }
    let mut named = Vec::new();
    let limit = request.limit.unwrap_or(usize::MAX);
    let mut left = request.skip;
    for count in counts {
        if named.len() >= limit {
            break;
        }
        let value = shown(index, name, &count.value)?;
        if !value.starts_with(&request.prefix) {
            continue;
        }
        match left {
            0 => named.push((value, i64::try_from(count.rows).unwrap_or(i64::MAX))),
            _ => left -= 1,
        }
    }
    Ok(Data::Counts(named, request.form))
}

/// Returns the index field's name, given the name that documents have.
pub(super) fn declared_name<'n>(index: &Index, name: &'n str) -> &'n str {
    let is_declared =
        |name: &str| index.search().is_some_and(|search| search.field(name).is_some());
    rowhouse_search::declared_name(name, is_declared)
}

/// Returns a value as a text.
fn shown(index: &Index, field: &str, value: &Bytes) -> Result<String> {
    let declared = index.search().and_then(|search| search.field(field));
    let Some(order) = declared.and_then(|(_, field)| field.order()) else {
        return Ok(String::from_utf8_lossy(value).into_owned());
    };
    let values = order.decode(value).map_err(|why| {
        Error::corruption(format!("a value of a full-text index: {why}: field={field}"))
    })?;
    Ok(Data::name_of_value(values.iter().next().map_or(&Value::Null, |(_, value)| value)))
}
