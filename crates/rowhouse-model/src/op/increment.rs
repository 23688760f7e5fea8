//! Adding to counters of one row.

use bytes::Bytes;

use crate::{Durability, Error, Result, TimeRange, check_row};

/// Names a change, so that a repetition is told from a second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nonce {
    /// The client.
    pub group: u64,
    /// The change; never 0.
    pub number: u64,
}

/// Amounts to add to columns of one row, which hold eight-byte big-endian numbers; a column that
/// is not there counts as 0. Sums wrap around like Java longs.
#[derive(Clone, Debug, PartialEq)]
pub struct Increment {
    row: Bytes,
    amounts: Vec<(Bytes, Bytes, i64)>,
    /// Which versions count as the current value.
    pub time_range: TimeRange,
    /// Whether the new values come back.
    pub return_results: bool,
    /// How the write is made durable.
    pub durability: Durability,
    /// What tells a repetition of this increment from a second one: of increments with one nonce
    /// one counts, and the others give back the values as they are then. None by default.
    pub nonce: Option<Nonce>,
}

impl Increment {
    /// An increment of nothing yet; refused when `row` cannot be a row key.
    pub fn new(row: impl Into<Bytes>) -> Result<Self> {
        let row = row.into();
        check_row(&row)?;
        Ok(Self {
            row,
            amounts: Vec::new(),
            time_range: TimeRange::ALL,
            return_results: true,
            durability: Durability::default(),
            nonce: None,
        })
    }

    /// Adds `amount` to a column; a column can be named once.
    pub fn add(
        mut self,
        family: impl Into<Bytes>,
        qualifier: impl Into<Bytes>,
        amount: i64,
    ) -> Result<Self> {
        let (family, qualifier) = (family.into(), qualifier.into());
        if self.amounts.iter().any(|(f, q, _)| *f == family && *q == qualifier) {
            return Err(Error::invalid("an increment names a column once"));
        }
        self.amounts.push((family, qualifier, amount));
        Ok(self)
    }

    /// Adds amounts of many columns; a column can be named once. Unlike [`Increment::add`] for each,
    /// it costs no more than sorting them.
    pub fn add_all(
        mut self,
        amounts: impl IntoIterator<Item = (Bytes, Bytes, i64)>,
    ) -> Result<Self> {
        self.amounts.extend(amounts);
        let mut columns: Vec<_> = self.amounts.iter().map(|(f, q, _)| (f, q)).collect();
        columns.sort_unstable();
        if columns.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Error::invalid("an increment names a column once"));
        }
        Ok(self)
    }

    /// The row it changes.
    pub fn row(&self) -> &Bytes {
        &self.row
    }

    /// Family, qualifier and amount of each column, in the order they were added.
    pub fn amounts(&self) -> &[(Bytes, Bytes, i64)] {
        &self.amounts
    }
}
