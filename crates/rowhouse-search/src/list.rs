//! The list of an index's segments, one cell in the index's table.
//!
//! ```text
//! family m, row "m", qualifier "segments", timestamp: the revision. Numbers are big-endian.
//!
//! +---------+----------+-------------+---------+------------------------+
//! | version | revision | next number | count   | segments, oldest first |
//! | 1 byte  | 8 bytes  | 8 bytes     | 4 bytes |                        |
//! +---------+----------+-------------+---------+------------------------+
//! a segment:
//! +---------+-----------+------------+--------+-----------------------------------+
//! | number  | documents | long words | files  | each: name (length 1 byte, bytes) |
//! | 8 bytes | 4 bytes   | 8 bytes    | 1 byte | and length (8 bytes)              |
//! +---------+-----------+------------+--------+-----------------------------------+
//! ```

use rowhouse_model::{Bytes, Cell, CellKind, Columns, Error, Get, Result, Timestamp};
use rowhouse_schema::LIST_FAMILY;
use rowhouse_store::SearchRead;

use crate::segment::{SegmentFiles, SegmentId};

const ROW: &[u8] = b"m";
const QUALIFIER: &[u8] = b"segments";
const VERSION: u8 = 1;

/// An index's segments.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct SegmentList {
    /// Grows with every change, by more than one; 0 before the first.
    pub(crate) revision: u64,
    /// The number that the next segment gets. No number is used twice: a delete marker of an older
    /// segment would hide the parts of a newer one.
    pub(crate) next_number: u64,
    /// The oldest first.
    pub(crate) segments: Vec<ListedSegment>,
}

/// A segment in the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ListedSegment {
    pub(crate) id: SegmentId,
    pub(crate) docs: u32,
    /// How many words are too long to be indexed.
    pub(crate) long_words: u64,
}

impl ListedSegment {
    pub(crate) fn new(number: u64, files: &SegmentFiles) -> Self {
        let lengths = files.files.iter().map(|(name, bytes)| (name.clone(), bytes.len() as u64));
        let id = SegmentId { number, files: lengths.collect() };
        Self { id, docs: files.docs, long_words: files.long_words }
    }

    /// The names of the files.
    pub(crate) fn file_names(&self) -> Vec<String> {
        self.id.files.iter().map(|(name, _)| name.clone()).collect()
    }

    /// How many bytes the files have.
    pub(crate) fn bytes(&self) -> u64 {
        self.id.files.iter().map(|(_, len)| len).sum()
    }
}

impl SegmentList {
    /// Reads the list at the read point.
    ///
    /// # Errors
    /// `Corruption` if it is not as it was written; `Unsupported` if a newer version wrote it.
    pub(crate) fn read(read: &SearchRead) -> Result<Self> {
        let mut get = Get::new(Bytes::from_static(ROW))?;
        let mut columns = Columns::all();
        columns.add_column(LIST_FAMILY, QUALIFIER);
        get.columns = columns;
        let row = read.entries.get_at(&get, &read.point)?;
        match row.value(LIST_FAMILY, QUALIFIER) {
            None => Ok(Self::default()),
            Some(stored) => Self::decode(&stored).map_err(|error| {
                error.with_context(format_args!("segments of index {}", read.entries.name()))
            }),
        }
    }

    /// Returns the cell that holds the list.
    ///
    /// # Errors
    /// As for cells; none is reached.
    pub(crate) fn to_cell(&self) -> Result<Cell> {
        let at = Timestamp::from_millis(i64::try_from(self.revision).unwrap_or(i64::MAX))?;
        Cell::new(
            Bytes::from_static(ROW),
            LIST_FAMILY.as_bytes(),
            QUALIFIER,
            at,
            CellKind::Put,
            self.encode(),
        )
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.revision.to_be_bytes());
        bytes.extend_from_slice(&self.next_number.to_be_bytes());
        bytes.extend_from_slice(&(self.segments.len() as u32).to_be_bytes());
        for segment in &self.segments {
            bytes.extend_from_slice(&segment.id.number.to_be_bytes());
            bytes.extend_from_slice(&segment.docs.to_be_bytes());
            bytes.extend_from_slice(&segment.long_words.to_be_bytes());
            // Tantivy has fewer than ten kinds of files.
            bytes.push(segment.id.files.len() as u8);
            for (name, len) in &segment.id.files {
                bytes.push(name.len() as u8);
                bytes.extend_from_slice(name.as_bytes());
                bytes.extend_from_slice(&len.to_be_bytes());
            }
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut rest = Reader { bytes };
        let [version] = rest.take()?;
        if version != VERSION {
            return Err(Error::unsupported(format!(
                "a newer version wrote the list of segments: version={version}"
            )));
        }
        let revision = u64::from_be_bytes(rest.take()?);
        let next_number = u64::from_be_bytes(rest.take()?);
        let count = u32::from_be_bytes(rest.take()?);
        let mut segments = Vec::new();
        for _ in 0..count {
            let number = u64::from_be_bytes(rest.take()?);
            let docs = u32::from_be_bytes(rest.take()?);
            let long_words = u64::from_be_bytes(rest.take()?);
            let [file_count] = rest.take()?;
            let mut files = Vec::new();
            for _ in 0..file_count {
                let [len] = rest.take()?;
                let name = String::from_utf8_lossy(rest.slice(usize::from(len))?).into_owned();
                files.push((name, u64::from_be_bytes(rest.take()?)));
            }
            segments.push(ListedSegment { id: SegmentId { number, files }, docs, long_words });
        }
        if !rest.bytes.is_empty() {
            let more = rest.bytes.len();
            return Err(Error::corruption(format!(
                "bytes after the list of segments: bytes={more}"
            )));
        }
        Ok(Self { revision, next_number, segments })
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn slice(&mut self, len: usize) -> Result<&'a [u8]> {
        let (slice, rest) = self.bytes.split_at_checked(len).ok_or_else(|| {
            let have = self.bytes.len();
            Error::corruption(format!("the list of segments ends early: bytes={have}, needs={len}"))
        })?;
        self.bytes = rest;
        Ok(slice)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.slice(N)?.try_into().expect("the slice has this length"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list() -> impl Strategy<Value = SegmentList> {
        let file = ("[a-z]{1,8}", any::<u64>());
        let files = prop::collection::vec(file, 0..8);
        let segment = (any::<u64>(), any::<u32>(), any::<u64>(), files);
        let segment = segment.prop_map(|(number, docs, long_words, files)| ListedSegment {
            id: SegmentId { number, files },
            docs,
            long_words,
        });
        let segments = prop::collection::vec(segment, 0..20);
        (any::<u64>(), any::<u64>(), segments).prop_map(|(revision, next_number, segments)| {
            SegmentList { revision, next_number, segments }
        })
    }

    proptest! {
        #[test]
        fn a_list_is_decoded_as_it_was_encoded(list in list()) {
            prop_assert_eq!(SegmentList::decode(&list.encode()).unwrap(), list);
        }

        #[test]
        fn other_bytes_are_no_list(list in list(), cut in any::<prop::sample::Index>()) {
            let bytes = list.encode();
            prop_assert!(SegmentList::decode(&bytes[..cut.index(bytes.len())]).is_err());
            prop_assert!(SegmentList::decode(&[&bytes[..], b"x"].concat()).is_err());
        }
    }
}
