//! A query's conditions on columns, checked on a row's cells after it was read.

use std::fmt;

use rowhouse_model::{Bytes, Columns, Row};

use super::set::FieldConditions;
use crate::columns::{CellMismatch, Column, ColumnAddress, ColumnSchema};
use crate::value::Value;

/// The conditions on columns: the query part that remains after the conditions on key fields.
///
/// ```
/// use rowhouse_model::{Cell, CellKind, Row, Timestamp};
/// use rowhouse_schema::{ColumnSchema, KeySchema, Predicate, TimeZone};
///
/// let key = KeySchema::parse("[user string]")?;
/// let columns = ColumnSchema::parse("d:n count u64; d:m mail string")?;
/// let query = Predicate::parse("count > 5 and mail is null")?;
/// let plan = key.plan_with_columns(&columns, &query, &TimeZone::UTC)?;
///
/// let filter = plan.column_filter().unwrap();
/// let count = columns.encode("count", 7)?;
/// let (at, kind) = (Timestamp::from_millis(1)?, CellKind::Put);
/// let cell = Cell::new("bob", count.family, count.qualifier, at, kind, count.value)?;
/// assert!(filter.matches(&Row::new(vec![cell]))?);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ColumnFilter {
    schema: ColumnSchema,
    /// Each column's conditions; slots are column positions.
    conditions: Vec<FieldConditions>,
}

impl ColumnFilter {
    /// Returns the filter for the conditions on columns, given by position; `None` if there are
    /// none.
    pub(super) fn new(
        schema: &ColumnSchema,
        conditions: Vec<Option<FieldConditions>>,
    ) -> Option<Self> {
        let mut conditions: Vec<_> = conditions.into_iter().flatten().collect();
        if conditions.is_empty() {
            return None;
        }
        for of_column in &mut conditions {
            of_column.close(&schema.columns()[of_column.slot].field().codec);
        }
        Some(Self { schema: schema.clone(), conditions })
    }

    /// The columns that have to be read, each with one qualifier, in declaration order.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.conditions.iter().map(|conditions| &self.schema.columns()[conditions.slot])
    }

    /// The selection with these columns alone.
    pub fn reads(&self) -> Columns {
        let mut columns = Columns::all();
        for column in self.columns() {
            let family = column.family();
            let qualifier = column.qualifier().unwrap_or_default();
            columns.add_column(Bytes::copy_from_slice(family), Bytes::copy_from_slice(qualifier));
        }
        columns
    }

    /// Each column's conditions; slots are column positions.
    pub(super) fn conditions(&self) -> &[FieldConditions] {
        &self.conditions
    }

    /// Returns true if a row with these cells matches. Each column's newest cell decides.
    ///
    /// # Errors
    /// Returns the value that does not fit the column type, if that value could have decided. Such
    /// a row does not match, and can be counted.
    pub fn matches(&self, row: &Row) -> Result<bool, CellMismatch> {
        let mut misfit = None;
        for (conditions, column) in self.conditions.iter().zip(self.columns()) {
            let qualifier = column.qualifier().unwrap_or_default();
            let codec = &column.field().codec;
            let decided = match row.cell(column.family(), qualifier) {
                None => conditions.matches(codec, &Value::Null),
                Some(_) if conditions.requires_null() => false,
                Some(_) if !conditions.has_value_test() => true,
                Some(cell) => match column.decode_value(cell.value()) {
                    Ok(value) => conditions.matches(codec, &value),
                    Err(why) => {
                        misfit.get_or_insert(why);
                        continue;
                    }
                },
            };
            if !decided {
                return Ok(false);
            }
        }
        misfit.map_or(Ok(true), Err)
    }
}

impl fmt::Display for ColumnFilter {
    /// Writes each column's conditions, and where the column is stored.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (conditions, column)) in self.conditions.iter().zip(self.columns()).enumerate() {
            let and = if nth == 0 { "" } else { " and " };
            write!(f, "{and}{conditions} ({})", ColumnAddress(column))?;
        }
        Ok(())
    }
}
