//! A predicate against a template: constants become values of the fields' types, and all that is
//! asked of one field becomes one set of values.

use std::fmt;

use jiff::tz::TimeZone;
use rowhouse_model::Error;

use super::predicate::{Comparison, Condition, Constant, Literal, Predicate, Test};
use crate::encode::{Codec, Number, integer, is_count};
use crate::error::Fault;
use crate::field::Field;
use crate::key::KeySchema;
use crate::time::{Time, TimeLiteral};
use crate::value::Value;

/// All that is asked of one field.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Where the field stands among the fields.
    pub(super) field: usize,
    pub(super) set: Set,
    /// The conditions, as a query writes them.
    text: String,
}

/// The values that are asked for.
#[derive(Clone, Debug)]
pub(super) enum Set {
    Numbers(NumberSet),
    Texts(TextSet),
}

/// The numbers from `low` to `high`, both included; if there is a list, those of the list, which is
/// sorted and lies within.
#[derive(Clone, Debug)]
pub(super) struct NumberSet {
    /// The unit's nanoseconds, if the numbers count time.
    unit: i128,
    pub(super) low: i128,
    pub(super) high: i128,
    pub(super) list: Option<Vec<i128>>,
}

/// The texts that pass all tests; if there is a list, those of the list, which is sorted, and all of
/// which pass.
#[derive(Clone, Debug, Default)]
pub(super) struct TextSet {
    pub(super) tests: Vec<TextTest>,
    pub(super) list: Option<Vec<String>>,
}

#[derive(Clone, Debug)]
pub(super) enum TextTest {
    Compare(Comparison, String),
    StartsWith(String),
    Never,
}

/// What is asked of each field, by the fields' positions.
pub(super) fn bind(
    schema: &KeySchema,
    predicate: &Predicate,
    zone: &TimeZone,
) -> Result<Vec<Option<Wanted>>, Error> {
    let mut wanted: Vec<Option<Wanted>> = vec![None; schema.fields().len()];
    for condition in &predicate.conditions {
        let bound = schema
            .position(&condition.field)
            .ok_or_else(|| Fault::new(condition.at, schema.no_field_message(&condition.field)))
            .and_then(|at| {
                let wanted = wanted[at].get_or_insert_with(|| Wanted {
                    field: at,
                    set: Set::all(&schema.fields()[at]),
                    text: String::new(),
                });
                wanted.add(&schema.fields()[at], condition, zone)
            });
        bound.map_err(|fault| match &condition.source {
            Some(text) => fault.in_text(text),
            None => fault.without_text(),
        })?;
    }
    wanted.iter_mut().flatten().for_each(|wanted| {
        wanted.set.close(&schema.fields()[wanted.field]);
    });
    Ok(wanted)
}

impl Wanted {
    /// Whether a decoded value of the field is one of those asked for.
    pub(super) fn matches(&self, value: &Value) -> bool {
        match &self.set {
            Set::Numbers(set) => set.number_matches(value),
            Set::Texts(set) => value.as_str().is_some_and(|text| set.matches(text)),
        }
    }

