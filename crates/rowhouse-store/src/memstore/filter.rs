//! A Bloom filter over the rows and columns of a memstore, for reads of one row.
//!
//! Most rows that are read are in files alone. A search of a large memstore that finds nothing is a
//! cache miss in each of its last steps, and half the time of a get; a query of the filter is one.
//!
//! A row has one word, in which it sets three bits, and each of its columns three more. Since
//! nobody knows how large a memstore becomes, the filter has parts, each for four times as many
//! bytes of cells as all parts before it. A cell is added to the part that is current, and a query
//! looks at all parts. It is wrong for about a tenth of the rows that the memstore lacks, and for a
//! twentieth of the columns that a row of a few columns lacks. The parts take a twelfth of the
//! cells' bytes at most.
//!
//! The bits are set before the cell's sequence is published, and are read by readers that have
//! taken a later sequence, so that relaxed accesses suffice.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::node::prefetch_at;

/// The parts. The first one is a cache line.
#[derive(Default)]
pub(super) struct Filter {
    first: [AtomicU64; 8],
    others: [OnceLock<Box<[AtomicU64]>>; OTHERS_MAX],
}

/// Bytes of cells up to which the first part is used; the next one is used for four times as many.
const FIRST_CELL_BYTES: u64 = 2 << 10;
/// The last part is used beyond 512 MiB of cells as well.
const OTHERS_MAX: usize = 9;
/// Bytes of cells up to which a part is used, for each byte of the part: cells of 100 bytes, which
/// take 160 with their links, have twenty bits each.
const CELL_BYTES_PER_BYTE: u64 = 64;

/// A cell's place in a filter.
pub(super) struct Place<'a> {
    word: &'a AtomicU64,
    bits: u64,
}

impl Filter {
    /// Returns the bytes of the parts after the first.
    pub(super) fn bytes(&self) -> u64 {
        self.others.iter().filter_map(OnceLock::get).map(|words| bytes_of(words)).sum()
    }

    /// Returns the place of a cell in a memstore that has `cell_bytes` bytes of cells, and by how
    /// much [`Filter::bytes`] grew. Prefetches the place.
    #[inline]
    pub(super) fn place(&self, row: &[u8], qualifier: &[u8], cell_bytes: u64) -> (Place<'_>, u64) {
        let row = hash(row, 0);
        let mut added = 0;
        let word = match number_of_part(cell_bytes).checked_sub(1) {
            None => word_of(row, &self.first),
            Some(number) => {
                let words = self.others[number].get_or_init(|| {
                    let words = new_part(number);
                    added = bytes_of(&words);
                    words
                });
                word_of(row, words)
            }
        };
        prefetch_at(word);
        (Place { word, bits: bits_of(row) | bits_of(hash(qualifier, row)) }, added)
    }

    /// Returns true if the row has cells, or cells in the column if there is one; `false` is
    /// certain.
    pub(super) fn may_hold(&self, row: &[u8], qualifier: Option<&[u8]>) -> bool {
        let row = hash(row, 0);
        let column_bits = qualifier.map_or(0, |qualifier| bits_of(hash(qualifier, row)));
        let bits = bits_of(row) | column_bits;
        let others = self.others.iter().filter_map(OnceLock::get);
        let mut words = others.map(|words| word_of(row, words)).chain([word_of(row, &self.first)]);
        words.any(|word| word.load(Relaxed) & bits == bits)
    }
}

impl Place<'_> {
    /// Adds the cell.
    #[inline]
    pub(super) fn add(&self) {
        self.word.fetch_or(self.bits, Relaxed);
    }
}

/// Returns the word of a row by the high bits of its hash; the low ones say which bits in the word.
#[inline]
fn word_of(row_hash: u64, words: &[AtomicU64]) -> &AtomicU64 {
    &words[(((row_hash >> 32) * words.len() as u64) >> 32) as usize]
}

/// Returns the three bits of a row or column.
#[inline]
fn bits_of(hash: u64) -> u64 {
    [0, 6, 12].into_iter().fold(0, |bits, at| bits | 1 << ((hash >> at) & 63))
}

/// Returns the number of the part to which cells are added; 0 for the first.
#[inline]
fn number_of_part(cell_bytes: u64) -> usize {
    let times = cell_bytes.saturating_sub(1) / FIRST_CELL_BYTES;
    let number = (u64::BITS - times.leading_zeros()).div_ceil(2);
    (number as usize).min(OTHERS_MAX)
}

/// Returns part `number` of those after the first.
#[cold]
fn new_part(number: usize) -> Box<[AtomicU64]> {
    let cell_bytes = FIRST_CELL_BYTES << (2 * (number + 1));
    let words = cell_bytes / CELL_BYTES_PER_BYTE / size_of::<u64>() as u64;
    (0..words).map(|_| AtomicU64::default()).collect()
}

fn bytes_of(words: &[AtomicU64]) -> u64 {
    size_of_val(words) as u64
}

/// Hashes bytes, eight at a time, with a multiplication of which both halves are used.
#[inline]
fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mix = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word ^ SALT) * u128::from(MULTIPLIER);
        product as u64 ^ (product >> 64) as u64
    };
    let (words, tail) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let last = tail.iter().fold(bytes.len() as u64, |last, &byte| last << 8 | u64::from(byte));
    mix(words.fold(seed, mix), last)
}

/// Digits of π.
const SALT: u64 = 0x243F_6A88_85A3_08D3;
const MULTIPLIER: u64 = 0xA409_3822_299F_31D1;

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_at_four_times_the_bytes() {
        let numbers = [0, 1, 2048, 2049, 8 << 10, (8 << 10) + 1, 512 << 20, u64::MAX];
        assert_eq!(numbers.map(number_of_part), [0, 0, 0, 1, 1, 2, 9, 9]);
    }

    #[test]
    fn added_columns_are_found_and_few_others() {
        const CELL_BYTES: u64 = 160;
        let filter = Filter::default();
        let row = |number: u64| format!("row{number:09}").into_bytes();
        let mut added = 0;
        for number in 0..100_000 {
            let row = row(number / 4);
            let (place, grown) = filter.place(&row, &[number as u8 % 4], number * CELL_BYTES);
            place.add();
            added += grown;
        }
        assert_eq!(filter.bytes(), added);
        assert!(added <= 100_000 * CELL_BYTES / 12, "{added} bytes");
        let mut false_columns = 0;
        let mut false_rows = 0;
        for number in 0..100_000 {
            let column = [number as u8 % 4];
            assert!(filter.may_hold(&row(number / 4), Some(&column)));
            assert!(filter.may_hold(&row(number / 4), None));
            let other = [number as u8 % 4 + 4];
            false_columns += u64::from(filter.may_hold(&row(number / 4), Some(&other)));
            false_rows += u64::from(filter.may_hold(&row(number + 25_000), None));
        }
        assert!(false_columns < 10_000 && false_rows < 15_000, "{false_columns}, {false_rows}");
    }
}
