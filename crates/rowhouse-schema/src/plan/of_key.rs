//! Plans for a key's queries.

use rowhouse_model::Result;

use super::predicate::Predicate;
use super::query_plan::Plan;
use crate::columns::ColumnSchema;
use crate::key::KeySchema;
use crate::time::TimeZone;

impl KeySchema {
    /// Plans a query: the row ranges that hold every matching row, and the conditions that remain
    /// to be checked on them. Times without a zone are UTC.
    ///
    /// ```
    /// use rowhouse_schema::{KeySchema, Predicate};
    ///
    /// let schema = KeySchema::parse("[blogger text]_[at millis digits desc]")?;
    /// let plan = schema.plan(&Predicate::parse("blogger = '123' and at during 2022-12")?)?;
    /// assert_eq!(plan.to_string(), "\
    /// ranges: 1
    ///   [123_9223370364323575808, 123_9223370367001975808)
    /// residual: none, the ranges are exact
    /// order: blogger ascending, at descending (newest first)
    /// ");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn plan(&self, predicate: &Predicate) -> Result<Plan> {
        self.plan_in(predicate, &TimeZone::UTC)
    }

    /// As [`KeySchema::plan`], with a zone for times without one, in fields without one.
    ///
    /// ```
    /// use rowhouse_schema::{KeySchema, Predicate, TimeZone};
    ///
    /// let schema = KeySchema::parse("[at millis digits 13]")?;
    /// let beijing = TimeZone::fixed(jiff::tz::offset(8));
    /// let plan = schema.plan_in(&Predicate::parse("at >= 2022-12-01")?, &beijing)?;
    /// assert_eq!(plan.ranges()[0].start, "1669824000000");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn plan_in(&self, predicate: &Predicate, zone: &TimeZone) -> Result<Plan> {
        Plan::new(self, None, predicate, zone)
    }

    /// As [`KeySchema::plan_in`], for a predicate that may have conditions on declared columns too.
    /// The key's fields determine the ranges; [`Plan::column_filter`] holds the conditions that
    /// remain to be checked on each row's cells.
    ///
    /// ```
    /// use rowhouse_schema::{ColumnSchema, KeySchema, Predicate, TimeZone};
    ///
    /// let key = KeySchema::parse("[user string][at millis desc]")?;
    /// let columns = ColumnSchema::parse("d:n count u64; d:via colour string")?;
    /// let query = Predicate::parse("user = 'bob' and count > 5 and colour in ('red', 'blue')")?;
    /// assert_eq!(key.plan_with_columns(&columns, &query, &TimeZone::UTC)?.to_string(), "\
    /// ranges: 1
    ///   [bob\\x00\\x01, bob\\x00\\x02)
    /// residual: none, the ranges are exact
    /// columns: count > 5 (d:n) and colour in ('red', 'blue') (d:via), checked on each row
    /// order: user ascending, at descending (newest first)
    /// ");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`KeySchema::plan`]; `InvalidRequest` for a name that is neither a field nor a column
    /// name, and for the name of a column with many qualifiers.
    pub fn plan_with_columns(
        &self,
        columns: &ColumnSchema,
        predicate: &Predicate,
        zone: &TimeZone,
    ) -> Result<Plan> {
        Plan::new(self, Some(columns), predicate, zone)
    }
}