    fn add(&mut self, field: &Field, condition: &Condition, zone: &TimeZone) -> Result<(), Fault> {
        let reader = ConstantReader { field, zone };
        match (&mut self.set, &field.codec) {
            (Set::Numbers(set), Codec::Number(number)) => {
                set.add(number, condition, &reader)?;
            }
            (Set::Texts(set), _) => set.add(condition, &reader)?,
            (Set::Numbers(_), Codec::String(_) | Codec::Text(_)) => {
                unreachable!("sets of numbers belong to fields of numbers")
            }
        }
        if !self.text.is_empty() {
            self.text.push_str(" and ");
        }
        self.text.push_str(&condition.to_string());
        Ok(())
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Set {
    fn all(field: &Field) -> Self {
        match &field.codec {
            Codec::Number(number) => {
                let unit = number.unit().map_or(1, |unit| unit.nanos());
                Self::Numbers(NumberSet { unit, low: number.min, high: number.max, list: None })
            }
            Codec::String(_) | Codec::Text(_) => Self::Texts(TextSet::default()),
        }
    }

    /// Leaves in the lists what every condition allows and a key can hold.
    fn close(&mut self, field: &Field) {
        match self {
            Self::Numbers(NumberSet { low, high, list: Some(list), .. }) => {
                list.retain(|number| (*low..=*high).contains(number));
                list.sort_unstable();
                list.dedup();
            }
            Self::Texts(TextSet { tests, list: Some(list) }) => {
                list.retain(|text| {
                    tests.iter().all(|test| test.matches(text))
                        && field.codec.encode(&Value::Text(text.clone()), &mut Vec::new()).is_ok()
                });
                list.sort_unstable();
                list.dedup();
            }
            Self::Numbers(_) | Self::Texts(_) => {}
        }
    }
}

impl NumberSet {
    fn number_matches(&self, value: &Value) -> bool {
        let number = match value {
            Value::Time(time) => Some(time.as_nanos() / self.unit),
            value => value.as_integer(),
        };
        number.is_some_and(|number| match &self.list {
            Some(list) => list.binary_search(&number).is_ok(),
            None => (self.low..=self.high).contains(&number),
        })
    }

    fn add(
        &mut self,
        number: &Number,
        condition: &Condition,
        reader: &ConstantReader<'_>,
    ) -> Result<(), Fault> {
        match &condition.test {
            Test::Compare(Comparison::Equal, constant) => {
                self.keep(vec![reader.point(number, constant)?]);
            }
            Test::Compare(comparison, constant) => {
                self.limit(*comparison, reader.point(number, constant)?);
            }
            Test::Between(low, high) => {
                self.limit(Comparison::GreaterOrEqual, reader.point(number, low)?);
                self.limit(Comparison::LessOrEqual, reader.point(number, high)?);
            }
            Test::OneOf(constants) => {
                let points = constants.iter().map(|constant| reader.point(number, constant));
                self.keep(points.collect::<Result<_, _>>()?);
            }
            Test::During(constant) => {
                let (start, stop) = reader.interval(number, constant)?;
                self.limit(Comparison::GreaterOrEqual, start);
                self.limit(Comparison::Less, stop);
            }
            Test::StartsWith(_) => {
                let message = format!("field `{}` is no text", condition.field);
                return Err(Fault::new(condition.at, message)
                    .hint("`starts with` is for text; compare, or use between"));
            }
            Test::IsNull => self.keep(Vec::new()),
        }
        Ok(())
    }

    fn limit(&mut self, comparison: Comparison, point: Point) {
        let Point { floor, exact } = point;
        match comparison {
            Comparison::Equal => self.keep(vec![point]),
            Comparison::Less if exact => self.high = self.high.min(floor.saturating_sub(1)),
            Comparison::Less | Comparison::LessOrEqual => self.high = self.high.min(floor),
            Comparison::GreaterOrEqual if exact => self.low = self.low.max(floor),
            Comparison::Greater | Comparison::GreaterOrEqual => {
                self.low = self.low.max(floor.saturating_add(1));
            }
        }
    }

    /// Only these numbers, and of them only those of an earlier list.
    fn keep(&mut self, points: Vec<Point>) {
        let points = points.into_iter().filter(|point| point.exact).map(|point| point.floor);
        let mut numbers: Vec<_> = points.collect();
        if let Some(list) = &self.list {
            numbers.retain(|number| list.contains(number));
        }
        self.list = Some(numbers);
    }
}

impl TextSet {
    fn matches(&self, text: &str) -> bool {
        match &self.list {
            Some(list) => list.binary_search_by(|listed| listed.as_str().cmp(text)).is_ok(),
            None => self.tests.iter().all(|test| test.matches(text)),
        }
    }

    fn add(&mut self, condition: &Condition, reader: &ConstantReader<'_>) -> Result<(), Fault> {
        match &condition.test {
            Test::Compare(Comparison::Equal, constant) => self.keep(vec![reader.text(constant)?]),
            Test::Compare(comparison, constant) => {
                self.tests.push(TextTest::Compare(*comparison, reader.text(constant)?));
            }
            Test::Between(low, high) => {
                let (low, high) = (reader.text(low)?, reader.text(high)?);
                self.tests.push(TextTest::Compare(Comparison::GreaterOrEqual, low));
                self.tests.push(TextTest::Compare(Comparison::LessOrEqual, high));
            }
            Test::OneOf(constants) => {
                let texts = constants.iter().map(|constant| reader.text(constant));
                self.keep(texts.collect::<Result<_, _>>()?);
            }
            Test::StartsWith(start) => {
                self.tests.push(TextTest::StartsWith(reader.text(start)?));
            }
            Test::During(constant) => {
                return Err(Fault::new(
                    constant.at,
                    format!("field `{}` is no time, `during` is for times", condition.field),
                ));
            }
            Test::IsNull => self.tests.push(TextTest::Never),
        }
        Ok(())
    }

    fn keep(&mut self, mut texts: Vec<String>) {
        if let Some(list) = &self.list {
            texts.retain(|text| list.contains(text));
        }
        self.list = Some(texts);
    }
}

impl TextTest {
    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Compare(Comparison::Equal, constant) => text == constant,
            Self::Compare(Comparison::Less, constant) => text < constant.as_str(),
            Self::Compare(Comparison::LessOrEqual, constant) => text <= constant.as_str(),
            Self::Compare(Comparison::Greater, constant) => text > constant.as_str(),
            Self::Compare(Comparison::GreaterOrEqual, constant) => text >= constant.as_str(),
            Self::StartsWith(start) => text.starts_with(start),
            Self::Never => false,
        }
    }
}

