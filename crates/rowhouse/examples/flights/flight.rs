//! Flights, and how they are written to a table.

use rowhouse::{KeySchema, Mutation, Put, Result, Table, Time, Value};

/// A flight as it was planned, and by how many minutes it started late.
pub(crate) struct Flight {
    pub(crate) carrier: String,
    pub(crate) number: u16,
    /// Empty where the plane is not known.
    pub(crate) tail: String,
    pub(crate) origin: String,
    pub(crate) dest: String,
    pub(crate) at: Time,
    /// Nothing for flights that did not start.
    pub(crate) late: Option<i16>,
}

/// By name.
type Values = Vec<(&'static str, Value)>;

/// What a key does not hold is a column.
const COLUMNS: [(&str, &str); 6] = [
    ("carrier", "text"),
    ("number", "u16"),
    ("tail", "text"),
    ("origin", "text"),
    ("dest", "text"),
    ("late", "i16"),
];

/// The declarations of all columns that are no fields of a key.
pub(crate) fn columns_beside(key: &KeySchema) -> String {
    let columns = COLUMNS.iter().filter(|(name, _)| key.field(name).is_none());
    let declared = columns.map(|(name, kind)| format!("d:{name} {name} {kind}"));
    declared.collect::<Vec<_>>().join("; ")
}

impl Flight {
    /// The values of the key's fields, and those of columns.
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

    /// The hour of the flight, counted since 1970.
    pub(crate) fn hour(&self) -> i64 {
        self.at.as_millis() / 3_600_000
    }

    fn put(&self, table: &Table) -> Result<Put> {
        let (key, columns) = self.values(table.key_schema()?);
        let put = table.row(&key);
        columns.into_iter().fold(put, |put, (name, value)| put.set_named(name, value)).into_put()
    }
}

/// Writes flights to a table, a thousand at a time.
pub(crate) async fn write(table: &Table, flights: &[Flight]) -> Result<()> {
    for some in flights.chunks(1_000) {
        let puts = some.iter().map(|flight| Ok(flight.put(table)?.into()));
        for outcome in table.batch(puts.collect::<Result<Vec<Mutation>>>()?).await {
            outcome?;
        }
    }
    Ok(())
}
