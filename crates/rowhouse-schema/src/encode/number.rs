//! Numbers, times, floats, bools and enums: whole numbers from an ordinal domain, in a fixed byte
//! count.

use std::borrow::Cow;

use rowhouse_model::escape;

use super::float;
use super::foreign::OrderBreak;
use super::form::{Form, Shape, digits_of, write_digits};
use super::ordinal_domain::OrdinalDomain;
use super::quick::FastNumber;
use super::{Calendar, FieldType};
use crate::error::KeyMismatch;
use crate::time::TimeUnit;
use crate::transform::{Modifiers, TextForm};
use crate::value::Value;

/// The codec for a whole-number field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) domain: OrdinalDomain,
    /// Keys hold the number rounded down to a multiple of this one.
    step: Option<i128>,
    /// Steps are aligned to local time, which is this many ticks ahead of the numbers.
    phase: i128,
    calendar: Option<Calendar>,
    /// For `desc`: keys hold this number minus the value.
    mirror: Option<i128>,
    form: Form,
    canonical: Canonical,
    quick: Option<FastNumber>,
}

/// A number or time in big-endian bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainNumber {
    /// How many bytes: 1 to 8.
    pub bytes: u8,
    /// True if the number is signed; the sign bit is stored flipped.
    pub signed: bool,
    /// For `desc`: keys hold this number minus the value.
    pub mirror: Option<i128>,
    /// The minimum.
    pub min: i128,
    /// The maximum.
    pub max: i128,
    /// A time's unit.
    pub unit: Option<TimeUnit>,
}

/// A number's encoding without modifiers, which hashes take as input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Canonical {
    /// Big-endian two's complement.
    Integer(u8),
    /// Big-endian IEEE 754.
    Float(u8),
    /// This many decimal digits.
    Digits(u8),
    /// Another system's encoding in ascending order.
    Foreign,
}

/// The greatest time for which `Long.MAX_VALUE - ts` has nineteen digits, so that Java's unpadded
/// text equals ours.
const JAVA_DIGITS_TIME_MAX: i128 = i64::MAX as i128 - 1_000_000_000_000_000_000;

impl Number {
    /// Creates the codec for a type whose values are numbers in an ordinal domain, in this shape
    /// without modifiers. Returns an error for a step that does not fit.
    pub(crate) fn new(
        field_type: &FieldType,
        (mut domain, natural): (OrdinalDomain, Shape),
        modifiers: &Modifiers,
    ) -> Result<Self, String> {
        let mut shape = natural;
        match (modifiers.form, natural) {
            (Some(TextForm::Digits(width)), _) => {
                let width = width.unwrap_or(digits_of(domain.max));
                domain.max = domain.max.min(10_i128.pow(width.into()) - 1);
                shape = Shape::Digits { width };
            }
            (Some(TextForm::Hex), Shape::Binary { bytes, signed }) => {
                shape = Shape::Hex { width: 2 * bytes, signed };
            }
            _ => {}
        }
        let calendar = match field_type {
            FieldType::Calendar(calendar) => Some(*calendar),
            _ => None,
        };
        let mirror = modifiers.desc.then(|| match field_type {
            FieldType::Bool => 255,
            FieldType::Calendar(calendar) => 10_i128.pow(calendar.digits().into()) - 1,
            _ => domain.min + domain.max,
        });
        let is_java = matches!(field_type, FieldType::Time { bytes: 8, .. });
        if mirror.is_some() && is_java && shape == (Shape::Digits { width: 19 }) {
            domain.max = JAVA_DIGITS_TIME_MAX;
        }
        let unit = domain.tick().map(|tick| tick.nanos);
        let step = modifiers.floor.map(|floor| floor.step(unit)).transpose()?;
        let mut phase = 0;
        if let Some(zone) = modifiers.zone {
            let is_calendar = matches!(field_type, FieldType::Date | FieldType::Calendar(_));
            domain = domain.in_zone(zone, is_calendar);
            phase = if is_calendar { 0 } else { zone.nanos() / unit.unwrap_or(1) };
        }
        let canonical = match (field_type, natural) {
            (FieldType::Float { bytes }, _) => Canonical::Float(*bytes),
            (_, Shape::Digits { width }) => Canonical::Digits(width),
            (_, Shape::Binary { bytes, .. } | Shape::Hex { width: bytes, .. }) => {
                Canonical::Integer(bytes)
            }
            (_, Shape::Foreign(_)) => Canonical::Foreign,
        };
        let form = Form { reversed: modifiers.reverse, ..Form::new(shape) };
        let is_plain = step.is_none() && calendar.is_none() && !form.reversed;
        let quick = FastNumber::new(shape, mirror).filter(|_| is_plain);
        Ok(Self { domain, step, phase, calendar, mirror, form, canonical, quick })
    }

