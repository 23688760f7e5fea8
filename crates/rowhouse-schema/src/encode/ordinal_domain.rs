//! Ordinal domains map numbers, times, floats, bools and enums to whole numbers in the same order,
//! and back.

use std::borrow::Cow;
use std::net::Ipv4Addr;

use crate::error::Fault;
use crate::time::{Date, FixedZone, Time, TimeLiteral, TimeUnit, TimeZone, calendar_digits};
use crate::value::Value;

use super::float;
use super::labels::Labels;
use super::point::Point;
use super::{Calendar, Holds};

/// A field's whole numbers: their meaning, the minimum and the maximum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OrdinalDomain {
    kind: Kind,
    pub(crate) min: i128,
    pub(crate) max: i128,
    /// The times' zone, if the field names one.
    zone: Option<FixedZone>,
    /// How many nanoseconds the calendar that the numbers count is ahead of UTC; 0 if they count
    /// instants.
    ahead: i128,
    /// The same in ticks, for times stored as calendar digits.
    ticks_ahead: i128,
}

/// The form in which decoding returns a domain's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueForm {
    /// The declared value: for a time field, the time.
    Own,
    /// The number: for a time field, the unit count.
    Number,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Unsigned,
    Signed,
    /// Floats with this many bytes, in order.
    Float(u8),
    Bool,
    Label(Labels),
    /// The numbers up to this one, and the domain's maximum.
    Stray(i128),
    Time(Tick),
    Day,
    Ipv4,
}

/// A unit in which time is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tick {
    pub(crate) nanos: i128,
    pub(crate) word: &'static str,
}

impl Tick {
    /// Returns the template unit with this length, if there is one.
    fn unit(self) -> Option<TimeUnit> {
        let units = [TimeUnit::Seconds, TimeUnit::Millis, TimeUnit::Micros, TimeUnit::Nanos];
        units.into_iter().find(|unit| unit.nanos() == self.nanos)
    }

    /// Converts nanoseconds to ticks, if they make a whole number of ticks.
    #[inline]
    fn count(self, nanos: i128) -> Option<i128> {
        count_ticks(nanos, self.nanos)
    }
}

/// Converts nanoseconds to ticks with a given length, if they make a whole number of ticks.
#[inline]
pub(crate) fn count_ticks(nanos: i128, tick: i128) -> Option<i128> {
    // 64-bit division by a constant is many times as fast as 128-bit division; it covers 1677 to
    // 2262.
    let Ok(near) = i64::try_from(nanos) else {
        return (nanos % tick == 0).then(|| nanos / tick);
    };
    let count = match tick {
        1_000_000 => near / 1_000_000,
        1_000_000_000 => near / 1_000_000_000,
        1_000 => near / 1_000,
        tick => near / tick as i64,
    };
    (i128::from(count) * tick == nanos).then_some(count.into())
}

const DAY: Tick = Tick { nanos: 86_400_000_000_000, word: "days" };

/// The first and the last day of years 0000 to 9999, counted from 1970.
const CALENDAR_DAYS: (i128, i128) = (-719_528, 2_932_896);

impl OrdinalDomain {
    /// Returns the same domain in a zone. Counts since 1970 are the same in every zone; days and
    /// calendar digits follow the zone.
    pub(crate) fn in_zone(self, zone: FixedZone, is_calendar: bool) -> Self {
        let ahead = if is_calendar { zone.nanos() } else { 0 };
        let ticks_ahead = match self.kind {
            Kind::Time(tick) => ahead / tick.nanos,
            _ => 0,
        };
        Self { zone: Some(zone), ahead, ticks_ahead, ..self }
    }

