//! Changes that a follower of a table reads, and its position among them.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;

use crate::{Cell, Error, ErrorKind, Result, TableName, Timestamp, hex, unhex};

/// A position among the changes to a store: everything before it was delivered. The text form is
/// stable, and valid for the store that issued it alone.
///
/// ```
/// use rowhouse_model::ChangePosition;
///
/// let text = "1f-3c40-0-00c0ffee00c0ffee";
/// let position: ChangePosition = text.parse()?;
/// assert_eq!(position.to_string(), text);
/// assert!("1f-3c40".parse::<ChangePosition>().is_err());
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChangePosition {
    /// The log segment's number.
    pub segment: u64,
    /// Bytes of the segment before the position.
    pub offset: u64,
    /// How many rows of the record at the offset were delivered.
    pub rows: u32,
    /// The segment's epoch, a random number.
    pub epoch: u64,
    /// The last row that was copied, empty before the first; `None` if no copy is in progress.
    /// After the copy the changes continue at this position.
    pub copied: Option<Bytes>,
}

/// The last part of a position in a copy that has returned no row.
const COPY: &str = "copy";

impl ChangePosition {
    /// Returns the position in a copy that began at this one, after `row`; an empty row for the
    /// beginning.
    #[must_use]
    pub fn in_copy(&self, row: Bytes) -> Self {
        Self { copied: Some(row), ..self.clone() }
    }

    /// Returns the position from which changes continue after the copy.
    #[must_use]
    pub fn after_copy(&self) -> Self {
        Self { copied: None, ..self.clone() }
    }

    /// Creates the error for a position whose changes are no longer retained, or that belongs to
    /// another store.
    pub fn lost(&self, why: impl fmt::Display) -> Error {
        let message = format!(
            "the place among the changes is lost, copy the table again: {why}, position={self}"
        );
        Error::new(ErrorKind::PositionLost, message)
    }
}

impl fmt::Display for ChangePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { segment, offset, rows, epoch, copied } = self;
        write!(f, "{segment:x}-{offset:x}-{rows:x}-{epoch:016x}")?;
        match copied {
            None => Ok(()),
            Some(row) if row.is_empty() => write!(f, "-{COPY}"),
            Some(row) => write!(f, "-{}", hex(row)),
        }
    }
}

impl FromStr for ChangePosition {
    type Err = Error;

    /// # Errors
    /// `InvalidRequest` for another text.
    fn from_str(text: &str) -> Result<Self> {
        let invalid = || Error::invalid(format!("not a position among changes: {text}"));
        let number = |part: Option<&str>| {
            let part = part.filter(|part| part.bytes().all(|it| it.is_ascii_hexdigit()));
            part.and_then(|part| u64::from_str_radix(part, 16).ok()).ok_or_else(invalid)
        };
        let mut parts = text.split('-');
        let segment = number(parts.next())?;
        let offset = number(parts.next())?;
        let rows = u32::try_from(number(parts.next())?).map_err(|_| invalid())?;
        let epoch = number(parts.next())?;
        let copied = match parts.next() {
            None => None,
            Some(COPY) => Some(Bytes::new()),
            Some(row) => {
                let row = unhex(row).filter(|row| !row.is_empty()).ok_or_else(invalid)?;
                Some(Bytes::from(row))
            }
        };
        if parts.next().is_some() {
            return Err(invalid());
        }
        Ok(Self { segment, offset, rows, epoch, copied })
    }
}

/// A change that a follower reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A row that a commit changed.
    Row(RowOfChange),
    /// A row of a copy: all cells and delete markers that a raw read of all versions returns.
    Copied(RowOfChange),
    /// The copy that was in progress is complete. Changes after it follow.
    CopyEnded(ChangePosition),
    /// The table changed as a whole.
    Table(WholeTableChange),
}

impl Change {
    /// Returns the position after the change.
    pub fn position(&self) -> &ChangePosition {
        match self {
            Self::Row(row) | Self::Copied(row) => &row.position,
            Self::CopyEnded(position) => position,
            Self::Table(table) => &table.position,
        }
    }
}

