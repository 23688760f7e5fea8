//! Values made from numbers: for each type, different numbers have different values.

use super::distribution::{Distribution, Draw};
use super::random::{Random, mixed};
use crate::encode::{Calendar, FieldType};
use crate::time::{Date, Time, TimeUnit};
use crate::value::{Float, Uuid, Value};

/// The characters that texts have.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
/// The length for texts and bytes for which a workload declares none.
const LENGTH: u32 = 8;

/// One field's or column's values, made from numbers.
#[derive(Clone, Debug)]
pub(super) struct Maker {
    field_type: FieldType,
    /// The least and the greatest length for texts and bytes.
    length: (u32, u32),
    /// How many characters in a text tell the number.
    digits: u32,
    /// How many different values there are; `None` without a limit.
    count: Option<u64>,
}

impl Maker {
    /// Checks that values with this type can have this distribution.
    ///
    /// # Errors
    /// Says why not.
    pub(super) fn new(field_type: &FieldType, distribution: &Distribution) -> Result<Self, String> {
        let count = match distribution.draw {
            Draw::Values { count, .. } => Some(count),
            Draw::Sequence { .. } | Draw::Random | Draw::Now => None,
        };
        check_draw(field_type, &distribution.draw)?;
        let length = length(field_type, distribution.bytes)?;
        if let (Some(count), Some(most)) = (count, distinct(field_type, length.0))
            && u128::from(count) > most
        {
            return Err(format!("`{field_type}` has fewer values: values={count}, max={most}"));
        }
        let digits = count.map_or(0, |count| digits_of(count.saturating_sub(1)));
        Ok(Self { field_type: field_type.clone(), length, digits, count })
    }

    /// The length that all texts or bytes have, if they have the same.
    pub(super) fn fixed_length(&self) -> Option<u32> {
        let (min, max) = self.length;
        (min == max).then_some(min)
    }

    /// Returns a number's value. `from` and `millis` are when the time over which rows are written
    /// begins, and how long it is, in milliseconds.
    pub(super) fn value(&self, number: u64, (from, millis): (i64, i64)) -> Value {
        let is_listed = self.count.is_some();
        let limited =
            |max: u128| if is_listed { u128::from(number) } else { u128::from(number) % max };
        match &self.field_type {
            FieldType::Text | FieldType::PaddedText { .. } | FieldType::String => {
                Value::Text(self.text(number))
            }
            FieldType::Domain => {
                let site = mixed(number) % 97;
                Value::Text(format!("{}.site{site}.example", self.text(number)))
            }
            FieldType::Blob | FieldType::Bytes { .. } => Value::Bytes(self.bytes(number)),
            FieldType::Hex { upper, .. } => {
                let hex = self.hex(number);
                Value::Text(if *upper { hex.to_uppercase() } else { hex })
            }
            FieldType::Uuid => Value::Uuid(Uuid::new(random_bytes(number))),
            FieldType::Bool => Value::Bool(number % 2 == 1),
            FieldType::Enum(labels) => {
                let count = labels.iter().count().max(1) as u64;
                let label = labels.iter().nth((number % count) as usize);
                Value::Text(label.map_or_else(String::new, |(label, _)| label.to_owned()))
            }
            FieldType::Float { .. } => {
                // Both widths hold a 24-bit number exactly.
                let random = || (mixed(number) >> 40) as f64 / f64::from(1 << 24);
                let float = if is_listed { number as f64 } else { random() };
                Value::Float(Float::from(float))
            }
            FieldType::Time { .. } | FieldType::Calendar(_) | FieldType::Date => {
                self.time(self.millis(number, from, millis))
            }
            field_type => {
                let max = distinct(field_type, LENGTH).unwrap_or(1 << 64);
                let number = limited(max);
                Value::Unsigned(number)
            }
        }
    }

    /// Returns a time, rounded down to the type's precision.
    pub(super) fn time(&self, millis: i64) -> Value {
        let step = precision(&self.field_type);
        match &self.field_type {
            FieldType::Date => {
                let days = i32::try_from(millis.div_euclid(step)).unwrap_or(i32::MAX);
                Value::Date(Date::new(days))
            }
            _ => Value::Time(Time::from_millis(millis.div_euclid(step) * step)),
        }
    }

