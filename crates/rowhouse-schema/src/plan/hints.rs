//! Hints about queries and values that are right, and probably not what was meant.

use super::predicate::{Comparison, Condition, Constant, Literal, Predicate, Test};
use crate::columns::{Column, ColumnSchema};
use crate::encode::{Body, OrdinalDomain, Tick, is_count};
use crate::field::Field;
use crate::key::KeySchema;
use crate::time::{Time, TimeLiteral, TimeUnit};
use crate::value::Value;

impl Predicate {
    /// Returns hints about conditions that are right, and probably do not mean what was meant: a
    /// day that ends at its first instant, and a count in another unit than the field's.
    ///
    /// ```
    /// use rowhouse_schema::{KeySchema, Predicate};
    ///
    /// let key = KeySchema::parse("[user string][at millis]")?;
    /// let query = Predicate::parse("at between 2022-12-01 and 2022-12-31")?;
    /// assert_eq!(query.hints(Some(&key), None), [
    ///     "`at between 2022-12-01 and 2022-12-31` ends with the first instant of 2022-12-31: for \
    ///      all of it, write at < 2023-01-01"
    /// ]);
    /// let query = Predicate::parse("at >= 1669852800")?;
    /// assert_eq!(query.hints(Some(&key), None), [
    ///     "`at` counts millis: 1669852800 is 1970-01-20T07:50:52.800Z; as seconds it would be \
    ///      2022-12-01T00:00:00.000Z"
    /// ]);
    /// assert!(Predicate::parse("at during 2022-12")?.hints(Some(&key), None).is_empty());
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn hints(&self, key: Option<&KeySchema>, columns: Option<&ColumnSchema>) -> Vec<String> {
        let of_condition = |condition: &Condition| -> Vec<String> {
            let Some(field) = field_of(condition, key, columns) else { return Vec::new() };
            let Some(tick) = tick_of(field) else { return Vec::new() };
            let units = condition.test.constants().filter_map(|constant| match &constant.literal {
                Literal::Word(word) if is_count(word) => {
                    unit_hint(&condition.field, word.parse().ok()?, tick)
                }
                Literal::Value(value) => unit_hint(&condition.field, integer_of(value)?, tick),
                _ => None,
            });
            day_hint(condition).into_iter().chain(units).collect()
        };
        self.conditions().iter().flat_map(of_condition).collect()
    }
}

impl Field {
    /// Returns a hint about a time field's value that was probably counted in another unit.
    ///
    /// ```
    /// use rowhouse_schema::{KeySchema, Value};
    ///
    /// let key = KeySchema::parse("[at millis]")?;
    /// let hint = key.fields()[0].unit_hint(&Value::from(1_669_852_800)).unwrap();
    /// assert!(hint.ends_with("as seconds it would be 2022-12-01T00:00:00.000Z"));
    /// assert_eq!(key.fields()[0].unit_hint(&Value::from(1_669_852_800_000_u64)), None);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn unit_hint(&self, value: &Value) -> Option<String> {
        let tick = tick_of(self)?;
        let count = match value {
            Value::Time(time) => time.as_nanos().checked_div(tick.nanos)?,
            value => integer_of(value)?,
        };
        unit_hint(self.name(), count, tick)
    }
}

impl Column {
    /// As [`Field::unit_hint`], for a cell value.
    pub fn unit_hint(&self, value: &Value) -> Option<String> {
        self.field().unit_hint(value)
    }
}

/// Returns the number for a value that is a whole number.
fn integer_of(value: &Value) -> Option<i128> {
    match value {
        Value::Signed(number) => Some(*number),
        Value::Unsigned(number) => i128::try_from(*number).ok(),
        _ => None,
    }
}

/// Returns the field on which a condition is: a key field, a column, or a qualifier field.
fn field_of<'s>(
    condition: &Condition,
    key: Option<&'s KeySchema>,
    columns: Option<&'s ColumnSchema>,
) -> Option<&'s Field> {
    let column = |name: &str| columns.and_then(|columns| columns.column(name).ok());
    match condition.qualifier_field() {
        Some((name, field)) => column(name)?.template()?.field(field),
        None => {
            let of_key = key.and_then(|key| key.field(&condition.field));
            of_key.or_else(|| column(&condition.field).map(|column| column.field()))
        }
    }
}

/// Returns a time field's unit if it is shorter than a day.
fn tick_of(field: &Field) -> Option<Tick> {
    let domain: Option<&OrdinalDomain> = match &field.codec.body {
        Body::Hashed(hashed) => hashed.of.domain(),
        body => body.domain(),
    };
    domain?.tick().filter(|tick| tick.nanos < DAY_NANOS)
}

const DAY_NANOS: i128 = 86_400_000_000_000;

/// Returns a hint about a comparison with a day, month or year, which stands for the first instant.
fn day_hint(condition: &Condition) -> Option<String> {
    let date = |constant: &Constant| {
        let text = match &constant.literal {
            Literal::Word(text) | Literal::Value(Value::Text(text)) if !is_count(text) => text,
            _ => return None,
        };
        let literal = TimeLiteral::parse(text).ok()?;
        Some((text.clone(), literal.following_date()?))
    };
    let name = &condition.field;
    match &condition.test {
        Test::Between(_, last) | Test::Compare(Comparison::LessOrEqual, last) => {
            let (text, next) = date(last)?;
            Some(format!(
                "`{condition}` ends with the first instant of {text}: for all of it, write {name} < {next}"
            ))
        }
        Test::Compare(Comparison::Equal, whole) => {
            let (text, _) = date(whole)?;
            Some(format!(
                "`{condition}` is the first instant of {text}: for all of it, write {name} during {text}"
            ))
        }
        _ => None,
    }
}

/// The years in which time counts are expected.
const EXPECTED: (&str, &str) = ("2000", "2100");
/// The years in which counts are not suspicious.
const PLAUSIBLE: (&str, &str) = ("1980", "2200");

/// Returns a hint about a count that is a usual time in another unit than the field's.
fn unit_hint(name: &str, count: i128, tick: Tick) -> Option<String> {
    let instant = |year: &str| Time::parse(year).ok().map(Time::as_nanos);
    let is_between = |nanos: i128, (first, last): (&str, &str)| {
        instant(first).is_some_and(|first| first <= nanos)
            && instant(last).is_some_and(|last| nanos < last)
    };
    let own = count.checked_mul(tick.nanos)?;
    if is_between(own, PLAUSIBLE) {
        return None;
    }
    let units = [TimeUnit::Seconds, TimeUnit::Millis, TimeUnit::Micros, TimeUnit::Nanos];
    units.into_iter().find_map(|unit| {
        let other = count.checked_mul(unit.nanos())?;
        is_between(other, EXPECTED).then(|| {
            let own = Time::from_nanos(own);
            let other = Time::from_nanos(other);
            format!(
                "`{name}` counts {}: {count} is {own}; as {} it would be {other}",
                tick.word,
                unit.word()
            )
        })
    })
}
