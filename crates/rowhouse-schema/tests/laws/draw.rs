//! Random templates, values and queries.
//!
//! Texts consist of a few characters around the delimiter bytes; numbers and times are near their
//! domains' ends. Encodings and planners are most likely to fail there.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use rowhouse_schema::{
    Date, Decimal, Field, FieldType, ForeignType, KeySchema, Predicate, Time, Uuid, Value, Values,
};

use crate::words::{COMPUTED, FAMILIES, FOREIGN, LITERALS, MODIFIERS, TYPES};

/// Generates a field with a random type and random modifiers that the type allows.
fn fields() -> impl Strategy<Value = String> {
    let modifiers: Vec<_> = MODIFIERS.iter().map(|group| select(*group)).collect();
    let kinds = prop_oneof![select(TYPES), select(FOREIGN)];
    (kinds, modifiers, any::<bool>()).prop_map(|(kind, modifiers, plain)| {
        let mut field = kind.to_owned();
        for modifier in modifiers.iter().filter(|_| !plain) {
            let longer = format!("{field}{modifier}");
            if KeySchema::parse(&format!("[f {longer}]")).is_ok() {
                field = longer;
            }
        }
        field
    })
}

/// Generates keys from one system, and keys that mix all types.
pub(crate) fn schemas() -> impl Strategy<Value = KeySchema> {
    prop_oneof![1 => of_one_system(), 3 => of_all()]
}

fn of_one_system() -> impl Strategy<Value = KeySchema> {
    let fields = prop::collection::vec(any::<Index>(), 1..5);
    (select(FAMILIES), any::<Index>(), fields).prop_filter_map(
        "some fields are the last",
        |((fronts, types), front, fields)| {
            let field = |(nth, at): (usize, &Index)| format!("[f{nth} {}]", at.get(types));
            let fields: String = fields.iter().enumerate().map(field).collect();
            KeySchema::parse(&format!("{}{fields}", front.get(fronts))).ok()
        },
    )
}

fn of_all() -> impl Strategy<Value = KeySchema> {
    let computed = (select(COMPUTED), any::<Index>(), any::<Index>());
    let piece = (select(LITERALS), computed, fields());
    (prop::collection::vec(piece, 1..4), select(LITERALS), 0..4_usize).prop_filter_map(
        "an open field must end somewhere",
        |(pieces, tail, plain)| {
            let names: Vec<_> = (0..pieces.len()).map(|nth| format!("f{nth}")).collect();
            let mut template = String::new();
            for (nth, (literal, (computed, one, other), field)) in pieces.iter().enumerate() {
                template.push_str(literal);
                if plain < 3 {
                    let one = one.get(&names);
                    let other = other.get(&names);
                    let two = if one == other { one.clone() } else { format!("{one},{other}") };
                    let computed = computed.replace("FF", &two).replace('F', one);
                    template.push_str(&computed.replace('N', &format!("c{nth}")));
                }
                template.push_str(&format!("[{} {field}]", names[nth]));
            }
            template.push_str(tail);
            KeySchema::parse(&template).ok()
        },
    )
}

const CHARS: &[char] = &['a', 'b', '_', '!', '~', '\0', '\u{1}', 'é', '[', '.', ' ', '0'];

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(select(CHARS), 0..4).prop_map(String::from_iter)
}

/// Generates numbers at and around all domains' ends.
fn numbers() -> impl Strategy<Value = i128> {
    let ends = vec![
        0,
        0,
        1,
        9,
        10,
        20,
        99,
        127,
        128,
        255,
        256,
        999,
        32_767,
        65_535,
        -1,
        -128,
        -129,
        -32_768,
        u32::MAX.into(),
        i32::MAX.into(),
        i32::MIN.into(),
        9_999_999_999,
        9_999_999_999_999,
        i64::MAX.into(),
        i64::MIN.into(),
        u64::MAX.into(),
        8_223_372_036_854_775_807,
        10_i128.pow(38) - 1,
        3_600,
        86_400,
        1_669_852_800,
        1_669_852_800_000,
        2_932_896,
        -719_528,
    ];
    (select(ends), -2..3_i128).prop_map(|(end, near)| end + near)
}

const FLOATS: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    0.5,
    1.5,
    -2.5,
    1e300,
    -1e300,
    1e-40,
    f64::INFINITY,
    f64::NEG_INFINITY,
    3.0e38,
    16_777_217.0,
    f64::MAX,
];

/// The pool from which a test case draws values.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    texts: Vec<String>,
    pub(crate) numbers: Vec<i128>,
}