    /// Returns a time in the span; from a list, one among so many at equal distances, which begin
    /// before the span if it is too short for them.
    fn millis(&self, number: u64, from: i64, millis: i64) -> i64 {
        let Some(count) = self.count else {
            let place = u128::from(mixed(number)) * u128::from(millis.unsigned_abs());
            return from + (place >> 64) as i64;
        };
        let step = (millis / count as i64).max(precision(&self.field_type));
        from + millis - 1 - step * number as i64
    }

    fn text(&self, number: u64) -> String {
        let length = self.length_of(number) as usize;
        let mut random = Random::new(&[number]);
        let digits = (self.digits as usize).min(length);
        let letters = (0..length - digits).map(|_| LETTERS[random.below(36) as usize]);
        let mut text: String = letters.map(char::from).collect();
        let mut places = vec![0; digits];
        let mut rest = number;
        for place in places.iter_mut().rev() {
            *place = (rest % 36) as usize;
            rest /= 36;
        }
        text.extend(places.into_iter().map(|place| char::from(LETTERS[place])));
        text
    }

    fn bytes(&self, number: u64) -> Vec<u8> {
        let length = self.length_of(number) as usize;
        let mut bytes: Vec<u8> = Vec::with_capacity(length + 8);
        let mut random = Random::new(&[number]);
        let number_len = if self.count.is_some() { 8 } else { 0 };
        while bytes.len() + number_len < length {
            bytes.extend(random.next().to_le_bytes());
        }
        bytes.truncate(length.saturating_sub(number_len));
        let number = number.to_be_bytes();
        bytes.extend(&number[8 - number_len.min(length)..]);
        bytes
    }

    fn hex(&self, number: u64) -> String {
        let length = self.length_of(number) as usize;
        let number = match self.count {
            // A list's numbers are spread as hashes are.
            Some(_) if length >= 16 => mixed(number),
            _ => number,
        };
        let digits = format!("{number:016x}");
        let from = digits.len().saturating_sub(length);
        let missing = length.saturating_sub(16);
        let more = random_bytes(number);
        let more: String = more.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}{}", &digits[from..], more.repeat(missing.div_ceil(32)).split_at(missing).0)
    }

    fn length_of(&self, number: u64) -> u32 {
        let (min, max) = self.length;
        min + (mixed(number ^ 0x5EED) % u64::from(max - min + 1)) as u32
    }
}

const DAY_MILLIS: i64 = 86_400_000;

/// Returns the distance between two times with a type, in milliseconds, at least one.
fn precision(field_type: &FieldType) -> i64 {
    match field_type {
        FieldType::Date | FieldType::Calendar(Calendar::Day) => DAY_MILLIS,
        FieldType::Calendar(Calendar::Minute) => 60_000,
        FieldType::Calendar(Calendar::Second) => 1000,
        FieldType::Time { unit: TimeUnit::Seconds, .. } => 1000,
        _ => 1,
    }
}

/// Checks that values with this type can be drawn in this way.
fn check_draw(field_type: &FieldType, draw: &Draw) -> Result<(), String> {
    if matches!(field_type, FieldType::Repeat(_) | FieldType::Foreign(_)) {
        return Err(format!("values of `{field_type}` cannot be made; give a sample of them"));
    }
    let is_number = field_type.domain().is_some_and(|domain| domain.is_integer());
    match draw {
        Draw::Sequence { .. } if !is_number => {
            Err(format!("a sequence is of whole numbers, not of `{field_type}`"))
        }
        Draw::Now if !field_type.is_time() => {
            Err(format!("now is a time, and `{field_type}` is none"))
        }
        _ => Ok(()),
    }
}

