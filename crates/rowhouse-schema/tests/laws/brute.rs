//! Reference implementations for the properties, without the crate's codecs and planner.

use std::cmp::Ordering;

use rowhouse_schema::{
    Calendar, Decimal, Field, FieldOrder, FieldType, KeySchema, TimeUnit, Value, Values,
};

use crate::draw::Condition;

/// A value in a form that compares as the field's values do.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(crate) enum Rank {
    Bytes(Vec<u8>),
    Number(i128),
    Float(f64),
    Decimal(Decimal),
    List(Vec<Rank>),
}

/// The nanoseconds in a field's unit; 1 if the field is not a time.
pub(crate) fn unit(field_type: &FieldType) -> i128 {
    match field_type {
        FieldType::Time { unit: TimeUnit::Seconds, .. } | FieldType::Calendar(Calendar::Second) => {
            1_000_000_000
        }
        FieldType::Time { unit: TimeUnit::Millis, .. } => 1_000_000,
        FieldType::Time { unit: TimeUnit::Micros, .. } => 1_000,
        FieldType::Foreign(foreign)
            if foreign.name().ends_with("date") || foreign.name().ends_with("time") =>
        {
            1_000_000
        }
        FieldType::Calendar(Calendar::Minute) => 60_000_000_000,
        FieldType::Date | FieldType::Calendar(Calendar::Day) => 86_400_000_000_000,
        _ => 1,
    }
}

pub(crate) fn rank(value: &Value, field_type: &FieldType) -> Rank {
    let unit = unit(field_type);
    match (field_type, value) {
        (FieldType::Enum(labels), Value::Text(label)) => {
            Rank::Number(labels.iter().find(|(known, _)| known == label).unwrap().1.into())
        }
        (_, Value::Text(text)) => Rank::Bytes(text.clone().into_bytes()),
        (_, Value::Bytes(bytes) | Value::Hashed(bytes)) => Rank::Bytes(bytes.clone()),
        (_, Value::Uuid(uuid)) => Rank::Bytes(uuid.as_bytes().to_vec()),
        (_, Value::Ipv4(address)) => Rank::Number(address.to_bits().into()),
        (_, Value::Bool(flag)) => Rank::Number((*flag).into()),
        (_, Value::Float(float)) => Rank::Float(float.get()),
        (_, Value::Decimal(decimal)) => Rank::Decimal(*decimal),
        (_, Value::Time(time)) => Rank::Number(time.as_nanos()),
        (_, Value::Date(date)) => Rank::Number(date.midnight().as_nanos()),
        (_, Value::Unsigned(number)) => Rank::Number((*number as i128).saturating_mul(unit)),
        (_, Value::Signed(number)) => Rank::Number(number.saturating_mul(unit)),
        (FieldType::Repeat(types), Value::List(groups)) => {
            let group = |group: &Value| match (&types[..], group) {
                ([one], value) => Rank::List(vec![rank(value, one)]),
                (more, Value::List(values)) => {
                    Rank::List(more.iter().zip(values).map(|(t, v)| rank(v, t)).collect())
                }
                other => panic!("{other:?}"),
            };
            Rank::List(groups.iter().map(group).collect())
        }
        other => panic!("{other:?}"),
    }
}

/// A floored field's step, in rank units; `None` for other fields.
pub(crate) fn step(field: &Field) -> Option<i128> {
    let words = field.to_string();
    let step = words.split(" floor ").nth(1)?.split(' ').next()?;
    let hour = 3_600_000_000_000;
    Some(match step {
        "10" => 10,
        "1h" => hour,
        "1d" => 24 * hour,
        "7d" => 7 * 24 * hour,
        other => panic!("{other}"),
    })
}

/// Returns true if the decoded value is the given one, or the part that keys hold.
pub(crate) fn is_stored(field: &Field, given: &Value, stored: &Value) -> bool {
    match (given, stored) {
        (Value::Null, stored) => stored.is_null(),
        (_, Value::Hashed(_)) => field.is_hashed(),
        _ if field.is_floored() => {
            let (Rank::Number(given), Rank::Number(stored)) =
                (rank(given, field.field_type()), rank(stored, field.field_type()))
            else {
                return false;
            };
            stored <= given && given < stored + step(field).unwrap()
        }
        _ => rank(given, field.field_type()) == rank(stored, field.field_type()),
    }
}

/// Compares two rows by one field's values; `None` if the field reports no order.
pub(crate) fn compare(
    schema: &KeySchema,
    field: &Field,
    order: FieldOrder,
    a: &Values,
    b: &Values,
) -> Option<Ordering> {
    let x = &a[field.name()];
    let y = &b[field.name()];
    if order == FieldOrder::Ordered {
        return Some(by_value(field, x, y));
    }
    (order == FieldOrder::AsStored).then(|| stored(schema, field, x).cmp(&stored(schema, field, y)))
}

fn by_value(field: &Field, x: &Value, y: &Value) -> Ordering {
    let null_last = field.to_string().ends_with("null last");
    match (x.is_null(), y.is_null()) {
        (true, true) => return Ordering::Equal,
        (true, false) | (false, true) => {
            return if x.is_null() == null_last { Ordering::Greater } else { Ordering::Less };
        }
        (false, false) => {}
    }
    let order = match (x, y) {
        // −0 comes before 0.
        (Value::Float(x), Value::Float(y)) => x.get().total_cmp(&y.get()),
        _ => rank(x, field.field_type()).partial_cmp(&rank(y, field.field_type())).unwrap(),
    };
    if field.is_desc() { order.reverse() } else { order }
}

