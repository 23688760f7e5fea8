//! The cells: generated from a seed and a number, the same in every run.

/// Bytes of a row key.
pub(crate) const ROW_LEN: usize = 16;
/// Bytes of a qualifier.
pub(crate) const QUALIFIER_LEN: usize = 12;
/// Bytes of a cell's key in the other engines: row, qualifier, inverted timestamp, kind.
pub(crate) const KEY_LEN: usize = ROW_LEN + QUALIFIER_LEN + 8 + 1;

/// A row key.
pub(crate) type Row = [u8; ROW_LEN];
/// A qualifier.
pub(crate) type Qualifier = [u8; QUALIFIER_LEN];

/// A cell to write.
#[derive(Clone, Default)]
pub(crate) struct Cell {
    pub(crate) row: Row,
    pub(crate) qualifier: Qualifier,
    pub(crate) value: Vec<u8>,
}

/// The cells of a table.
#[derive(Clone, Copy)]
pub(crate) struct Workload {
    cells: u64,
    columns: u64,
    value_len: usize,
    seed: u64,
    order: Shuffle,
}

impl Workload {
    /// Returns rows of ten columns with values of 100 bytes.
    pub(crate) fn wide(cells: u64, seed: u64) -> Self {
        Self::new(cells, 10, 100, seed)
    }

    /// Returns rows of one column with a value of 1,000 bytes.
    pub(crate) fn tall(cells: u64, seed: u64) -> Self {
        Self::new(cells, 1, 1000, seed)
    }

    /// Returns rows of ten columns with values of 200 bytes.
    pub(crate) fn scale(cells: u64, seed: u64) -> Self {
        Self::new(cells, 10, 200, seed)
    }

    fn new(cells: u64, columns: u64, value_len: usize, seed: u64) -> Self {
        let cells = cells / columns * columns;
        Self { cells, columns, value_len, seed, order: Shuffle::new(cells, seed) }
    }

    /// Returns the number of cells.
    pub(crate) fn cells(&self) -> u64 {
        self.cells
    }

    /// Returns the number of cells per row.
    pub(crate) fn columns(&self) -> u64 {
        self.columns
    }

    /// Returns the bytes of keys and values of `cells` cells.
    pub(crate) fn raw_len(&self, cells: u64) -> u64 {
        cells * (KEY_LEN + self.value_len) as u64
    }

    /// Fills in the cell that is written as number `at`: rows and columns come in random order.
    pub(crate) fn fill(&self, at: u64, cell: &mut Cell) {
        let place = self.order.at(at);
        cell.row = row(place / self.columns);
        cell.qualifier = qualifier(place % self.columns);
        let mut random = Random::new(self.seed ^ place.wrapping_mul(0xD1B5_4A32_D192_ED03));
        cell.value.resize(self.value_len, b'.');
        let (noise, filler) = cell.value.split_at_mut(self.value_len / 2);
        for chunk in noise.chunks_mut(8) {
            chunk.copy_from_slice(&random.next().to_le_bytes()[..chunk.len()]);
        }
        filler.fill(b'.');
    }

    /// Returns row and qualifier of the cell that is written as number `at`.
    pub(crate) fn place(&self, at: u64) -> (Row, Qualifier) {
        let place = self.order.at(at);
        (row(place / self.columns), qualifier(place % self.columns))
    }

    /// Returns a row that is never written, between two that are.
    pub(crate) fn missing_row(&self, random: &mut Random) -> Row {
        let mut row = row(random.below(self.cells / self.columns));
        row[ROW_LEN - 1] = b'5';
        row
    }

    /// Returns a row that is written.
    pub(crate) fn random_row(&self, random: &mut Random) -> Row {
        row(random.below(self.cells / self.columns))
    }
}

/// Returns the key of a cell for the other engines.
pub(crate) fn key(row: &Row, qualifier: &Qualifier) -> [u8; KEY_LEN] {
    // Any fixed time is sufficient: a get must be able to name it.
    const MILLIS: u64 = 1_700_000_000_000;
    const PUT: u8 = 4;
    let mut key = [PUT; KEY_LEN];
    key[..ROW_LEN].copy_from_slice(row);
    key[ROW_LEN..ROW_LEN + QUALIFIER_LEN].copy_from_slice(qualifier);
    key[KEY_LEN - 9..KEY_LEN - 1].copy_from_slice(&(!MILLIS).to_be_bytes());
    key
}

/// Returns `user` and twelve digits, the last of them 0.
fn row(number: u64) -> Row {
    let mut row = *b"user000000000000";
    digits(number, &mut row[4..ROW_LEN - 1]);
    row
}

fn qualifier(column: u64) -> Qualifier {
    let mut qualifier = *b"column-00000";
    digits(column, &mut qualifier[7..]);
    qualifier
}

fn digits(mut number: u64, into: &mut [u8]) {
    for digit in into.iter_mut().rev() {
        if number == 0 {
            break;
        }
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// A permutation of the numbers below `len` that needs no memory: a Feistel network over the next
/// even power of two, applied until the result is below `len`.
#[derive(Clone, Copy)]
struct Shuffle {
    len: u64,
    half_bits: u32,
    seed: u64,
}

impl Shuffle {
    fn new(len: u64, seed: u64) -> Self {
        let bits = u64::BITS - len.max(2).leading_zeros();
        Self { len, half_bits: bits.div_ceil(2), seed }
    }

    fn at(&self, at: u64) -> u64 {
        debug_assert!(at < self.len);
        let mask = (1 << self.half_bits) - 1;
        let mut number = at;
        loop {
            let (mut left, mut right) = (number >> self.half_bits, number & mask);
            for round in 0..3 {
                let key = self.seed.wrapping_add(round << 56);
                (left, right) = (right, left ^ (mix(right ^ key) & mask));
            }
            number = left << self.half_bits | right;
            if number < self.len {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_cell_is_written_once() {
        for cells in [10, 1000, 65_530, 70_000] {
            let workload = Workload::wide(cells, 7);
            let places: HashSet<_> = (0..cells).map(|at| workload.place(at)).collect();
            assert_eq!(places.len() as u64, cells);
        }
    }

    #[test]
    fn rows_nobody_writes_lie_between_the_others() {
        let workload = Workload::wide(1000, 7);
        let rows: HashSet<_> = (0..1000).map(|at| workload.place(at).0).collect();
        let mut random = Random::new(1);
        for _ in 0..1000 {
            assert!(!rows.contains(&workload.missing_row(&mut random)));
            assert!(rows.contains(&workload.random_row(&mut random)));
        }
    }

    #[test]
    fn a_cell_has_the_bytes_that_were_measured() {
        let workload = Workload::wide(20, 7);
        let mut cell = Cell::default();
        workload.fill(3, &mut cell);
        assert_eq!((cell.row, cell.qualifier), workload.place(3));
        assert_eq!(KEY_LEN, 37);
        assert_eq!(cell.value.len(), 100);
        assert_eq!(workload.raw_len(2_000_000) >> 20, 261);
    }
}
