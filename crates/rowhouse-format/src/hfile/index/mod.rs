//! The block index: a tree that holds keys and block locations.

mod builder;
mod walk;

use std::cmp::Ordering;
use std::ops::Range;

use bytes::Bytes;
use rowhouse_model::{Error, Key, Result, row_prefix};

pub(super) use builder::IndexBuilder;
pub use walk::{IndexStep, IndexWalk};

use super::block::{Block, BlockHandle, BlockKind};
use super::input::Input;
use super::key::{check_key, view_key};

/// How many bytes a node entry has before the key: block offset and length.
const NODE_ENTRY_FIXED_LEN: usize = 8 + 4;
/// How many bytes follow the entries in a root with several levels: the location of the file's
/// middle block.
const MID_KEY_LEN: usize = 8 + 4 + 4;

/// An index block, root or below, validated and ready to search.
#[derive(Clone, Debug)]
pub struct Index {
    /// The payload that holds the entries' keys.
    bytes: Bytes,
    entries: Vec<Entry>,
    /// How long the prefix is, in bytes, that the rows of all entries share; not part of
    /// `Entry::prefix`.
    common: usize,
    /// Levels above the data blocks: 1 if the entries are data blocks.
    level: u8,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// [`row_prefix`] for the row after the shared prefix.
    prefix: u64,
    offset: u64,
    len: u32,
    key_start: u32,
    key_end: u32,
}

impl Index {
    /// Parses a file's root data index, with `count` entries and `levels` levels above the data.
    /// All blocks it points to must end at or before `limit`.
    pub(super) fn parse_root(block: &Block, count: u32, levels: u8, limit: u64) -> Result<Self> {
        let payload = &block.payload;
        let mut input = Input::new("hfile root index", payload);
        let mut index = Self::with_capacity(payload, count, NODE_ENTRY_FIXED_LEN + 1, levels)?;
        for _ in 0..count {
            let offset = input.u64()?;
            let len = input.u32()?;
            let key = input.vint_bytes()?.len();
            let end = input.position();
            index.push(offset, len, end - key..end, limit)?;
        }
        if levels > 1 && input.left() == MID_KEY_LEN {
            input.take(MID_KEY_LEN)?;
        }
        input.end()?;
        Ok(index.with_prefixes())
    }

    /// Parses the index block that was read at `handle`.
    ///
    /// # Errors
    /// `Corruption` if the block has another kind, its entries are out of order, or one points past
    /// `limit`.
    pub(super) fn parse_node(block: &Block, handle: &BlockHandle, limit: u64) -> Result<Self> {
        let want =
            if handle.level == 1 { BlockKind::LeafIndex } else { BlockKind::IntermediateIndex };
        if !handle.is_index() || block.kind != want {
            return Err(Error::corruption(format!(
                "hfile index names another kind of block: offset={}, want={want:?}, have={:?}",
                block.offset, block.kind
            )));
        }
        let payload = &block.payload;
        let mut input = Input::new("hfile index block", payload);
        let count = input.u32()?;
        let mut index =
            Self::with_capacity(payload, count, NODE_ENTRY_FIXED_LEN + 4, handle.level)?;
        let mut places = Input::new("hfile index block", input.take((count as usize + 1) * 4)?);
        let base = input.position();
        let mut start = places.u32()? as usize;
        if start != 0 {
            return Err(malformed(block.offset, "first entry is not at the start"));
        }
        for _ in 0..count {
            let end = places.u32()? as usize;
            let entry = end.checked_sub(start).map(|len| input.take(len)).transpose()?;
            let mut entry = Input::new(
                "hfile index entry",
                entry.ok_or_else(|| malformed(block.offset, "entries that run backwards"))?,
            );
            let offset = entry.u64()?;
            let len = entry.u32()?;
            let key_start = base + start + NODE_ENTRY_FIXED_LEN;
            index.push(offset, len, key_start..base + end, limit)?;
            start = end;
        }
        input.end()?;
        if count == 0 {
            return Err(malformed(block.offset, "no entries"));
        }
        Ok(index.with_prefixes())
    }

    /// Allocates space for `count` entries after checking that the payload can hold that many.
    fn with_capacity(payload: &Bytes, count: u32, entry_len: usize, level: u8) -> Result<Self> {
        if count as usize > payload.len() / entry_len {
            return Err(Error::corruption(format!(
                "more hfile index entries than fit: entries={count}, len={}",
                payload.len()
            )));
        }
        let entries = Vec::with_capacity(count as usize);
        Ok(Self { bytes: payload.clone(), entries, common: 0, level })
    }

