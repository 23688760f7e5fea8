//! FuzzyRowFilter.

use bytes::Bytes;
use rowhouse_model::{CellRef, Error, FuzzyKey, Key, KeyBuf, Result, escape};

use super::base::FilterBase;
use super::rows::{row_hint, successor};
use super::verdict::FilterVerdict;

/// The execution state for FuzzyRowFilter. In forward scans the hints are HBase's. In reversed
/// scans, where HBase's hints never end, they skip no matching row.
#[derive(Debug)]
pub(super) struct Fuzzy {
    patterns: Vec<Pattern>,
    reversed: bool,
    filters_row: bool,
    is_done: bool,
}

/// A key with the wildcard mask.
#[derive(Debug)]
struct Pattern {
    key: Bytes,
    mask: Bytes,
}

impl Fuzzy {
    pub(super) fn start(keys: &[FuzzyKey], reversed: bool) -> Result<Self> {
        if keys.is_empty() {
            return Err(Error::invalid("FuzzyRowFilter needs a key: keys=0"));
        }
        let patterns = keys.iter().map(Pattern::of).collect::<Result<_>>()?;
        Ok(Self { patterns, reversed, filters_row: false, is_done: false })
    }
}

impl FilterBase for Fuzzy {
    fn reset(&mut self) {
        self.filters_row = false;
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn judge(&mut self, cell: &CellRef<'_>) -> Result<FilterVerdict> {
        if self.patterns.iter().any(|pattern| pattern.mismatch(cell.key.row).is_none()) {
            return Ok(FilterVerdict::Include);
        }
        self.filters_row = true;
        Ok(FilterVerdict::SeekToHint)
    }

    /// Returns the nearest row that any pattern may match; without one the scan is done.
    fn hint(&mut self, key: Key<'_>) -> Option<KeyBuf> {
        let row = key.row;
        let patterns = self.patterns.iter();
        let nearest = if self.reversed {
            patterns.filter_map(|pattern| pattern.previous(row)).max()
        } else {
            patterns.filter_map(|pattern| pattern.next(row)).min()
        };
        self.is_done = nearest.is_none();
        nearest.map(|row| row_hint(row.into()))
    }

    fn is_hinting(&self) -> bool {
        true
    }

    fn filters_row(&mut self) -> bool {
        self.filters_row
    }
}

impl Pattern {
    fn of(key: &FuzzyKey) -> Result<Self> {
        let FuzzyKey { key, mask } = key;
        if key.len() != mask.len() {
            return Err(Error::invalid(format!(
                "key and mask of FuzzyRowFilter must have the same length: key={}, mask={}",
                escape(key),
                escape(mask)
            )));
        }
        if let Some(byte) = mask.iter().find(|&&byte| byte > 1) {
            return Err(Error::invalid(format!(
                "mask of FuzzyRowFilter has a byte that is neither 0 nor 1: byte={byte}, mask={}",
                escape(mask)
            )));
        }
        Ok(Self { key: key.clone(), mask: mask.clone() })
    }

    fn is_free(&self, at: usize) -> bool {
        self.mask[at] == 1
    }

    /// Returns the first mismatch's index. A row shorter than the key matches if it has no
    /// mismatch.
    fn mismatch(&self, row: &[u8]) -> Option<usize> {
        let len = row.len().min(self.key.len());
        (0..len).find(|&at| !self.is_free(at) && row[at] != self.key[at])
    }

    /// Returns the lower bound for the matching rows after `row`, which does not match: a prefix
    /// that ends at the last fixed byte.
    fn next(&self, row: &[u8]) -> Option<Vec<u8>> {
        let at = self.mismatch(row)?;
        let mut next: Vec<u8> = if row[at] < self.key[at] {
            row[..at].to_vec()
        } else {
            let raised = (0..at).rev().find(|&at| self.is_free(at) && row[at] != 0xFF)?;
            let mut head = row[..=raised].to_vec();
            head[raised] += 1;
            head
        };
        let end = (0..self.key.len()).rev().find(|&at| !self.is_free(at)).map_or(0, |at| at + 1);
        for at in next.len()..end {
            next.push(if self.is_free(at) { 0 } else { self.key[at] });
        }
        Some(next)
    }

    /// Returns the first row that may match, going backward from `row`, which does not match.
    fn previous(&self, row: &[u8]) -> Option<Vec<u8>> {
        let at = self.mismatch(row)?;
        if row[at] < self.key[at] {
            // The prefix before the mismatch matches as a separate row.
            return (at > 0).then(|| row[..at].to_vec());
        }
        let mut last = row[..at].to_vec();
        for at in at..self.key.len() {
            last.push(if self.is_free(at) { 0xFF } else { self.key[at] });
        }
        // Rows with this prefix have no upper bound themselves, so the hint is the first row after
        // them all.
        successor(&last)
    }
}
