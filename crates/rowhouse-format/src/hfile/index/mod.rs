//! Where the data blocks are: a tree of keys and places.

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

/// Bytes of a node's entry in front of its key: block offset and length.
const NODE_ENTRY_FIXED_LEN: usize = 8 + 4;
/// Bytes behind the entries of a root with more than one level: what is in the middle of the file.
const MID_KEY_LEN: usize = 8 + 4 + 4;

/// A block of the index, the root or one below it, checked and ready to search.
#[derive(Clone, Debug)]
pub struct Index {
    /// What the entries' keys are slices of.
    bytes: Bytes,
    entries: Vec<Entry>,
    /// Bytes that the rows of all entries begin with: the entries' prefixes are of what follows.
    common: usize,
    /// Levels above the data blocks: 1 when the entries are data blocks.
    level: u8,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// [`row_prefix`] of the row behind the common bytes.
    prefix: u64,
    offset: u64,
    len: u32,
    key_start: u32,
    key_end: u32,
}

impl Index {
    /// A file's data root index with `count` entries, `levels` levels above the data. All blocks
    /// it leads to end at `limit` or before.
    pub(super) fn parse_root(block: &Block, count: u32, levels: u8, limit: u64) -> Result<Self> {
        let payload = &block.payload;
        let mut input = Input::new("hfile root index", payload);
        let mut index = Self::with_room(payload, count, NODE_ENTRY_FIXED_LEN + 1, levels)?;
        for _ in 0..count {
            let (offset, len) = (input.u64()?, input.u32()?);
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

    /// An index block that `handle` led to.
    ///
    /// # Errors
    /// `Corruption` for another kind of block, and for entries that are out of order or place.
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
        let mut index = Self::with_room(payload, count, NODE_ENTRY_FIXED_LEN + 4, handle.level)?;
        let mut places = Input::new("hfile index block", input.take((count as usize + 1) * 4)?);
        let base = input.position();
        let mut start = places.u32()? as usize;
        if start != 0 {
            return Err(malformed(block.offset, "first entry not in front"));
        }
        for _ in 0..count {
            let end = places.u32()? as usize;
            let entry = end.checked_sub(start).map(|len| input.take(len)).transpose()?;
            let mut entry = Input::new(
                "hfile index entry",
                entry.ok_or_else(|| malformed(block.offset, "entries that run backwards"))?,
            );
            let (offset, len) = (entry.u64()?, entry.u32()?);
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

    /// Room for `count` entries, if so many can be in the payload at all.
    fn with_room(payload: &Bytes, count: u32, entry_len: usize, level: u8) -> Result<Self> {
        if count as usize > payload.len() / entry_len {
            return Err(Error::corruption(format!(
                "more hfile index entries than fit: entries={count}, len={}",
                payload.len()
            )));
        }
        let entries = Vec::with_capacity(count as usize);
        Ok(Self { bytes: payload.clone(), entries, common: 0, level })
    }

    /// The rows of the keys that its entries begin with.
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
        let (key_start, key_end) = (at.start as u32, at.end as u32);
        self.entries.push(Entry { prefix: 0, offset, len, key_start, key_end });
        Ok(())
    }

    /// Puts the prefixes into the entries, once they are all there and known to be in order.
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

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none, as in a file without cells.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Levels above the data blocks: 1 when the entries are data blocks.
    pub fn level(&self) -> u8 {
        self.level
    }

    /// Bytes this takes in memory, the block's payload included.
    pub fn memory_len(&self) -> usize {
        self.bytes.len() + self.entries.capacity() * size_of::<Entry>()
    }

    /// The key of entry `at`: behind all cells of the entries before it, and not behind its own.
    pub fn key(&self, at: usize) -> Option<Key<'_>> {
        self.entries.get(at).map(|entry| self.key_of(entry))
    }

    /// The key part of entry `at` as it lies in the block.
    pub fn key_bytes(&self, at: usize) -> Option<Bytes> {
        let entry = self.entries.get(at)?;
        Some(self.bytes.slice(entry.key_start as usize..entry.key_end as usize))
    }

    /// The block of entry `at`.
    pub fn handle(&self, at: usize) -> Option<BlockHandle> {
        let entry = self.entries.get(at)?;
        Some(BlockHandle { offset: entry.offset, len: entry.len, level: self.level - 1 })
    }

    /// The entry where the first cell at or behind `key` is, if it is in the file; when its block
    /// ends before `key`, the cell is the first of the next entry's. 0 for a key before the first.
    pub fn find(&self, key: &Key<'_>) -> usize {
        let behind = match self.common_order(key.row) {
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
        behind.saturating_sub(1)
    }

    /// How the bytes that all entries' rows begin with compare with those of `row`.
    fn common_order(&self, row: &[u8]) -> Ordering {
        let Some(first) = self.entries.first() else { return Ordering::Less };
        let common = &self.key_of(first).row[..self.common];
        common.cmp(&row[..self.common.min(row.len())])
    }

    /// The block of [`Index::find`]; none in a file without cells.
    pub fn locate(&self, key: &Key<'_>) -> Option<BlockHandle> {
        self.handle(self.find(key))
    }
}

fn malformed(offset: u64, what: &str) -> Error {
    Error::corruption(format!("malformed hfile index: offset={offset}, {what}"))
}