    /// Iterates over the rows in the entries' keys.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.entries.iter().map(|entry| self.key_of(entry).row)
    }

    fn push(&mut self, offset: u64, len: u32, at: Range<usize>, limit: u64) -> Result<()> {
        let key = &self.bytes[at.clone()];
        check_key(key)?;
        if offset.checked_add(len.into()).is_none_or(|end| end > limit) {
            return Err(malformed(offset, &format!("block beyond the cells, len={len}")));
        }
        let key = view_key(key);
        if let Some(last) = self.entries.last()
            && (self.key_of(last) > key || last.offset >= offset)
        {
            return Err(malformed(offset, "entries out of order"));
        }
        let key_start = at.start as u32;
        let key_end = at.end as u32;
        self.entries.push(Entry { prefix: 0, offset, len, key_start, key_end });
        Ok(())
    }

    /// Computes the entries' prefixes, once all are present and known to be ordered.
    fn with_prefixes(mut self) -> Self {
        let (Some(first), Some(last)) = (self.entries.first(), self.entries.last()) else {
            return self;
        };
        let rows = self.key_of(first).row.iter().zip(self.key_of(last).row);
        self.common = rows.take_while(|(a, b)| a == b).count();
        for entry in &mut self.entries {
            let key = view_key(&self.bytes[entry.key_start as usize..entry.key_end as usize]);
            entry.prefix = row_prefix(&key.row[self.common..]);
        }
        self
    }

    fn key_of(&self, entry: &Entry) -> Key<'_> {
        view_key(&self.bytes[entry.key_start as usize..entry.key_end as usize])
    }

    /// Returns how many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no entries, as in a file without cells.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the level above the data blocks: 1 if the entries are data blocks.
    pub fn level(&self) -> u8 {
        self.level
    }

    /// Returns how many bytes this value occupies in memory, the block's payload included.
    pub fn memory_len(&self) -> usize {
        self.bytes.len() + self.entries.capacity() * size_of::<Entry>()
    }

    /// Returns the key of entry `at`: greater than all cells in the entries before it, and less
    /// than or equal to the entry's own first cell.
    pub fn key(&self, at: usize) -> Option<Key<'_>> {
        self.entries.get(at).map(|entry| self.key_of(entry))
    }

    /// Returns the serialized key of entry `at`, sharing the block's bytes.
    pub fn key_bytes(&self, at: usize) -> Option<Bytes> {
        let entry = self.entries.get(at)?;
        Some(self.bytes.slice(entry.key_start as usize..entry.key_end as usize))
    }

    /// Returns the location of entry `at`'s block.
    pub fn handle(&self, at: usize) -> Option<BlockHandle> {
        let entry = self.entries.get(at)?;
        Some(BlockHandle { offset: entry.offset, len: entry.len, level: self.level - 1 })
    }

    /// Returns the entry whose block holds the first cell at or after `key`. If that block ends
    /// before `key`, the cell is the first in the next entry's block. Returns 0 for a key before
    /// the first.
    pub fn find(&self, key: &Key<'_>) -> usize {
        let after = match self.common_order(key.row) {
            Ordering::Less => self.entries.len(),
            Ordering::Greater => 0,
            Ordering::Equal => {
                let prefix = row_prefix(&key.row[self.common..]);
                self.entries.partition_point(|entry| match entry.prefix.cmp(&prefix) {
                    Ordering::Equal => self.key_of(entry) <= *key,
                    decided => decided == Ordering::Less,
                })
            }
        };
        after.saturating_sub(1)
    }

    /// Compares the prefix that all entries' rows share with as many bytes of `row`.
    fn common_order(&self, row: &[u8]) -> Ordering {
        let Some(first) = self.entries.first() else { return Ordering::Less };
        let common = &self.key_of(first).row[..self.common];
        common.cmp(&row[..self.common.min(row.len())])
    }

    /// Returns the location of the block that [`Index::find`] finds; `None` in a file without
    /// cells.
    pub fn locate(&self, key: &Key<'_>) -> Option<BlockHandle> {
        self.handle(self.find(key))
    }
}

fn malformed(offset: u64, what: &str) -> Error {
    Error::corruption(format!("malformed hfile index: offset={offset}, {what}"))
}
