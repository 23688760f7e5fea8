//! Numbers and times: a domain of whole numbers, in a fixed number of bytes, big-endian or as
//! decimal digits, so that the order of the bytes is the order of the numbers.

use std::borrow::Cow;

use rowhouse_model::escape;

use crate::error::NotFitting;
use crate::field::{FieldType, Modifiers};
use crate::time::{Time, TimeUnit};
use crate::value::Value;

/// The codec of `u8…`, `i8…`, times and `digits N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    kind: Kind,
    /// The least and the greatest number that a key can hold.
    pub(crate) min: i128,
    pub(crate) max: i128,
    /// For `desc`: the number stored is this one minus the value.
    mirror: Option<i128>,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Unsigned,
    Signed,
    Time(TimeUnit),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Big-endian; the sign bit flipped if there is one.
    Binary { bytes: u8, signed: bool },
    /// Decimal digits, zero padded.
    Digits { width: u8 },
}

/// The greatest time for which `Long.MAX_VALUE - ts` still has nineteen digits, so that Java's text,
/// which is not padded, and ours are the same.
const JAVA_DIGITS_TIME_MAX: i128 = i64::MAX as i128 - 1_000_000_000_000_000_000;

impl Number {
    pub(crate) fn new(field_type: FieldType, modifiers: Modifiers) -> Self {
        let (kind, min, mut max, bytes) = match field_type {
            FieldType::Unsigned { bytes } => (Kind::Unsigned, 0, (1 << (8 * bytes)) - 1, bytes),
            FieldType::Signed { bytes } => {
                let half = 1 << (8 * bytes - 1);
                (Kind::Signed, -half, half - 1, bytes)
            }
            FieldType::Time { unit, bytes: 4 } => (Kind::Time(unit), 0, u32::MAX.into(), 4),
            FieldType::Time { unit, bytes } => (Kind::Time(unit), 0, i64::MAX.into(), bytes),
            FieldType::Digits { width } => (Kind::Unsigned, 0, 10_i128.pow(width.into()) - 1, 0),
            FieldType::Text | FieldType::String => unreachable!("texts are not numbers"),
        };
        let mut form = Form::Binary { bytes, signed: kind == Kind::Signed };
        let natural = digits_of(max);
        if let FieldType::Digits { width } = field_type {
            form = Form::Digits { width };
        } else if let Some(digits) = modifiers.digits {
            let width = digits.width.unwrap_or(natural);
            form = Form::Digits { width };
            max = max.min(10_i128.pow(width.into()) - 1);
        }
        let mirror = modifiers.desc.then_some(min + max);
        let java_text = bytes == 8 && matches!(kind, Kind::Time(_));
        if mirror.is_some() && java_text && form == (Form::Digits { width: 19 }) {
            max = JAVA_DIGITS_TIME_MAX;
        }
        Self { kind, min, max, mirror, form }
    }

    pub(crate) fn width(&self) -> usize {
        match self.form {
            Form::Binary { bytes, .. } => bytes.into(),
            Form::Digits { width } => width.into(),
        }
    }

    pub(crate) fn is_desc(&self) -> bool {
        self.mirror.is_some()
    }

    /// The unit, if the field is a time.
    pub(crate) fn unit(&self) -> Option<TimeUnit> {
        match self.kind {
            Kind::Time(unit) => Some(unit),
            Kind::Unsigned | Kind::Signed => None,
        }
    }

    /// How many values there are, as far as that fits.
    pub(crate) fn count(&self) -> u128 {
        self.max.abs_diff(self.min).saturating_add(1)
    }

