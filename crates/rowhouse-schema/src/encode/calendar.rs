//! `ymd`, `ymdhm`, `ymdhms`: a time as calendar digits, in UTC.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

/// How precise calendar digits are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Calendar {
    /// `ymd`: the day, 20221201.
    Day,
    /// `ymdhm`: the minute, 202212010800.
    Minute,
    /// `ymdhms`: the second, 20221201080000.
    Second,
}

const DAY_SECONDS: i64 = 86_400;
/// The calendar repeats after 400 years.
const CYCLE_SECONDS: i64 = 146_097 * DAY_SECONDS;
const YEAR_2000_SECONDS: i64 = 946_684_800;

impl Calendar {
    pub(crate) fn digits(self) -> u8 {
        match self {
            Self::Day => 8,
            Self::Minute => 12,
            Self::Second => 14,
        }
    }

    fn seconds(self) -> i64 {
        match self {
            Self::Day => DAY_SECONDS,
            Self::Minute => 60,
            Self::Second => 1,
        }
    }

    /// Returns the number whose decimal digits are the calendar digits for a day, minute or second
    /// count since 1970. The count is in the years 0000 to 9999.
    pub(crate) fn pack(self, count: i128) -> i128 {
        // jiff's calendar ends a day before the year 9999 does, so this computes with the same day
        // in 2000–2399.
        let second = count as i64 * self.seconds() - YEAR_2000_SECONDS;
        let cycle = second.div_euclid(CYCLE_SECONDS);
        let second = second.rem_euclid(CYCLE_SECONDS);
        let date = Timestamp::from_second(second + YEAR_2000_SECONDS);
        let Ok(date) = date.map(|shown| Offset::UTC.to_datetime(shown)) else { return 0 };
        let year = i128::from(date.year()) + 400 * i128::from(cycle);
        let day = (year * 100 + i128::from(date.month())) * 100 + i128::from(date.day());
        let hour = i128::from(date.hour());
        let minute = (day * 100 + hour) * 100 + i128::from(date.minute());
        match self {
            Self::Day => day,
            Self::Minute => minute,
            Self::Second => minute * 100 + i128::from(date.second()),
        }
    }

    /// Returns the count for these digits; `None` if there is no such day or time of day.
    pub(crate) fn unpack(self, digits: i128) -> Option<i128> {
        let digits = digits as i64;
        let (day, clock) = match self {
            Self::Day => (digits, 0),
            Self::Minute => (digits / 10_000, digits % 10_000 * 100),
            Self::Second => (digits / 1_000_000, digits % 1_000_000),
        };
        let hour = clock / 10_000;
        let minute = clock / 100 % 100;
        let second = clock % 100;
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let month = (day / 100 % 100) as i8;
        let of_month = (day % 100) as i8;
        let cycle = day / 10_000 / 400;
        let year = day / 10_000 % 400;
        let date = Date::new(2000 + year as i16, month, of_month).ok()?;
        let midnight = Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()?.as_second();
        let midnight = midnight + (cycle - 5) * CYCLE_SECONDS;
        let since = midnight + hour * 3600 + minute * 60 + second;
        Some((since / self.seconds()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_day_come_back() {
        for (days, digits) in [(-719_528, 101), (0, 19_700_101), (2_932_896, 99_991_231)] {
            assert_eq!(Calendar::Day.pack(days), digits);
            assert_eq!(Calendar::Day.unpack(digits), Some(days));
        }
        assert_eq!(Calendar::Minute.pack(-1), 196_912_312_359);
        assert_eq!(Calendar::Minute.unpack(196_912_312_359), Some(-1));
        assert_eq!(Calendar::Second.unpack(20_240_229_235_959), Some(1_709_251_199));
        for wrong in [20_230_229, 20_221_301, 20_220_100, 20_220_001] {
            assert_eq!(Calendar::Day.unpack(wrong), None, "{wrong}");
        }
        assert_eq!(Calendar::Minute.unpack(202_212_012_400), None);
    }
}
