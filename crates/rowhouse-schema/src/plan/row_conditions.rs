//! A query that is judged on one row at a time, for the condition of an index.

use jiff::tz::TimeZone;
use rowhouse_model::{Result, Row};

use super::bind::{Bound, bind};
use super::columns::ColumnFilter;
use super::predicate::Predicate;
use super::set::FieldConditions;
use crate::columns::{Column, ColumnSchema};
use crate::key::KeySchema;
use crate::value::Value;

/// The conditions of a query on the key and the columns of a row.
#[derive(Clone, Debug)]
pub(crate) struct RowConditions {
    key: KeySchema,
    /// The conditions on stored fields of the key.
    fields: Vec<FieldConditions>,
    filter: Option<ColumnFilter>,
}

impl RowConditions {
    /// Binds a query. Times without a zone are UTC.
    ///
    /// # Errors
    /// As a plan; `InvalidRequest` for conditions that neither the key nor a single cell decides.
    pub(crate) fn new(
        key: &KeySchema,
        columns: Option<&ColumnSchema>,
        query: &Predicate,
    ) -> Result<Self> {
        let Bound { wanted, filter, .. } = bind(key, columns, query, &TimeZone::UTC)?;
        for condition in query.conditions.iter() {
            let name = &condition.field;
            let decides = |filter: &ColumnFilter| filter.columns().any(|it| it.name() == name);
            let why = if condition.qualifier_field().is_some() {
                "a condition on qualifiers selects cells, and no rows"
            } else if key.computed_position(name).is_some() {
                "a condition on a computed field: ask for the fields it is computed of"
            } else if key.field(name).is_some_and(|field| field.codec.is_lossy())
                && !filter.as_ref().is_some_and(decides)
            {
                "keys hold only a part of the value, a hash or a step"
            } else {
                continue;
            };
            return Err(condition.error(why));
        }
        Ok(Self { key: key.clone(), fields: wanted.into_iter().flatten().collect(), filter })
    }

    /// The columns that have to be read.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &Column> {
        self.filter.iter().flat_map(ColumnFilter::columns)
    }

    /// Returns whether a row without a cell of these columns never matches.
    pub(crate) fn needs_cell(&self) -> bool {
        self.filter.as_ref().is_some_and(ColumnFilter::needs_cell)
    }

    /// Returns whether a row matches, given the values of the key's stored fields and its cells. A
    /// value that is not of its column's type matches nothing.
    pub(crate) fn matches(&self, key: &[Value], cells: &Row) -> bool {
        let holds = |wanted: &FieldConditions| {
            let value = key.get(wanted.slot);
            value.is_some_and(|value| wanted.matches(self.key.codec(wanted.slot), value))
        };
        self.fields.iter().all(holds)
            && self.filter.as_ref().is_none_or(|filter| filter.matches(cells) == Ok(true))
    }
}
