//! Filters on whole rows.

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};

use bytes::Bytes;
use rowhouse_model::{CellRef, Comparison, Error, Key, KeyBuf, Result};

use super::base::FilterBase;
use super::verdict::FilterVerdict;
use crate::comparison::ComparisonRun;
use crate::regex::RegexMemoryLimit;

/// RowFilter.
#[derive(Debug)]
pub(super) struct Compared {
    comparison: ComparisonRun,
    filters_row: bool,
}

impl Compared {
    pub(super) fn start(comparison: &Comparison, room: RegexMemoryLimit) -> Result<Self> {
        Ok(Self { comparison: ComparisonRun::start(comparison, room)?, filters_row: false })
    }
}

impl FilterBase for Compared {
    fn reset(&mut self) {
        self.filters_row = false;
    }

    fn filters_row_key(&mut self, row: &[u8]) -> Result<bool> {
        self.filters_row |= !self.comparison.try_matches(row)?;
        Ok(self.filters_row)
    }

    fn judge(&mut self, _: &CellRef<'_>) -> Result<FilterVerdict> {
        Ok(row_verdict(!self.filters_row))
    }

    fn filters_row(&mut self) -> bool {
        self.filters_row
    }
}

/// PrefixFilter. Before the matching rows it hints at the first.
#[derive(Debug)]
pub(super) struct Prefix {
    prefix: Bytes,
    reversed: bool,
    has_passed: bool,
    filters_row: bool,
    is_ahead: bool,
}

impl Prefix {
    pub(super) fn new(prefix: Bytes, reversed: bool) -> Self {
        Self { prefix, reversed, has_passed: false, filters_row: true, is_ahead: false }
    }
}

impl FilterBase for Prefix {
    fn reset(&mut self) {
        self.filters_row = true;
    }

    fn is_done(&self) -> bool {
        self.has_passed
    }

    fn filters_row_key(&mut self, row: &[u8]) -> Result<bool> {
        if self.has_passed {
            return Ok(true);
        }
        // A row shorter than the prefix sorts before it. HBase reads past it into the cell's
        // family.
        let head = &row[..row.len().min(self.prefix.len())];
        let order = head.cmp(&self.prefix);
        let order = if self.reversed { order.reverse() } else { order };
        self.has_passed = order.is_gt();
        self.filters_row = order.is_ne();
        self.is_ahead = order.is_lt();
        Ok(self.has_passed)
    }

    fn judge(&mut self, _: &CellRef<'_>) -> Result<FilterVerdict> {
        Ok(if self.is_ahead { FilterVerdict::SeekToHint } else { row_verdict(!self.filters_row) })
    }

    fn hint(&mut self, _: Key<'_>) -> Option<KeyBuf> {
        if self.reversed {
            successor(&self.prefix).map(|row| row_hint(row.into()))
        } else {
            Some(row_hint(self.prefix.clone()))
        }
    }

    fn is_hinting(&self) -> bool {
        true
    }

    fn filters_row(&mut self) -> bool {
        self.filters_row
    }
}

/// PageFilter.
#[derive(Debug)]
pub(super) struct Page {
    rows_max: u64,
    rows: u64,
}

impl Page {
    pub(super) fn start(rows_max: u64) -> Result<Self> {
        if i64::try_from(rows_max).is_err() {
            return Err(Error::invalid(format!(
                "page of PageFilter too large: rows={rows_max}, max={}",
                i64::MAX
            )));
        }
        Ok(Self { rows_max, rows: 0 })
    }
}

impl FilterBase for Page {
    fn is_done(&self) -> bool {
        self.rows >= self.rows_max
    }

    fn needs_whole_row(&self) -> bool {
        true
    }

    fn filters_row(&mut self) -> bool {
        self.rows += 1;
        self.rows > self.rows_max
    }
}

/// InclusiveStopFilter.
#[derive(Debug)]
pub(super) struct InclusiveStop {
    stop: Bytes,
    reversed: bool,
    is_done: bool,
}

impl InclusiveStop {
    pub(super) fn new(stop: Bytes, reversed: bool) -> Self {
        Self { stop, reversed, is_done: false }
    }
}

impl FilterBase for InclusiveStop {
    fn is_done(&self) -> bool {
        self.is_done
    }

    fn filters_row_key(&mut self, row: &[u8]) -> Result<bool> {
        let past_stop = if self.reversed { Ordering::Less } else { Ordering::Greater };
        self.is_done |= row.cmp(&self.stop) == past_stop;
        Ok(self.is_done)
    }

    fn judge(&mut self, _: &CellRef<'_>) -> Result<FilterVerdict> {
        Ok(row_verdict(!self.is_done))
    }
}

/// RandomRowFilter. The accepted rows differ from scan to scan: the seed is a random hash key from
/// the standard library.
#[derive(Debug)]
pub(super) struct RandomRow {
    chance: f32,
    filters_row: bool,
    random: u64,
}

impl RandomRow {
    pub(super) fn new(chance: f32) -> Self {
        Self { chance, filters_row: false, random: RandomState::new().hash_one(0) }
    }

    /// Returns a number from 0 (inclusive) to 1 (exclusive): 24 splitmix64 bits.
    fn next_random(&mut self) -> f32 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 40) as f32 / (1u32 << 24) as f32
    }
}

impl FilterBase for RandomRow {
    fn reset(&mut self) {
        self.filters_row = false;
    }

    fn filters_row_key(&mut self, _: &[u8]) -> Result<bool> {
        let is_taken = self.next_random() < self.chance;
        self.filters_row = !is_taken;
        Ok(self.filters_row)
    }

    fn judge(&mut self, _: &CellRef<'_>) -> Result<FilterVerdict> {
        Ok(row_verdict(!self.filters_row))
    }

    fn needs_whole_row(&self) -> bool {
        true
    }

    fn filters_row(&mut self) -> bool {
        self.filters_row
    }
}

/// Returns the verdict on a row's cells.
pub(super) fn row_verdict(included: bool) -> FilterVerdict {
    if included { FilterVerdict::Include } else { FilterVerdict::NextRow }
}

/// Returns the position before a row's first cell.
pub(super) fn row_hint(row: Bytes) -> KeyBuf {
    KeyBuf { row, ..Key::row_start(b"").into() }
}

/// Returns the first row after all rows that begin with `prefix`; `None` if there is none.
pub(super) fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let len = prefix.iter().rposition(|&byte| byte != 0xFF)? + 1;
    let mut next = prefix[..len].to_vec();
    next[len - 1] += 1;
    Some(next)
}
