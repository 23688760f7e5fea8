//! Cells in HBase's KeyValue format, and the cell order.
//!
//! A cell is one byte string in the format that HFiles and the RPC's cell blocks share
//! (`docs/formats/key-value.md`). A cell read from a block goes to a socket, and a cell from a
//! socket to the log and the memstore, without re-encoding.

use std::cmp::Ordering;
use std::fmt;

use bytes::{BufMut, Bytes, BytesMut};

use crate::{Error, KeyValue, ROW_LEN_MAX, Result, Timestamp};

/// Most bytes that qualifier and value have together in one cell: the whole KeyValue must fit a
/// signed 32-bit length, with space for row, family and tags.
pub const QUALIFIER_VALUE_LEN_MAX: usize = i32::MAX as usize - 256 * 1024;

/// KeyValue bytes before the row: key length, value length, row length.
pub(crate) const ROW_OFFSET: usize = 4 + 4 + 2;
/// Key bytes besides row, family and qualifier: row length, family length, timestamp, kind.
const KEY_FIXED_LEN: usize = 2 + 1 + 8 + 1;

/// The cell kind. The numbers are HBase's, on disk and on the wire. At equal timestamps the higher
/// number sorts first, so that a reader meets a delete marker before the cells it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CellKind {
    /// A value.
    Put = 4,
    /// Covers the version with exactly the marker's timestamp in the marker's column. HBase:
    /// Delete.
    DeleteVersion = 8,
    /// Covers every column in the family at exactly the marker's timestamp.
    DeleteFamilyVersion = 10,
    /// Covers all versions in the column up to the marker's timestamp.
    DeleteColumn = 12,
    /// Covers every column in the family up to the marker's timestamp.
    DeleteFamily = 14,
}

impl CellKind {
    /// Returns the kind with HBase's number `code`.
    pub fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            4 => Self::Put,
            8 => Self::DeleteVersion,
            10 => Self::DeleteFamilyVersion,
            12 => Self::DeleteColumn,
            14 => Self::DeleteFamily,
            _ => return None,
        })
    }

    /// Returns HBase's number.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns true if the cell is a delete marker, which covers other cells and holds no value.
    pub fn is_delete(self) -> bool {
        self != Self::Put
    }

    /// Returns true if the cell is a delete marker for single versions. It covers the cells at the
    /// same timestamp; the other markers cover older ones as well.
    pub fn is_version_delete(self) -> bool {
        matches!(self, Self::DeleteVersion | Self::DeleteFamilyVersion)
    }

    /// Returns true if the cell is a delete marker over every column in the family. It has no
    /// qualifier.
    pub fn is_family_delete(self) -> bool {
        matches!(self, Self::DeleteFamily | Self::DeleteFamilyVersion)
    }
}

/// A cell's position in the cell order, without value and sequence. `kind` is a plain code because
/// seek keys use codes that no cell has: at one timestamp 255 sorts before every kind, 0 after.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key<'a> {
    /// Row key.
    pub row: &'a [u8],
    /// Column family.
    pub family: &'a [u8],
    /// Column qualifier.
    pub qualifier: &'a [u8],
    /// Version, in milliseconds.
    pub timestamp: i64,
    /// The kind's code.
    pub kind: u8,
}

impl<'a> Key<'a> {
    /// Returns the position before the first cell of a row.
    pub fn row_start(row: &'a [u8]) -> Self {
        Self { row, family: b"", qualifier: b"", timestamp: i64::MAX, kind: u8::MAX }
    }

    /// Returns the position before the first cell of a column.
    pub fn column_start(row: &'a [u8], family: &'a [u8], qualifier: &'a [u8]) -> Self {
        Self { row, family, qualifier, timestamp: i64::MAX, kind: u8::MAX }
    }

    /// Returns the position after the last cell of a row in any family, which is before every
    /// longer row.
    pub fn row_end(row: &'a [u8]) -> Self {
        Self { row, family: &[0xFF; 256], qualifier: b"", timestamp: i64::MIN, kind: 0 }
    }

