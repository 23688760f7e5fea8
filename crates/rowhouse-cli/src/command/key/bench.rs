//! `rowhouse key TEMPLATE bench`: measures how fast a key is encoded and decoded.

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use rowhouse::key::{Calendar, FieldType, Holds, KeySchema, Uuid};
use rowhouse::{Error, Result, Value};
use serde_json::json;

use super::outcome::{KeyResult, Outcome};

/// Keys per pass, large enough that the branch predictor does not learn them.
const KEYS: usize = 1_000;
/// How many attempts are made to draw values for a key before the template is given up.
const DRAWS_MAX: u32 = 64;
/// The fastest pass over all keys within this time counts.
const MEASURED: Duration = Duration::from_millis(300);

/// Draws values, encodes and decodes keys, and prints the time for one.
pub(super) fn run(schema: &KeySchema, json: bool, out: &mut dyn Write) -> KeyResult {
    let mut random = Random(0x726f_7768_6f75_7365);
    let rows: Vec<Row> = (0..KEYS).map(|_| row(schema, &mut random)).collect::<Result<_>>()?;
    let bytes = rows.iter().map(|row| row.key.len()).sum::<usize>() as f64 / KEYS as f64;

    let mut key = Vec::new();
    let encode = quickest(|| {
        for row in &rows {
            key.clear();
            // Values that were encoded once can be encoded again.
            let made = if schema.has_salt() {
                schema.encode_salted(&row.named, row.salt).map(|made| {
                    black_box(made);
                })
            } else {
                schema.encode_values(&row.values, &mut key)
            };
            black_box((made.is_ok(), &key));
        }
    });
    let mut values = Vec::new();
    let decode = quickest(|| {
        for row in &rows {
            black_box((schema.decode_into(&row.key, &mut values).is_ok(), &values));
        }
    });
    if json {
        let document = json!({ "encode_ns": encode, "decode_ns": decode, "key_bytes": bytes });
        writeln!(out, "{document}")?;
    } else {
        writeln!(out, "encode {encode:7.1} ns")?;
        writeln!(out, "decode {decode:7.1} ns")?;
        writeln!(out, "a key  {bytes:7.1} bytes")?;
    }
    Ok(Outcome::Fine)
}

/// Returns the nanoseconds per key in the fastest pass among many.
fn quickest(mut pass: impl FnMut()) -> f64 {
    let started = Instant::now();
    let mut quickest = Duration::MAX;
    while started.elapsed() < MEASURED {
        let before = Instant::now();
        pass();
        quickest = quickest.min(before.elapsed());
    }
    quickest.as_secs_f64() * 1e9 / KEYS as f64
}

/// Values, and their key.
struct Row {
    values: Vec<Value>,
    named: Vec<(String, Value)>,
    salt: u64,
    key: Vec<u8>,
}

/// Draws values that the template can hold.
fn row(schema: &KeySchema, random: &mut Random) -> Result<Row> {
    let mut refused = Error::invalid("no values were drawn");
    for draw in 0..DRAWS_MAX {
        let fields = schema.fields().iter();
        let named: Vec<(String, Value)> = fields
            .map(|field| {
                let drawn = match field.field_type() {
                    FieldType::Foreign(_) => value_held(&field.needs(), draw, random),
                    native => value(native, draw, random),
                };
                (field.name().to_owned(), drawn)
            })
            .collect();
        let salt = random.next();
        match schema.encode_salted(&named, salt) {
            Ok(key) => {
                let values = named.iter().map(|(_, value)| value.clone()).collect();
                return Ok(Row { values, named, salt, key: key.to_vec() });
            }
            Err(error) => refused = error,
        }
    }
    Err(refused.with_context("no random values fit the template"))
}

/// Draws a value for a type: times in this century, texts with 4 to 12 letters, small and large
/// numbers. Later attempts draw smaller ones, for fields with a narrow domain.
fn value(field_type: &FieldType, draw: u32, random: &mut Random) -> Value {
    let len = 4 + random.below(9);
    let number = random.next() >> draw.max(random.below(64) as u32).min(63);
    match field_type {
        FieldType::Text | FieldType::String => random.letters(len).into(),
        FieldType::PaddedText { width, .. } => random.letters(len.min((*width).into())).into(),
        FieldType::Domain => {
            let parts = [random.letters(3), random.letters(6), "example.com".into()];
            parts.join(".").into()
        }
        FieldType::Blob => random.bytes(len).into(),
        FieldType::Bytes { width } => random.bytes((*width).into()).into(),
        FieldType::Uuid => {
            let high = random.next().to_be_bytes();
            let low = random.next().to_be_bytes();
            Uuid::new(std::array::from_fn(|at| if at < 8 { high[at] } else { low[at - 8] })).into()
        }
        FieldType::Hex { width, upper } => {
            let digits = random.bytes((*width).into());
            let digit = |byte: &u8| char::from_digit((byte % 16).into(), 16).unwrap_or('0');
            let digits: String = digits.iter().map(digit).collect();
            if *upper { digits.to_uppercase() } else { digits }.into()
        }
        FieldType::Float { bytes: 4 } => (number as u32 as f32 / 7.0).into(),
        FieldType::Float { .. } => (number as f64 / 7.0).into(),
        FieldType::Bool => number.is_multiple_of(2).into(),
        FieldType::Enum(labels) => {
            let labels: Vec<_> = labels.iter().collect();
            labels[random.below(labels.len())].0.into()
        }
        FieldType::Time { .. } | FieldType::Calendar(_) => {
            let second = 1_577_836_800 + random.below(300_000_000) as i64;
            rowhouse::key::Time::from_millis((second >> draw) * 1_000).into()
        }
        FieldType::Date => rowhouse::key::Date::new(random.below(40_000) as i32).into(),
        FieldType::Repeat(types) => {
            let group = |random: &mut Random| match &types[..] {
                [one] => value(one, draw, random),
                more => Value::List(more.iter().map(|one| value(one, draw, random)).collect()),
            };
            Value::List((0..2).map(|_| group(random)).collect())
        }
        _ => number.into(),
    }
}

/// Draws a value for a foreign type, according to the Rust type that can hold the values.
fn value_held(needed: &[Holds], draw: u32, random: &mut Random) -> Value {
    let len = 4 + random.below(9);
    match needed.first() {
        Some(Holds::Text) => random.letters(len).into(),
        Some(Holds::Bytes) => random.bytes(len).into(),
        Some(Holds::Array { len }) => random.bytes(*len).into(),
        Some(Holds::Bool) => value(&FieldType::Bool, draw, random),
        Some(Holds::Uuid) => value(&FieldType::Uuid, draw, random),
        Some(Holds::Date) => value(&FieldType::Date, draw, random),
        Some(Holds::Time) => value(&FieldType::Calendar(Calendar::Second), draw, random),
        Some(Holds::Float { bytes }) => value(&FieldType::Float { bytes: *bytes }, draw, random),
        _ => (random.next() >> draw.max(random.below(64) as u32).min(63)).into(),
    }
}

/// A generator with the same numbers in every run: splitmix64, by Vigna.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to, not including, `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    fn letters(&mut self, len: usize) -> String {
        (0..len).map(|_| char::from(b'a' + self.below(26) as u8)).collect()
    }
}
