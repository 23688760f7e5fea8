//! A row's cells, packed while they are sorted.
//!
//! ```text
//! ┌────────────┬───────────────┬───────────┬────────┬───────────┬───────┬┄
//! │ family len │ qualifier len │ value len │ family │ qualifier │ value │ the next cell
//! │ u8         │ u32           │ u32       │        │           │       │
//! └────────────┴───────────────┴───────────┴────────┴───────────┴───────┴┄   numbers little-endian
//! ```

use std::collections::BTreeMap;

use rowhouse::cell::{Cell, CellKind};
use rowhouse::schema::CellBytes;
use rowhouse::{Bytes, Result, Timestamp};

/// Packs cells. Families, qualifiers and values come from the table's declaration and have lengths
/// that fit.
pub(crate) fn pack(cells: &[CellBytes]) -> Vec<u8> {
    let mut packed = Vec::new();
    for CellBytes { family, qualifier, value } in cells {
        packed.push(family.len() as u8);
        packed.extend((qualifier.len() as u32).to_le_bytes());
        packed.extend((value.len() as u32).to_le_bytes());
        [family, qualifier, value].iter().for_each(|part| packed.extend(&part[..]));
    }
    packed
}

/// The cells in one table row. Columns from later input rows with the same key replace the same
/// columns from earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    columns: BTreeMap<(Bytes, Bytes), Bytes>,
}

impl Merged {
    /// Adds packed cells.
    pub(crate) fn add(&mut self, packed: Vec<u8>) {
        let mut rest = Bytes::from(packed);
        while rest.len() >= HEAD_LEN {
            let head = rest.split_to(HEAD_LEN);
            let length = |at: usize| {
                u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize
            };
            let qualifier_len = length(1);
            let value_len = length(5);
            let family = rest.split_to(usize::from(head[0]));
            let qualifier = rest.split_to(qualifier_len);
            self.columns.insert((family, qualifier), rest.split_to(value_len));
        }
    }

    /// Returns the cells in order, with the write's timestamp.
    pub(crate) fn into_cells(self, row: &[u8]) -> Result<Vec<Cell>> {
        let cell = |((family, qualifier), value): ((Bytes, Bytes), Bytes)| {
            Cell::new(row, family, qualifier, Timestamp::LATEST, CellKind::Put, value)
        };
        self.columns.into_iter().map(cell).collect()
    }
}

const HEAD_LEN: usize = 1 + 4 + 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(family: &str, qualifier: &str, value: &str) -> CellBytes {
        let [family, qualifier, value] =
            [family, qualifier, value].map(|text| Bytes::copy_from_slice(text.as_bytes()));
        CellBytes { family, qualifier, value }
    }

    #[test]
    fn later_columns_stand_over_earlier_ones_in_cell_order() {
        let mut merged = Merged::default();
        merged.add(pack(&[cell("d", "b", "old"), cell("d", "", "kept")]));
        merged.add(pack(&[cell("d", "b", "new"), cell("c", "z", "")]));
        let cells = merged.into_cells(b"row").unwrap();
        let text = |cell: &Cell| {
            [cell.family(), cell.qualifier(), cell.value()]
                .map(|part| String::from_utf8_lossy(part).into_owned())
                .join(" ")
        };
        let texts: Vec<_> = cells.iter().map(text).collect();
        assert_eq!(texts, ["c z ", "d  kept", "d b new"]);
    }
}
