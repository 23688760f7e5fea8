//! Filters on a cell's position within the row.

use std::collections::BTreeSet;

use bytes::Bytes;
use rowhouse_model::{CellRef, ColumnOffset, Error, Key, KeyBuf, Result};

use super::base::FilterBase;
use super::verdict::FilterVerdict;

/// ColumnPrefixFilter.
#[derive(Debug)]
pub(super) struct ColumnPrefix {
    prefix: Bytes,
}

impl ColumnPrefix {
    pub(super) fn new(prefix: Bytes) -> Self {
        Self { prefix }
    }
}

impl FilterBase for ColumnPrefix {
    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        let qualifier = cell.key.qualifier;
        let head = &qualifier[..qualifier.len().min(self.prefix.len())];
        Ok(match head.cmp(&self.prefix) {
            std::cmp::Ordering::Less => FilterVerdict::SeekToHint,
            std::cmp::Ordering::Equal => FilterVerdict::Include,
            std::cmp::Ordering::Greater => FilterVerdict::NextRow,
        })
    }

    fn hint(&mut self, key: Key<'_>) -> Option<KeyBuf> {
        Some(column_hint(key, &self.prefix))
    }

    fn is_hinting(&self) -> bool {
        true
    }

    fn judges_column_alone(&self) -> bool {
        true
    }
}

/// MultipleColumnPrefixFilter. As in HBase it tests only the greatest prefix that is not greater
/// than the qualifier. If one prefix begins another, the shorter one therefore misses columns.
#[derive(Debug)]
pub(super) struct ColumnPrefixes {
    /// Sorted.
    prefixes: Vec<Bytes>,
    /// The index of the prefix to hint at.
    next: usize,
}

impl ColumnPrefixes {
    pub(super) fn new(prefixes: &BTreeSet<Bytes>) -> Self {
        Self { prefixes: prefixes.iter().cloned().collect(), next: 0 }
    }
}

impl FilterBase for ColumnPrefixes {
    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        let qualifier = cell.key.qualifier;
        if self.prefixes.is_empty() {
            return Ok(FilterVerdict::Include);
        }
        let next = self.prefixes.partition_point(|prefix| &prefix[..] <= qualifier);
        if next > 0 && qualifier.starts_with(&self.prefixes[next - 1]) {
            return Ok(FilterVerdict::Include);
        }
        if next == self.prefixes.len() {
            return Ok(FilterVerdict::NextRow);
        }
        self.next = next;
        Ok(FilterVerdict::SeekToHint)
    }

    fn hint(&mut self, key: Key<'_>) -> Option<KeyBuf> {
        self.prefixes.get(self.next).map(|prefix| column_hint(key, prefix))
    }

    fn is_hinting(&self) -> bool {
        true
    }

    fn judges_column_alone(&self) -> bool {
        true
    }
}

/// ColumnRangeFilter.
#[derive(Debug)]
pub(super) struct ColumnRange {
    min: Option<Bytes>,
    min_inclusive: bool,
    max: Option<Bytes>,
    max_inclusive: bool,
}

impl ColumnRange {
    pub(super) fn new(min: (Option<Bytes>, bool), max: (Option<Bytes>, bool)) -> Self {
        Self { min: min.0, min_inclusive: min.1, max: max.0, max_inclusive: max.1 }
    }
}

impl FilterBase for ColumnRange {
    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        let qualifier = cell.key.qualifier;
        if let Some(min) = &self.min {
            if qualifier < &min[..] {
                return Ok(FilterVerdict::SeekToHint);
            }
            if !self.min_inclusive && qualifier == min {
                return Ok(FilterVerdict::NextColumn);
            }
        }
        Ok(match &self.max {
            Some(max) if qualifier > &max[..] => FilterVerdict::NextRow,
            Some(max) if !self.max_inclusive && qualifier == max => FilterVerdict::NextRow,
            _ => FilterVerdict::Include,
        })
    }

    fn hint(&mut self, key: Key<'_>) -> Option<KeyBuf> {
        self.min.as_ref().map(|min| column_hint(key, min))
    }

    fn is_hinting(&self) -> bool {
        true
    }

    fn judges_column_alone(&self) -> bool {
        true
    }
}

/// ColumnCountGetFilter. It ends the scan when a row has more columns than the limit: it is meant
/// for gets.
#[derive(Debug)]
pub(super) struct ColumnCount {
    limit: i64,
    count: i64,
}

