//! The delta encodings PREFIX, DIFF and FAST_DIFF, which store each cell as its difference from the
//! previous one.
//!
//! A block is decoded as a whole into plain cells and a row index. Each encoding has one submodule
//! with the encoder and decoder.

mod diff;
mod fast_diff;
mod prefix;
mod source;
mod tags;

use rowhouse_model::{CellRef, DataBlockEncoding, Key};

use super::cell_offsets::CellOffsets;
use super::layout::{KEY_OFFSET, Layout};
use crate::hfile::key::{KEY_FIXED_LEN, write_key};
use crate::hfile::varint::{read_vint, write_vint};
use source::Source;
use tags::TagDictionary;

/// How many bytes a key has after the qualifier: timestamp and kind.
const TIME_AND_KIND_LEN: usize = 8 + 1;
/// How many bytes a key has before the row.
const ROW_LEN_LEN: usize = 2;

/// Returns the encoding's number in a block's first two bytes; `None` if it is not a delta
/// encoding.
pub(super) fn id(encoding: DataBlockEncoding) -> Option<u16> {
    match encoding {
        DataBlockEncoding::Prefix => Some(2),
        DataBlockEncoding::Diff => Some(3),
        DataBlockEncoding::FastDiff => Some(4),
        DataBlockEncoding::None | DataBlockEncoding::RowIndexV1 => None,
    }
}

/// A block's decoded cells and the offset of each row's first cell.
pub(super) struct Decoded {
    pub(super) cells: Vec<u8>,
    /// One big-endian u32 per row.
    pub(super) rows: Vec<u8>,
}

/// Decodes the payload after the encoding's number.
///
/// # Errors
/// The offset in `payload` where bytes are malformed.
pub(super) fn unpack(payload: &[u8], layout: Layout) -> Result<Decoded, usize> {
    let (len, packed) = payload.split_first_chunk::<4>().ok_or(0usize)?;
    let len = usize::try_from(i32::from_be_bytes(*len)).map_err(|_| 0usize)?;
    let mut unpacker = DeltaDecoder {
        source: Source::new(packed),
        layout,
        // Do not trust the claimed length for the allocation.
        cells: Vec::with_capacity(len.min(packed.len().saturating_mul(4))),
        len,
        rows: Vec::new(),
        last: None,
        tags: TagDictionary::new(),
    };
    while !unpacker.source.is_end() {
        let at = unpacker.source.position();
        unpacker.cell().ok_or(4 + at)?;
    }
    if unpacker.cells.len() != len {
        return Err(0);
    }
    Ok(Decoded { cells: unpacker.cells, rows: unpacker.rows })
}

/// The state while a block is decoded.
struct DeltaDecoder<'a> {
    source: Source<'a>,
    layout: Layout,
    cells: Vec<u8>,
    /// How long the cells are once all are decoded, in bytes.
    len: usize,
    rows: Vec<u8>,
    last: Option<Last>,
    tags: TagDictionary,
}

/// Where the previous cell is and how long the parts are.
#[derive(Clone, Copy)]
struct Last {
    /// The key's offset in the decoded cells.
    key: usize,
    key_len: usize,
    value_len: usize,
    row_len: usize,
    /// Includes the length byte.
    family_len: usize,
}

impl Last {
    /// Returns the timestamp's offset.
    fn time(&self) -> usize {
        self.key + self.key_len - TIME_AND_KIND_LEN
    }

    /// Returns the kind's offset.
    fn kind(&self) -> usize {
        self.key + self.key_len - 1
    }

    /// Returns the value's offset.
    fn value(&self) -> usize {
        self.key + self.key_len
    }

    /// Returns the offset of the family's length byte.
    fn family(&self) -> usize {
        self.key + ROW_LEN_LEN + self.row_len
    }
}

