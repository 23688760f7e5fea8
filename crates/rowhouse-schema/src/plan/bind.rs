//! Binds a predicate to a template and to declared columns: constants become values with the
//! fields' types, and all conditions on a field or column become one value set.

use jiff::tz::TimeZone;
use rowhouse_model::Error;

use super::columns::ColumnFilter;
use super::constant::ConstantReader;
use super::predicate::{Comparison, Condition, Predicate, Test};
use super::qualifiers::{QualifierConditions, QualifierPlan};
use super::set::{BytesSet, BytesTest, FieldConditions, LastDigits, NumberSet, Set};
use crate::columns::{Column, ColumnSchema};
use crate::computed::Computed;
use crate::encode::{Arrangement, Body, Codec, OrdinalDomain, Point};
use crate::error::Fault;
use crate::field::Field;
use crate::key::KeySchema;
use crate::spelling::closest;

/// The conditions on the key, on columns, and on qualifiers.
pub(super) struct Bound {
    /// By slot: the stored fields, then the computed ones.
    pub(super) conditions: Vec<Option<FieldConditions>>,
    pub(super) filter: Option<ColumnFilter>,
    pub(super) qualifiers: Vec<QualifierPlan>,
}

pub(super) fn bind(
    schema: &KeySchema,
    columns: Option<&ColumnSchema>,
    predicate: &Predicate,
    zone: &TimeZone,
) -> Result<Bound, Error> {
    let mut conditions: Vec<Option<FieldConditions>> = vec![None; schema.slots()];
    let mut of_columns: Vec<Option<FieldConditions>> =
        vec![None; columns.map_or(0, |columns| columns.columns().len())];
    let mut qualifiers = QualifierConditions::default();
    for (nth, condition) in predicate.conditions.iter().enumerate() {
        let name = condition.field.as_str();
        let bound = target_of(schema, columns, condition).and_then(|target| {
            if target.qualifier {
                qualifiers.add(schema, columns, (predicate, nth), zone)?;
            }
            for slot in target.slot.map_or(Vec::new(), |_| slots(schema, condition)) {
                let codec = schema.codec(slot);
                let everything = || FieldConditions::everything(slot, codec, predicate);
                let of_slot = conditions[slot].get_or_insert_with(everything);
                of_slot.note(nth);
                of_slot.add(codec, condition, &ConstantReader { of: "field", name, zone })?;
            }
            if let Some((at, column)) = target.column {
                let codec = &column.field().codec;
                let everything = || FieldConditions::of_column(at, codec, predicate);
                let of_column = of_columns[at].get_or_insert_with(everything);
                of_column.note(nth);
                of_column.add(codec, condition, &ConstantReader { of: "column", name, zone })?;
            }
            Ok(())
        });
        bound.map_err(|fault| condition.in_source(fault))?;
    }
    conditions.iter_mut().flatten().for_each(|of_slot| of_slot.close(schema.codec(of_slot.slot)));
    let filter = columns.and_then(|columns| ColumnFilter::new(columns, of_columns));
    Ok(Bound { conditions, filter, qualifiers: qualifiers.plan(columns) })
}

/// Returns the slots for the fields that a condition on the key narrows. In an index template,
/// fields that hold parts of a value can precede the field with this name that holds the most.
fn slots(schema: &KeySchema, condition: &Condition) -> Vec<usize> {
    let last = schema.slot(&condition.field);
    let narrows = |slot: &usize| {
        Some(*slot) == last
            || schema.fields()[*slot].name() == condition.field
                && narrows_part(&schema.codec(*slot).body, &condition.test)
    };
    let fields = (0..schema.fields().len()).filter(narrows);
    fields.chain(last.filter(|slot| *slot >= schema.fields().len())).collect()
}

/// Returns true if a value test narrows a field for which keys hold a hash or a step.
fn narrows_part(body: &Body, test: &Test) -> bool {
    match body {
        Body::Hashed(_) => test.is_of_whole_values() && !test.is_of_hashes(),
        _ => !test.is_of_presence(),
    }
}

/// A condition's subject: a key field, a column, or both; or a qualifier field.
struct ConditionTarget<'c> {
    slot: Option<usize>,
    column: Option<(usize, &'c Column)>,
    qualifier: bool,
}