    /// Returns the zone for times without one: the field's zone, or else the given one.
    pub(crate) fn zone_or<'z>(&self, given: &'z TimeZone) -> Cow<'z, TimeZone> {
        match self.zone {
            Some(zone) => Cow::Owned(zone.time_zone()),
            None => Cow::Borrowed(given),
        }
    }

    fn new_in_utc(kind: Kind, min: i128, max: i128) -> Self {
        Self { kind, min, max, zone: None, ahead: 0, ticks_ahead: 0 }
    }

    /// Returns the whole-number domain from `min` to `max`.
    pub(crate) fn integers(min: i128, max: i128) -> Self {
        Self::new_in_utc(Kind::Signed, min, max)
    }

    /// Returns the domain for floats with `bytes` bytes.
    pub(crate) fn floats(bytes: u8) -> Self {
        let (min, max) = float::ends(bytes);
        Self::new_in_utc(Kind::Float(bytes), min, max)
    }

    /// Returns the same domain, with NaNs at both ends.
    pub(crate) fn floats_and_nans(bytes: u8) -> Self {
        let (min, max) = float::ends_with_nans(bytes);
        Self { min, max, ..Self::floats(bytes) }
    }

    /// The least and greatest number that a comparison can match: all but NaNs.
    pub(crate) fn compared(&self) -> (i128, i128) {
        let (least, greatest) = match self.kind {
            Kind::Float(bytes) => float::ends(bytes),
            _ => (self.min, self.max),
        };
        (self.min.max(least), self.max.min(greatest))
    }

    /// Returns the domain for floats from positive zero on.
    pub(crate) fn positive_floats(bytes: u8) -> Self {
        Self { min: float::zero(bytes), ..Self::floats(bytes) }
    }

    /// Returns the domain that counts a time unit since 1970, from `min` to `max`.
    pub(crate) fn times(unit: TimeUnit, min: i128, max: i128) -> Self {
        Self::new_in_utc(Kind::of(unit), min, max)
    }

    /// Returns the domain that counts the days since 1970 in four bytes.
    pub(crate) fn days() -> Self {
        Self::new_in_utc(Kind::Day, i32::MIN.into(), i32::MAX.into())
    }

    /// Returns the domain for times in the years 0000 to 9999, in the digits' precision.
    pub(crate) fn calendar(calendar: Calendar) -> Self {
        let (kind, per_day) = match calendar {
            Calendar::Day => (Kind::Day, 1),
            Calendar::Minute => {
                (Kind::Time(Tick { nanos: 60_000_000_000, word: "minutes" }), 1_440)
            }
            Calendar::Second => (Kind::of(TimeUnit::Seconds), 86_400),
        };
        let (first, last) = CALENDAR_DAYS;
        Self::new_in_utc(kind, first * per_day, (last + 1) * per_day - 1)
    }

    /// Returns the domain for IPv4 addresses.
    pub(crate) fn ipv4() -> Self {
        Self::new_in_utc(Kind::Ipv4, 0, u32::MAX.into())
    }

    /// Returns the domain for false and true.
    pub(crate) fn bools() -> Self {
        Self::new_in_utc(Kind::Bool, 0, 1)
    }

    /// Returns the domain for the numbers from 0 to `max`.
    pub(crate) fn up_to(max: i128) -> Self {
        Self::new_in_utc(Kind::Unsigned, 0, max)
    }

    /// Returns the domain for the numbers from 0 to `last`, and for `stray`, which may be greater.
    pub(crate) fn up_to_and(last: u32, stray: i128) -> Self {
        let last = last.into();
        Self::new_in_utc(Kind::Stray(last), 0, stray.max(last))
    }

    /// Returns the domain for an alphabet's characters.
    pub(crate) fn of_labels(labels: Labels) -> Self {
        Self::new_in_utc(Kind::Label(labels), 0, 255)
    }

    /// The unit, if values count time.
    pub(crate) fn tick(&self) -> Option<Tick> {
        match self.kind {
            Kind::Time(tick) => Some(tick),
            Kind::Day => Some(DAY),
            _ => None,
        }
    }

    /// Returns true if values are labels.
    pub(crate) fn has_labels(&self) -> bool {
        matches!(self.kind, Kind::Label(_))
    }

    /// Returns true if a number has a value.
    #[inline]
    pub(crate) fn contains(&self, number: i128) -> bool {
        self.min <= number && number <= self.max && self.is_known(number)
    }

    /// Returns true if a number between the minimum and the maximum has a value: not all have in an
    /// enum.
    pub(crate) fn is_known(&self, number: i128) -> bool {
        match &self.kind {
            Kind::Label(labels) => labels.label(number as u8).is_some(),
            Kind::Stray(last) => number <= *last || number == self.max,
            _ => true,
        }
    }

    /// Returns the value that a number in the domain has.
    #[inline]
    pub(crate) fn value(&self, number: i128) -> Value {
        match &self.kind {
            Kind::Unsigned | Kind::Stray(_) => Value::Unsigned(number.unsigned_abs()),
            Kind::Signed => Value::Signed(number),
            Kind::Float(bytes) => Value::Float(float::value(number, *bytes).into()),
            Kind::Bool => Value::Bool(number != 0),
            Kind::Label(labels) => labels.value(number as u8),
            Kind::Time(tick) => Value::Time(Time::from_nanos(number * tick.nanos - self.ahead)),
            Kind::Day => Value::Date(Date::new(number as i32)),
            Kind::Ipv4 => Value::Ipv4((number as u32).into()),
        }
    }

    /// Returns the value that a number in the domain has in a form: the declared value, or the
    /// number itself.
    #[inline]
    pub(crate) fn value_as(&self, number: i128, form: ValueForm) -> Value {
        match form {
            ValueForm::Own => self.value(number),
            ValueForm::Number => Value::Signed(number - self.ticks_ahead),
        }
    }

    /// Returns the number for a value that is a whole number, if it is in the domain.
    #[inline(always)]
    pub(crate) fn whole_number(&self, value: &Value) -> Option<i128> {
        let number = match value {
            Value::Signed(number) => *number,
            Value::Unsigned(number) => i128::try_from(*number).ok()?,
            _ => return None,
        };
        (self.min <= number && number <= self.max).then_some(number)
    }

    /// Returns the number for a value of the field's own kind, if it is one and in the domain.
    #[inline(always)]
    pub(crate) fn quick_number(&self, value: &Value) -> Option<i128> {
        let number = match (&self.kind, value) {
            (Kind::Unsigned | Kind::Signed | Kind::Time(_), Value::Signed(number)) => {
                number.checked_add(self.ticks_ahead)?
            }
            (Kind::Unsigned | Kind::Signed | Kind::Time(_), Value::Unsigned(number)) => {
                i128::try_from(*number).ok()?.checked_add(self.ticks_ahead)?
            }
            (Kind::Time(tick), Value::Time(time)) => tick.count(time.as_nanos() + self.ahead)?,
            (Kind::Day, Value::Date(date)) => date.days().into(),
            (Kind::Float(bytes), Value::Float(float)) => float::number(float.get(), *bytes).ok()?,
            (Kind::Bool, Value::Bool(flag)) => (*flag).into(),
            (Kind::Ipv4, Value::Ipv4(address)) => address.to_bits().into(),
            _ => return None,
        };
        (self.min <= number && number <= self.max).then_some(number)
    }

    /// Returns the number for a value; an error if it is not in the domain.
    pub(crate) fn number(&self, value: &Value) -> Result<i128, String> {
        if let Some(number) = self.quick_number(value) {
            return Ok(number);
        }
        let number = match (&self.kind, value) {
            (Kind::Float(bytes), Value::Float(float)) => float::number(float.get(), *bytes)?,
            _ => self.exactly(value)?,
        };
        if number < self.min || number > self.max {
            if matches!(value, Value::Float(float) if float.get().is_nan()) {
                return Err("NaN has no order and cannot be stored".to_owned());
            }
            return Err(self.outside(value, number));
        }
        Ok(number)
    }

    fn exactly(&self, value: &Value) -> Result<i128, String> {
        let point = self.point(value, &TimeZone::UTC)?;
        if point.low > point.high {
            return Err(match self.tick() {
                Some(tick) => {
                    let time = self.time(value, &TimeZone::UTC)?.map_or(value.clone(), Value::from);
                    format!("holds {}, the value is more precise: value={time}", tick.word)
                }
                None => format!("cannot hold the value exactly: value={value}"),
            });
        }
        // A whole zero means the greater float zero.
        Ok(point.high)
    }

    /// Returns a value's position, which need not be in the domain.
    pub(crate) fn point(&self, value: &Value, zone: &TimeZone) -> Result<Point, String> {
        match (&self.kind, value) {
            (Kind::Float(bytes), Value::Float(float)) => float::point(float.get(), *bytes),
            (Kind::Float(bytes), _) => {
                let number = value.as_integer().ok_or_else(|| self.wrong(value))?;
                Ok(float::integer_point(number, *bytes))
            }
            (Kind::Bool, Value::Bool(flag)) => Ok(Point::exact((*flag).into())),
            (Kind::Ipv4, Value::Ipv4(address)) => Ok(Point::exact(address.to_bits().into())),
            (Kind::Ipv4, Value::Text(text)) => match text.parse::<Ipv4Addr>() {
                Ok(address) => Ok(Point::exact(address.to_bits().into())),
                Err(_) => Err(format!("not an IPv4 address: text='{}'", text.escape_debug())),
            },
            (Kind::Ipv4, _) => match value.as_integer() {
                Some(number) => Ok(Point::exact(number)),
                None => Err(self.wrong(value)),
            },
            (Kind::Label(labels), Value::Text(label)) => match labels.byte(label) {
                Some(byte) => Ok(Point::exact(byte.into())),
                None => Err(labels.unknown(label)),
            },
            (Kind::Time(_) | Kind::Day, _) => match self.time(value, zone)? {
                Some(time) => Ok(self.point_of(time)),
                None => match value.as_integer() {
                    Some(count) => Ok(Point::exact(count.saturating_add(self.ticks_ahead))),
                    None => Err(self.wrong(value)),
                },
            },
            (Kind::Unsigned | Kind::Signed | Kind::Stray(_), Value::Float(float)) => {
                Ok(float::whole_point(float.get()))
            }
            (Kind::Unsigned | Kind::Signed | Kind::Stray(_) | Kind::Bool | Kind::Label(_), _) => {
                value
                    .as_integer()
                    .filter(|_| self.is_integer())
                    .map(Point::exact)
                    .ok_or_else(|| self.wrong(value))
            }
        }
    }

    /// Returns an instant's position in a time domain.
    pub(crate) fn point_of(&self, time: Time) -> Point {
        let unit = self.tick().map_or(1, |tick| tick.nanos);
        let nanos = time.as_nanos() + self.ahead;
        let floor = nanos.div_euclid(unit);
        match nanos.rem_euclid(unit) {
            0 => Point::exact(floor),
            _ => Point::after(floor),
        }
    }

    /// Returns a value's instant, if it is one.
    fn time(&self, value: &Value, zone: &TimeZone) -> Result<Option<Time>, String> {
        match value {
            Value::Text(text) => {
                let time = Time::parse_in(text, &self.zone_or(zone));
                time.map(Some).map_err(|error| error.to_string())
            }
            Value::Date(date) => {
                let offset = self.zone.map_or(0, FixedZone::nanos);
                Ok(Some(Time::from_nanos(date.midnight().as_nanos() - offset)))
            }
            value => Ok(value.as_time()),
        }
    }

    /// The alternatives for a Rust type: it must be able to hold one alternative.
    pub(crate) fn needs(&self) -> Vec<Holds> {
        let numbers = Holds::Whole { min: self.min, max: self.max };
        match &self.kind {
            Kind::Unsigned | Kind::Signed | Kind::Stray(_) => vec![numbers],
            Kind::Float(bytes) => vec![Holds::Float { bytes: *bytes }],
            Kind::Bool => vec![Holds::Bool],
            Kind::Label(_) => vec![Holds::Text],
            // Rust types cannot count minutes.
            Kind::Time(tick) if tick.unit().is_none() => vec![Holds::Time],
            Kind::Time(_) => vec![Holds::Time, numbers],
            Kind::Day => vec![Holds::Date],
            Kind::Ipv4 => vec![Holds::Ipv4, numbers],
        }
    }

    /// A plain number's unit, if it counts time; the outer `None` if it is not a plain number.
    pub(crate) fn plain_unit(&self) -> Option<Option<TimeUnit>> {
        match &self.kind {
            Kind::Unsigned | Kind::Signed => Some(None),
            Kind::Time(tick) => Some(Some(tick.unit()?)),
            Kind::Float(_)
            | Kind::Bool
            | Kind::Label(_)
            | Kind::Day
            | Kind::Ipv4
            | Kind::Stray(_) => None,
        }
    }

    /// Returns true if values are whole numbers that do not count time.
    pub(crate) fn is_integer(&self) -> bool {
        matches!(self.kind, Kind::Unsigned | Kind::Signed | Kind::Stray(_))
    }

    /// Parses a value without quotes.
    pub(crate) fn read(&self, word: &str) -> Result<Value, Fault> {
        let value = match self.kind {
            Kind::Time(_) | Kind::Day if calendar_digits(word).is_some() => {
                return Err(self.day_or_count(word));
            }
            Kind::Time(_) | Kind::Day if !is_count(word) => {
                return Ok(TimeLiteral::parse(word)?
                    .instant(&self.zone_or(&TimeZone::UTC))?
                    .into());
            }
            Kind::Float(_) => match float::read(word) {
                Some(float) if !float::is_near(word, float) => {
                    return Err(Fault::new(0, "is out of the range of an f64".to_owned()));
                }
                float => float.map(Value::from),
            },
            Kind::Bool => word.parse().ok().map(Value::Bool),
            Kind::Label(_) => Some(word.into()),
            // Also as a number: a typed condition on one prints itself so.
            Kind::Ipv4 => match word.parse() {
                Ok(address) => Some(Value::Ipv4(address)),
                Err(_) => integer(word).map(Value::Signed),
            },
            _ => integer(word).map(Value::Signed),
        };
        value.ok_or_else(|| Fault::new(0, format!("expected {}", self.expected())))
    }

    /// Returns the error for digits that can be a day as well as a count, for example 20221201; the
    /// hint shows how to write either.
    pub(crate) fn day_or_count(&self, word: &str) -> Fault {
        let iso = calendar_digits(word).unwrap_or_default();
        let units = self.tick().map_or("units", |tick| tick.word);
        Fault::new(0, format!("{word} may be a time or a count of {units}"))
            .hint(format!("write {iso}, or 0{word} for the count"))
    }

    /// Names the field's values, for messages.
    pub(crate) fn expected(&self) -> &'static str {
        match self.kind {
            Kind::Unsigned | Kind::Signed | Kind::Stray(_) => "a whole number",
            Kind::Float(_) => "a number",
            Kind::Bool => "true or false",
            Kind::Label(_) => "a label",
            Kind::Time(_) | Kind::Day => "a time",
            Kind::Ipv4 => "an IPv4 address",
        }
    }

    fn wrong(&self, value: &Value) -> String {
        format!("takes {}, not {}", self.expected(), value.described())
    }

    fn outside(&self, value: &Value, number: i128) -> String {
        let min = self.min;
        let max = self.max;
        match self.tick() {
            Some(tick) if number < 0 && min == 0 => format!(
                "a time before 1970 cannot be held, use i64 for a number of {word}: \
                 value={value}, {word}={number}",
                word = tick.word
            ),
            Some(tick) => format!(
                "value out of range: value={value}, {}={number}, min={min}, max={max}",
                tick.word
            ),
            None => {
                let (min, max) = match self.kind {
                    Kind::Float(_) => (self.value(min), self.value(max)),
                    _ => (Value::Signed(min), Value::Signed(max)),
                };
                format!("value out of range: value={value}, min={min}, max={max}")
            }
        }
    }
}

impl Kind {
    fn of(unit: TimeUnit) -> Self {
        Self::Time(Tick { nanos: unit.nanos(), word: unit.word() })
    }
}

/// Returns true if a bare word for a time is a unit count; four digits are a year.
pub(crate) fn is_count(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    digits.bytes().all(|c| c.is_ascii_digit()) && (digits.len() != 4 || digits != word)
}

/// Parses a whole number; one too large for any domain becomes the largest i128.
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