/// A row with cells that a follower reads.
#[derive(Clone, Debug, PartialEq)]
pub struct RowOfChange {
    /// The position after the row.
    pub position: ChangePosition,
    /// The commit's sequence number; that of the read point for a row of a copy.
    pub sequence: u64,
    /// When the commit was made; `None` for a commit from before the store had followers, and for a
    /// row of a copy.
    pub time: Option<Timestamp>,
    /// The table.
    pub table: TableName,
    /// The row key.
    pub row: Bytes,
    /// The cells that were written and the delete markers, in the order in which they were written.
    pub cells: Vec<Cell>,
}

/// A change to a table that is not in the log as cells: an earlier copy is not right any more.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeTableChange {
    /// The position after the change.
    pub position: ChangePosition,
    /// When it was made.
    pub time: Timestamp,
    /// The table, by the name that it had.
    pub table: TableName,
    /// The kind of change.
    pub kind: WholeTableChangeKind,
    /// The sequence number of the change: a read point at it, or a later one, has the change.
    pub read_point: u64,
}

/// The kinds of changes to a table as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WholeTableChangeKind {
    /// HFiles were loaded.
    Loaded,
    /// All rows, or all rows in one region, were removed.
    Truncated,
    /// The table was dropped, or has another name now.
    Dropped,
    /// A family was removed, or retains other cells than before.
    Altered,
    /// The rows were replaced: by the rows of a snapshot, of a table that took this table's name,
    /// or of a promoted index.
    Restored,
}

impl WholeTableChangeKind {
    /// All kinds, with the word for each.
    const WORDS: [(Self, &'static str); 5] = [
        (Self::Loaded, "loaded"),
        (Self::Truncated, "truncated"),
        (Self::Dropped, "dropped"),
        (Self::Altered, "altered"),
        (Self::Restored, "restored"),
    ];

    /// Returns the word for it, such as `truncated`.
    pub fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(kind, _)| *kind == self);
        found.map(|(_, word)| *word).expect("all kinds are listed")
    }

    /// Returns the kind with this word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, it)| *it == word).map(|(kind, _)| *kind)
    }
}

/// A registered follower of a table's changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowerStatus {
    /// The follower's name.
    pub name: String,
    /// The table.
    pub table: TableName,
    /// The position that it saved last.
    pub position: ChangePosition,
    /// When it was saved, in milliseconds since 1970.
    pub saved_millis: i64,
    /// Bytes of the log after the position; 0 if the place is lost.
    pub lag_bytes: u64,
    /// How long ago the first change after the position was made, in milliseconds; 0 without one,
    /// and if the place is lost.
    pub lag_millis: u64,
    /// Whether the changes after the position are no longer retained: the follower has to copy the
    /// table again.
    pub is_lost: bool,
}

/// The longest name of a follower, in bytes.
pub const FOLLOWER_NAME_LEN_MAX: usize = 128;

/// Checks a follower's name.
///
/// # Errors
/// `InvalidRequest` for a name that is empty, longer than [`FOLLOWER_NAME_LEN_MAX`], or has other
/// characters than ASCII letters, digits, `_`, `-` and `.`.
pub fn check_follower_name(name: &str) -> Result<()> {
    let is_fit = |c: u8| c.is_ascii_alphanumeric() || b"_-.".contains(&c);
    if name.is_empty() || name.len() > FOLLOWER_NAME_LEN_MAX || !name.bytes().all(is_fit) {
        return Err(Error::invalid(format!(
            "the name of a follower has 1 to {FOLLOWER_NAME_LEN_MAX} letters, digits, `_`, `-` and \
             `.`: name={name}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_back_from_its_text_and_other_texts_are_refused() {
        let plain =
            ChangePosition { segment: 31, offset: 15424, rows: 2, epoch: 0xabc, copied: None };
        let begun = plain.in_copy(Bytes::new());
        let within = plain.in_copy(Bytes::from_static(b"row\0\xff"));
        for position in [plain, begun, within] {
            assert_eq!(position.to_string().parse::<ChangePosition>().unwrap(), position);
        }
        for text in ["", "now", "1-2-3", "1-2-3-4-", "1-2-3-4-5", "1-2-3-4-copy-1", "+1-2-3-4"] {
            let error = text.parse::<ChangePosition>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{text}");
        }
    }

    #[test]
    fn a_kind_is_read_back_from_its_word() {
        for (kind, word) in WholeTableChangeKind::WORDS {
            assert_eq!(WholeTableChangeKind::of_word(kind.word()), Some(kind));
            assert_eq!(kind.word(), word);
        }
    }
}
