//! The laws of the template language, over random templates, values, keys and queries.
//!
//! Texts are drawn from a few characters around the delimiters' bytes, numbers and times from the
//! ends of their domains: that is where an encoding or a planner goes wrong.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cmp::Ordering;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use rowhouse_model::escape;
use rowhouse_schema::{
    Field, FieldOrder, FieldType, KeySchema, Predicate, RANGES_MAX, Time, TimeUnit, Value, Values,
};

/// The pieces of templates; `N` is replaced by a name.
const FIELDS: &[&str] = &[
    "[N text]",
    "[N text]",
    "[N text]",
    "[N string]",
    "[N string desc]",
    "[N u8]",
    "[N u8 desc]",
    "[N u24]",
    "[N u64 desc]",
    "[N i8]",
    "[N i16 desc]",
    "[N i64]",
    "[N millis]",
    "[N millis desc]",
    "[N millis digits]",
    "[N millis digits desc]",
    "[N millis digits 13]",
    "[N millis digits 13 desc]",
    "[N micros desc]",
    "[N nanos digits desc]",
    "[N seconds digits 10]",
    "[N seconds 4]",
    "[N seconds 4 desc]",
    "[N seconds 4 digits]",
    "[N digits 1]",
    "[N digits 3 desc]",
    "[N digits 38]",
    "[N u8 digits]",
    "[N u16 digits 2 desc]",
];

const LITERALS: &[&str] = &[
    "",
    "",
    "",
    "_",
    "a",
    "!",
    "~",
    "__",
    "aa",
    "ab",
    "aba",
    r"\x00",
    r"\x00\x00",
    r"\xFF",
    "é",
    r"\[",
];

const CHARS: &[char] = &['a', 'b', '_', '!', '~', '\0', '\u{1}', 'é', '['];

fn schemas() -> impl Strategy<Value = KeySchema> {
    let piece = (select(LITERALS), select(FIELDS));
    (prop::collection::vec(piece, 1..4), select(LITERALS)).prop_filter_map(
        "a text must end somewhere",
        |(pieces, tail)| {
            let mut template = String::new();
            for (nth, (literal, field)) in pieces.iter().enumerate() {
                template.push_str(literal);
                template.push_str(&field.replace('N', &format!("f{nth}")));
            }
            template.push_str(tail);
            KeySchema::parse(&template).ok()
        },
    )
}

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(select(CHARS), 0..4).prop_map(String::from_iter)
}

/// Numbers at the ends of all domains, and a little around them.
fn numbers() -> impl Strategy<Value = i128> {
    let ends = vec![
        0,
        0,
        9,
        10,
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
        9_999_999_999,
        9_999_999_999_999,
        i64::MAX.into(),
        i64::MIN.into(),
        u64::MAX.into(),
        8_223_372_036_854_775_807,
        10_i128.pow(38) - 1,
    ];
    (select(ends), -2..3_i128).prop_map(|(end, near)| end + near)
}

/// What the values of a case are drawn from.
type Pool = (Vec<String>, Vec<i128>);

fn pools() -> impl Strategy<Value = Pool> {
    (prop::collection::vec(texts(), 6), prop::collection::vec(numbers(), 8))
}

fn value(field: &Field, pool: &Pool, at: &Index) -> Value {
    let number = *at.get(&pool.1);
    match field.field_type() {
        FieldType::Text | FieldType::String => at.get(&pool.0).clone().into(),
        FieldType::Time { unit, .. } => match i64::try_from(number) {
            Ok(count) => Time::new(count, unit).into(),
            Err(_) => number.into(),
        },
        _ => number.into(),
    }
}

/// The row of these values, if it can be stored.
fn row(schema: &KeySchema, pool: &Pool, at: &[Index]) -> Option<(Vec<u8>, Values)> {
    let pairs: Vec<_> = schema
        .fields()
        .iter()
        .zip(at)
        .map(|(field, at)| (field.name().to_owned(), value(field, pool, at)))
        .collect();
    let key = schema.encode(&pairs).ok()?.to_vec();
    let values = schema.decode(&key).unwrap_or_else(|why| panic!("{schema}: {pairs:?}: {why}"));
    for (name, value) in &pairs {
        assert_eq!(
            rank(&values[name.as_str()], schema.field(name)),
            rank(value, schema.field(name)),
            "L2 {schema}"
        );
    }
    assert_eq!(values.encode().unwrap(), key, "L1 {schema}");
    Some((key, values))
}

/// A value as something that is compared without the crate's help.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Text(Vec<u8>),
    Number(i128),
}