/// A constant on a field's scale, which may lie between two of its numbers.
#[derive(Clone, Copy, Debug)]
struct Point {
    floor: i128,
    exact: bool,
}

/// Reads constants as values of a field.
struct ConstantReader<'a> {
    field: &'a Field,
    zone: &'a TimeZone,
}

impl ConstantReader<'_> {
    fn text(&self, constant: &Constant) -> Result<String, Fault> {
        match &constant.literal {
            Literal::Value(Value::Text(text)) => Ok(text.clone()),
            Literal::Value(value) => Err(self.wrong_kind(constant, &value.described())),
            Literal::Word(word) => Err(Fault::new(
                constant.at,
                format!("field `{}` is a text, which stands in quotes", self.field.name()),
            )
            .hint(format!("write '{word}'"))),
        }
    }

    fn point(&self, number: &Number, constant: &Constant) -> Result<Point, Fault> {
        match (&constant.literal, number.unit()) {
            (Literal::Word(word), Some(_)) if !is_count(word) => self.time(number, constant, word),
            (Literal::Word(word), _) => integer(word)
                .ok_or_else(|| self.wrong_kind(constant, word))
                .map(|floor| Point { floor, exact: true }),
            (Literal::Value(Value::Text(text)), Some(_)) => self.time(number, constant, text),
            (Literal::Value(Value::Time(time)), Some(_)) => Ok(point(number, *time)),
            (Literal::Value(value), _) => match value.as_integer() {
                Some(floor) => Ok(Point { floor, exact: true }),
                None => Err(self.wrong_kind(constant, &value.described())),
            },
        }
    }

    fn time(&self, number: &Number, constant: &Constant, text: &str) -> Result<Point, Fault> {
        let literal = self.time_literal(constant, text)?;
        let time = literal.instant(self.zone).map_err(|fault| fault.behind(constant.at))?;
        Ok(point(number, time))
    }

    fn interval(&self, number: &Number, constant: &Constant) -> Result<(Point, Point), Fault> {
        let text = match &constant.literal {
            _ if number.unit().is_none() => {
                let message =
                    format!("field `{}` is no time, `during` is for times", self.field.name());
                return Err(Fault::new(constant.at, message));
            }
            Literal::Word(text) | Literal::Value(Value::Text(text)) => text,
            Literal::Value(value) => return Err(self.wrong_kind(constant, &value.described())),
        };
        let literal = self.time_literal(constant, text)?;
        let (start, stop) =
            literal.interval(self.zone).map_err(|fault| fault.behind(constant.at))?;
        Ok((point(number, start), point(number, stop)))
    }

    fn time_literal(&self, constant: &Constant, text: &str) -> Result<TimeLiteral, Fault> {
        let quote = usize::from(matches!(constant.literal, Literal::Value(_)));
        TimeLiteral::parse(text).map_err(|fault| fault.behind(constant.at + quote))
    }

    fn wrong_kind(&self, constant: &Constant, what: &str) -> Fault {
        let expected = match &self.field.codec {
            Codec::Number(number) if number.unit().is_some() => "a time",
            Codec::Number(_) => "a number",
            Codec::String(_) | Codec::Text(_) => "a text",
        };
        let message = format!("field `{}` is {expected}, not {what}", self.field.name());
        Fault::new(constant.at, message)
    }
}

/// Where an instant lies on a time field's scale.
fn point(number: &Number, time: Time) -> Point {
    let unit = number.unit().map_or(1, |unit| unit.nanos());
    let nanos = time.as_nanos();
    Point { floor: nanos.div_euclid(unit), exact: nanos.rem_euclid(unit) == 0 }
}