    /// Returns the position after the last cell of a column.
    pub fn column_end(row: &'a [u8], family: &'a [u8], qualifier: &'a [u8]) -> Self {
        Self { row, family, qualifier, timestamp: i64::MIN, kind: 0 }
    }
}

/// Row ↑, family ↑, qualifier ↑, timestamp ↓, kind ↓, as in HBase.
impl Ord for Key<'_> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        compare_bytes(self.row, other.row)
            .then_with(|| compare_bytes(self.family, other.family))
            .then_with(|| compare_bytes(self.qualifier, other.qualifier))
            .then_with(|| other.timestamp.cmp(&self.timestamp))
            .then_with(|| other.kind.cmp(&self.kind))
    }
}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares bytes as unsigned numbers, as keys do. Equivalent to `a.cmp(b)`. The shortcut matters
/// because an empty slice usually has a dangling pointer: a `memcmp` that reads memory it does not
/// compare can take a hundred times as long there as two length checks.
#[inline]
pub fn compare_bytes(a: &[u8], b: &[u8]) -> Ordering {
    if a.is_empty() || b.is_empty() { a.len().cmp(&b.len()) } else { a.cmp(b) }
}

/// Returns true if two slices are equal. Equivalent to `a == b`, but cheaper than a call to
/// `memcmp` for short slices, which most keys are.
#[inline]
pub fn equal_bytes(a: &[u8], b: &[u8]) -> bool {
    const SHORT: usize = 64;
    if a.len() != b.len() {
        return false;
    }
    match (a.last_chunk::<8>(), b.last_chunk::<8>()) {
        // Compare the ends first: unequal keys usually differ there.
        (Some(a_end), Some(b_end)) => {
            a_end == b_end
                && if a.len() <= SHORT {
                    a.chunks_exact(8).zip(b.chunks_exact(8)).all(|(a, b)| a == b)
                } else {
                    a == b
                }
        }
        _ => a.iter().eq(b),
    }
}

/// Returns the first eight bytes of `row` as a big-endian number, padded with zeros, so that most
/// row comparisons are integer comparisons. Different numbers order as the rows do; equal numbers
/// decide nothing.
#[inline]
pub fn row_prefix(row: &[u8]) -> u64 {
    match row.first_chunk::<8>() {
        Some(prefix) => u64::from_be_bytes(*prefix),
        None => row
            .iter()
            .enumerate()
            .fold(0, |prefix, (at, &byte)| prefix | u64::from(byte) << (56 - 8 * at)),
    }
}

/// Compares cells in the cell order: by key, then the highest sequence number first.
#[inline]
pub fn compare(a: &CellRef<'_>, b: &CellRef<'_>) -> Ordering {
    a.key.cmp(&b.key).then_with(|| b.sequence.cmp(&a.sequence))
}

/// A borrowed cell from a block, a frame or a memstore, decoded into parts.
#[derive(Clone, Copy)]
pub struct CellRef<'a> {
    /// Position in the cell order.
    pub key: Key<'a>,
    /// Value; empty for delete markers.
    pub value: &'a [u8],
    /// HBase's tags in serialized form, without their total length.
    pub tags: &'a [u8],
    /// The cell's sequence number, from the mutation that wrote it; 0 if unknown.
    pub sequence: u64,
}

