//! Flights and their representation in a table.

use rowhouse::key::{KeySchema, Time};
use rowhouse::{Mutation, Put, Result, Table, Value};

/// A flight with the scheduled data and the departure delay in minutes.
pub(crate) struct Flight {
    pub(crate) carrier: String,
    pub(crate) number: u16,
    /// Empty if the plane is unknown.
    pub(crate) tail: String,
    pub(crate) origin: String,
    pub(crate) dest: String,
    pub(crate) at: Time,
    /// `None` for a flight that did not depart.
    pub(crate) late: Option<i16>,
}

/// Values with their names.
type Values = Vec<(&'static str, Value)>;

/// All values; those that are not in the key become columns.
const COLUMNS: [(&str, &str); 6] = [
    ("carrier", "text"),
    ("number", "u16"),
    ("tail", "text"),
    ("origin", "text"),
    ("dest", "text"),
    ("late", "i16"),
];

/// Returns the declarations for the columns that are not key fields.
pub(crate) fn columns_beside(key: &KeySchema) -> String {
    let columns = COLUMNS.iter().filter(|(name, _)| key.field(name).is_none());
    let declared = columns.map(|(name, kind)| format!("d:{name} {name} {kind}"));
    declared.collect::<Vec<_>>().join("; ")
}

impl Flight {
    /// Returns the values for the key fields and for the columns.
    pub(crate) fn values(&self, key: &KeySchema) -> (Values, Values) {
        let values = [
            ("carrier", self.carrier.as_str().into()),
            ("number", self.number.into()),
            ("tail", self.tail.as_str().into()),
            ("origin", self.origin.as_str().into()),
            ("dest", self.dest.as_str().into()),
            ("at", self.at.into()),
        ];
        let late = self.late.map(|minutes| ("late", minutes.into()));
        values.into_iter().chain(late).partition(|(name, _)| key.field(name).is_some())
    }

    /// Returns the flight's hour, in hours since 1970.
    pub(crate) fn hour(&self) -> i64 {
        self.at.as_millis() / 3_600_000
    }

    fn put(&self, table: &Table) -> Result<Put> {
        let (key, columns) = self.values(table.key_schema()?);
        let put = table.row(&key);
        columns.into_iter().fold(put, |put, (name, value)| put.set_named(name, value)).into_put()
    }
}

/// Writes flights to a table, a thousand per batch.
pub(crate) async fn write(table: &Table, flights: &[Flight]) -> Result<()> {
    for some in flights.chunks(1_000) {
        let puts = some.iter().map(|flight| Ok(flight.put(table)?.into()));
        for outcome in table.batch(puts.collect::<Result<Vec<Mutation>>>()?).await {
            outcome?;
        }
    }
    Ok(())
}
