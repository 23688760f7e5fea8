//! Command output, in HBase's formats.

use rowhouse::cell::{CellKind, KeyValue};
use rowhouse::key::escape;

/// Returns the line for a cell in one row, after the heading `COLUMN  CELL`, with the formatted
/// value.
pub(crate) fn cell(cell: KeyValue<'_>, value: &str, len_max: Option<u32>) -> String {
    format!(" {} {}", column(cell), cut(content(cell, value), len_max))
}

/// Returns the line for a cell in a scan, after the heading `ROW  COLUMN+CELL`. `row` is the
/// formatted key.
pub(crate) fn scanned_cell(
    row: &str,
    cell: KeyValue<'_>,
    value: &str,
    len_max: Option<u32>,
) -> String {
    format!(" {row} column={}, {}", column(cell), cut(content(cell, value), len_max))
}

/// Returns a cell's first characters, as HBase's MAXLENGTH does: they include the cell time.
fn cut(content: String, len_max: Option<u32>) -> String {
    match len_max {
        None => content,
        Some(len_max) => content.chars().take(len_max as usize).collect(),
    }
}

fn column(cell: KeyValue<'_>) -> String {
    format!("{}:{}", String::from_utf8_lossy(cell.family()), escape(cell.qualifier()))
}

fn content(cell: KeyValue<'_>, value: &str) -> String {
    let at = timestamp(cell.timestamp().as_millis());
    match cell.kind() {
        CellKind::Put => format!("timestamp={at}, value={value}"),
        CellKind::DeleteVersion => format!("timestamp={at}, type=Delete"),
        CellKind::DeleteFamilyVersion => format!("timestamp={at}, type=DeleteFamilyVersion"),
        CellKind::DeleteColumn => format!("timestamp={at}, type=DeleteColumn"),
        CellKind::DeleteFamily => format!("timestamp={at}, type=DeleteFamily"),
    }
}

/// Returns milliseconds as Java prints a `LocalDateTime`, in UTC: seconds are omitted when they and
/// the milliseconds are 0, milliseconds when they are, and years above 9999 have a sign.
pub(crate) fn timestamp(millis: i64) -> String {
    let days = millis.div_euclid(MILLIS_PER_DAY);
    let in_day = millis.rem_euclid(MILLIS_PER_DAY);
    let (year, month, day) = civil_from_days(days);
    let hour = in_day / 3_600_000;
    let minute = in_day / 60_000 % 60;
    let second = in_day / 1000 % 60;
    let millis = in_day % 1000;
    let sign = if year > 9999 { "+" } else { "" };
    let mut text = format!("{sign}{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}");
    if second > 0 || millis > 0 {
        text.push_str(&format!(":{second:02}"));
    }
    if millis > 0 {
        text.push_str(&format!(".{millis:03}"));
    }
    text
}

/// Returns milliseconds as Ruby prints a `Time`, in UTC: whole seconds.
pub(crate) fn ruby_time(millis: i64) -> String {
    let days = millis.div_euclid(MILLIS_PER_DAY);
    let in_day = millis.rem_euclid(MILLIS_PER_DAY);
    let (year, month, day) = civil_from_days(days);
    let hour = in_day / 3_600_000;
    let minute = in_day / 60_000 % 60;
    let second = in_day / 1000 % 60;
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} +0000")
}

/// Returns a number as Ruby prints a `Float`: the fewest digits that identify it, with an exponent
/// from 1e16 on and below 1e-4.
pub(crate) fn ruby_float(number: f64) -> String {
    if !number.is_finite() {
        let infinite = if number > 0.0 { "Infinity" } else { "-Infinity" };
        return if number.is_nan() { "NaN" } else { infinite }.to_owned();
    }
    if number == 0.0 || (1e-4..1e16).contains(&number.abs()) {
        return format!("{number:?}");
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}e{sign}{exponent:0>2}")
}

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Returns year, month and day for a day counted from 1970-01-01, in the Gregorian calendar, for
/// any year (timestamps exceed the range of calendar libraries). The year is counted from March, in
/// 400-year eras, which all have 146,097 days.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns a text array as Ruby shows it.
pub(crate) fn inspect(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_ruby_prints_them() {
        assert_eq!(ruby_time(1_795_215_354_497), "2026-11-20 22:55:54 +0000");
        assert_eq!(ruby_time(0), "1970-01-01 00:00:00 +0000");
    }

    #[test]
    fn timestamps_are_as_java_prints_them() {
        for (millis, text) in [
            (0, "1970-01-01T00:00"),
            (1, "1970-01-01T00:00:00.001"),
            (300, "1970-01-01T00:00:00.300"),
            (1000, "1970-01-01T00:00:01"),
            (60_000, "1970-01-01T00:01"),
            (951_782_400_000, "2000-02-29T00:00"),
            (1_669_852_799_999, "2022-11-30T23:59:59.999"),
            (1_795_215_354_497, "2026-11-20T22:55:54.497"),
            (253_402_300_800_000, "+10000-01-01T00:00"),
            (i64::MAX, "+292278994-08-17T07:12:55.807"),
        ] {
            assert_eq!(timestamp(millis), text);
        }
    }
}