    /// Creates the codec for numbers in another system's encoding, where descending order
    /// complements every byte.
    pub(crate) fn foreign(domain: OrdinalDomain, shape: Shape, desc: bool) -> Self {
        let is_flag = matches!(shape, Shape::Foreign(mapping) if mapping.is_flag());
        let mirror = (desc && is_flag).then_some(domain.max);
        let form = Form { flipped: desc && !is_flag, ..Form::new(shape) };
        let quick = FastNumber::new(shape, None).filter(|_| !desc);
        let step = None;
        let calendar = None;
        let canonical = Canonical::Foreign;
        Self { domain, step, phase: 0, calendar, mirror, form, canonical, quick }
    }

    /// Creates the codec for a domain's numbers in a given shape, ascending, for computed fields.
    pub(crate) fn plain(domain: OrdinalDomain, shape: Shape) -> Self {
        let step = None;
        let calendar = None;
        let mirror = None;
        let canonical = Canonical::Integer(8);
        let quick = FastNumber::new(shape, mirror);
        let form = Form::new(shape);
        Self { domain, step, phase: 0, calendar, mirror, form, canonical, quick }
    }

    /// Returns the parameters for the fast path without a domain, if it supports these numbers.
    pub(crate) fn plain_number(&self) -> Option<PlainNumber> {
        let unit = self.domain.plain_unit().filter(|_| self.quick.is_some())?;
        let Shape::Binary { bytes, signed } = self.form.shape else { return None };
        let min = self.domain.min;
        let max = self.domain.max;
        Some(PlainNumber { bytes, signed, mirror: self.mirror, min, max, unit })
    }

    /// Returns the numbers' fast path, if there is one.
    pub(crate) fn quick(&self) -> Option<FastNumber> {
        self.quick
    }

    /// How many bytes, if that is constant.
    pub(crate) fn width(&self) -> Option<usize> {
        self.form.width()
    }

    pub(crate) fn is_desc(&self) -> bool {
        self.mirror.is_some() || self.form.flipped
    }

    /// Returns how many decimal digits there are, if the values are written as so many.
    pub(crate) fn digits(&self) -> Option<u8> {
        match (self.canonical, self.calendar) {
            (Canonical::Digits(width), None) => Some(width),
            _ => None,
        }
    }

    /// Returns true if keys hold the decimal digits with the last one first.
    pub(crate) fn has_last_digit_first(&self) -> bool {
        self.form.reversed && self.digits().is_some()
    }

    /// Returns true if keys come in ascending or descending number order.
    pub(crate) fn is_ordered(&self) -> bool {
        !self.form.reversed && self.order_break().is_none()
    }

    /// Returns the break in the key order, if the encoding puts negative numbers after all others.
    pub(crate) fn order_break(&self) -> Option<OrderBreak> {
        match self.form.shape {
            Shape::Foreign(mapping) => mapping.order_break(),
            Shape::Binary { .. } | Shape::Digits { .. } | Shape::Hex { .. } => None,
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        self.form.shape
    }

    /// Returns true if all digits are about equally likely. Calendar and time digits are not,
    /// unless the last digit comes first.
    pub(crate) fn is_evenly_written(&self) -> bool {
        !self.is_ordered() || self.domain.tick().is_none()
    }

    pub(crate) fn is_floored(&self) -> bool {
        self.step.is_some_and(|step| step > 1)
    }

    pub(crate) fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        self.put(self.domain.number(value)?, out);
        Ok(())
    }

    /// Appends a value's bytes on the fast path; returns false if that is impossible.
    #[inline(always)]
    pub(crate) fn encode_quickly(&self, value: &Value, out: &mut Vec<u8>) -> bool {
        let (Some(quick), Some(number)) = (self.quick, self.domain.quick_number(value)) else {
            return false;
        };
        quick.put(number, out);
        true
    }

    /// Decodes the number at `at` on the fast path, if possible.
    #[inline(always)]
    pub(crate) fn decode_quickly(&self, key: &[u8], at: usize) -> Option<(i128, usize)> {
        let quick = self.quick?;
        let next = at + quick.width();
        let number = quick.read(key.get(at..next)?);
        self.domain.contains(number).then_some((number, next))
    }

