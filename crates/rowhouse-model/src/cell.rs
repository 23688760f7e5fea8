//! The cell, held as HBase's KeyValue, and THE order of cells.
//!
//! A cell is one run of bytes in the layout that HFiles and the RPC's cell blocks share
//! (`docs/formats/key-value.md`), so that a cell read from a block goes to a socket, and a cell from
//! a socket to the log and the memstore, without being taken apart.

use std::cmp::Ordering;
use std::fmt;

use bytes::{BufMut, Bytes, BytesMut};

use crate::{Error, KeyValue, ROW_LEN_MAX, Result, Timestamp};

/// The longest qualifier and value together, in bytes, that one cell can hold: the whole KeyValue
/// must fit a signed 32-bit length, with room for row, family and tags.
pub const QUALIFIER_VALUE_LEN_MAX: usize = i32::MAX as usize - 256 * 1024;

/// Bytes of a KeyValue in front of the row: key length, value length, row length.
pub(crate) const ROW_OFFSET: usize = 4 + 4 + 2;
/// Bytes of a key that are not row, family or qualifier: row length, family length, timestamp, kind.
const KEY_FIXED_LEN: usize = 2 + 1 + 8 + 1;

/// What a cell does. The numbers are HBase's, on disk and on the wire; within one timestamp the
/// higher number sorts first, so that a delete marker is met before what it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CellKind {
    /// A value.
    Put = 4,
    /// Covers the version of its column with exactly its timestamp. HBase: Delete.
    DeleteVersion = 8,
    /// Covers every column of its family at exactly its timestamp.
    DeleteFamilyVersion = 10,
    /// Covers all versions of its column up to its timestamp.
    DeleteColumn = 12,
    /// Covers every column of its family up to its timestamp.
    DeleteFamily = 14,
}

impl CellKind {
    /// The kind with HBase's number `code`.
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

    /// HBase's number.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Whether the cell covers others instead of holding a value.
    pub fn is_delete(self) -> bool {
        self != Self::Put
    }
}

/// Where a cell stands in the order, without value and sequence. `kind` is a bare code because
/// seeks use codes that no cell has: 255 stands before every kind of its timestamp, 0 behind.
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
    /// Code of the kind.
    pub kind: u8,
}

impl<'a> Key<'a> {
    /// The place before the first cell of a row.
    pub fn row_start(row: &'a [u8]) -> Self {
        Self { row, family: b"", qualifier: b"", timestamp: i64::MAX, kind: u8::MAX }
    }

    /// The place before the first cell of a column.
    pub fn column_start(row: &'a [u8], family: &'a [u8], qualifier: &'a [u8]) -> Self {
        Self { row, family, qualifier, timestamp: i64::MAX, kind: u8::MAX }
    }

    /// The place behind the last cell of a row in any family: before every longer row.
    pub fn row_end(row: &'a [u8]) -> Self {
        Self { row, family: &[0xFF; 256], qualifier: b"", timestamp: i64::MIN, kind: 0 }
    }

