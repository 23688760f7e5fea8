//! Adding columns of a row that lies in several sources, without a decision for each cell.

use std::ops::RangeInclusive;

use rowhouse_model::{Result, RowBuilder, compare_bytes, equal_bytes};

use super::{Merge, Source, skip_unseen};
use crate::cells::Cells;

/// Bytes after which the reader checks its limits: about a block.
const BYTES_AT_ONCE: u64 = 64 << 10;

impl Source {
    /// As [`Cells::push_columns`], for columns before `end` and cells up to `sequence_max`. Stops
    /// about a block after the row has `bytes_max` bytes.
    #[inline]
    fn push_columns_before(
        &mut self,
        end: Option<&[u8]>,
        sequence_max: u64,
        bytes_max: u64,
        times: &RangeInclusive<i64>,
        row: &mut RowBuilder,
    ) -> Result<bool> {
        match self {
            Self::Memory(cursor) => {
                Ok(cursor.push_columns_before(end, sequence_max, bytes_max, times, row))
            }
            Self::File(cursor) if cursor.sequence_max() <= sequence_max => match end {
                Some(end) => cursor.push_columns_before(end, times, row),
                None => cursor.push_columns(times, row),
            },
            Self::File(_) | Self::Waiting(..) | Self::Traced(_) => Ok(false),
        }
    }
}

impl Merge {
    /// [`Cells::push_columns`]: adds columns that only one source has, from one source after the
    /// other.
    pub(super) fn push_columns_by_source(
        &mut self,
        times: &RangeInclusive<i64>,
        row: &mut RowBuilder,
    ) -> Result<bool> {
        let bytes_max = row.byte_len() + BYTES_AT_ONCE;
        let mut pushed = false;
        loop {
            let Self { sources, order, sequence_max, .. } = self;
            let Some(&first) = order.first() else { return Ok(pushed) };
            let second = order.get(1).copied();
            let (source, second) = match second.map(|at| sources.get_disjoint_mut([first, at])) {
                Some(Ok([source, second])) => (source, second.key()),
                Some(Err(_)) => return Ok(pushed),
                None => (&mut sources[first], None),
            };
            let Some(here) = source.key() else { return Ok(pushed) };
            let end = second.filter(|second| equal_bytes(second.row, here.row));
            let end = end.map(|end| end.qualifier);
            // Several sources may have the column.
            let is_shared = end.is_some_and(|end| compare_bytes(here.qualifier, end).is_ge());
            if is_shared
                || !source.push_columns_before(end, *sequence_max, bytes_max, times, row)?
            {
                return Ok(pushed);
            }
            pushed = true;
            let has_more = end.is_some() && row.byte_len() < bytes_max;
            skip_unseen(source, *sequence_max)?;
            self.move_back();
            self.admit()?;
            // If the source is still the first one, it has more cells of the column, or others that
            // need a decision.
            if !has_more || self.order.first() == Some(&first) {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use proptest::prelude::*;
    use rowhouse_model::{
        Cell, CellKind, Delete, FamilyDescriptor, Key, Put, TableDescriptor, TableName, Timestamp,
    };

    use super::*;
    use crate::block_cache::Caching;
    use crate::disk::simulated::SimulatedDisk;
    use crate::memstore::MemstoreCursor;
    use crate::store_file::FileCursor;
    use crate::{CompactionSettings, Settings, Store, Table};

    const SOURCES: usize = 4;

    /// Row, column, time, and whether it is a marker.
    type Place = (u8, u8, i64, bool);

    /// Creates a table whose cells are in the given sources, of which the last is the memstore.
    fn table(cells: &BTreeMap<Place, usize>) -> (Store, Arc<Table>) {
        let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
        let settings = Settings { compaction, ..Settings::default() };
        let disk = SimulatedDisk::default();
        let store = Store::builder("simulated").settings(settings).with_disk(disk).open().unwrap();
        let name = TableName::parse("t").unwrap();
        let family = FamilyDescriptor::new("f").unwrap().attribute("BLOCKSIZE", "1024");
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        let table = store.table(&name).unwrap();
        for number in 0..SOURCES {
            for (&(row, column, millis, is_marker), _) in
                cells.iter().filter(|&(_, &source)| source == number)
            {
                let at = Timestamp::from_millis(millis).unwrap();
                let mutation = if is_marker {
                    Delete::new(vec![row]).unwrap().version("f", vec![column], at).unwrap().into()
                } else {
                    Put::new(vec![row])
                        .unwrap()
                        .add_at("f", vec![column], at, vec![0; value_len(column)])
                        .unwrap()
                        .into()
                };
                table.mutate(&mutation).unwrap();
            }
            if number + 1 < SOURCES {
                table.flush().unwrap();
            }
        }
        (store, table)
    }

    /// Some values have a sixth of what is added at once.
    fn value_len(column: u8) -> usize {
        if column.is_multiple_of(3) { 11_000 } else { 150 }
    }

    fn merge(table: &Table, sequence_max: u64) -> Merge {
        let super_version = table.regions()[0].families()[0].super_version();
        let start = Key::row_start(b"");
        let files = super_version.files.iter();
        let files = files.map(|file| FileCursor::open(file, &start, Caching::Shared).unwrap());
        let memory = MemstoreCursor::new(Arc::clone(&super_version.active), &start);
        let sources = files.map(Source::File).chain([Source::Memory(memory)]);
        Merge::new(sources.collect(), sequence_max).unwrap()
    }

    fn is_in_column(cell: &Cell, last: Option<&Cell>) -> bool {
        let column = |cell: &Cell| (cell.key().row.to_vec(), cell.key().qualifier.to_vec());
        last.is_some_and(|last| column(last) == column(cell))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn columns_added_by_source_are_the_first_cells_of_their_columns(
            cells in prop::collection::btree_map(
                (0u8..4, 0u8..12, 1i64..4, prop::bool::weighted(0.1)),
                0..SOURCES,
                0..80,
            ),
            unseen in 0u64..40,
        ) {
            let (_store, table) = table(&cells);
            let all = merge(&table, u64::MAX);
            let newest = all.sources.iter().filter_map(Source::sequence).max().unwrap_or(0);
            let sequence_max = if unseen < 20 { u64::MAX } else { newest + 40 - unseen };
            let mut steps = merge(&table, sequence_max);
            let mut expected = Vec::new();
            while let Some(cell) = steps.cell() {
                expected.push((cell.to_cell(), cell.sequence));
                steps.advance().unwrap();
            }
            let mut merge = merge(&table, sequence_max);
            let mut actual: Vec<(Cell, u64)> = Vec::new();
            while let Some(cell) = merge.cell().map(|cell| (cell.to_cell(), cell.sequence)) {
                let mut row = RowBuilder::default();
                if !is_in_column(&cell.0, actual.last().map(|(last, _)| last))
                    && merge.push_columns(&(2..=3), &mut row).unwrap()
                {
                    for cell in row.finish().cells().map(|cell| cell.to_cell()) {
                        let last = actual.last().map(|(last, _)| last);
                        prop_assert!(!is_in_column(&cell, last));
                        prop_assert!(cell.key().timestamp >= 2);
                        prop_assert_eq!(cell.view().kind(), CellKind::Put);
                        let sequence = cell.sequence();
                        actual.push((cell, sequence));
                    }
                    continue;
                }
                actual.push(cell);
                merge.advance().unwrap();
            }
            prop_assert_eq!(actual, expected);
        }
    }
}
