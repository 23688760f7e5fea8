//! Flights: read from a file, or computed; written to a table.

use std::path::Path;

use rowhouse::{Error, Mutation, Put, Result, Table, Time, Value};

/// A flight as it was planned, and by how many minutes it was late.
pub(crate) struct Flight {
    pub(crate) carrier: String,
    pub(crate) number: u16,
    pub(crate) tail: String,
    pub(crate) origin: String,
    pub(crate) dest: String,
    at: Time,
    late: String,
}

impl Flight {
    /// A row under the table's key; what the key does not hold is a column.
    fn put(&self, table: &Table) -> Result<Put> {
        let values: [(&str, Value); 6] = [
            ("carrier", self.carrier.as_str().into()),
            ("number", self.number.into()),
            ("tail", self.tail.as_str().into()),
            ("origin", self.origin.as_str().into()),
            ("dest", self.dest.as_str().into()),
            ("at", self.at.into()),
        ];
        let schema = table.key_schema()?;
        let in_key = |(name, _): &(&str, Value)| schema.field(name).is_some();
        let (key, columns): (Vec<_>, Vec<_>) = values.into_iter().partition(in_key);
        let put = table.row(&key).set("d", "late", &self.late);
        columns
            .iter()
            .fold(put, |put, (name, value)| put.set("d", name, value.to_string()))
            .into_put()
    }

    /// A line of the file: values by the names of the header.
    fn parse(header: &[&str], line: &str) -> Result<Self> {
        let values: Vec<_> = line.split(',').map(|value| value.trim_matches('"')).collect();
        let value = |name| {
            let at = header.iter().position(|column| *column == name);
            at.and_then(|at| values.get(at).copied())
                .ok_or_else(|| Error::invalid(format!("no {name} in the line: {line}")))
        };
        let number = |name| {
            let text = value(name)?;
            text.parse::<u16>()
                .map_err(|_| Error::invalid(format!("{name} is no number below 65536: {text}")))
        };
        // The hour has a zone; the minutes stand by themselves.
        let hour = value("time_hour")?;
        if !hour.ends_with('Z') {
            return Err(Error::invalid(format!("time_hour is not in UTC, with a Z: {hour}")));
        }
        let minute = i64::from(number("minute")?) * 60_000;
        Ok(Self {
            carrier: value("carrier")?.to_owned(),
            number: number("flight")?,
            tail: value("tailnum")?.to_owned(),
            origin: value("origin")?.to_owned(),
            dest: value("dest")?.to_owned(),
            at: Time::from_millis(Time::parse(hour)?.as_millis() + minute),
            late: value("dep_delay")?.to_owned(),
        })
    }
}

/// Writes flights to a table, a thousand at a time.
pub(crate) async fn write(table: &Table, flights: &[Flight]) -> Result<()> {
    for some in flights.chunks(1_000) {
        let puts: Result<Vec<Mutation>> =
            some.iter().map(|flight| Ok(flight.put(table)?.into())).collect();
        for outcome in table.batch(puts?).await {
            outcome?;
        }
    }
    Ok(())
}

/// The flights of a file as nycflights13 has them: comma-separated, with the names of the columns in front.
pub(crate) fn read(path: &Path) -> Result<Vec<Flight>> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::io(format_args!("reading {shown}"), error))?;
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let header: Vec<_> = header.split(',').map(|name| name.trim_matches('"')).collect();
    let flights: Vec<_> = lines.map(|line| Flight::parse(&header, line)).collect::<Result<_>>()?;
    match flights.is_empty() {
        true => Err(Error::invalid(format!("no flights in the file: path={shown}"))),
        false => Ok(flights),
    }
}

/// Thirty days of 105 flights: each pairs a carrier with a route, and planes take turns.
pub(crate) fn computed() -> Vec<Flight> {
    const CARRIERS: [&str; 5] = ["AA", "B6", "DL", "UA", "WN"];
    const ORIGINS: [&str; 3] = ["EWR", "JFK", "LGA"];
    const DESTS: [&str; 7] = ["ATL", "BOS", "DEN", "IAH", "LAX", "MCO", "ORD"];
    /// 2013-01-01T10:00Z
    const BEGIN: i64 = 1_357_034_400_000;
    let flights = (0..30).flat_map(|day| (0..105).map(move |nth| (day, nth)));
    let flights = flights.map(|(day, nth): (usize, usize)| Flight {
        carrier: CARRIERS[nth % 5].to_owned(),
        number: 100 + nth as u16,
        tail: format!("N{:05}", 14_200 + (nth + 11 * day) % 60),
        origin: ORIGINS[nth % 3].to_owned(),
        dest: DESTS[nth % 7].to_owned(),
        at: Time::from_millis(BEGIN + day as i64 * 86_400_000 + nth as i64 * 480_000),
        late: ((day * nth) % 90).to_string(),
    });
    flights.collect()
}
