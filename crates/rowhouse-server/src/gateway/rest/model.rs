//! Rows and cells in requests, whatever their media type.

use bytes::Bytes;
use rowhouse_model::{Error, ErrorKind, Result};

/// Rows in a request.
pub(super) type CellSet = Vec<RowModel>;

/// A row in a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RowModel {
    /// `None` for the row in the path.
    pub(super) key: Option<Bytes>,
    pub(super) cells: Vec<CellModel>,
}

/// A cell in a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CellModel {
    /// `family:qualifier`; `None` for a column in the path.
    pub(super) column: Option<Bytes>,
    /// `None` for the server's time.
    pub(super) timestamp: Option<i64>,
    pub(super) value: Bytes,
}

/// A column as HBase writes it, at the first colon: `family` or `family:qualifier`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) family: Bytes,
    /// `None` for a whole family.
    pub(super) qualifier: Option<Bytes>,
}

impl Column {
    pub(super) fn parse(column: &Bytes) -> Self {
        match column.iter().position(|&byte| byte == b':') {
            Some(colon) => {
                Self { family: column.slice(..colon), qualifier: Some(column.slice(colon + 1..)) }
            }
            None => Self { family: column.clone(), qualifier: None },
        }
    }
}

/// Bytes that a row or cell in memory has beside the parts that were sent.
const OVERHEAD_BYTES: usize = 96;

/// The memory that a body's rows may take. It was reserved before the body was read.
#[derive(Debug)]
pub(super) struct Budget {
    left: u64,
    max: u64,
    /// Bytes of the key of a row that has none of its own.
    key_len: usize,
}

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        Self { left: bytes, max: bytes, key_len: 0 }
    }

    /// Gives rows without a key one of so many bytes.
    pub(super) fn with_key(self, key_len: usize) -> Self {
        Self { key_len, ..self }
    }

    /// Takes the bytes for a row or cell, as it is in memory and in the store: a cell has the row
    /// again.
    ///
    /// # Errors
    /// `ResponseTooLarge` if they are not there.
    pub(super) fn take(&mut self, parts: usize) -> Result<()> {
        match self.left.checked_sub((parts + OVERHEAD_BYTES) as u64) {
            Some(left) => self.left = left,
            None => {
                let message = format!(
                    "the cells take more than {} bytes in memory: send fewer in a request",
                    self.max
                );
                return Err(Error::new(ErrorKind::ResponseTooLarge, message));
            }
        }
        Ok(())
    }

    /// Takes the bytes for a row's cells.
    ///
    /// # Errors
    /// As [`Budget::take`].
    pub(super) fn take_row(&mut self, row: &RowModel) -> Result<()> {
        let key = row.key.as_ref().map_or(self.key_len, |key| key.len());
        // Each cell in the store has the key, which follows the cells in JSON.
        self.take(key * (row.cells.len() + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_ends_its_family_at_the_first_colon() {
        let column = |text: &'static str| Column::parse(&Bytes::from_static(text.as_bytes()));
        assert_eq!(column("f").qualifier, None);
        assert_eq!(column("f:").qualifier.as_deref(), Some(&b""[..]));
        let colons = column("f:a:b");
        assert_eq!(
            (&colons.family[..], colons.qualifier.as_deref()),
            (&b"f"[..], Some(&b"a:b"[..]))
        );
    }

    #[test]
    fn rows_beyond_the_budget_are_refused() {
        let mut budget = Budget::new(1000);
        let cell = CellModel::default();
        let row = RowModel { key: Some(Bytes::from(vec![0; 100])), cells: vec![cell; 3] };
        budget.take_row(&row).unwrap();
        let error = budget
            .take_row(&RowModel { cells: vec![], ..row.clone() })
            .and_then(|()| budget.take_row(&row));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::ResponseTooLarge);
    }
}
