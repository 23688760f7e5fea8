//! The filters in the filter language and their arguments.

use std::collections::BTreeSet;

use super::arguments::Call;
use super::parse::Parser;
use crate::Result;
use crate::filter::{ColumnOffset, Filter};

/// The names that [`call`] accepts, in alphabetical order.
pub(super) const NAMES: [&str; 19] = [
    "ColumnCountGetFilter",
    "ColumnPaginationFilter",
    "ColumnPrefixFilter",
    "ColumnRangeFilter",
    "ColumnValueFilter",
    "DependentColumnFilter",
    "FamilyFilter",
    "FirstKeyOnlyFilter",
    "InclusiveStopFilter",
    "KeyOnlyFilter",
    "MultipleColumnPrefixFilter",
    "PageFilter",
    "PrefixFilter",
    "QualifierFilter",
    "RowFilter",
    "SingleColumnValueExcludeFilter",
    "SingleColumnValueFilter",
    "TimestampsFilter",
    "ValueFilter",
];

/// Parses one filter with the arguments.
pub(super) fn call(parser: &mut Parser<'_>) -> Result<Filter> {
    let call = Call::read(parser)?;
    match call.name {
        "RowFilter" => Ok(Filter::Row(compared(&call)?)),
        "FamilyFilter" => Ok(Filter::Family(compared(&call)?)),
        "QualifierFilter" => Ok(Filter::Qualifier(compared(&call)?)),
        "ValueFilter" => Ok(Filter::Value(compared(&call)?)),
        "DependentColumnFilter" => dependent(&call),
        "SingleColumnValueFilter" => single_column(&call, false),
        "SingleColumnValueExcludeFilter" => single_column(&call, true),
        "ColumnValueFilter" => {
            call.count(&[4])?;
            let family = call.bytes(0)?;
            let qualifier = call.bytes(1)?;
            Ok(Filter::ColumnValue { family, qualifier, value: call.comparison(2, true)? })
        }
        "PrefixFilter" => {
            call.count(&[1])?;
            Ok(Filter::Prefix(call.bytes(0)?))
        }
        "ColumnPrefixFilter" => {
            call.count(&[1])?;
            Ok(Filter::ColumnPrefix(call.bytes(0)?))
        }
        "MultipleColumnPrefixFilter" => prefixes(&call),
        "ColumnRangeFilter" => range(&call),
        "ColumnCountGetFilter" => {
            call.count(&[1])?;
            Ok(Filter::ColumnCountGet(call.count_of(0)?))
        }
        "ColumnPaginationFilter" => {
            call.count(&[2])?;
            let from = ColumnOffset::Skip(call.count_of(1)?);
            Ok(Filter::ColumnPagination { limit: call.count_of(0)?, from })
        }
        "PageFilter" => {
            call.count(&[1])?;
            let rows = u64::try_from(call.number(0)?);
            Ok(Filter::Page(rows.map_err(|_| call.error_at_name("PageFilter below 0"))?))
        }
        "KeyOnlyFilter" => {
            let length_as_value = call.count(&[0, 1])? == 1 && call.truth(0)?;
            Ok(Filter::KeyOnly { length_as_value })
        }
        "FirstKeyOnlyFilter" => {
            call.count(&[0])?;
            Ok(Filter::FirstKeyOnly)
        }
        "InclusiveStopFilter" => {
            call.count(&[1])?;
            Ok(Filter::InclusiveStop(call.bytes(0)?))
        }
        "TimestampsFilter" => timestamps(&call),
        name => Err(call.error_at_name(&format!("unknown filter: {name}"))),
    }
}

fn compared(call: &Call<'_>) -> Result<crate::filter::Comparison> {
    call.count(&[2])?;
    call.comparison(0, true)
}

fn dependent(call: &Call<'_>) -> Result<Filter> {
    let count = call.count(&[2, 3, 5])?;
    Ok(Filter::DependentColumn {
        family: call.bytes(0)?,
        qualifier: call.bytes(1)?,
        drop_dependent_column: count > 2 && call.truth(2)?,
        value: (count == 5).then(|| call.comparison(3, false)).transpose()?,
    })
}

fn single_column(call: &Call<'_>, exclude: bool) -> Result<Filter> {
    let has_flags = call.count(&[4, 6])? == 6;
    Ok(Filter::SingleColumnValue {
        family: call.bytes(0)?,
        qualifier: call.bytes(1)?,
        value: call.comparison(2, true)?,
        filter_if_missing: has_flags && call.truth(4)?,
        latest_version_only: !has_flags || call.truth(5)?,
        exclude,
    })
}

fn prefixes(call: &Call<'_>) -> Result<Filter> {
    let mut prefixes = BTreeSet::new();
    for number in call.all() {
        if !prefixes.insert(call.bytes(number)?) {
            return Err(call.error_at_name("prefixes must be distinct"));
        }
    }
    Ok(Filter::MultipleColumnPrefix(prefixes))
}

/// Empty text means no bound.
fn range(call: &Call<'_>) -> Result<Filter> {
    call.count(&[4])?;
    Ok(Filter::ColumnRange {
        min: Some(call.bytes(0)?).filter(|min| !min.is_empty()),
        min_inclusive: call.truth(1)?,
        max: Some(call.bytes(2)?).filter(|max| !max.is_empty()),
        max_inclusive: call.truth(3)?,
    })
}

fn timestamps(call: &Call<'_>) -> Result<Filter> {
    let timestamps = call.all().map(|number| call.number(number));
    let timestamps = timestamps.collect::<Result<BTreeSet<_>>>()?;
    if timestamps.first().is_some_and(|&timestamp| timestamp < 0) {
        return Err(call.error_at_name("timestamp below 0"));
    }
    Ok(Filter::Timestamps { timestamps, can_hint: false })
}
