//! How far an index's entries have come.

use std::fmt;

use rowhouse_model::{Bytes, Error, Result, TableDescriptor, escape, unescape};

/// The attribute on an index table that holds the index state.
pub const INDEX_STATE_ATTRIBUTE: &str = "rowhouse.index_state";

/// The attribute on an index table whose data was found damaged, until the index is built anew: the
/// reason. While the table has it, a unique index takes no new values.
pub const INDEX_DAMAGE_ATTRIBUTE: &str = "rowhouse.index_damage";

/// Returns why an index's data is damaged, from the table descriptor; `None` if it is not, or has
/// been built anew.
pub fn index_damage(table: &TableDescriptor) -> Option<String> {
    let damage = table.attributes.get(INDEX_DAMAGE_ATTRIBUTE.as_bytes())?;
    Some(String::from_utf8_lossy(damage).into_owned())
}

/// An index's state. In every state, every change to a row changes the row's entries.
///
/// ```
/// use rowhouse_schema::IndexState;
///
/// let state = IndexState::Building { next_row: "bob".into() };
/// assert_eq!(state.to_string(), "building bob");
/// assert_eq!(IndexState::parse("building bob")?, state);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexState {
    /// Every row that must have an entry has one.
    Ready,
    /// Rows from `next_row` on may lack entries. The store adds them in key order.
    Building {
        /// The first row that may lack entries; empty at the beginning.
        next_row: Bytes,
    },
    /// Any row may lack entries, and entries may have no row. The store mends both.
    Repairing,
    /// Queries do not use the index, for this reason: it could not be built, or the data is damaged
    /// ([`index_damage`]).
    Off(String),
}

impl IndexState {
    /// Parses the text that `Display` writes.
    ///
    /// # Errors
    /// `Unsupported` for a state that this version does not know.
    pub fn parse(text: &str) -> Result<Self> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "ready" => Ok(Self::Ready),
            "building" => Ok(Self::Building { next_row: unescape(rest)?.into() }),
            "repairing" => Ok(Self::Repairing),
            "off" => Ok(Self::Off(rest.to_owned())),
            _ => Err(Error::unsupported(format!("unknown state of an index: state={text}"))),
        }
    }

    /// Returns the state in an index table's descriptor. A table without one is being built from
    /// the beginning.
    ///
    /// # Errors
    /// As [`IndexState::parse`].
    pub fn of_table(table: &TableDescriptor) -> Result<Self> {
        match table.attributes.get(INDEX_STATE_ATTRIBUTE.as_bytes()) {
            None => Ok(Self::Building { next_row: Bytes::new() }),
            Some(text) => Self::parse(&String::from_utf8_lossy(text)),
        }
    }

    /// Returns true if queries may use the index.
    pub fn is_ready(&self) -> bool {
        *self == Self::Ready
    }
}

impl fmt::Display for IndexState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("ready"),
            Self::Building { next_row } if next_row.is_empty() => f.write_str("building"),
            Self::Building { next_row } => write!(f, "building {}", escape(next_row)),
            Self::Repairing => f.write_str("repairing"),
            Self::Off(why) => write!(f, "off {why}"),
        }
    }
}