impl DeltaDecoder<'_> {
    /// Decodes the next cell; returns `None` if it is malformed.
    fn cell(&mut self) -> Option<()> {
        let start = self.cells.len();
        match self.layout.encoding {
            DataBlockEncoding::Prefix => prefix::unpack(self)?,
            DataBlockEncoding::Diff => diff::unpack(self)?,
            DataBlockEncoding::FastDiff => fast_diff::unpack(self)?,
            DataBlockEncoding::None | DataBlockEncoding::RowIndexV1 => return None,
        }
        if self.layout.tags {
            self.tags()?;
        }
        if self.layout.sequences {
            let (_, end) = read_vint(self.source.rest(), 0)?;
            self.cells.extend_from_slice(self.source.take(end)?);
        }
        self.note(start)
    }

    /// Validates the cell decoded at `start` and records it as the previous cell.
    fn note(&mut self, start: usize) -> Option<()> {
        let place = CellOffsets::parse(&self.cells, start, self.layout)?;
        if place.next as usize != self.cells.len() || self.cells.len() > self.len {
            return None;
        }
        let key = place.key(&self.cells);
        let row_len = key.row.len();
        let family_len = 1 + key.family.len();
        let key_len = KEY_FIXED_LEN + row_len + key.family.len() + key.qualifier.len();
        let last_row = self.last.map(|last| {
            let row = last.key + ROW_LEN_LEN;
            &self.cells[row..row + last.row_len]
        });
        match last_row.map(|last| last.cmp(key.row)) {
            Some(std::cmp::Ordering::Greater) => return None,
            Some(std::cmp::Ordering::Equal) => {}
            Some(std::cmp::Ordering::Less) | None => {
                self.rows.extend_from_slice(&(start as u32).to_be_bytes());
            }
        }
        let value_len = place.value_len();
        self.last = Some(Last { key: start + KEY_OFFSET, key_len, value_len, row_len, family_len });
        Some(())
    }

    /// Appends the lengths that precede a cell; returns `None` if the cell would not fit.
    fn begin(&mut self, key_len: usize, value_len: usize) -> Option<()> {
        let len = KEY_OFFSET.checked_add(key_len)?.checked_add(value_len)?;
        if len > self.len.checked_sub(self.cells.len())? {
            return None;
        }
        self.cells.extend_from_slice(&(key_len as u32).to_be_bytes());
        self.cells.extend_from_slice(&(value_len as u32).to_be_bytes());
        Some(())
    }

    /// Appends row, family and qualifier for a key with `key_len` bytes that shares its first
    /// `common` bytes with the previous key. `family` includes the length byte.
    fn key_front(&mut self, key_len: usize, common: usize, family: &[u8]) -> Option<()> {
        let start = self.cells.len();
        let end = start + key_len.checked_sub(TIME_AND_KIND_LEN)?;
        let last_row_end = match self.last {
            Some(last) => {
                if common > last.key_len {
                    return None;
                }
                self.cells.extend_from_within(last.key..last.key + common);
                ROW_LEN_LEN + last.row_len
            }
            None if common == 0 => ROW_LEN_LEN,
            None => return None,
        };
        if common < last_row_end {
            let rest = ROW_LEN_LEN.saturating_sub(common);
            self.cells.extend_from_slice(self.source.take(rest)?);
            let row_len = self.cells.get(start..)?.first_chunk::<2>()?;
            let row_end = ROW_LEN_LEN + u16::from_be_bytes(*row_len) as usize;
            let rest = row_end.checked_sub(common.max(ROW_LEN_LEN))?;
            self.cells.extend_from_slice(self.source.take(rest)?);
            self.cells.extend_from_slice(family);
        }
        let rest = end.checked_sub(self.cells.len())?;
        self.cells.extend_from_slice(self.source.take(rest)?);
        Some(())
    }

    /// Returns the previous cell's family with the length byte.
    fn last_family(&self) -> Option<Vec<u8>> {
        let last = self.last?;
        Some(self.cells[last.family()..last.family() + last.family_len].to_vec())
    }

    /// Appends the tags in an unencoded cell's format.
    fn tags(&mut self) -> Option<()> {
        let len = u16::try_from(self.source.number()?).ok()?;
        self.cells.extend_from_slice(&len.to_be_bytes());
        if self.layout.tags_compressed {
            return self.tags.unpack(&mut self.source, len.into(), &mut self.cells);
        }
        self.cells.extend_from_slice(self.source.take(len.into())?);
        Some(())
    }
}