    /// The place behind the last cell of a column.
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

/// Compares bytes as unsigned numbers, as keys do. The same as `a.cmp(b)`; but an empty slice mostly
/// points to no memory, and machines whose `memcmp` reads what it does not compare take a hundred
/// times as long to find that out as to look at two lengths.
#[inline]
pub fn compare_bytes(a: &[u8], b: &[u8]) -> Ordering {
    if a.is_empty() || b.is_empty() { a.len().cmp(&b.len()) } else { a.cmp(b) }
}

/// Whether two slices are equal. The same as `a == b`, but for short ones, which keys mostly are, it
/// costs less than a call of `memcmp`.
#[inline]
pub fn equal_bytes(a: &[u8], b: &[u8]) -> bool {
    const SHORT: usize = 64;
    if a.len() != b.len() {
        return false;
    }
    match (a.last_chunk::<8>(), b.last_chunk::<8>()) {
        // What is told apart late is told apart mostly.
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

/// The first eight bytes of `row` as a number, so that most comparisons of rows are one of numbers:
/// different ones decide as the rows do, equal ones say nothing. A shorter row is filled up with zeros.
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

/// THE order of cells: by key, then the newest sequence first.
#[inline]
pub fn compare(a: &CellRef<'_>, b: &CellRef<'_>) -> Ordering {
    a.key.cmp(&b.key).then_with(|| b.sequence.cmp(&a.sequence))
}

/// A cell borrowed from a block, a frame or a memstore, taken apart.
#[derive(Clone, Copy)]
pub struct CellRef<'a> {
    /// Where it stands.
    pub key: Key<'a>,
    /// What it holds; empty for deletes.
    pub value: &'a [u8],
    /// HBase's tags, as they lie in the cell, without their total length.
    pub tags: &'a [u8],
    /// The sequence number of the mutation that wrote it; 0 when unknown.
    pub sequence: u64,
}

impl<'a> CellRef<'a> {
    /// Takes a KeyValue apart. `bytes` is exactly one KeyValue, with or without tags.
    ///
    /// # Errors
    /// Lengths that do not add up, an unknown kind, a negative timestamp.
    pub fn parse(bytes: &'a [u8], sequence: u64) -> Result<Self> {
        let malformed =
            |what: &str| Error::corruption(format!("malformed cell: {what}, len={}", bytes.len()));
        if bytes.len() < ROW_OFFSET {
            return Err(malformed("shorter than its lengths"));
        }
        let (key_len, value_len) = (read_u32(bytes, 0), read_u32(bytes, 4));
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
            1 => return Err(malformed("one byte behind the value")),
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

    /// Takes apart a KeyValue that was checked when a [`Cell`] was made of it.
    ///
    /// # Panics
    /// On bytes that are no KeyValue, sooner or later.
    #[inline]
    pub fn from_checked(bytes: &'a [u8], sequence: u64) -> Self {
        let without_tags = 8 + read_u32(bytes, 0) + read_u32(bytes, 4);
        let tags = bytes.get(without_tags + 2..).unwrap_or_default();
        Self::take_apart(bytes, tags, sequence)
    }

    /// Takes apart a KeyValue whose lengths were checked before.
    #[inline]
    fn take_apart(bytes: &'a [u8], tags: &'a [u8], sequence: u64) -> Self {
        let (key_len, value_len) = (read_u32(bytes, 0), read_u32(bytes, 4));
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

    /// Whether a KeyValue, checked before, carries tags.
    pub fn has_tags(key_value: &[u8]) -> bool {
        8 + read_u32(key_value, 0) + read_u32(key_value, 4) < key_value.len()
    }

    /// Gives a KeyValue, checked before, another timestamp.
    pub fn set_timestamp(key_value: &mut [u8], millis: i64) {
        let key_end = 8 + read_u32(key_value, 0);
        key_value[key_end - 9..key_end - 1].copy_from_slice(&millis.to_be_bytes());
    }

    /// What the cell does.
    pub fn kind(&self) -> CellKind {
        CellKind::from_code(self.key.kind).expect("kinds are checked when a cell is made")
    }

    /// The cell on its own bytes.
    pub fn to_cell(&self) -> Cell {
        Cell::encode(self.key, self.value, self.tags, self.sequence)
    }
}

/// A cell that shares its bytes: cloning costs a reference count.
#[derive(Clone)]
pub struct Cell {
    /// Exactly one KeyValue; checked when the cell was made.
    bytes: Bytes,
    sequence: u64,
}

impl Cell {
    /// A cell of these parts.
    ///
    /// # Errors
    /// A row, family (255 bytes at most) or qualifier with value
    /// ([`QUALIFIER_VALUE_LEN_MAX`]) that is too long.
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

    /// A cell of these parts, with tags in HBase's layout (65,535 bytes at most).
    ///
    /// # Errors
    /// As [`Cell::new`]; also a kind that is none and a negative timestamp.
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

    /// A cell from a KeyValue that was read; the bytes are shared, not copied.
    ///
    /// # Errors
    /// As [`CellRef::parse`].
    pub fn from_key_value(bytes: Bytes, sequence: u64) -> Result<Self> {
        CellRef::parse(&bytes, sequence)?;
        Ok(Self { bytes, sequence })
    }

    /// A cell from a KeyValue that was checked before; the bytes are shared, not copied.
    ///
    /// # Panics
    /// On bytes that are no KeyValue, now or when it is looked at.
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

    /// The cell, borrowed.
    #[inline]
    pub fn as_key_value(&self) -> KeyValue<'_> {
        KeyValue::from_checked(&self.bytes, &self.bytes, self.sequence)
    }

    /// The cell, taken apart.
    #[inline]
    pub fn view(&self) -> CellRef<'_> {
        self.as_key_value().view()
    }

    /// Where the cell stands.
    pub fn key(&self) -> Key<'_> {
        self.as_key_value().key()
    }

    /// Row key.
    pub fn row(&self) -> &[u8] {
        self.as_key_value().row()
    }

    /// Row key, sharing the cell's bytes.
    pub fn row_bytes(&self) -> Bytes {
        self.as_key_value().row_bytes()
    }

    /// Column family.
    pub fn family(&self) -> &[u8] {
        self.as_key_value().family()
    }

    /// Column qualifier.
    pub fn qualifier(&self) -> &[u8] {
        self.as_key_value().qualifier()
    }

    /// Version.
    pub fn timestamp(&self) -> Timestamp {
        self.as_key_value().timestamp()
    }

    /// What the cell does.
    pub fn kind(&self) -> CellKind {
        self.as_key_value().kind()
    }

    /// Value; empty for deletes.
    pub fn value(&self) -> &[u8] {
        self.as_key_value().value()
    }

    /// Value, sharing the cell's bytes.
    pub fn value_bytes(&self) -> Bytes {
        self.as_key_value().value_bytes()
    }

    /// HBase's tags, as they lie in the cell, without their total length.
    pub fn tags(&self) -> &[u8] {
        self.as_key_value().tags()
    }

    /// The sequence number of the mutation that wrote it; 0 when unknown.
    #[inline]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The whole KeyValue, tags included.
    #[inline]
    pub fn as_bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The whole KeyValue, taken.
    pub(crate) fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// The same cell under another sequence number.
    pub fn with_sequence(mut self, sequence: u64) -> Self {
        self.sequence = sequence;
        self
    }

    /// The same cell at another timestamp, on bytes of its own.
    pub fn with_timestamp(&self, timestamp: Timestamp) -> Self {
        let mut bytes = BytesMut::from(&self.bytes[..]);
        let key_end = 8 + read_u32(&self.bytes, 0);
        bytes[key_end - 9..key_end - 1].copy_from_slice(&timestamp.as_millis().to_be_bytes());
        Self { bytes: bytes.freeze(), sequence: self.sequence }
    }

    /// The same cell on bytes of its own, so that it no longer keeps a block or a frame alive.
    pub fn detached(&self) -> Self {
        Self { bytes: Bytes::copy_from_slice(&self.bytes), sequence: self.sequence }
    }
}

#[inline]
pub(crate) fn read_u32(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
}

/// Equal bytes; the sequence is where a cell was written, not what it is.
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
    fn tags_are_kept_and_can_be_left_off() {
        let plain = cell(b"r", b"q", 1, CellKind::Put, b"v");
        let tagged = Cell::from_parts(plain.key(), b"v", b"\0\x03\x01ab").unwrap();
        assert_eq!(tagged.tags(), b"\0\x03\x01ab");
        assert_eq!(tagged.as_key_value().without_tags(), &plain.as_bytes()[..]);
        let read = Cell::from_key_value(tagged.as_bytes().clone(), 0).unwrap();
        assert_eq!(read, tagged);
    }

    /// Bytes that mostly begin alike, of lengths around those that are told apart.
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
