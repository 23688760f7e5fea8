//! A query's conditions on key fields, on columns, and on qualifier fields.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use rowhouse_model::{Error, Result};

use crate::error::Fault;
use crate::time::TimeLiteral;
use crate::value::{Quoted, Value};

/// Conditions on key fields, on columns and on the columns' qualifier fields (`price.at`). All have
/// to hold.
///
/// # Example: how is a query written?
///
/// Texts are in single quotes (`''` is a quote), numbers and times are bare:
///
/// ```
/// use rowhouse_schema::Predicate;
///
/// let query = Predicate::parse("blogger = '123' and at >= 2022-12-01 and at < 2023")?;
/// assert_eq!(query.to_string(), "blogger = '123' and at >= 2022-12-01 and at < 2023");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Example: which conditions are there?
///
/// `=`, `<`, `<=`, `>`, `>=`, `between … and …` (both ends included), `in (…)`, `starts with '…'`,
/// `ends with '…'`, `under '…'` for domains, `is null`, `is not null`, and `during` for a whole
/// year, month, day, hour, …; and `matches '…'`, which needs a full-text index on the field.
///
/// ```
/// use rowhouse_schema::Predicate;
///
/// Predicate::parse("metric in ('cpu', 'memory') and at during 2022-12-24T18")?;
/// Predicate::parse("host starts with 'web' and shard between 3 and 5")?;
///
/// let error = Predicate::parse("host = 'a' or host = 'b'").unwrap_err();
/// assert_eq!(error.to_string(), "\
/// `or` is not in the query language; for several values of a field use in (…): offset=11
///   host = 'a' or host = 'b'
///              ^");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Example: how is a query built from values?
///
/// ```
/// use rowhouse_schema::{Predicate, Time};
///
/// let query = Predicate::all()
///     .eq("blogger", "it's me")
///     .ge("at", Time::parse("2022-12-01")?)
///     .during("at", "2022-12")?;
/// assert_eq!(
///     query.to_string(),
///     "blogger = 'it''s me' and at >= 2022-12-01T00:00:00.000Z and at during 2022-12"
/// );
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Predicate {
    /// Shared, so that plans can keep their conditions.
    pub(super) conditions: Arc<Vec<Condition>>,
}

/// One condition on a field, on a column, or on a column's qualifier field.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) field: String,
    pub(crate) test: Test,
    /// The text from which the condition was parsed, and the field name's offset in it.
    pub(super) source: Option<Arc<str>>,
    pub(super) at: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Test {
    Compare(Comparison, Constant),
    Between(Constant, Constant),
    OneOf(Vec<Constant>),
    StartsWith(Constant),
    EndsWith(Constant),
    Under(Constant),
    During(Constant),
    /// A text's words match a search text.
    Matches(Constant),
    IsNull,
    IsNotNull,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A constant, and the offset in the condition's source.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    pub(super) at: usize,
    pub(super) literal: Literal,
}

#[derive(Clone, Debug)]
pub(crate) enum Literal {
    /// A bare word, a number or a time, depending on the field's type.
    Word(String),
    Value(Value),
    /// Constants in parentheses: a `repeat`'s groups.
    List(Vec<Constant>),
}

impl Predicate {
    /// Creates a predicate without conditions, which matches every row.
    pub fn all() -> Self {
        Self::default()
    }

    /// Parses a query. The error points at the wrong character. Field and column names are checked
    /// when the query is planned.
    pub fn parse(text: &str) -> Result<Self> {
        Self::read(text, 0..text.len()).map_err(|fault| fault.in_text(text))
    }

    /// Parses a query that is part of a longer text, in which errors point at the mistake.
    pub(crate) fn read(whole: &str, part: Range<usize>) -> Result<Self, Fault> {
        super::parse::parse(whole, part)
    }

    /// Returns how many whole numbers the conditions on a field allow; `None` if they leave a side
    /// open.
    pub(crate) fn integers_allowed(&self, field: &str) -> Option<u128> {
        let mut least = None;
        let mut greatest = None;
        for condition in self.conditions().iter().filter(|it| it.field == field) {
            let bounds = match &condition.test {
                Test::OneOf(constants) => return Some(constants.len() as u128),
                Test::Between(from, to) => (Some(from.integer()?), Some(to.integer()?)),
                Test::Compare(comparison, constant) => {
                    let number = constant.integer()?;
                    match comparison {
                        Comparison::Equal => (Some(number), Some(number)),
                        Comparison::Less => (None, Some(number.saturating_sub(1))),
                        Comparison::LessOrEqual => (None, Some(number)),
                        Comparison::Greater => (Some(number.saturating_add(1)), None),
                        Comparison::GreaterOrEqual => (Some(number), None),
                    }
                }
                _ => continue,
            };
            least = least.max(bounds.0);
            greatest = [greatest, bounds.1].into_iter().flatten().min();
        }
        let count = greatest?.saturating_sub(least?).saturating_add(1);
        Some(u128::try_from(count).unwrap_or(0))
    }

    /// Adds the condition that the field equals this value.
    pub fn eq(self, field: &str, value: impl Into<Value>) -> Self {
        self.compare(field, Comparison::Equal, value.into())
    }

