//! The numbers in a workload's text: counts, sizes, rates and durations.

use std::fmt;

/// A count: `1000`, `1e6`.
pub(super) struct Count(pub(super) u64);

/// A size in bytes: `20 bytes`, `2 kB`, `1 MB`.
pub(super) struct Size(pub(super) u32);

/// A rate per second: `500/s`, `5/m`, `2/h`, `1/d`.
pub(super) struct Rate(pub(super) f64);

/// A duration in milliseconds: `1d`, `12h`, `30m`, `10s`, `5ms`.
pub(super) struct Millis(pub(super) i64);

/// The greatest row count, and the greatest value count for a field.
pub(super) const COUNT_MAX: u64 = 1_000_000_000_000;
/// The units for durations, longest first, in milliseconds.
const DURATIONS: &[(&str, i64)] =
    &[("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];
/// The units for rates, in seconds.
const RATES: &[(&str, f64)] = &[("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];
/// The units for sizes, in bytes.
const SIZES: &[(&str, u32)] = &[("bytes", 1), ("byte", 1), ("kB", 1000), ("MB", 1_000_000)];
/// The largest value that is made; larger ones are rare in cells.
const SIZE_MAX: u32 = 16_000_000;

impl Count {
    /// Reads a whole number, also written as `1e6` or `1.5e6`.
    pub(super) fn read(text: &str) -> Option<u64> {
        if let Ok(count) = text.parse() {
            return Some(count);
        }
        let number: f64 = text.parse().ok().filter(|_| text.contains(['e', 'E']))?;
        let is_whole = number.fract() == 0.0 && (0.0..=1e15).contains(&number);
        is_whole.then_some(number as u64)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Up to 14 zeros are read back.
        let divides = |zeros: &u32| self.0 != 0 && self.0.is_multiple_of(10u64.pow(*zeros));
        match (0..=14).take_while(divides).last() {
            Some(zeros @ 5..=14) => write!(f, "{}e{zeros}", self.0 / 10u64.pow(zeros)),
            _ => write!(f, "{}", self.0),
        }
    }
}

impl Size {
    /// Reads a size's number and unit.
    pub(super) fn read(number: &str, unit: &str) -> Option<u32> {
        let (_, bytes) = SIZES.iter().find(|(name, _)| *name == unit)?;
        let size = number.parse::<u32>().ok()?.checked_mul(*bytes)?;
        (1..=SIZE_MAX).contains(&size).then_some(size)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes % 1_000_000 == 0 => write!(f, "{} MB", bytes / 1_000_000),
            bytes if bytes % 1000 == 0 => write!(f, "{} kB", bytes / 1000),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

impl Rate {
    /// Reads a rate.
    pub(super) fn read(text: &str) -> Option<f64> {
        let (number, unit) = text.split_once('/')?;
        let (_, seconds) = RATES.iter().find(|(name, _)| *name == unit.trim())?;
        let number: f64 = number.trim().parse().ok()?;
        (number > 0.0 && number <= 1e9).then_some(number / seconds)
    }
}

impl fmt::Display for Rate {
    /// Writes the rate in the unit in which it is a whole number, if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = RATES.iter().find_map(|(unit, seconds)| {
            let number = (self.0 * seconds).round();
            (number >= 1.0 && number / seconds == self.0).then_some((number, unit))
        });
        match whole {
            Some((number, unit)) => write!(f, "{number}/{unit}"),
            None => write!(f, "{}/s", self.0),
        }
    }
}

impl Millis {
    /// Reads a duration.
    pub(super) fn read(text: &str) -> Option<i64> {
        let digits = text.find(|c: char| !c.is_ascii_digit())?;
        let (number, unit) = text.split_at(digits);
        let (_, millis) = DURATIONS.iter().find(|(name, _)| *name == unit)?;
        let number: i64 = number.parse().ok()?;
        // A hundred years.
        number.checked_mul(*millis).filter(|millis| (1..=3_155_760_000_000).contains(millis))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = DURATIONS.iter().find(|(_, millis)| self.0 % millis == 0);
        match whole {
            Some((unit, millis)) => write!(f, "{}{unit}", self.0 / millis),
            None => write!(f, "{}ms", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_printed() {
        for count in [0, 7, 1000, 99_999, 100_000, 1_500_000, 10u64.pow(15), u64::MAX] {
            assert_eq!(Count::read(&Count(count).to_string()), Some(count));
        }
        for text in ["500/s", "5/m", "1/d", "0.5/s", "3/h"] {
            let rate = Rate::read(text).unwrap();
            assert_eq!(Rate::read(&Rate(rate).to_string()), Some(rate), "{text}");
        }
        for text in ["1d", "36h", "90m", "10s", "1500ms"] {
            assert_eq!(Millis(Millis::read(text).unwrap()).to_string(), text);
        }
        for size in [1, 20, 2000, 3_000_000] {
            let text = Size(size).to_string();
            let (number, unit) = text.split_once(' ').unwrap();
            assert_eq!(Size::read(number, unit), Some(size));
        }
    }

    #[test]
    fn other_numbers_are_refused() {
        assert_eq!(Count::read("1.5"), None);
        assert_eq!(Count::read("-1"), None);
        assert_eq!(Rate::read("5"), None);
        assert_eq!(Rate::read("0/s"), None);
        assert_eq!(Millis::read("1y"), None);
        assert_eq!(Size::read("0", "bytes"), None);
    }
}