fn target_of<'c>(
    schema: &KeySchema,
    columns: Option<&'c ColumnSchema>,
    condition: &Condition,
) -> Result<ConditionTarget<'c>, Fault> {
    let name = &condition.field;
    let of_key = |slot| ConditionTarget { slot, column: None, qualifier: false };
    // In an index template, a field may have a qualifier field's name.
    if condition.qualifier_field().is_some() && schema.slot(name).is_none() {
        return Ok(ConditionTarget { qualifier: true, ..of_key(None) });
    }
    let slot = schema.slot(name);
    let at = columns.and_then(|columns| columns.position(name));
    let Some((columns, at)) = columns.zip(at) else {
        return match slot {
            Some(_) => Ok(of_key(slot)),
            None => Err(Fault::new(condition.at, no_name_message(schema, columns, name))),
        };
    };
    let column = &columns.columns()[at];
    let Some(field) = slot else {
        if let Some(template) = column.template() {
            let message = format!("`{name}` is the name of many columns, and has no single value");
            let field = template.fields().first().map_or("…", Field::name);
            return Err(Fault::new(condition.at, message)
                .hint(format!("ask for fields of their qualifiers: {name}.{field} = …")));
        }
        return Ok(ConditionTarget { column: Some((at, column)), ..of_key(None) });
    };
    let test = &condition.test;
    let codec = schema.codec(field);
    let is_hashed = matches!(codec.body, Body::Hashed(_));
    // No column is needed if the key holds the value, or if the query has the stored hash.
    if !codec.is_lossy() || column.template().is_some() || is_hashed && test.is_of_hashes() {
        return Ok(of_key(slot));
    }
    let narrows = narrows_part(&codec.body, test);
    Ok(ConditionTarget { column: Some((at, column)), ..of_key(slot.filter(|_| narrows)) })
}

/// Returns the error for a name that is neither a key field nor a declared column.
fn no_name_message(schema: &KeySchema, columns: Option<&ColumnSchema>, name: &str) -> String {
    let declared = columns.map(ColumnSchema::columns).unwrap_or_default();
    if declared.is_empty() {
        let message = schema.no_field_message(name);
        return if message.ends_with('?') {
            message
        } else {
            format!(
                "{message}; a query names columns as they are declared: COLUMNS => 'FAMILY:QUALIFIER {name} string'"
            )
        };
    }
    let computed = schema.computed().iter().filter_map(Computed::name);
    let fields: Vec<_> = schema.fields().iter().map(Field::name).chain(computed).collect();
    let columns: Vec<_> = declared.iter().map(Column::name).collect();
    let all = fields.iter().chain(&columns).copied();
    let close = closest(name, all).map(|close| format!("; did you mean `{close}`?"));
    format!(
        "there is no `{name}`{}; fields of the key: {}; columns: {}",
        close.unwrap_or_default(),
        fields.join(", "),
        columns.join(", ")
    )
}

impl FieldConditions {
    pub(super) fn add(
        &mut self,
        codec: &Codec,
        condition: &Condition,
        reader: &ConstantReader<'_>,
    ) -> Result<(), Fault> {
        match (&condition.test, &mut self.set, &codec.body) {
            (Test::Matches(_), ..) => return Err(no_index(condition)),
            (Test::IsNull, ..) => self.never(),
            (Test::IsNotNull, ..) => self.nulls = false,
            (test, Set::Numbers(set), Body::Number(number))
                if test.is_of_parts() && number.digits().is_some() && !number.is_floored() =>
            {
                set.add_digits(number.digits().unwrap_or_default().into(), condition, reader)?;
            }
            (_, Set::Numbers(set), Body::Number(number)) => {
                set.add(&number.domain, condition, reader)?;
            }
            (_, Set::Numbers(set), Body::Shortest(shortest)) => {
                set.add(&shortest.domain, condition, reader)?;
            }
            (_, Set::Bytes(set), body) => set.add(body, condition, reader)?,
            (_, Set::Hashes(_), _) if condition.test.mixes_hashes_and_values() => {
                let message =
                    format!("{} is compared with stored hashes and with values", reader.subject());
                return Err(Fault::new(condition.at, message).hint("a list holds one or the other"));
            }
            (_, Set::Hashes(list), body) => {
                let constants = match &condition.test {
                    Test::Compare(Comparison::Equal, constant) => std::slice::from_ref(constant),
                    Test::OneOf(constants) => constants,
                    _ => return Err(only_a_hash(condition)),
                };
                let mut hashes = Vec::new();
                for constant in constants {
                    hashes.extend(reader.hashes(body, constant)?);
                }
                if let Some(list) = list {
                    hashes.retain_mut(|hash| list.iter().any(|other| hash.meet(other)));
                }
                *list = Some(hashes);
            }
            (_, Set::Numbers(_), _) => {}
        }
        if !matches!(condition.test, Test::IsNull) {
            // A comparison never matches null.
            self.nulls = false;
        }
        Ok(())
    }
}

impl NumberSet {
    /// Adds a test on the first or last decimal digits, for numbers that all have `width` digits.
    fn add_digits(
        &mut self,
        width: u32,
        condition: &Condition,
        reader: &ConstantReader<'_>,
    ) -> Result<(), Fault> {
        let (Test::StartsWith(constant) | Test::EndsWith(constant)) = &condition.test else {
            let message =
                format!("{} is not a domain, `under` is for the type `domain`", reader.subject());
            return Err(Fault::new(condition.at, message));
        };
        let (count, number) = reader.digits(constant)?;
        if count > width {
            self.list = Some(Vec::new());
        } else if matches!(condition.test, Test::EndsWith(_)) {
            self.end_with(LastDigits { count, number });
        } else {
            let rest = 10_i128.pow(width - count);
            self.limit(Comparison::GreaterOrEqual, Point::exact(number * rest));
            self.limit(Comparison::LessOrEqual, Point::exact((number + 1) * rest - 1));
        }
        Ok(())
    }