pub(crate) fn pools() -> impl Strategy<Value = Pool> {
    (prop::collection::vec(texts(), 6), prop::collection::vec(numbers(), 8))
        .prop_map(|(texts, numbers)| Pool { texts, numbers })
}

impl Pool {
    /// Returns a value for a field, which the field may be unable to hold.
    pub(crate) fn value(&self, field: &Field, at: &Index) -> Value {
        if field.is_nullable() && at.index(5) == 0 {
            return Value::Null;
        }
        self.of_type(field.field_type(), at)
    }

    pub(crate) fn of_type(&self, field_type: &FieldType, at: &Index) -> Value {
        let number = *at.get(&self.numbers);
        let text = at.get(&self.texts);
        match field_type {
            FieldType::Text | FieldType::String | FieldType::Domain => text.clone().into(),
            FieldType::PaddedText { width, .. } => {
                let mut text = text.clone();
                while text.len() > usize::from(*width) + at.index(2) {
                    text.pop();
                }
                text.into()
            }
            FieldType::Blob => {
                text.as_bytes().iter().map(|byte| byte ^ 0x61).collect::<Vec<_>>().into()
            }
            FieldType::Bytes { width } => resized(text, (*width).into(), at).into(),
            FieldType::Uuid => Uuid::new(resized(text, 16, at).try_into().unwrap()).into(),
            FieldType::Ipv4 => match u32::try_from(number) {
                Ok(bits) => Ipv4Addr::from(bits).into(),
                Err(_) => number.into(),
            },
            FieldType::Hex { width, upper } => {
                let digits = format!("{number:032x}");
                let digits = &digits[digits.len() - usize::from(*width)..];
                if *upper { digits.to_uppercase() } else { digits.to_owned() }.into()
            }
            FieldType::Float { bytes } => float(at, *bytes == 4),
            FieldType::Foreign(foreign) => self.foreign(foreign, at),
            FieldType::Bool => (number % 2 == 0).into(),
            FieldType::Enum(labels) => {
                let labels: Vec<_> = labels.iter().collect();
                at.get(&labels).0.into()
            }
            FieldType::Time { unit, .. } => match i64::try_from(number) {
                Ok(count) => Time::new(count, *unit).into(),
                Err(_) => number.into(),
            },
            FieldType::Date => match i32::try_from(number) {
                Ok(days) => Date::new(days).into(),
                Err(_) => number.into(),
            },
            FieldType::Calendar(_) => number.into(),
            FieldType::Repeat(types) => {
                let groups = (0..at.index(3)).map(|nth| {
                    let of_type = |field_type| match self.of_type(field_type, at) {
                        Value::Unsigned(_) | Value::Signed(_) => {
                            Value::from((number as u8).wrapping_add(nth as u8))
                        }
                        other => other,
                    };
                    match &types[..] {
                        [one] => of_type(one),
                        more => Value::List(more.iter().map(of_type).collect()),
                    }
                });
                Value::List(groups.collect())
            }
            _ => number.into(),
        }
    }
}

impl Pool {
    fn foreign(&self, foreign: &ForeignType, at: &Index) -> Value {
        let number = *at.get(&self.numbers);
        let text = at.get(&self.texts);
        let width = foreign.width().map(usize::from);
        match foreign.name().split_once('.').unwrap().1 {
            "float" | "float32" | "unsigned_float" => float(at, true),
            "double" | "float64" | "unsigned_double" => float(at, false),
            "boolean" | "bool" => (number % 2 == 0).into(),
            "string" | "ordered_string" | "varchar" => text.clone().into(),
            "char" => {
                let mut text = text.clone();
                while text.len() > width.unwrap() + at.index(2) {
                    text.pop();
                }
                text.into()
            }
            "binary" => resized(text, width.unwrap(), at).into(),
            "blob_var" | "blob_copy" | "varbinary" | "bytes" | "ordered_bytes" => {
                text.bytes().map(|byte| byte ^ 0x61).collect::<Vec<_>>().into()
            }
            "uuid" => Uuid::new(resized(text, 16, at).try_into().unwrap()).into(),
            "numeric" | "decimal" => {
                let exponent =
                    *at.get(&[0, 0, 0, -1, -2, -3, 60, 85, 123, 124, 300, -60, -128, -500]);
                Decimal::new(number, exponent).unwrap_or(Decimal::from(7)).into()
            }
            _ => number.into(),
        }
    }
}