    /// Decodes the number at `at`; returns it and the end offset.
    pub(crate) fn decode(&self, key: &[u8], at: usize) -> Result<(i128, usize), KeyMismatch> {
        let bytes = self.form.cut(&key[at..]).map_err(|why| KeyMismatch::new(at, why))?;
        let number = match self.quick {
            Some(quick) => Some(quick.read(bytes)),
            None => self.read(bytes).map_err(|why| KeyMismatch::new(at, why))?,
        };
        match number {
            Some(number) if self.domain.contains(number) && self.floor(number) == number => {
                Ok((number, at + bytes.len()))
            }
            _ => Err(not_a_value(bytes, at)),
        }
    }

    /// Decodes a number; `None` if the calendar has no such day.
    fn read(&self, bytes: &[u8]) -> Result<Option<i128>, Cow<'static, str>> {
        let stored = self.form.read(bytes)?;
        let packed = self.mirror.map_or(stored, |mirror| mirror - stored);
        Ok(match self.calendar {
            Some(calendar) => calendar.unpack(packed),
            None => Some(packed),
        })
    }

    /// Rounds a number in the domain down to the number that keys hold. Numbers below the first
    /// step are rounded down to the minimum.
    pub(crate) fn floor(&self, number: i128) -> i128 {
        match self.step {
            Some(step) => {
                let start = (number + self.phase).div_euclid(step) * step - self.phase;
                start.max(self.domain.min)
            }
            None => number,
        }
    }

    /// Appends the bytes for a number in the domain.
    pub(crate) fn put(&self, number: i128, out: &mut Vec<u8>) {
        match self.quick {
            Some(quick) => quick.put(number, out),
            None => self.put_slowly(number, out),
        }
    }

    fn put_slowly(&self, number: i128, out: &mut Vec<u8>) {
        let number = self.floor(number);
        let packed = self.calendar.map_or(number, |calendar| calendar.pack(number));
        self.form.write(self.mirror.map_or(packed, |mirror| mirror - packed), out);
    }

    /// Appends the number's bytes without modifiers.
    pub(crate) fn put_canonical(&self, number: i128, out: &mut Vec<u8>) {
        match self.canonical {
            Canonical::Integer(bytes) => {
                out.extend_from_slice(&number.to_be_bytes()[16 - usize::from(bytes)..]);
            }
            Canonical::Float(bytes) => {
                let bits = float::bits(number, bytes);
                out.extend_from_slice(&bits.to_be_bytes()[16 - usize::from(bytes)..]);
            }
            Canonical::Digits(width) => {
                let packed = self.calendar.map_or(number, |calendar| calendar.pack(number));
                write_digits(packed.unsigned_abs(), width.into(), out);
            }
            Canonical::Foreign => Form { flipped: false, ..self.form }.write(number, out),
        }
    }

    /// How many different stored numbers there are from `low` to `high`.
    pub(crate) fn count(&self, low: i128, high: i128) -> u128 {
        let step = self.step.unwrap_or(1).unsigned_abs();
        self.floor(high).abs_diff(self.floor(low)).div_ceil(step).saturating_add(1)
    }

    /// Returns one number for each different stored number from `low` to `high`.
    pub(crate) fn each(&self, low: i128, high: i128) -> impl Iterator<Item = i128> {
        let known = move |number: &i128| self.domain.is_known(*number);
        let next = move |number: &i128| self.following(*number).filter(|next| *next <= high);
        std::iter::successors(Some(low).filter(|_| low <= high), next).filter(known)
    }

    /// Returns the next number that is stored differently.
    pub(crate) fn following(&self, number: i128) -> Option<i128> {
        let next = match self.step {
            Some(step) => ((number + self.phase).div_euclid(step) + 1) * step - self.phase,
            None => number + 1,
        };
        (next <= self.domain.max).then_some(next)
    }

    /// Returns the greatest number less than those stored like this one.
    pub(crate) fn preceding(&self, number: i128) -> Option<i128> {
        let floor = self.floor(number);
        (floor > self.domain.min).then(|| floor - 1)
    }
}

#[cold]
fn not_a_value(bytes: &[u8], at: usize) -> KeyMismatch {
    KeyMismatch::new(at, format!("{} is not a value of the field", escape(bytes)))
}
