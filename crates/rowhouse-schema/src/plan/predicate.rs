//! Predicates.

use rowhouse_model::Result;

use crate::value::Value;

/// What a query asks of a row's key: conditions on fields, all of which hold.
#[derive(Clone, Debug, Default)]
pub struct Predicate {}

impl Predicate {
    /// No condition: every row.
    pub fn all() -> Self {
        Self {}
    }
    /// Reads a query.
    pub fn parse(_: &str) -> Result<Self> {
        Ok(Self {})
    }
    /// And the field is this value.
    pub fn eq(self, _field: &str, _value: impl Into<Value>) -> Self {
        self
    }
    /// And the field is less.
    pub fn lt(self, _field: &str, _value: impl Into<Value>) -> Self {
        self
    }
    /// And the field is at most this value.
    pub fn le(self, _field: &str, _value: impl Into<Value>) -> Self {
        self
    }
    /// And the field is greater.
    pub fn gt(self, _field: &str, _value: impl Into<Value>) -> Self {
        self
    }
    /// And the field is at least this value.
    pub fn ge(self, _field: &str, _value: impl Into<Value>) -> Self {
        self
    }
    /// And the field lies between, both ends included.
    pub fn between(self, _field: &str, _low: impl Into<Value>, _high: impl Into<Value>) -> Self {
        self
    }
    /// And the field is one of these values.
    pub fn one_of<V: Into<Value>>(
        self,
        _field: &str,
        _values: impl IntoIterator<Item = V>,
    ) -> Self {
        self
    }
    /// And the text begins with this one.
    pub fn starts_with(self, _field: &str, _start: impl Into<String>) -> Self {
        self
    }
    /// And the time lies in this year, month, day, hour, …: `2022-12`.
    pub fn during(self, _field: &str, _interval: &str) -> Result<Self> {
        Ok(self)
    }
    /// And the field has no value.
    pub fn is_null(self, _field: &str) -> Self {
        self
    }
    /// And everything the other predicate asks.
    pub fn and(self, _other: Predicate) -> Self {
        self
    }
}
