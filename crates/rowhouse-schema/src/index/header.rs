//! An entry's value: until when it is certain, and the covered cells' timestamps.
//!
//! ```text
//! form(1 byte, 1) certain_until(8 bytes, big-endian milliseconds) timestamp(8 bytes)*
//! ```

use rowhouse_model::{Error, Result};

/// An entry's header, stored in the cell `e:`.
///
/// ```
/// use rowhouse_schema::EntryHeader;
///
/// let header = EntryHeader { certain_until: i64::MAX, timestamps: vec![Some(7), None] };
/// let bytes = header.encode();
/// assert_eq!(bytes.len(), 1 + 8 + 2 * 8);
/// assert_eq!(EntryHeader::decode(&bytes)?, header);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryHeader {
    /// The last millisecond at which the row is certain to have this entry with these covered
    /// cells: -1 if it must be judged, `i64::MAX` if until it is replaced or expires.
    pub certain_until: i64,
    /// Each covered cell's timestamp, in declaration order; `None` for a column without a cell.
    pub timestamps: Vec<Option<i64>>,
}

const FORM: u8 = 1;
/// Stands for the timestamp that a column without a cell has.
const NO_CELL: i64 = -1;

impl EntryHeader {
    /// Returns true if the entry is certain at this time, in milliseconds.
    pub fn is_certain_at(&self, millis: i64) -> bool {
        millis <= self.certain_until
    }

    /// Encodes the header.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(9 + 8 * self.timestamps.len());
        bytes.push(FORM);
        bytes.extend_from_slice(&self.certain_until.to_be_bytes());
        for timestamp in &self.timestamps {
            bytes.extend_from_slice(&timestamp.unwrap_or(NO_CELL).to_be_bytes());
        }
        bytes
    }

    /// Decodes a header. Never panics.
    ///
    /// # Errors
    /// `Unsupported` for another form; `Corruption` for a wrong length.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let (form, rest) = match bytes.split_first() {
            Some((form, rest)) => (*form, rest),
            None => return Err(Error::corruption("the header of an index entry is empty")),
        };
        if form != FORM {
            return Err(Error::unsupported(format!(
                "the header of an index entry has a newer form: form={form}, known={FORM}"
            )));
        }
        let (numbers, rest) = rest.as_chunks::<8>();
        match numbers.split_first() {
            Some((certain_until, timestamps)) if rest.is_empty() => {
                let number = |bytes: &[u8; 8]| i64::from_be_bytes(*bytes);
                let timestamps = timestamps.iter().map(number);
                let timestamps = timestamps.map(|at| Some(at).filter(|at| *at != NO_CELL));
                let certain_until = number(certain_until);
                Ok(Self { certain_until, timestamps: timestamps.collect() })
            }
            _ => Err(Error::corruption(format!(
                "the header of an index entry has a wrong length: len={}",
                bytes.len()
            ))),
        }
    }
}