    pub(crate) fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        let number = self.number_of(value)?;
        if number < self.min || number > self.max {
            return Err(self.outside(value, number));
        }
        self.put(number, out);
        Ok(())
    }

    pub(crate) fn decode(&self, key: &[u8], at: usize) -> Result<(Value, usize), NotFitting> {
        let bytes = key[at..].get(..self.width()).ok_or_else(|| {
            let why = format!("needs {} bytes, {} are left", self.width(), key.len() - at);
            NotFitting::new(at, why)
        })?;
        let stored = self.stored(bytes).map_err(|why| NotFitting::new(at, why))?;
        let number = self.mirror.map_or(stored, |mirror| mirror - stored);
        if number < self.min || number > self.max {
            let why = format!("{} is no value of the field", escape(bytes));
            return Err(NotFitting::new(at, why));
        }
        Ok((self.value(number), at + self.width()))
    }

    /// Appends the bytes of a number of the domain.
    pub(crate) fn put(&self, number: i128, out: &mut Vec<u8>) {
        debug_assert!((self.min..=self.max).contains(&number));
        let stored = self.mirror.map_or(number, |mirror| mirror - number);
        match self.form {
            Form::Binary { bytes, signed } => {
                let sign = if signed { 1_i128 << (8 * bytes - 1) } else { 0 };
                out.extend_from_slice(&(stored ^ sign).to_be_bytes()[16 - bytes as usize..]);
            }
            Form::Digits { width } => {
                out.extend_from_slice(
                    format!("{stored:0width$}", width = width as usize).as_bytes(),
                );
            }
        }
    }

    /// The number that bytes of the right length stand for, before `desc` is taken back.
    fn stored(&self, bytes: &[u8]) -> Result<i128, Cow<'static, str>> {
        match self.form {
            Form::Binary { signed, .. } => {
                let number = bytes.iter().fold(0, |number, &byte| number << 8 | i128::from(byte));
                Ok(if signed { number - (1 << (8 * bytes.len() - 1)) } else { number })
            }
            Form::Digits { width } => {
                if !bytes.iter().all(u8::is_ascii_digit) {
                    return Err(format!("{} is not {width} digits", escape(bytes)).into());
                }
                Ok(bytes.iter().fold(0, |number, &digit| number * 10 + i128::from(digit - b'0')))
            }
        }
    }

    /// The value of a number of the domain.
    pub(crate) fn value(&self, number: i128) -> Value {
        match self.kind {
            Kind::Unsigned => Value::Unsigned(number.unsigned_abs()),
            Kind::Signed => Value::Signed(number),
            Kind::Time(unit) => Value::Time(Time::from_nanos(number * unit.nanos())),
        }
    }

    /// The number that a value stands for, in the domain or not.
    fn number_of(&self, value: &Value) -> Result<i128, String> {
        let time = match (self.kind, value) {
            (Kind::Time(_), Value::Time(time)) => Some(*time),
            (Kind::Time(_), Value::Text(text)) => {
                Some(Time::parse(text).map_err(|error| error.to_string())?)
            }
            _ => None,
        };
        match (self.kind, time) {
            (Kind::Time(unit), Some(time)) if time.as_nanos() % unit.nanos() != 0 => {
                Err(format!("holds {}, the value is finer: value={time}", unit.word()))
            }
            (Kind::Time(unit), Some(time)) => Ok(time.as_nanos() / unit.nanos()),
            _ => value.as_integer().ok_or_else(|| {
                let what = if self.unit().is_some() { "time" } else { "number" };
                format!("takes a {what}, not {}", value.described())
            }),
        }
    }

    fn outside(&self, value: &Value, number: i128) -> String {
        let (min, max) = (self.min, self.max);
        match self.kind {
            Kind::Time(unit) if number < 0 => format!(
                "a time before 1970 cannot be held, use i64 for a number of {unit}: \
                 value={value}, {unit}={number}",
                unit = unit.word()
            ),
            Kind::Time(unit) => format!(
                "value out of range: value={value}, {}={number}, min={min}, max={max}",
                unit.word()
            ),
            Kind::Unsigned | Kind::Signed => {
                format!("value out of range: value={value}, min={min}, max={max}")
            }
        }
    }
}

/// How many decimal digits a number has that is not negative.
fn digits_of(number: i128) -> u8 {
    number.checked_ilog10().map_or(1, |log| log as u8 + 1)
}

/// Whether a bare word for a time is a count of its units: a year has four digits.
pub(crate) fn is_count(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    digits.bytes().all(|c| c.is_ascii_digit()) && (digits.len() != 4 || digits != word)
}

/// A whole number; one that is too large for any domain becomes the largest there is.
pub(crate) fn integer(word: &str) -> Option<i128> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().unwrap_or(i128::MAX);
    Some(if negative { -size } else { size })
}