fn float(at: &Index, is_single: bool) -> Value {
    let float = *at.get(FLOATS);
    if is_single { (float as f32).into() } else { float.into() }
}

fn resized(text: &str, width: usize, at: &Index) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(width, at.index(256) as u8);
    bytes
}

/// A row: the given values, the key, and the decoded key.
pub(crate) struct Row {
    pub(crate) given: Vec<Value>,
    pub(crate) key: Vec<u8>,
    pub(crate) values: Values,
}

/// Returns the row with these values, if it can be stored.
pub(crate) fn row(schema: &KeySchema, pool: &Pool, at: &[Index]) -> Option<Row> {
    let given: Vec<Value> =
        schema.fields().iter().zip(at).map(|(field, at)| pool.value(field, at)).collect();
    let names = schema.fields().iter().map(|field| field.name().to_owned());
    let pairs: Vec<_> = names.zip(given.iter().cloned()).collect();
    let key = schema.encode_salted(&pairs, at[0].index(1000) as u64).ok()?.to_vec();
    let values = schema.decode(&key).unwrap_or_else(|why| panic!("{schema}: {pairs:?}: {why}"));
    Some(Row { given, key, values })
}

pub(crate) fn rows() -> impl Strategy<Value = Vec<Vec<Index>>> {
    prop::collection::vec(prop::collection::vec(any::<Index>(), 4), 24)
}

/// A condition in the reference implementation.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Less(Value),
    LessOrEqual(Value),
    Greater(Value),
    GreaterOrEqual(Value),
    Equal(Value),
    Between(Value, Value),
    OneOf(Vec<Value>),
    StartsWith(Value),
    EndsWith(Value),
    Under(String),
    Null,
    NotNull,
}

impl Condition {
    pub(crate) fn draw(kind: usize, field: &Field, pool: &Pool, at: &[Index]) -> Self {
        let mut values = at.iter().map(|at| pool.of_type(field.field_type(), at));
        let mut next = || values.next().unwrap();
        let field_type = field.field_type();
        let is_list = matches!(field_type, FieldType::Repeat(_));
        let is_text = matches!(next(), Value::Text(_) | Value::Bytes(_))
            && !matches!(field_type, FieldType::Enum(_) | FieldType::Hex { .. });
        match kind {
            12 => Self::Null,
            13 => Self::NotNull,
            0..=5 if field.is_hashed() => Self::Equal(next()),
            6..=11 if field.is_hashed() => Self::OneOf(vec![next(), next()]),
            0 | 1 if is_list => Self::StartsWith(next()),
            2..=5 if is_list => Self::Equal(next()),
            6..=11 if is_list => Self::OneOf(vec![next(), next()]),
            0 => Self::Less(next()),
            1 => Self::LessOrEqual(next()),
            2 => Self::Greater(next()),
            3 => Self::GreaterOrEqual(next()),
            4 | 5 => Self::Equal(next()),
            6 => Self::Between(next(), next()),
            7 | 8 => Self::OneOf(vec![next(), next(), next()]),
            9 if *field_type == FieldType::Domain => Self::Under(next().to_string()),
            9 | 10 if is_text => Self::StartsWith(next()),
            11 if is_text => Self::EndsWith(next()),
            _ => Self::GreaterOrEqual(next()),
        }
    }

    pub(crate) fn add_to(&self, predicate: Predicate, name: &str) -> Predicate {
        match self {
            Self::Less(v) => predicate.lt(name, v.clone()),
            Self::LessOrEqual(v) => predicate.le(name, v.clone()),
            Self::Greater(v) => predicate.gt(name, v.clone()),
            Self::GreaterOrEqual(v) => predicate.ge(name, v.clone()),
            Self::Equal(v) => predicate.eq(name, v.clone()),
            Self::Between(low, high) => predicate.between(name, low.clone(), high.clone()),
            Self::OneOf(values) => predicate.one_of(name, values.clone()),
            Self::StartsWith(start) => predicate.starts_with(name, start.clone()),
            Self::EndsWith(end) => predicate.ends_with(name, end.clone()),
            Self::Under(domain) => predicate.under(name, domain.clone()),
            Self::Null => predicate.is_null(name),
            Self::NotNull => predicate.is_not_null(name),
        }
    }
}

pub(crate) type Drawn = (Index, usize, Vec<Index>);

pub(crate) fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let condition = (any::<Index>(), 0..14_usize, prop::collection::vec(any::<Index>(), 4));
    prop::collection::vec(condition, 0..4)
}