/// Returns how short and how long values can be, in bytes.
fn length(field_type: &FieldType, declared: Option<(u32, u32)>) -> Result<(u32, u32), String> {
    let fixed = |width: u32| match declared {
        None => Ok((width, width)),
        Some(_) => Err(format!("the length of `{field_type}` is its width: omit the bytes")),
    };
    match field_type {
        FieldType::Text | FieldType::String | FieldType::Blob | FieldType::Domain => {
            Ok(declared.unwrap_or((LENGTH, LENGTH)))
        }
        FieldType::PaddedText { width, .. } => {
            let width = u32::from(*width);
            let (min, max) = declared.unwrap_or((LENGTH.min(width), LENGTH.min(width)));
            if max > width {
                Err(format!("`{field_type}` is shorter: bytes={max}, max={width}"))
            } else {
                Ok((min, max))
            }
        }
        FieldType::Bytes { width } | FieldType::Hex { width, .. } => fixed((*width).into()),
        _ => match declared {
            None => Ok((LENGTH, LENGTH)),
            Some(_) => Err(format!("values of `{field_type}` have no length to declare")),
        },
    }
}

/// Returns how many different values can be made; `None` if there are more than 2^64.
fn distinct(field_type: &FieldType, length: u32) -> Option<u128> {
    let power = |base: u128, exponent: u32| base.checked_pow(exponent);
    let count = match field_type {
        FieldType::Text | FieldType::PaddedText { .. } | FieldType::String | FieldType::Domain => {
            power(36, length)
        }
        FieldType::Blob | FieldType::Bytes { .. } => power(256, length),
        FieldType::Hex { .. } => power(16, length),
        FieldType::Float { bytes: 4 } => Some(1 << 24),
        FieldType::Float { .. } => Some(1 << 53),
        // Days and minutes stay after 1970.
        FieldType::Date | FieldType::Calendar(_) => Some(20_000),
        FieldType::Time { .. } => Some(1_000_000_000),
        FieldType::Enum(labels) => Some(labels.iter().count() as u128),
        field_type => field_type.domain().map(|domain| domain.max.unsigned_abs() + 1),
    };
    count.filter(|count| *count < 1 << 64)
}

/// Returns how many characters tell numbers up to `last` apart.
fn digits_of(last: u64) -> u32 {
    let mut digits = 1;
    let mut rest = last / 36;
    while rest > 0 {
        digits += 1;
        rest /= 36;
    }
    digits
}

fn random_bytes(number: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&mixed(number).to_be_bytes());
    bytes[8..].copy_from_slice(&mixed(!number).to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::key::KeySchema;

    const TYPES: &[&str] = &[
        "text",
        "text 12",
        "string",
        "blob",
        "domain",
        "decimal",
        "u32",
        "u64",
        "i32",
        "i64",
        "f64",
        "uuid",
        "ipv4",
        "bytes 6",
        "hex 20",
        "hex 4 upper",
        "digits 9",
        "millis",
        "seconds 4",
        "date",
        "ymd",
        "ymdhms",
    ];

    fn maker(type_name: &str, draw: Draw) -> (KeySchema, Maker) {
        let schema = KeySchema::parse(&format!("[x {type_name}]")).unwrap();
        let distribution = Distribution { draw, bytes: None };
        let maker = Maker::new(schema.fields()[0].field_type(), &distribution).unwrap();
        (schema, maker)
    }

    #[test]
    fn numbers_of_a_list_have_different_keys_in_each_type() {
        for name in TYPES {
            let (schema, maker) = maker(name, Draw::Values { count: 3000, zipf: None });
            let value = |number| maker.value(number, (1_700_000_000_000, 86_400_000_000));
            let keys: HashSet<_> =
                (0..3000).map(|n| schema.encode(&[("x", value(n))]).unwrap()).collect();
            assert_eq!(keys.len(), 3000, "{name}");
        }
    }

    #[test]
    fn random_values_fit_each_type() {
        for name in TYPES.iter().chain(&["bool", "enum(a,b,c)", "date", "ymd", "u8", "f32"]) {
            let (schema, maker) = maker(name, Draw::Random);
            for number in (0..100).map(mixed) {
                let value = maker.value(number, (1_700_000_000_000, 86_400_000));
                schema.encode(&[("x", value)]).unwrap();
            }
        }
    }

    #[test]
    fn a_type_with_fewer_values_is_refused() {
        let schema = KeySchema::parse("[x u8]").unwrap();
        let draw = Draw::Values { count: 300, zipf: None };
        let made = Maker::new(schema.fields()[0].field_type(), &Distribution { draw, bytes: None });
        assert_eq!(made.unwrap_err(), "`u8` has fewer values: values=300, max=256");
    }
}