    /// Adds the condition that the field is less than this value.
    pub fn lt(self, field: &str, value: impl Into<Value>) -> Self {
        self.compare(field, Comparison::Less, value.into())
    }

    /// Adds the condition that the field is at most this value.
    pub fn le(self, field: &str, value: impl Into<Value>) -> Self {
        self.compare(field, Comparison::LessOrEqual, value.into())
    }

    /// Adds the condition that the field is greater than this value.
    pub fn gt(self, field: &str, value: impl Into<Value>) -> Self {
        self.compare(field, Comparison::Greater, value.into())
    }

    /// Adds the condition that the field is at least this value.
    pub fn ge(self, field: &str, value: impl Into<Value>) -> Self {
        self.compare(field, Comparison::GreaterOrEqual, value.into())
    }

    /// Adds the condition that the field is between these values, both included.
    pub fn between(self, field: &str, low: impl Into<Value>, high: impl Into<Value>) -> Self {
        self.with(field, Test::Between(Constant::of(low.into()), Constant::of(high.into())))
    }

    /// Adds the condition that the field has one of these values; with no values, no row matches.
    pub fn one_of<V: Into<Value>>(self, field: &str, values: impl IntoIterator<Item = V>) -> Self {
        let values = values.into_iter().map(|value| Constant::of(value.into()));
        self.with(field, Test::OneOf(values.collect()))
    }

    /// Adds the condition that the text (or the bytes, or the list) begins with this one.
    pub fn starts_with(self, field: &str, start: impl Into<Value>) -> Self {
        self.with(field, Test::StartsWith(Constant::of(start.into())))
    }

    /// Adds the condition that the text (or the bytes) ends with this one.
    pub fn ends_with(self, field: &str, end: impl Into<Value>) -> Self {
        self.with(field, Test::EndsWith(Constant::of(end.into())))
    }

    /// Adds the condition that the domain is this one or below it: `example.com` and
    /// `www.example.com`, but not `counterexample.com`.
    pub fn under(self, field: &str, domain: impl Into<String>) -> Self {
        self.with(field, Test::Under(Constant::of(Value::Text(domain.into()))))
    }

    /// Adds the condition that the time is in this year, month, day, hour, minute or second:
    /// `2022-12`.
    pub fn during(self, field: &str, interval: &str) -> Result<Self> {
        TimeLiteral::parse(interval).map_err(|fault: Fault| fault.in_text(interval))?;
        let literal = Literal::Word(interval.to_owned());
        Ok(self.with(field, Test::During(Constant { at: 0, literal })))
    }

    /// Adds the condition that the field's words match this search text. It needs a full-text index
    /// on the field: see [`IndexSchema::search_plan`](crate::IndexSchema::search_plan).
    ///
    /// ```
    /// use rowhouse_schema::Predicate;
    ///
    /// let query = Predicate::all().eq("user", "bob").matches("body", "row keys");
    /// assert_eq!(query.to_string(), "user = 'bob' and body matches 'row keys'");
    /// assert!(query.has_matches());
    /// assert_eq!(query.without_matches().to_string(), "user = 'bob'");
    /// ```
    pub fn matches(self, field: &str, words: impl Into<String>) -> Self {
        self.with(field, Test::Matches(Constant::of(Value::Text(words.into()))))
    }

    /// Adds the condition that the field is null, or that the column has no cell. Fields are never
    /// null unless their template allows it.
    pub fn is_null(self, field: &str) -> Self {
        self.with(field, Test::IsNull)
    }

    /// Adds the condition that the field has a value.
    pub fn is_not_null(self, field: &str) -> Self {
        self.with(field, Test::IsNotNull)
    }

    /// Adds all conditions from the other predicate.
    pub fn and(mut self, other: Self) -> Self {
        Arc::make_mut(&mut self.conditions).extend(other.conditions.iter().cloned());
        self
    }

    /// Returns true if there are no conditions.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Returns true if a condition is a search: it has `matches`.
    pub fn has_matches(&self) -> bool {
        self.conditions.iter().any(|condition| condition.searched().is_some())
    }

    /// Returns the conditions that are no searches.
    pub fn without_matches(&self) -> Self {
        self.filtered(|condition| condition.searched().is_none())
    }

    pub(crate) fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Returns the predicate with only some conditions.
    pub(crate) fn filtered(&self, keep: impl Fn(&Condition) -> bool) -> Self {
        let selected = self.conditions.iter().filter(|condition| keep(condition)).cloned();
        Self { conditions: Arc::new(selected.collect()) }
    }

    fn compare(self, field: &str, comparison: Comparison, value: Value) -> Self {
        self.with(field, Test::Compare(comparison, Constant::of(value)))
    }

    fn with(mut self, field: &str, test: Test) -> Self {
        let condition = Condition { field: field.to_owned(), test, source: None, at: 0 };
        Arc::make_mut(&mut self.conditions).push(condition);
        self
    }
}

impl Condition {
    /// Returns the error for a fault in the text from which the condition was parsed.
    pub(super) fn in_source(&self, fault: Fault) -> Error {
        match &self.source {
            Some(text) => fault.in_text(text),
            None => fault.without_text(),
        }
    }