impl<'a> CellRef<'a> {
    /// Parses `bytes`, which must be exactly one KeyValue, with or without tags.
    ///
    /// # Errors
    /// `Corruption` for inconsistent lengths, an unknown kind or a negative timestamp.
    pub fn parse(bytes: &'a [u8], sequence: u64) -> Result<Self> {
        let malformed =
            |what: &str| Error::corruption(format!("malformed cell: {what}, len={}", bytes.len()));
        if bytes.len() < ROW_OFFSET {
            return Err(malformed("shorter than its lengths"));
        }
        let key_len = read_u32(bytes, 0);
        let value_len = read_u32(bytes, 4);
        let row_len = u16::from_be_bytes([bytes[8], bytes[9]]) as usize;
        if row_len > ROW_LEN_MAX || key_len < KEY_FIXED_LEN + row_len {
            return Err(malformed("row longer than the key"));
        }
        let without_tags = 8usize
            .checked_add(key_len)
            .and_then(|len| len.checked_add(value_len))
            .filter(|&len| len <= bytes.len())
            .ok_or_else(|| malformed("key and value longer than the cell"))?;
        let tags = match bytes.len() - without_tags {
            0 => &[][..],
            1 => return Err(malformed("one byte after the value")),
            rest => {
                let at = without_tags;
                let tags_len = u16::from_be_bytes([bytes[at], bytes[at + 1]]) as usize;
                if tags_len != rest - 2 {
                    return Err(malformed("tags do not fill the cell"));
                }
                &bytes[at + 2..]
            }
        };
        let family_len = bytes[ROW_OFFSET + row_len] as usize;
        if KEY_FIXED_LEN + row_len + family_len > key_len {
            return Err(malformed("family longer than the key"));
        }
        let cell = Self::take_apart(bytes, tags, sequence);
        if CellKind::from_code(cell.key.kind).is_none() {
            return Err(malformed(&format!("kind {}", cell.key.kind)));
        }
        if cell.key.timestamp < 0 {
            return Err(malformed(&format!("timestamp {}", cell.key.timestamp)));
        }
        Ok(cell)
    }

    /// Decodes a KeyValue that was validated when a [`Cell`] was created from it.
    ///
    /// # Panics
    /// May panic, now or on a later access, if `bytes` is not a KeyValue.
    // As for the cells in a block, a caller computes only the parts that it reads.
    #[inline(always)]
    pub fn from_checked(bytes: &'a [u8], sequence: u64) -> Self {
        let without_tags = 8 + read_u32(bytes, 0) + read_u32(bytes, 4);
        let tags = bytes.get(without_tags + 2..).unwrap_or_default();
        Self::take_apart(bytes, tags, sequence)
    }

    /// Decodes a KeyValue whose lengths are validated.
    #[inline(always)]
    fn take_apart(bytes: &'a [u8], tags: &'a [u8], sequence: u64) -> Self {
        let key_len = read_u32(bytes, 0);
        let value_len = read_u32(bytes, 4);
        let row_len = u16::from_be_bytes([bytes[8], bytes[9]]) as usize;
        let row_end = ROW_OFFSET + row_len;
        let family_end = row_end + 1 + bytes[row_end] as usize;
        let key_end = 8 + key_len;
        let qualifier_end = key_end - 9;
        let mut timestamp = [0; 8];
        timestamp.copy_from_slice(&bytes[qualifier_end..key_end - 1]);
        Self {
            key: Key {
                row: &bytes[ROW_OFFSET..row_end],
                family: &bytes[row_end + 1..family_end],
                qualifier: &bytes[family_end..qualifier_end],
                timestamp: i64::from_be_bytes(timestamp),
                kind: bytes[key_end - 1],
            },
            value: &bytes[key_end..key_end + value_len],
            tags,
            sequence,
        }
    }

    /// Returns true if a validated KeyValue has tags.
    pub fn has_tags(key_value: &[u8]) -> bool {
        8 + read_u32(key_value, 0) + read_u32(key_value, 4) < key_value.len()
    }

    /// Overwrites the timestamp in a validated KeyValue.
    pub fn set_timestamp(key_value: &mut [u8], millis: i64) {
        let key_end = 8 + read_u32(key_value, 0);
        key_value[key_end - 9..key_end - 1].copy_from_slice(&millis.to_be_bytes());
    }

    /// Returns the cell's kind.
    pub fn kind(&self) -> CellKind {
        CellKind::from_code(self.key.kind).expect("kinds are checked when a cell is made")
    }