    fn add(
        &mut self,
        domain: &OrdinalDomain,
        condition: &Condition,
        reader: &ConstantReader<'_>,
    ) -> Result<(), Fault> {
        if !condition.test.is_of_presence() {
            let (least, greatest) = domain.compared();
            self.limit(Comparison::GreaterOrEqual, Point::exact(least));
            self.limit(Comparison::LessOrEqual, Point::exact(greatest));
        }
        match &condition.test {
            Test::Compare(comparison, constant) => {
                self.limit(*comparison, reader.point(domain, constant)?);
            }
            Test::Between(low, high) => {
                self.limit(Comparison::GreaterOrEqual, reader.point(domain, low)?);
                self.limit(Comparison::LessOrEqual, reader.point(domain, high)?);
            }
            Test::OneOf(constants) => {
                let points = constants.iter().map(|constant| reader.point(domain, constant));
                self.keep(points.collect::<Result<_, _>>()?);
            }
            Test::During(constant) => {
                let (start, stop) = reader.interval(domain, constant)?;
                self.limit(Comparison::GreaterOrEqual, start);
                self.limit(Comparison::Less, stop);
            }
            Test::StartsWith(_) | Test::EndsWith(_) | Test::Under(_) => {
                let message = format!("{} is not text", reader.subject());
                return Err(Fault::new(condition.at, message).hint(
                    "`starts with`, `ends with` and `under` are for texts; compare, or use between",
                ));
            }
            Test::Matches(_) => return Err(no_index(condition)),
            Test::IsNull | Test::IsNotNull => {}
        }
        Ok(())
    }
}

impl BytesSet {
    fn add(
        &mut self,
        body: &Body,
        condition: &Condition,
        reader: &ConstantReader<'_>,
    ) -> Result<(), Fault> {
        let fault = |message: &str| {
            Err(Fault::new(condition.at, format!("{} {message}", reader.subject())))
        };
        if let (Body::Sequence(sequence), Test::StartsWith(_) | Test::EndsWith(_) | Test::Under(_)) =
            (body, &condition.test)
            && !sequence.content.has_parts()
        {
            return fault("is not text");
        }
        let is_repeat = matches!(body, Body::Repeat(_));
        match &condition.test {
            Test::Compare(Comparison::Equal, constant) => {
                self.keep(reader.whole(body, constant)?.into_iter().collect());
            }
            Test::OneOf(constants) => {
                let values = constants.iter().map(|constant| reader.whole(body, constant));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                self.keep(values.into_iter().flatten().collect());
            }
            Test::StartsWith(start) => {
                self.push(BytesTest::StartsWith, reader.part(body, start)?);
            }
            Test::Matches(_) => return Err(no_index(condition)),
            Test::During(_) => return fault("is not a time, `during` is for times"),
            _ if is_repeat => return fault("is a list: use =, in or starts with"),
            Test::Compare(comparison, constant) => {
                let constant = reader.part(body, constant)?;
                self.push(|constant| BytesTest::Compare(*comparison, constant), constant);
            }
            Test::Between(low, high) => {
                let low = reader.part(body, low)?;
                let high = reader.part(body, high)?;
                self.push(|low| BytesTest::Compare(Comparison::GreaterOrEqual, low), low);
                self.push(|high| BytesTest::Compare(Comparison::LessOrEqual, high), high);
            }
            Test::EndsWith(end) => {
                self.push(BytesTest::EndsWith, reader.part(body, end)?);
            }
            Test::Under(domain) => match body {
                Body::Sequence(sequence) if sequence.arrangement == Arrangement::Labels => {
                    self.push(BytesTest::Under, reader.part(body, domain)?);
                }
                _ => return fault("is not a domain, `under` is for the type `domain`"),
            },
            Test::IsNull | Test::IsNotNull => {}
        }
        Ok(())
    }
}

impl BytesSet {
    /// Adds a test; if no key can hold the constant, adds one that no value passes.
    fn push(&mut self, test: impl Fn(Vec<u8>) -> BytesTest, constant: Option<Vec<u8>>) {
        match constant {
            Some(constant) => self.tests.push(test(constant)),
            None => self.keep(Vec::new()),
        }
    }
}

/// Returns the error for a search in a plan that no full-text index serves.
fn no_index(condition: &Condition) -> Fault {
    let message = format!("`matches` needs a full-text index of `{}`", condition.field);
    Fault::new(condition.at, message)
}

fn only_a_hash(condition: &Condition) -> Fault {
    let what = if condition.qualifier_field().is_some() { "qualifiers" } else { "keys" };
    let message = format!("{what} hold only a hash of `{}`", condition.field);
    Fault::new(condition.at, message).hint("use = or in")
}