    /// Returns an error that points at the condition.
    pub(crate) fn error(&self, message: &str) -> Error {
        self.in_source(Fault::new(self.at, message))
    }

    /// Returns the column name and the qualifier field, if the condition is on such a field.
    pub(crate) fn qualifier_field(&self) -> Option<(&str, &str)> {
        self.field.split_once('.')
    }

    /// Returns the search text in a condition with `matches`.
    pub(crate) fn searched(&self) -> Option<&str> {
        match &self.test {
            Test::Matches(Constant { literal: Literal::Value(Value::Text(text)), .. }) => {
                Some(text)
            }
            _ => None,
        }
    }
}

impl Constant {
    fn of(value: Value) -> Self {
        Self { at: 0, literal: Literal::Value(value) }
    }

    /// The whole number that this is.
    fn integer(&self) -> Option<i128> {
        match &self.literal {
            Literal::Word(word) => word.parse().ok(),
            Literal::Value(value) => value.as_integer(),
            Literal::List(_) => None,
        }
    }

    fn is_hash(&self) -> bool {
        matches!(self.literal, Literal::Value(Value::Hashed(_)))
    }
}

impl fmt::Display for Predicate {
    /// Writes the query; parsing it returns an equal query, except that a four-digit number given
    /// for a time is read as a year.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, condition) in self.conditions.iter().enumerate() {
            write!(f, "{}{condition}", if nth == 0 { "" } else { " and " })?;
        }
        Ok(())
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.test.is_of_hashes() {
            write!(f, "hash({})", self.field)?;
        } else {
            f.write_str(&self.field)?;
        }
        match &self.test {
            Test::Compare(comparison, constant) => write!(f, " {} {constant}", comparison.sign()),
            Test::Between(low, high) => write!(f, " between {low} and {high}"),
            Test::OneOf(constants) => {
                f.write_str(" in ")?;
                write_list(constants, f)
            }
            Test::StartsWith(start) => write!(f, " starts with {start}"),
            Test::EndsWith(end) => write!(f, " ends with {end}"),
            Test::Under(domain) => write!(f, " under {domain}"),
            Test::During(interval) => write!(f, " during {interval}"),
            Test::Matches(words) => write!(f, " matches {words}"),
            Test::IsNull => f.write_str(" is null"),
            Test::IsNotNull => f.write_str(" is not null"),
        }
    }
}

impl Test {
    /// Returns true if only stored hashes are requested: `hash(user) = 0x…`.
    pub(crate) fn is_of_hashes(&self) -> bool {
        match self {
            Self::Compare(Comparison::Equal, constant) => constant.is_hash(),
            Self::OneOf(constants) => {
                !constants.is_empty() && constants.iter().all(Constant::is_hash)
            }
            _ => false,
        }
    }

    /// Returns true if a list mixes stored hashes and values, which query text cannot express.
    pub(super) fn mixes_hashes_and_values(&self) -> bool {
        match self {
            Self::OneOf(constants) => {
                constants.iter().any(Constant::is_hash) && !constants.iter().all(Constant::is_hash)
            }
            _ => false,
        }
    }

    /// Returns true if the test lists single values, which can be hashed.
    pub(crate) fn is_of_whole_values(&self) -> bool {
        matches!(self, Self::Compare(Comparison::Equal, _) | Self::OneOf(_))
    }

    /// The test's constants.
    pub(super) fn constants(&self) -> impl Iterator<Item = &Constant> {
        let (first, second, list) = match self {
            Self::Compare(_, constant)
            | Self::StartsWith(constant)
            | Self::EndsWith(constant)
            | Self::Under(constant)
            | Self::During(constant)
            | Self::Matches(constant) => (Some(constant), None, &[][..]),
            Self::Between(low, high) => (Some(low), Some(high), &[][..]),
            Self::OneOf(constants) => (None, None, &constants[..]),
            Self::IsNull | Self::IsNotNull => (None, None, &[][..]),
        };
        first.into_iter().chain(second).chain(list)
    }

    /// Returns true if the test asks for part of a text.
    pub(super) fn is_of_parts(&self) -> bool {
        matches!(self, Self::StartsWith(_) | Self::EndsWith(_) | Self::Under(_))
    }

    /// Returns true if the test only asks if there is a value.
    pub(crate) fn is_of_presence(&self) -> bool {
        matches!(self, Self::IsNull | Self::IsNotNull)
    }
}

impl Comparison {
    /// Returns the equivalent comparison for descending order.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

fn write_list(constants: &[Constant], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (nth, constant) in constants.iter().enumerate() {
        write!(f, "{}{constant}", if nth == 0 { "(" } else { ", " })?;
    }
    f.write_str(if constants.is_empty() { "()" } else { ")" })
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.literal {
            Literal::Word(word) if word.contains(' ') => write!(f, "'{word}'"),
            Literal::Word(word) => f.write_str(word),
            Literal::Value(value) => write!(f, "{}", Quoted(value)),
            Literal::List(constants) => write_list(constants, f),
        }
    }
}