    /// Copies the cell into a separate buffer.
    pub fn to_cell(&self) -> Cell {
        Cell::encode(self.key, self.value, self.tags, self.sequence)
    }
}

/// A cell that shares the bytes; cloning increments a reference count.
#[derive(Clone)]
pub struct Cell {
    /// Exactly one KeyValue, validated when the cell was created.
    bytes: Bytes,
    sequence: u64,
}

impl Cell {
    /// Creates a cell.
    ///
    /// # Errors
    /// `InvalidRequest` if the row, the family (at most 255 bytes) or qualifier and value together
    /// (at most [`QUALIFIER_VALUE_LEN_MAX`] bytes) are too long.
    pub fn new(
        row: impl AsRef<[u8]>,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp: Timestamp,
        kind: CellKind,
        value: impl AsRef<[u8]>,
    ) -> Result<Self> {
        let key = Key {
            row: row.as_ref(),
            family: family.as_ref(),
            qualifier: qualifier.as_ref(),
            timestamp: timestamp.as_millis(),
            kind: kind.code(),
        };
        Self::from_parts(key, value.as_ref(), &[])
    }

    /// Creates a cell with serialized tags (at most 65,535 bytes).
    ///
    /// # Errors
    /// As [`Cell::new`]; also for an unknown kind or a negative timestamp.
    pub fn from_parts(key: Key<'_>, value: &[u8], tags: &[u8]) -> Result<Self> {
        crate::check_row(key.row)?;
        if key.family.len() > u8::MAX as usize {
            return Err(Error::invalid(format!(
                "family too long: len={}, max=255",
                key.family.len()
            )));
        }
        if key.qualifier.len().saturating_add(value.len()) > QUALIFIER_VALUE_LEN_MAX {
            return Err(Error::invalid(format!(
                "qualifier and value too long: len={}, max={QUALIFIER_VALUE_LEN_MAX}",
                key.qualifier.len().saturating_add(value.len())
            )));
        }
        if tags.len() > u16::MAX as usize {
            return Err(Error::invalid(format!("tags too long: len={}, max=65535", tags.len())));
        }
        if CellKind::from_code(key.kind).is_none() {
            return Err(Error::invalid(format!("unknown cell kind: code={}", key.kind)));
        }
        Timestamp::from_millis(key.timestamp)?;
        Ok(Self::encode(key, value, tags, 0))
    }

    /// Creates a cell from a KeyValue, sharing the bytes.
    ///
    /// # Errors
    /// As [`CellRef::parse`].
    pub fn from_key_value(bytes: Bytes, sequence: u64) -> Result<Self> {
        CellRef::parse(&bytes, sequence)?;
        Ok(Self { bytes, sequence })
    }

    /// Creates a cell from a validated KeyValue, sharing the bytes.
    ///
    /// # Panics
    /// May panic, now or on a later access, if `bytes` is not a KeyValue.
    #[inline]
    pub fn from_checked(bytes: Bytes, sequence: u64) -> Self {
        debug_assert!(CellRef::parse(&bytes, sequence).is_ok());
        Self { bytes, sequence }
    }

    fn encode(key: Key<'_>, value: &[u8], tags: &[u8], sequence: u64) -> Self {
        let key_len = KEY_FIXED_LEN + key.row.len() + key.family.len() + key.qualifier.len();
        let tags_len = if tags.is_empty() { 0 } else { 2 + tags.len() };
        let mut bytes = BytesMut::with_capacity(8 + key_len + value.len() + tags_len);
        bytes.put_u32(key_len as u32);
        bytes.put_u32(value.len() as u32);
        bytes.put_u16(key.row.len() as u16);
        bytes.put_slice(key.row);
        bytes.put_u8(key.family.len() as u8);
        bytes.put_slice(key.family);
        bytes.put_slice(key.qualifier);
        bytes.put_i64(key.timestamp);
        bytes.put_u8(key.kind);
        bytes.put_slice(value);
        if !tags.is_empty() {
            bytes.put_u16(tags.len() as u16);
            bytes.put_slice(tags);
        }
        Self { bytes: bytes.freeze(), sequence }
    }

