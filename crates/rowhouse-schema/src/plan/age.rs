//! Queries for old rows, and nothing else.

use super::Plan;
use super::predicate::{Comparison, Test};
use crate::encode::Holds;

impl Plan {
    /// Returns the time field in the key, if all conditions are that it is less than something: the
    /// query selects rows by age alone, which a family's TTL removes without a query.
    ///
    /// ```
    /// use rowhouse_schema::{KeySchema, Predicate};
    ///
    /// let schema = KeySchema::parse("[user string][at millis desc]")?;
    /// let age = schema.plan(&Predicate::parse("at < 2020")?)?;
    /// assert_eq!(age.age_field(), Some("at"));
    /// let of_bob = schema.plan(&Predicate::parse("user = 'bob' and at < 2020")?)?;
    /// assert_eq!(of_bob.age_field(), None);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn age_field(&self) -> Option<&str> {
        let conditions = self.predicate.conditions();
        let name = &conditions.first()?.field;
        let field = self.schema.field(name).filter(|it| it.needs().contains(&Holds::Time))?;
        let is_upper = |test: &Test| {
            matches!(test, Test::Compare(Comparison::Less | Comparison::LessOrEqual, _))
        };
        let is_of_age = conditions.iter().all(|it| it.field == *name && is_upper(&it.test));
        is_of_age.then(|| field.name())
    }
}
