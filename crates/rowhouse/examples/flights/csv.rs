//! Flights in the nycflights13 layout: comma-separated, with a header line.

use std::path::Path;

use rowhouse::key::Time;
use rowhouse::{Error, Result};

use super::flight::Flight;

/// Returns all flights from New York from 1 to 3 January 2013; `flights/README.md` names the
/// source.
pub(crate) fn of_three_days() -> Result<Vec<Flight>> {
    flights_in(include_str!("january.csv"), "january.csv")
}

/// Reads the flights in a file.
pub(crate) fn read(path: &Path) -> Result<Vec<Flight>> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::io(format_args!("reading {shown}"), error))?;
    flights_in(&text, &shown)
}

fn flights_in(text: &str, path: &str) -> Result<Vec<Flight>> {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let header: Vec<_> = header.split(',').map(|name| name.trim_matches('"')).collect();
    let flights =
        lines.map(|line| flight(&Line::new(&header, line))).collect::<Result<Vec<_>>>()?;
    if flights.is_empty() {
        return Err(Error::invalid(format!("no flights in the file: path={path}")));
    }
    Ok(flights)
}

fn flight(line: &Line<'_>) -> Result<Flight> {
    // The hour has a time zone; the minutes are a separate column.
    let hour = line.value("time_hour")?;
    if !hour.ends_with('Z') {
        return Err(Error::invalid(format!("time_hour is not in UTC, with a Z: {hour}")));
    }
    let minute = i64::from(line.number::<u16>("minute")?) * 60_000;
    let is_known = |name| line.value(name).map(|value| value != "NA");
    let tail = if is_known("tailnum")? { line.value("tailnum")? } else { "" };
    let late = is_known("dep_delay")?.then(|| line.number("dep_delay")).transpose()?;
    Ok(Flight {
        carrier: line.value("carrier")?.to_owned(),
        number: line.number("flight")?,
        tail: tail.to_owned(),
        origin: line.value("origin")?.to_owned(),
        dest: line.value("dest")?.to_owned(),
        at: Time::from_millis(Time::parse(hour)?.as_millis() + minute),
        late,
    })
}

/// A line with the values accessible by column name.
struct Line<'t> {
    header: &'t [&'t str],
    values: Vec<&'t str>,
}

impl<'t> Line<'t> {
    fn new(header: &'t [&'t str], line: &'t str) -> Self {
        Self { header, values: line.split(',').map(|value| value.trim_matches('"')).collect() }
    }

    fn value(&self, name: &str) -> Result<&'t str> {
        let at = self.header.iter().position(|column| *column == name);
        let value = at.and_then(|at| self.values.get(at).copied());
        let line = || self.values.join(",");
        value.ok_or_else(|| Error::invalid(format!("no {name} in the line: {}", line())))
    }

    fn number<N: std::str::FromStr>(&self, name: &str) -> Result<N> {
        let text = self.value(name)?;
        text.parse().map_err(|_| {
            let kind = std::any::type_name::<N>();
            Error::invalid(format!("{name} is no number of the type {kind}: {text}"))
        })
    }
}