/// Returns one field's bytes alone, with the literal after it.
fn stored(schema: &KeySchema, field: &Field, value: &Value) -> Vec<u8> {
    let literal = literal_after(schema, field);
    let alone = KeySchema::parse(&format!("x[{field}]{literal}")).unwrap();
    alone.encode(&[(field.name(), value.clone())]).unwrap().to_vec()
}

/// Returns the literal after a field in the template's text.
fn literal_after(schema: &KeySchema, field: &Field) -> String {
    let template = schema.to_string();
    let rest = template.split_once(&format!("[{field}]")).unwrap().1;
    let open = rest.char_indices().find(|(at, c)| *c == '[' && !rest[..*at].ends_with('\\'));
    open.map_or(rest, |(at, _)| &rest[..at]).to_owned()
}

/// Returns the fields and the computed fields' positions, in template order.
pub(crate) fn elements(schema: &KeySchema) -> Vec<Result<Field, usize>> {
    let template = schema.to_string();
    let place = |text: String| template.find(&format!("[{text}]")).unwrap();
    let mut elements: Vec<(usize, Result<Field, usize>)> = Vec::new();
    for field in schema.fields() {
        elements.push((place(field.to_string()), Ok(field.clone())));
    }
    let mut from = 0;
    for (nth, computed) in schema.computed().iter().enumerate() {
        let text = format!("[{computed}]");
        from += template[from..].find(&text).unwrap() + 1;
        elements.push((from - 1, Err(nth)));
    }
    elements.sort_by_key(|(place, _)| *place);
    elements.into_iter().map(|(_, element)| element).collect()
}

/// Compares computed values by their bytes: those less than zero come after all others.
pub(crate) fn compare_computed(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match rank(value, &FieldType::Text) {
        Rank::Number(number @ ..0) => Rank::Number(number + 0x1_0000),
        other => other,
    };
    rank(a).partial_cmp(&rank(b)).unwrap()
}

impl Condition {
    /// Returns true if a row's given value passes.
    pub(crate) fn holds(&self, field: &Field, value: &Value) -> bool {
        let rank = |value| rank(value, field.field_type());
        match self {
            Self::Null => return value.is_null(),
            _ if value.is_null() => return false,
            Self::NotNull => return true,
            _ => {}
        }
        let own = rank(value);
        match self {
            Self::Less(v) => own < rank(v),
            Self::LessOrEqual(v) => own <= rank(v),
            Self::Greater(v) => own > rank(v),
            Self::GreaterOrEqual(v) => own >= rank(v),
            Self::Equal(v) => own == rank(v),
            Self::Between(low, high) => own >= rank(low) && own <= rank(high),
            Self::OneOf(values) => values.iter().any(|v| own == rank(v)),
            Self::StartsWith(start) => match (own, rank(start)) {
                (Rank::Bytes(own), Rank::Bytes(start)) => own.starts_with(&start),
                (Rank::List(own), Rank::List(start)) => own.starts_with(&start),
                other => panic!("{other:?}"),
            },
            Self::EndsWith(end) => match (own, rank(end)) {
                (Rank::Bytes(own), Rank::Bytes(end)) => own.ends_with(&end),
                other => panic!("{other:?}"),
            },
            Self::Under(domain) => {
                let own = value.as_str().unwrap();
                own == domain || own.ends_with(&format!(".{domain}"))
            }
            Self::Null | Self::NotNull => panic!("answered above"),
        }
    }

    /// Returns the constants in the condition.
    fn constants(&self) -> Vec<&Value> {
        match self {
            Self::Less(v)
            | Self::LessOrEqual(v)
            | Self::Greater(v)
            | Self::GreaterOrEqual(v)
            | Self::Equal(v)
            | Self::StartsWith(v)
            | Self::EndsWith(v) => vec![v],
            Self::Between(low, high) => vec![low, high],
            Self::OneOf(values) => values.iter().collect(),
            Self::Under(_) | Self::Null | Self::NotNull => vec![],
        }
    }
}

/// Returns true if some value with the same bytes in the key would pass all conditions on the
/// field.
pub(crate) fn could_hold(
    field: &Field,
    conditions: &[&Condition],
    given: &Value,
    stored: &Value,
) -> bool {
    if field.is_hashed() {
        let hash = |value: &Value| {
            let alone = KeySchema::parse(&format!("x[{field}]")).unwrap();
            let key = alone.encode(&[(field.name(), value.clone())]).ok()?;
            Some(alone.decode(&key).unwrap()[field.name()].clone())
        };
        // The two zeros are equal, but have different hashes.
        let other_zero = |value: &Value| match value {
            Value::Float(float) => Value::from(-float.get()),
            other => other.clone(),
        };
        let has_stored_hash = |value: &Value| {
            let zero = Rank::Float(0.0) == rank(value, field.field_type());
            hash(value).as_ref() == Some(stored)
                || zero && hash(&other_zero(value)).as_ref() == Some(stored)
        };
        return conditions.iter().all(|condition| match condition {
            Condition::Null => false,
            Condition::NotNull => true,
            condition => condition.constants().into_iter().any(has_stored_hash),
        });
    }
    let all_hold = |value: &Value| conditions.iter().all(|condition| condition.holds(field, value));
    let (Some(step), false) = (step(field), stored.is_null()) else { return all_hold(given) };
    let unit = unit(field.field_type());
    let number = |value: &Value| match rank(value, field.field_type()) {
        Rank::Number(number) => number.div_euclid(unit),
        other => panic!("{other:?}"),
    };
    let start = number(stored);
    let len = step / unit.min(step);
    let mut tries: Vec<i128> = vec![start, start + len - 1];
    for constant in conditions.iter().flat_map(|condition| condition.constants()) {
        let near = number(constant);
        tries.extend([near - 1, near, near + 1]);
    }
    tries.iter().any(|number| (start..start + len).contains(number) && all_hold(&(*number).into()))
}
