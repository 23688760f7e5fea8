//! A query's conditions as value sets: judged on one row at a time for an index condition, and
//! compared with another query's conditions.

use jiff::tz::TimeZone;
use rowhouse_model::{Result, Row};

use super::bind::{Bound, bind};
use super::columns::ColumnFilter;
use super::predicate::Predicate;
use super::qualifiers::QualifierPlan;
use super::set::FieldConditions;
use crate::columns::{Column, ColumnSchema};
use crate::key::KeySchema;
use crate::value::Value;

/// A query's conditions on the key, on columns, and on qualifiers.
#[derive(Clone, Debug)]
pub(crate) struct RowConditions {
    key: KeySchema,
    /// By key slot.
    fields: Vec<Option<FieldConditions>>,
    filter: Option<ColumnFilter>,
    qualifiers: Vec<QualifierPlan>,
}

impl RowConditions {
    /// Binds a query.
    ///
    /// # Errors
    /// As a plan.
    pub(crate) fn new(
        key: &KeySchema,
        columns: Option<&ColumnSchema>,
        query: &Predicate,
        zone: &TimeZone,
    ) -> Result<Self> {
        let Bound { conditions, filter, qualifiers } = bind(key, columns, query, zone)?;
        Ok(Self { key: key.clone(), fields: conditions, filter, qualifiers })
    }

    /// Binds an index condition, in which times without a zone are UTC.
    ///
    /// # Errors
    /// As a plan; `InvalidRequest` for conditions that neither the key nor a single cell decides.
    pub(crate) fn of_index(
        key: Option<&KeySchema>,
        columns: Option<&ColumnSchema>,
        query: &Predicate,
    ) -> Result<Self> {
        if let Some(search) = query.conditions.iter().find(|it| it.searched().is_some()) {
            return Err(
                search.error("the condition of an index cannot search: it has no `matches`")
            );
        }
        let whole_key = KeySchema::parse("[row blob]")?;
        let schema = key.unwrap_or(&whole_key);
        let bound = Self::new(schema, columns, query, &TimeZone::UTC)?;
        for condition in query.conditions.iter() {
            let name = &condition.field;
            let why = if condition.qualifier_field().is_some() {
                "a condition on qualifiers selects cells, and no rows"
            } else if schema.computed_position(name).is_some() {
                "a condition on a computed field: ask for the fields it is computed of"
            } else if schema.field(name).is_some_and(|field| field.codec.is_lossy())
                && !bound.columns().any(|column| column.name() == name)
            {
                "keys hold only a part of the value, a hash or a step"
            } else if key.is_none() && schema.field(name).is_some() {
                "a condition on the whole key, which has no template"
            } else {
                continue;
            };
            return Err(condition.error(why));
        }
        Ok(bound)
    }

    /// The columns with conditions on their values.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &Column> {
        self.filter.iter().flat_map(ColumnFilter::columns)
    }

    /// The columns with conditions on their qualifier fields.
    pub(crate) fn qualifiers(&self) -> &[QualifierPlan] {
        &self.qualifiers
    }

    /// Returns true if a row without a cell in these columns never matches.
    pub(crate) fn needs_cell(&self) -> bool {
        self.of_columns().iter().any(|conditions| !conditions.nulls)
    }

    /// Returns true if a row matches only if this key field has a value.
    pub(crate) fn needs_value(&self, slot: usize) -> bool {
        self.fields[slot].as_ref().is_some_and(|conditions| !conditions.nulls)
    }

    /// Returns true if a row matches only if the column with this position has a value that fits
    /// the column type.
    pub(crate) fn needs_value_of_column(&self, at: usize) -> bool {
        let mut of_columns = self.of_columns().iter().filter(|conditions| conditions.slot == at);
        of_columns.any(|conditions| !conditions.nulls && conditions.has_value_test())
    }

    /// Returns true if a column's cells are selected only if this qualifier field has a value.
    pub(crate) fn needs_value_of_qualifier(&self, column: usize, slot: usize) -> bool {
        self.qualifiers.iter().any(|plan| plan.needs_value(column, slot))
    }

    /// Returns true if the conditions leave a single value for a key field.
    pub(crate) fn is_single(&self, slot: usize) -> bool {
        self.fields[slot].as_ref().is_some_and(FieldConditions::is_single)
    }

    /// Returns a condition in the other query that does not follow from these, as text; `None` if
    /// all follow.
    pub(crate) fn first_not_implied(&self, other: &Self) -> Option<String> {
        let of_key = |other: &&FieldConditions| {
            !self.fields[other.slot].as_ref().is_some_and(|own| own.implies(other))
        };
        let of_column = |other: &&FieldConditions| {
            let mut own = self.of_columns().iter().filter(|own| own.slot == other.slot);
            !own.any(|own| own.implies(other))
        };
        let fields = other.fields.iter().flatten().find(of_key);
        fields.or_else(|| other.of_columns().iter().find(of_column)).map(ToString::to_string)
    }

    /// Returns true if a row matches, given the key's stored field values and the cells. A value
    /// that does not fit the column type matches nothing.
    pub(crate) fn matches(&self, key: &[Value], cells: &Row) -> bool {
        let holds = |conditions: &FieldConditions| {
            let value = key.get(conditions.slot);
            value.is_some_and(|value| conditions.matches(self.key.codec(conditions.slot), value))
        };
        self.fields.iter().flatten().all(holds)
            && self.filter.as_ref().is_none_or(|filter| filter.matches(cells) == Ok(true))
    }

    fn of_columns(&self) -> &[FieldConditions] {
        self.filter.as_ref().map_or(&[], ColumnFilter::conditions)
    }
}
