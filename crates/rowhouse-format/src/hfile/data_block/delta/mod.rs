//! Blocks in which a cell tells only what is different from the cell before it: PREFIX, DIFF and FAST_DIFF.
//!
//! A block is unpacked as a whole into plain cells, and an index of its rows is made on the way. Each encoding is a
//! file with both its directions.

mod diff;
mod fast_diff;
mod prefix;
mod source;
mod tags;

use rowhouse_model::{CellRef, DataBlockEncoding, Key};

use super::cursor::CellOffsets;
use super::{KEY_OFFSET, Layout};
use crate::hfile::key::{KEY_FIXED_LEN, write_key};
use crate::hfile::varint::{read_vint, write_vint};
use source::Source;
use tags::TagDictionary;

/// Bytes of a key behind its qualifier: timestamp and kind.
const TIME_AND_KIND_LEN: usize = 8 + 1;
/// Bytes of a key in front of its row.
const ROW_LEN_LEN: usize = 2;

/// The number of an encoding in the first two bytes of a block; none for what is not of this kind.
pub(super) fn id(encoding: DataBlockEncoding) -> Option<u16> {
    match encoding {
        DataBlockEncoding::Prefix => Some(2),
        DataBlockEncoding::Diff => Some(3),
        DataBlockEncoding::FastDiff => Some(4),
        DataBlockEncoding::None | DataBlockEncoding::RowIndexV1 => None,
    }
}

/// The cells of a block, plain, and where the first cell of each row is.
pub(super) struct Unpacked {
    pub(super) cells: Vec<u8>,
    /// One big-endian u32 per row.
    pub(super) rows: Vec<u8>,
}

/// Unpacks what is behind a block's encoding number.
///
/// # Errors
/// Where in `payload` something is that no writer puts there.
pub(super) fn unpack(payload: &[u8], layout: Layout) -> Result<Unpacked, usize> {
    let (len, packed) = payload.split_first_chunk::<4>().ok_or(0usize)?;
    let len = usize::try_from(i32::from_be_bytes(*len)).map_err(|_| 0usize)?;
    let mut unpacker = Unpacker {
        source: Source::new(packed),
        layout,
        // What the block claims is believed as far as it goes.
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
    Ok(Unpacked { cells: unpacker.cells, rows: unpacker.rows })
}

/// A block on its way from packed to plain.
struct Unpacker<'a> {
    source: Source<'a>,
    layout: Layout,
    cells: Vec<u8>,
    /// How long the cells are going to be.
    len: usize,
    rows: Vec<u8>,
    last: Option<Last>,
    tags: TagDictionary,
}

/// The cell in front of the one that is unpacked.
#[derive(Clone, Copy)]
struct Last {
    /// Where its key begins among the cells.
    key: usize,
    key_len: usize,
    value_len: usize,
    row_len: usize,
    /// With the byte that tells it.
    family_len: usize,
}

impl Last {
    /// Where its timestamp is.
    fn time(&self) -> usize {
        self.key + self.key_len - TIME_AND_KIND_LEN
    }

    /// Where its kind is.
    fn kind(&self) -> usize {
        self.key + self.key_len - 1
    }

    /// Where its value is.
    fn value(&self) -> usize {
        self.key + self.key_len
    }

    /// Where its family is, with the byte that tells its length.
    fn family(&self) -> usize {
        self.key + ROW_LEN_LEN + self.row_len
    }
}

impl Unpacker<'_> {
    /// Unpacks the next cell; none if there is none.
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

    /// Checks the cell that was put at `start`, and notes it as the last one.
    fn note(&mut self, start: usize) -> Option<()> {
        let place = CellOffsets::parse(&self.cells, start, self.layout)?;
        if place.next as usize != self.cells.len() || self.cells.len() > self.len {
            return None;
        }
        let key = place.key(&self.cells);
        let (row_len, family_len) = (key.row.len(), 1 + key.family.len());
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

    /// Puts the lengths in front of a cell; none if it would not fit.
    fn begin(&mut self, key_len: usize, value_len: usize) -> Option<()> {
        let len = KEY_OFFSET.checked_add(key_len)?.checked_add(value_len)?;
        if len > self.len.checked_sub(self.cells.len())? {
            return None;
        }
        self.cells.extend_from_slice(&(key_len as u32).to_be_bytes());
        self.cells.extend_from_slice(&(value_len as u32).to_be_bytes());
        Some(())
    }

    /// Puts row, family and qualifier of a key of `key_len` bytes that begins with `common` bytes of the last one.
    /// `family`, with its length in front, stands between row and qualifier.
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

    /// The family of the last cell, with its length in front.
    fn last_family(&self) -> Option<Vec<u8>> {
        let last = self.last?;
        Some(self.cells[last.family()..last.family() + last.family_len].to_vec())
    }

    /// Puts the tags as a plain cell has them.
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

/// What a writer remembers of the cell in front.
#[derive(Default)]
pub(super) struct Packer {
    /// The last cell's key; empty in front of the first.
    key: Vec<u8>,
    value: Vec<u8>,
    /// The next cell's key is built here.
    next: Vec<u8>,
}

impl Packer {
    /// Starts over, for another block.
    pub(super) fn clear(&mut self) {
        self.key.clear();
        self.value.clear();
    }

    /// Appends a cell.
    pub(super) fn push(&mut self, out: &mut Vec<u8>, cell: &CellRef<'_>, layout: Layout) {
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        write_key(&mut next, &cell.key);
        let last = (!self.key.is_empty()).then(|| Packed { key: &self.key, value: &self.value });
        let cell_packed = Packed { key: &next, value: cell.value };
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

/// A cell as a writer looks at it: its key in one piece, and its value.
struct Packed<'a> {
    key: &'a [u8],
    value: &'a [u8],
}

impl Packed<'_> {
    fn view(&self) -> Key<'_> {
        crate::hfile::key::view_key(self.key)
    }

    /// Where the qualifier ends.
    fn front_len(&self) -> usize {
        self.key.len() - TIME_AND_KIND_LEN
    }

    /// Timestamp and kind.
    fn time_and_kind(&self) -> (&[u8], u8) {
        let (time, kind) = self.key[self.front_len()..].split_at(8);
        (time, kind[0])
    }

    /// How many bytes of row, family and qualifier are those of the last key. A row that is the same brings the
    /// family with it, since a file has one; if lengths of rows differ, nothing behind them counts.
    fn common_front(&self, last: &Packed<'_>) -> usize {
        let (key, last_key) = (self.view(), last.view());
        if key.row.len() != last_key.row.len() {
            return common_len(&self.key[..ROW_LEN_LEN], &last.key[..ROW_LEN_LEN]);
        }
        let row = common_len(key.row, last_key.row);
        if row < key.row.len() {
            return ROW_LEN_LEN + row;
        }
        ROW_LEN_LEN + row + 1 + key.family.len() + common_len(key.qualifier, last_key.qualifier)
    }

    /// Appends what is behind `common` bytes of the front; the family only if it is the first key's.
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

/// How many bytes two runs begin with together.
fn common_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
