//! `floor D`: numbers and times rounded down to a multiple of D.

use std::fmt;

/// A step as written: `1h`, `15m`, or `100` for a number that is not a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Floor {
    count: u64,
    unit: Option<&'static (&'static str, i128)>,
}

/// Time units and their nanoseconds.
const UNITS: &[(&str, i128)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
    ("d", 86_400 * 1_000_000_000),
];

impl Floor {
    /// Parses a step; the error says what is expected.
    pub(crate) fn parse(word: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str = "expected a step such as 1h, 15m, 1d, or 100 for a number";
        let len = word.bytes().take_while(u8::is_ascii_digit).count();
        let (count, unit) = word.split_at(len);
        let count = match count.parse() {
            Ok(count @ 1..=1_000_000_000_000_000) if !word.starts_with('0') => count,
            _ => return Err(EXPECTED),
        };
        match (unit, UNITS.iter().find(|(name, _)| *name == unit)) {
            ("", _) => Ok(Self { count, unit: None }),
            (_, Some(unit)) => Ok(Self { count, unit: Some(unit) }),
            (_, None) => Err(EXPECTED),
        }
    }

    /// Returns the step in a field's units; `unit_nanos` is the unit's length if the field is a
    /// time.
    pub(crate) fn step(&self, unit_nanos: Option<i128>) -> Result<i128, String> {
        let count = i128::from(self.count);
        match (self.unit, unit_nanos) {
            (Some((_, nanos)), Some(unit)) if count * nanos % unit == 0 => Ok(count * nanos / unit),
            (Some(_), Some(_)) => Err(format!("the field's unit is longer than a step of {self}")),
            (None, Some(_)) => {
                Err(format!("a step of time has a unit: {self}s, {self}m or {self}h"))
            }
            (Some(_), None) => Err(format!("the field is not a time, write floor {count}")),
            (None, None) => Ok(count),
        }
    }
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.count, self.unit.map_or("", |(name, _)| name))
    }
}