fn rank(value: &Value, field: Option<&Field>) -> Rank {
    let unit = match field.map(Field::field_type) {
        Some(FieldType::Time { unit: TimeUnit::Seconds, .. }) => 1_000_000_000,
        Some(FieldType::Time { unit: TimeUnit::Millis, .. }) => 1_000_000,
        Some(FieldType::Time { unit: TimeUnit::Micros, .. }) => 1_000,
        _ => 1,
    };
    match value {
        Value::Text(text) => Rank::Text(text.clone().into_bytes()),
        Value::Time(time) => Rank::Number(time.as_nanos()),
        Value::Unsigned(number) => Rank::Number((*number as i128).saturating_mul(unit)),
        Value::Signed(number) => Rank::Number(number.saturating_mul(unit)),
        other => panic!("{other:?}"),
    }
}

/// The literal behind a field in the template's text, as bytes.
fn literal_behind(schema: &KeySchema, field: &Field) -> Vec<u8> {
    let template = schema.to_string();
    let behind = template.split_once(&format!("[{field}]")).unwrap().1;
    let literal = match behind.find('[') {
        Some(at) if behind[..at].ends_with('\\') => return b"[".to_vec(),
        Some(at) => &behind[..at],
        None => behind,
    };
    rowhouse_model::unescape(&literal.replace("\\[", "[")).unwrap()
}

/// How the fields' own report says two rows compare; nothing where it makes no promise.
fn promised(schema: &KeySchema, a: &Values, b: &Values) -> Option<Ordering> {
    for field in schema.fields() {
        let (x, y) = (rank(&a[field.name()], Some(field)), rank(&b[field.name()], Some(field)));
        let order = match field.order() {
            FieldOrder::Ordered => x.cmp(&y),
            FieldOrder::AsStored => {
                let literal = literal_behind(schema, field);
                let stored = |rank| match rank {
                    Rank::Text(text) => [text, literal.clone()].concat(),
                    Rank::Number(_) => panic!("numbers are ordered by value"),
                };
                stored(x).cmp(&stored(y))
            }
            FieldOrder::Unordered => return None,
        };
        match if field.is_desc() { order.reverse() } else { order } {
            Ordering::Equal => {}
            order => return Some(order),
        }
    }
    Some(Ordering::Equal)
}

/// A condition as the brute force understands it.
#[derive(Debug)]
enum Asked {
    Less(Value),
    LessOrEqual(Value),
    Greater(Value),
    GreaterOrEqual(Value),
    Equal(Value),
    Between(Value, Value),
    OneOf(Vec<Value>),
    StartsWith(String),
    Null,
}

impl Asked {
    fn draw(kind: usize, field: &Field, pool: &Pool, at: &[Index]) -> Self {
        let mut values = at.iter().map(|at| value(field, pool, at));
        let mut next = || values.next().unwrap();
        let is_text = matches!(field.field_type(), FieldType::Text | FieldType::String);
        match kind {
            0 => Self::Less(next()),
            1 => Self::LessOrEqual(next()),
            2 => Self::Greater(next()),
            3 => Self::GreaterOrEqual(next()),
            4 | 5 => Self::Equal(next()),
            6 => Self::Between(next(), next()),
            7 | 8 => Self::OneOf(vec![next(), next(), next()]),
            9 => Self::Null,
            _ if is_text => Self::StartsWith(next().to_string()),
            _ => Self::GreaterOrEqual(next()),
        }
    }

    fn ask(&self, predicate: Predicate, name: &str) -> Predicate {
        match self {
            Self::Less(v) => predicate.lt(name, v.clone()),
            Self::LessOrEqual(v) => predicate.le(name, v.clone()),
            Self::Greater(v) => predicate.gt(name, v.clone()),
            Self::GreaterOrEqual(v) => predicate.ge(name, v.clone()),
            Self::Equal(v) => predicate.eq(name, v.clone()),
            Self::Between(low, high) => predicate.between(name, low.clone(), high.clone()),
            Self::OneOf(values) => predicate.one_of(name, values.clone()),
            Self::StartsWith(start) => predicate.starts_with(name, start),
            Self::Null => predicate.is_null(name),
        }
    }

    fn holds(&self, field: &Field, value: &Value) -> bool {
        let rank = |value| rank(value, Some(field));
        let own = rank(value);
        match self {
            Self::Less(v) => own < rank(v),
            Self::LessOrEqual(v) => own <= rank(v),
            Self::Greater(v) => own > rank(v),
            Self::GreaterOrEqual(v) => own >= rank(v),
            Self::Equal(v) => own == rank(v),
            Self::Between(low, high) => own >= rank(low) && own <= rank(high),
            Self::OneOf(values) => values.iter().any(|v| own == rank(v)),
            Self::StartsWith(start) => value.as_str().unwrap().starts_with(start.as_str()),
            Self::Null => false,
        }
    }
}

type Drawn = (Index, usize, Vec<Index>);

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let condition = (any::<Index>(), 0..12_usize, prop::collection::vec(any::<Index>(), 3));
    prop::collection::vec(condition, 0..4)
}