    /// Returns the cell as a borrowed KeyValue.
    #[inline]
    pub fn as_key_value(&self) -> KeyValue<'_> {
        KeyValue::from_checked(&self.bytes, &self.bytes, self.sequence)
    }

    /// Returns the decoded cell parts.
    #[inline]
    pub fn view(&self) -> CellRef<'_> {
        self.as_key_value().view()
    }

    /// Returns the cell's position in the cell order.
    pub fn key(&self) -> Key<'_> {
        self.as_key_value().key()
    }

    /// Returns the row key.
    pub fn row(&self) -> &[u8] {
        self.as_key_value().row()
    }

    /// Returns the row key, sharing the cell's bytes.
    pub fn row_bytes(&self) -> Bytes {
        self.as_key_value().row_bytes()
    }

    /// Returns the column family.
    pub fn family(&self) -> &[u8] {
        self.as_key_value().family()
    }

    /// Returns the column qualifier.
    pub fn qualifier(&self) -> &[u8] {
        self.as_key_value().qualifier()
    }

    /// Returns the timestamp, which is the version.
    pub fn timestamp(&self) -> Timestamp {
        self.as_key_value().timestamp()
    }

    /// Returns the cell's kind.
    pub fn kind(&self) -> CellKind {
        self.as_key_value().kind()
    }

    /// Returns the value; empty for delete markers.
    pub fn value(&self) -> &[u8] {
        self.as_key_value().value()
    }

    /// Returns the value, sharing the cell's bytes.
    pub fn value_bytes(&self) -> Bytes {
        self.as_key_value().value_bytes()
    }

    /// Returns HBase's tags in serialized form, without their total length.
    pub fn tags(&self) -> &[u8] {
        self.as_key_value().tags()
    }

    /// Returns the cell's sequence number, from the mutation that wrote it; 0 if unknown.
    #[inline]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns the whole KeyValue, tags included.
    #[inline]
    pub fn as_bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the whole KeyValue, consuming the cell.
    pub(crate) fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Returns the cell with another sequence number.
    pub fn with_sequence(mut self, sequence: u64) -> Self {
        self.sequence = sequence;
        self
    }

    /// Returns a copy of the cell with another timestamp.
    pub fn with_timestamp(&self, timestamp: Timestamp) -> Self {
        let mut bytes = BytesMut::from(&self.bytes[..]);
        let key_end = 8 + read_u32(&self.bytes, 0);
        bytes[key_end - 9..key_end - 1].copy_from_slice(&timestamp.as_millis().to_be_bytes());
        Self { bytes: bytes.freeze(), sequence: self.sequence }
    }

    /// Returns a copy of the cell in a separate buffer, which no longer keeps a block or a frame
    /// alive.
    pub fn detached(&self) -> Self {
        Self { bytes: Bytes::copy_from_slice(&self.bytes), sequence: self.sequence }
    }
}

#[inline]
pub(crate) fn read_u32(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
}