/// The encoder's state: the previous cell.
#[derive(Default)]
pub(super) struct DeltaEncoder {
    /// The previous cell's key; empty before the first cell.
    key: Vec<u8>,
    value: Vec<u8>,
    /// Buffer for the next cell's key.
    next: Vec<u8>,
}

impl DeltaEncoder {
    /// Resets the state for another block.
    pub(super) fn clear(&mut self) {
        self.key.clear();
        self.value.clear();
    }

    /// Encodes and appends a cell.
    pub(super) fn push(&mut self, out: &mut Vec<u8>, cell: &CellRef<'_>, layout: Layout) {
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        write_key(&mut next, &cell.key);
        let last =
            (!self.key.is_empty()).then(|| EncoderCell { key: &self.key, value: &self.value });
        let cell_packed = EncoderCell { key: &next, value: cell.value };
        match layout.encoding {
            DataBlockEncoding::Prefix => prefix::pack(out, &cell_packed, last.as_ref()),
            DataBlockEncoding::Diff => diff::pack(out, &cell_packed, last.as_ref()),
            DataBlockEncoding::FastDiff => fast_diff::pack(out, &cell_packed, last.as_ref()),
            DataBlockEncoding::None | DataBlockEncoding::RowIndexV1 => {
                unreachable!("only blocks of differences have a packer")
            }
        }
        if layout.tags {
            source::write_number(out, cell.tags.len());
            out.extend_from_slice(cell.tags);
        }
        if layout.sequences {
            write_vint(out, cell.sequence as i64);
        }
        self.next = std::mem::replace(&mut self.key, next);
        self.value.clear();
        self.value.extend_from_slice(cell.value);
    }
}

/// A cell as the encoder sees it: serialized key and value.
struct EncoderCell<'a> {
    key: &'a [u8],
    value: &'a [u8],
}

impl EncoderCell<'_> {
    fn view(&self) -> Key<'_> {
        crate::hfile::key::view_key(self.key)
    }

    /// Returns the qualifier's end.
    fn front_len(&self) -> usize {
        self.key.len() - TIME_AND_KIND_LEN
    }

    /// Returns timestamp and kind.
    fn time_and_kind(&self) -> (&[u8], u8) {
        let (time, kind) = self.key[self.front_len()..].split_at(8);
        (time, kind[0])
    }

    /// Returns how many bytes in row, family and qualifier are shared with the previous key. An
    /// equal row implies an equal family, because a file has one family; if the row lengths differ,
    /// nothing after them counts.
    fn common_front(&self, last: &EncoderCell<'_>) -> usize {
        let key = self.view();
        let last_key = last.view();
        if key.row.len() != last_key.row.len() {
            return common_len(&self.key[..ROW_LEN_LEN], &last.key[..ROW_LEN_LEN]);
        }
        let row = common_len(key.row, last_key.row);
        if row < key.row.len() {
            return ROW_LEN_LEN + row;
        }
        ROW_LEN_LEN + row + 1 + key.family.len() + common_len(key.qualifier, last_key.qualifier)
    }

    /// Appends row, family and qualifier from offset `common` on. The family is included only if
    /// `with_family` is set, for a block's first key, or if `common` extends past the row.
    fn write_front(&self, out: &mut Vec<u8>, common: usize, with_family: bool) {
        let key = self.view();
        let row_end = ROW_LEN_LEN + key.row.len();
        if common >= row_end {
            out.extend_from_slice(&self.key[common..self.front_len()]);
            return;
        }
        let family_end = if with_family { row_end } else { row_end + 1 + key.family.len() };
        out.extend_from_slice(&self.key[common..row_end]);
        out.extend_from_slice(&self.key[family_end..self.front_len()]);
    }
}

/// Returns the common prefix's length.
fn common_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
