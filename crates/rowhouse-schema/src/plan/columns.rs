//! What a query asks of columns: checked on the cells of a row, once it has been read.

use std::fmt;

use rowhouse_model::Row;

use super::set::Wanted;
use crate::columns::{CellNotFitting, Column, ColumnAddress, ColumnSchema};
use crate::value::Value;

/// What remains of a query when the key's fields have been taken out of it: conditions on columns.
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
    /// By columns, whose positions are the slots.
    wanted: Vec<Wanted>,
}

impl ColumnFilter {
    /// What is wanted of columns by their positions; nothing if it is nothing.
    pub(super) fn new(schema: &ColumnSchema, wanted: Vec<Option<Wanted>>) -> Option<Self> {
        let mut wanted: Vec<_> = wanted.into_iter().flatten().collect();
        if wanted.is_empty() {
            return None;
        }
        for wanted in &mut wanted {
            wanted.close(&schema.columns()[wanted.slot].field().codec);
        }
        Some(Self { schema: schema.clone(), wanted })
    }

    /// The columns that must have been read, each with one qualifier, in the order in which they are declared.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.wanted.iter().map(|wanted| &self.schema.columns()[wanted.slot])
    }

    /// Whether a row with these cells is asked for. The newest cell of each column decides.
    ///
    /// # Errors
    /// The value that is none of its column's type, if it could have decided: such a row is not asked for, and
    /// can be counted.
    pub fn matches(&self, row: &Row) -> Result<bool, CellNotFitting> {
        let mut misfit = None;
        for (wanted, column) in self.wanted.iter().zip(self.columns()) {
            let qualifier = column.qualifier().unwrap_or_default();
            let codec = &column.field().codec;
            let decided = match row.cell(column.family(), qualifier) {
                None => wanted.matches(codec, &Value::Null),
                Some(_) if wanted.asks_for_null() => false,
                Some(_) if !wanted.asks_for_value() => true,
                Some(cell) => match column.decode_value(cell.value()) {
                    Ok(value) => wanted.matches(codec, &value),
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
    /// The conditions of each column, and where it is stored.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (wanted, column)) in self.wanted.iter().zip(self.columns()).enumerate() {
            let and = if nth == 0 { "" } else { " and " };
            write!(f, "{and}{wanted} ({})", ColumnAddress(column))?;
        }
        Ok(())
    }
}