impl ColumnCount {
    pub(super) fn start(limit: u32) -> Result<Self> {
        let limit = check_count("limit of ColumnCountGetFilter", limit)?;
        Ok(Self { limit: i64::from(limit), count: 0 })
    }
}

impl FilterBase for ColumnCount {
    fn reset(&mut self) {
        self.count = 0;
    }

    fn is_done(&self) -> bool {
        self.count > self.limit
    }

    fn judge(&mut self, _: &CellRef<'_>) -> Result<FilterVerdict> {
        self.count += 1;
        Ok(if self.is_done() {
            FilterVerdict::NextColumn
        } else {
            FilterVerdict::IncludeAndNextColumn
        })
    }
}

/// ColumnPaginationFilter.
#[derive(Debug)]
pub(super) struct ColumnPage {
    from: ColumnOffset,
    /// The page's start and end as column numbers.
    start: i32,
    end: i32,
    count: i32,
}

impl ColumnPage {
    pub(super) fn start(limit: u32, from: &ColumnOffset) -> Result<Self> {
        let limit = check_count("limit of ColumnPaginationFilter", limit)?;
        let start = match from {
            ColumnOffset::Skip(columns) => {
                check_count("offset of ColumnPaginationFilter", *columns)?
            }
            ColumnOffset::Qualifier(_) => 0,
        };
        // HBase's addition wraps: a page that ends past column 2^31 is empty.
        Ok(Self { from: from.clone(), start, end: start.wrapping_add(limit), count: 0 })
    }
}

impl FilterBase for ColumnPage {
    fn reset(&mut self) {
        self.count = 0;
    }

    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        let qualifier = cell.key.qualifier;
        if self.count >= self.end {
            return Ok(FilterVerdict::NextRow);
        }
        let is_ahead = match &self.from {
            ColumnOffset::Skip(_) => false,
            ColumnOffset::Qualifier(first) => self.count == 0 && qualifier < &first[..],
        };
        if is_ahead {
            return Ok(FilterVerdict::SeekToHint);
        }
        self.count += 1;
        Ok(if self.count > self.start {
            FilterVerdict::IncludeAndNextColumn
        } else {
            FilterVerdict::NextColumn
        })
    }

    fn hint(&mut self, key: Key<'_>) -> Option<KeyBuf> {
        match &self.from {
            ColumnOffset::Skip(_) => None,
            ColumnOffset::Qualifier(first) => Some(column_hint(key, first)),
        }
    }
}

/// TimestampsFilter.
#[derive(Debug)]
pub(super) struct Timestamps {
    timestamps: BTreeSet<i64>,
    can_hint: bool,
}

impl Timestamps {
    pub(super) fn start(timestamps: &BTreeSet<i64>, can_hint: bool) -> Result<Self> {
        if let Some(timestamp) = timestamps.first().filter(|&&timestamp| timestamp < 0) {
            return Err(Error::invalid(format!(
                "timestamp of TimestampsFilter must not be negative: timestamp={timestamp}"
            )));
        }
        Ok(Self { timestamps: timestamps.clone(), can_hint })
    }
}

impl FilterBase for Timestamps {
    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        let timestamp = cell.key.timestamp;
        if self.timestamps.contains(&timestamp) {
            return Ok(FilterVerdict::Include);
        }
        if timestamp < self.timestamps.first().copied().unwrap_or(i64::MAX) {
            return Ok(FilterVerdict::NextColumn);
        }
        Ok(if self.can_hint { FilterVerdict::SeekToHint } else { FilterVerdict::Skip })
    }

    fn hint(&mut self, key: Key<'_>) -> Option<KeyBuf> {
        if !self.can_hint {
            return None;
        }
        Some(match self.timestamps.range(..key.timestamp).next_back() {
            Some(&timestamp) => Key { timestamp, kind: u8::MAX, ..key }.into(),
            None => Key::column_end(key.row, key.family, key.qualifier).into(),
        })
    }

    fn is_hinting(&self) -> bool {
        true
    }
}

/// Returns the position before the first cell in another column in the same row and family.
fn column_hint(key: Key<'_>, qualifier: &Bytes) -> KeyBuf {
    let place = Key::column_start(key.row, key.family, b"");
    KeyBuf { qualifier: qualifier.clone(), ..place.into() }
}

/// Converts a number that must fit a Java `int`.
fn check_count(what: &str, count: u32) -> Result<i32> {
    i32::try_from(count)
        .map_err(|_| Error::invalid(format!("{what} too large: {count}, max={}", i32::MAX)))
}