fn rows() -> impl Strategy<Value = Vec<Vec<Index>>> {
    prop::collection::vec(prop::collection::vec(any::<Index>(), 4), 24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn templates_print_what_they_parse(schema in schemas()) {
        prop_assert_eq!(KeySchema::parse(&schema.to_string()).unwrap(), schema);
    }

    /// L1 and, in `row`, L2: whatever bytes fit decode to values that encode to the same bytes.
    #[test]
    fn keys_that_fit_come_back(
        schema in schemas(), pool in pools(), row_at in rows(), noise: Vec<(Index, u8, u8)>,
    ) {
        for (nth, at) in row_at.iter().enumerate() {
            let Some((mut key, _)) = row(&schema, &pool, at) else { continue };
            for (place, kind, byte) in noise.iter().take(nth % 3) {
                let place = place.index(key.len() + 1);
                match kind % 3 {
                    0 => key.insert(place, *byte),
                    1 => { key.truncate(place); }
                    _ => if let Some(at) = key.get_mut(place) { *at = *byte },
                }
            }
            if let Ok(values) = schema.decode(&key) {
                prop_assert_eq!(escape(&values.encode().unwrap()), escape(&key), "{}", &schema);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(
        text in r"([\[\]\\x0-9a-f_ :+T.'=<>(),分é-]|text|digits |desc|and |n = |in )*",
    ) {
        if let Ok(schema) = KeySchema::parse(&format!("[n u8]{text}")) {
            prop_assert_eq!(KeySchema::parse(&schema.to_string()).unwrap(), schema);
        }
        let _ = KeySchema::parse(&text);
        let _ = KeySchema::parse(&format!("[n {text}]"));
        let _ = Predicate::parse(&text);
        let _ = Predicate::parse(&format!("n = {text}"));
        let _ = Time::parse(&text);
        let _ = Time::parse(&format!("2022-12-01T{text}"));
    }

    #[test]
    fn any_bytes_decode_or_are_refused(schema in schemas(), key: Vec<u8>) {
        if let Ok(values) = schema.decode(&key) {
            prop_assert_eq!(values.encode().unwrap(), key);
        }
    }

    /// L3: keys come in the order that the fields report.
    #[test]
    fn keys_are_in_the_order_of_their_fields(schema in schemas(), pool in pools(), at in rows()) {
        let rows: Vec<_> = at.iter().filter_map(|at| row(&schema, &pool, at)).collect();
        for (a, a_values) in &rows {
            for (b, b_values) in &rows {
                if let Some(order) = promised(&schema, a_values, b_values) {
                    prop_assert_eq!(a.cmp(b), order, "{}: {} and {}", &schema, a_values, b_values);
                }
            }
        }
    }

    /// L4: the rows of the ranges that pass the residual are the rows that are asked for.
    #[test]
    fn plans_find_what_is_asked_for(
        schema in schemas(), pool in pools(), at in rows(), drawn in drawn(),
    ) {
        let conditions: Vec<(&Field, Asked)> = drawn.iter().map(|(field, kind, values)| {
            let field = field.get(schema.fields());
            (field, Asked::draw(*kind, field, &pool, values))
        }).collect();
        let predicate = conditions.iter()
            .fold(Predicate::all(), |predicate, (field, asked)| asked.ask(predicate, field.name()));
        let plan = schema.plan(&predicate).unwrap();

        let bounds = plan.ranges().iter().flat_map(|range| [&range.start, &range.stop]);
        let bounds: Vec<_> = bounds.collect();
        let inner = bounds.get(1..bounds.len().saturating_sub(1)).unwrap_or(&[]);
        prop_assert!(inner.windows(2).all(|pair| pair[0] < pair[1]), "{}", &plan);
        prop_assert!(plan.ranges().len() <= RANGES_MAX);

        for (key, values) in at.iter().filter_map(|at| row(&schema, &pool, at)) {
            let asked = conditions.iter()
                .all(|(field, asked)| asked.holds(field, &values[field.name()]));
            let inside = plan.ranges().iter().any(|range| range.contains(&key));
            let found = inside && plan.matches(&values);
            prop_assert_eq!(found, asked, "{}: {} of {}\n{}", &schema, &values, &predicate, &plan);
            prop_assert!(!plan.is_exact() || inside == asked, "not exact\n{}", &plan);
        }
        // A query that was printed asks the same, unless a number of four digits becomes a year.
        if !pool.1.iter().any(|number| (1000..=9999).contains(number)) {
            let again = schema.plan(&Predicate::parse(&predicate.to_string()).unwrap()).unwrap();
            prop_assert_eq!(again.to_string(), plan.to_string(), "{}", predicate);
        }
    }
}