/// Compares bytes only: the sequence number is not part of a cell's identity.
impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_key_value().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell(row: &[u8], qualifier: &[u8], millis: i64, kind: CellKind, value: &[u8]) -> Cell {
        Cell::new(row, b"cf", qualifier, Timestamp::trusted(millis), kind, value).unwrap()
    }

    #[test]
    fn layout_is_hbases_key_value() {
        let cell = cell(b"r", b"q", 1, CellKind::Put, b"v");
        let expected =
            [&[0, 0, 0, 16, 0, 0, 0, 1, 0, 1][..], b"r\x02cfq", &[0, 0, 0, 0, 0, 0, 0, 1, 4], b"v"]
                .concat();
        assert_eq!(&cell.as_bytes()[..], &expected[..]);
    }

    #[test]
    fn newest_version_and_deletes_come_first() {
        let mut cells = [
            cell(b"r", b"q", 1, CellKind::Put, b""),
            cell(b"r", b"q", 2, CellKind::Put, b""),
            cell(b"r", b"q", 2, CellKind::DeleteVersion, b""),
            cell(b"r", b"q", 2, CellKind::DeleteColumn, b""),
            cell(b"r", b"p", 1, CellKind::Put, b""),
        ];
        cells.sort_by(|a, b| compare(&a.view(), &b.view()));
        let order: Vec<_> = cells
            .iter()
            .map(|cell| (cell.qualifier()[0], cell.timestamp().as_millis(), cell.kind().code()))
            .collect();
        assert_eq!(order, [(b'p', 1, 4), (b'q', 2, 12), (b'q', 2, 8), (b'q', 2, 4), (b'q', 1, 4)]);
    }

    #[test]
    fn tags_are_retained_and_can_be_left_off() {
        let plain = cell(b"r", b"q", 1, CellKind::Put, b"v");
        let tagged = Cell::from_parts(plain.key(), b"v", b"\0\x03\x01ab").unwrap();
        assert_eq!(tagged.tags(), b"\0\x03\x01ab");
        assert_eq!(tagged.as_key_value().without_tags(), &plain.as_bytes()[..]);
        let read = Cell::from_key_value(tagged.as_bytes().clone(), 0).unwrap();
        assert_eq!(read, tagged);
    }

    /// Generates byte strings with common prefixes, with lengths around the thresholds in
    /// [`equal_bytes`].
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let ends = prop::collection::vec(prop::sample::select(vec![0u8, 1, 255]), 0..4);
        let lens = prop::sample::select(vec![0usize, 3, 7, 8, 9, 16, 63, 64, 65]);
        (lens, ends).prop_map(|(len, end)| [vec![b'a'; len], end].concat())
    }

    proptest! {
        #[test]
        fn quick_comparisons_agree_with_those_of_slices(a in bytes(), b in bytes()) {
            prop_assert_eq!(compare_bytes(&a, &b), a.cmp(&b));
            prop_assert_eq!(equal_bytes(&a, &b), a == b);
            let by_prefix = row_prefix(&a).cmp(&row_prefix(&b));
            prop_assert!(by_prefix.is_eq() || by_prefix == a.cmp(&b));
        }

        #[test]
        fn parsing_undoes_encoding(
            row in prop::collection::vec(any::<u8>(), 1..40),
            family in prop::collection::vec(any::<u8>(), 0..10),
            qualifier: Vec<u8>,
            millis in 0..=i64::MAX,
            value: Vec<u8>,
            tags: Vec<u8>,
        ) {
            let key = Key {
                row: &row, family: &family, qualifier: &qualifier, timestamp: millis, kind: 4,
            };
            let cell = Cell::from_parts(key, &value, &tags).unwrap();
            let read = Cell::from_key_value(cell.as_bytes().clone(), 7).unwrap();
            prop_assert!(read.key() == key);
            prop_assert_eq!(read.value(), &value[..]);
            prop_assert_eq!(read.tags(), &tags[..]);
            prop_assert_eq!(read.value_bytes(), value);
        }

        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>) {
            let _ = CellRef::parse(&bytes, 0);
        }

        #[test]
        fn damaged_cells_never_panic(at in 0usize..40, flip in 1u8.., cut in 0usize..40) {
            let mut bytes = cell(b"row", b"qual", 77, CellKind::Put, b"value").bytes.to_vec();
            let len = bytes.len();
            bytes[at % len] ^= flip;
            bytes.truncate(len - cut % len);
            if let Ok(read) = Cell::from_key_value(bytes.into(), 0) {
                let _ = format!("{read:?}");
            }
        }
    }
}
