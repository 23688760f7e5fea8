//! The k-way merge over memstores and files.

mod columns;
mod flushed;
mod markers;

use std::cmp::{Ordering, Reverse};
use std::ops::RangeInclusive;
use std::sync::Arc;

use rowhouse_model::{CellRef, Key, Result, RowBuilder, compare};

use super::trace::TracedSource;
use crate::block_cache::Caching;
use crate::cells::Cells;
use crate::memstore::MemstoreCursor;
use crate::store_file::{FileCursor, FileTrace, StoreFile};

/// One sorted source of cells.
#[expect(clippy::large_enum_variant, reason = "most sources are files")]
pub(crate) enum Source {
    Memory(MemstoreCursor),
    File(FileCursor),
    /// A file that begins after the merge's start: opened when the merge reaches the file's first
    /// row.
    Waiting(Arc<StoreFile>, Caching),
    /// A source of another kind, whose cells are counted.
    Traced(Box<TracedSource>),
}

impl Source {
    /// Returns the current cell's key; `None` after the last cell.
    #[inline]
    fn key(&self) -> Option<Key<'_>> {
        match self {
            Self::Memory(cursor) => cursor.cell().map(|cell| cell.key),
            Self::File(cursor) => cursor.key(),
            Self::Waiting(..) => None,
            Self::Traced(traced) => traced.source.key(),
        }
    }

    /// Returns the current cell's sequence; `None` after the last cell.
    #[inline]
    fn sequence(&self) -> Option<u64> {
        match self {
            Self::Memory(cursor) => cursor.sequence(),
            Self::File(cursor) => cursor.sequence(),
            Self::Waiting(..) => None,
            Self::Traced(traced) => traced.source.sequence(),
        }
    }

    /// Returns the first row in a file that is not opened yet.
    fn waits_for(&self) -> Option<&[u8]> {
        match self {
            Self::Waiting(file, _) => Some(file.first_row()),
            Self::Traced(traced) => traced.source.waits_for(),
            Self::Memory(_) | Self::File(_) => None,
        }
    }

    /// Opens a file that is not opened yet, at `key` or at the first cell.
    fn open(&mut self, key: Option<&Key<'_>>, trace: Option<&Arc<FileTrace>>) -> Result<()> {
        match self {
            Self::Waiting(file, caching) => {
                let first = Key::row_start(file.first_row());
                let key = key.unwrap_or(&first);
                *self = Self::File(FileCursor::open_traced(file, key, *caching, trace)?);
                Ok(())
            }
            Self::Traced(traced) => {
                let trace = traced.file.clone();
                traced.moved(|source| source.open(key, trace.as_ref()))
            }
            Self::Memory(_) | Self::File(_) => Ok(()),
        }
    }

    /// As [`FileCursor::rest`].
    fn rest(&mut self) {
        if let Self::File(cursor) = self {
            cursor.rest();
        }
    }

    /// As [`FileCursor::wake`].
    fn wake(&mut self) -> Result<()> {
        match self {
            Self::File(cursor) => cursor.wake(),
            Self::Memory(_) | Self::Waiting(..) | Self::Traced(_) => Ok(()),
        }
    }

    /// Moves to the first cell in the last row before `row`, or in the last row if it is `None`;
    /// after the last cell if there is no such row.
    fn seek_row_before(&mut self, row: Option<&[u8]>) -> Result<()> {
        match self {
            Self::Memory(cursor) => {
                cursor.seek_row_before(row);
                Ok(())
            }
            Self::File(cursor) => cursor.seek_row_before(row),
            Self::Waiting(..) => Ok(()),
            Self::Traced(traced) => traced.moved(|source| source.seek_row_before(row)),
        }
    }
}

impl Cells for Source {
    #[inline]
    fn cell(&self) -> Option<CellRef<'_>> {
        match self {
            Self::Memory(cursor) => cursor.cell(),
            Self::File(cursor) => cursor.cell(),
            Self::Waiting(..) => None,
            Self::Traced(traced) => traced.source.cell(),
        }
    }

    #[inline]
    fn advance(&mut self) -> Result<()> {
        match self {
            Self::Memory(cursor) => {
                cursor.advance();
                Ok(())
            }
            Self::File(cursor) => cursor.advance(),
            Self::Waiting(..) => Ok(()),
            Self::Traced(traced) => traced.moved(Source::advance),
        }
    }

    fn seek(&mut self, key: &Key<'_>) -> Result<()> {
        match self {
            Self::Memory(cursor) => {
                cursor.seek(key);
                Ok(())
            }
            Self::File(cursor) => cursor.seek(key),
            Self::Waiting(..) => Ok(()),
            Self::Traced(traced) => traced.moved(|source| source.seek(key)),
        }
    }

    /// Always copies memstore cells: a result must not keep a flushed memstore alive.
    #[inline]
    fn push_to(&self, row: &mut RowBuilder, copied: bool) {
        match self {
            Self::Memory(cursor) => cursor.push_to(row),
            Self::File(cursor) => cursor.push_to(row, copied),
            Self::Waiting(..) => {}
            Self::Traced(traced) => traced.source.push_to(row, copied),
        }
    }
}

/// A merge over all sources in cell order, up to a sequence.
pub(crate) struct Merge {
    sources: Vec<Source>,
    /// The sources not at their end, sorted by their current cells. After an advance the source
    /// that moved is reinserted: one comparison while cells come from the same source, and never
    /// many, because compaction keeps the sources few.
    order: Vec<usize>,
    /// The sources not opened yet, the next one last.
    waiting: Vec<usize>,
    sequence_max: u64,
}

impl Merge {
    /// Merges cells up to `sequence_max`.
    pub(crate) fn new(sources: Vec<Source>, sequence_max: u64) -> Result<Self> {
        let waits = |&at: &usize| sources[at].waits_for().is_some();
        let mut waiting: Vec<usize> = (0..sources.len()).filter(waits).collect();
        waiting.sort_by_key(|&at| Reverse(sources[at].waits_for()));
        let order = Vec::with_capacity(sources.len());
        let mut merge = Self { order, sources, waiting, sequence_max };
        for source in &mut merge.sources {
            skip_unseen(source, sequence_max)?;
        }
        merge.order.extend(0..merge.sources.len());
        merge.sort();
        merge.admit()?;
        Ok(merge)
    }

    /// Releases the blocks that it holds. Until [`Merge::wake`] it must not be read.
    pub(super) fn rest(&mut self) {
        self.sources.iter_mut().for_each(Source::rest);
    }

    /// Returns to the cell at which it rests, if it does.
    pub(super) fn wake(&mut self) -> Result<()> {
        self.sources.iter_mut().try_for_each(Source::wake)
    }

    /// Merges cells up to `sequence_max` row by row in reverse. The merge starts after the last
    /// row; [`Merge::seek_row_before`] positions it, and it only ever moves back from row to row.
    pub(super) fn backward(sources: Vec<Source>, sequence_max: u64) -> Self {
        let order = Vec::with_capacity(sources.len());
        Self { order, sources, waiting: Vec::new(), sequence_max }
    }

    /// Moves to the first cell in the last row before `row`, or in the last row if it is `None`;
    /// after the last cell if there is no such row. Only for a reverse merge.
    pub(super) fn seek_row_before(&mut self, row: Option<&[u8]>) -> Result<()> {
        let mut before: Option<Vec<u8>> = row.map(<[u8]>::to_vec);
        loop {
            let before_row = before.as_deref();
            for source in &mut self.sources {
                // A source already before the row got there from a row at or after it, so the
                // position is right.
                let is_there = source
                    .cell()
                    .is_some_and(|cell| before_row.is_some_and(|row| cell.key.row < row));
                if !is_there {
                    source.seek_row_before(before_row)?;
                }
            }
            // A source without an earlier row never has one again.
            self.sources.retain(|source| source.cell().is_some());
            let rows = self.sources.iter().filter_map(|source| Some(source.cell()?.key.row));
            let Some(last) = rows.max().map(<[u8]>::to_vec) else {
                self.order.clear();
                return Ok(());
            };
            self.order.clear();
            for at in 0..self.sources.len() {
                let source = &mut self.sources[at];
                let stands_at =
                    |source: &Source| source.cell().is_some_and(|cell| cell.key.row == last);
                if stands_at(source) && skip_unseen(source, self.sequence_max)? && stands_at(source)
                {
                    self.order.push(at);
                }
            }
            self.sort();
            if !self.order.is_empty() {
                return Ok(());
            }
            // Every cell in the row is newer than the read point.
            before = Some(last);
        }
    }

    /// Returns the cursor of the only file that has cells left up to the end of `row`, if no cell
    /// in it is newer than the read point. The caller may move the cursor directly, at most to the
    /// next row, and then calls [`Merge::settle`]. Most rows are in one file, and checking that at
    /// every cell would be half the work of reading them.
    #[inline]
    pub(super) fn only_file_with(&mut self, row: &[u8]) -> Option<&mut FileCursor> {
        let only = match &self.order[..] {
            &[only] => only,
            &[first, second, ..] => {
                let next = self.sources[second].cell()?.key.row;
                (next > row).then_some(first)?
            }
            [] => return None,
        };
        match &mut self.sources[only] {
            Source::File(cursor) if cursor.sequence_max() <= self.sequence_max => Some(cursor),
            _ => None,
        }
    }

    /// Updates the merge after the only file with a row was moved.
    #[inline]
    pub(super) fn settle(&mut self) -> Result<()> {
        if self.order.len() > 1 {
            self.move_back();
        } else if self.cell().is_none() {
            self.order.clear();
        }
        self.admit()
    }

    /// Opens the files whose first row is reached.
    #[inline]
    fn admit(&mut self) -> Result<()> {
        if self.waiting.is_empty() { Ok(()) } else { self.admit_due() }
    }

    #[cold]
    fn admit_due(&mut self) -> Result<()> {
        while let Some(&next) = self.waiting.last() {
            let first = self.sources[next].waits_for().unwrap_or_default();
            if self.cell().is_some_and(|cell| cell.key.row < first) {
                break;
            }
            self.waiting.pop();
            self.admit_source(next, None)?;
            self.sort();
        }
        Ok(())
    }

    /// Opens the files that may have cells at `key` or in that row, without sorting them in.
    fn admit_up_to(&mut self, key: &Key<'_>) -> Result<()> {
        while let Some(&next) = self.waiting.last() {
            if self.sources[next].waits_for().is_some_and(|first| key.row < first) {
                break;
            }
            self.waiting.pop();
            self.admit_source(next, Some(key))?;
        }
        Ok(())
    }

    /// Opens a file at `key`, or at the first cell.
    fn admit_source(&mut self, at: usize, key: Option<&Key<'_>>) -> Result<()> {
        let source = &mut self.sources[at];
        source.open(key, None)?;
        skip_unseen(source, self.sequence_max)?;
        self.order.push(at);
        Ok(())
    }

    /// Sorts the sources in `order` and removes the ones at their end.
    fn sort(&mut self) {
        let Self { sources, order, .. } = self;
        order.retain(|&at| sources[at].cell().is_some());
        order.sort_unstable_by(|&a, &b| match (sources[a].cell(), sources[b].cell()) {
            // Files may share a sequence: the one added first then sorts first.
            (Some(one), Some(other)) => compare(&one, &other).then(a.cmp(&b)),
            (one, other) => other.is_some().cmp(&one.is_some()),
        });
    }

    /// Moves the first source to the position its cell has among the others, which are sorted.
    #[inline]
    fn move_back(&mut self) {
        let Self { sources, order, .. } = self;
        let Some((&first, others)) = order.split_first() else { return };
        let Some(key) = sources[first].key() else {
            order.remove(0);
            return;
        };
        let is_before = |&&at: &&usize| {
            let ordering = sources[at].key().map(|other| {
                let newest_first = || sources[first].sequence().cmp(&sources[at].sequence());
                // Files may share a sequence: the one added first then sorts first.
                other.cmp(&key).then_with(newest_first).then(at.cmp(&first))
            });
            ordering.is_some_and(Ordering::is_lt)
        };
        let before = others.iter().take_while(is_before).count();
        order[..=before].rotate_left(1);
    }
}

impl Cells for Merge {
    // Called for every row in a scan. Without the attribute the compiler emits a call, which costs
    // 3 % in a full scan.
    #[inline(always)]
    fn cell(&self) -> Option<CellRef<'_>> {
        self.sources[*self.order.first()?].cell()
    }

    #[inline]
    fn push_to(&self, row: &mut RowBuilder, copied: bool) {
        if let Some(&first) = self.order.first() {
            self.sources[first].push_to(row, copied);
        }
    }

    #[inline]
    fn advance(&mut self) -> Result<()> {
        let Some(&first) = self.order.first() else { return Ok(()) };
        let source = &mut self.sources[first];
        source.advance()?;
        let seen = skip_unseen(source, self.sequence_max)?;
        if self.order.len() > 1 || !seen {
            self.move_back();
        }
        self.admit()
    }

    fn skip_markers(&mut self) -> Result<bool> {
        self.pass_some_markers()
    }

    fn push_columns(&mut self, times: &RangeInclusive<i64>, row: &mut RowBuilder) -> Result<bool> {
        self.push_columns_by_source(times, row)
    }

    fn seek(&mut self, key: &Key<'_>) -> Result<()> {
        for &at in &self.order {
            let source = &mut self.sources[at];
            // This source and those after it are already at or past the key.
            if source.cell().is_some_and(|cell| cell.key >= *key) {
                break;
            }
            source.seek(key)?;
            skip_unseen(source, self.sequence_max)?;
        }
        self.admit_up_to(key)?;
        self.sort();
        self.admit()
    }
}

/// Skips cells newer than the reader's sequence; returns `false` if no cell is left.
// Called for every cell in a merge.
#[inline(always)]
pub(super) fn skip_unseen(source: &mut Source, sequence_max: u64) -> Result<bool> {
    loop {
        match source.sequence() {
            Some(sequence) if sequence > sequence_max => source.advance()?,
            other => return Ok(other.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use rowhouse_model::{
        Cell, CellKind, FamilyDescriptor, Put, RowRange, Scan, TableDescriptor, TableName,
        Timestamp,
    };

    use super::*;
    use crate::disk::simulated::SimulatedDisk;
    use crate::memstore::Memstore;
    use crate::{CompactionSettings, Settings, Store, Table};

    fn cell(row: u8, millis: i64, sequence: u64) -> Cell {
        let at = Timestamp::from_millis(millis).unwrap();
        let cell = Cell::new([row], "f", "q", at, CellKind::Put, "").unwrap();
        cell.with_sequence(sequence)
    }

    fn merge(sources: &[Vec<Cell>], sequence_max: u64) -> Merge {
        let sources = sources.iter().map(|cells| {
            let memstore = Arc::new(Memstore::default());
            for cell in cells {
                memstore.insert(cell.as_bytes(), cell.sequence());
            }
            Source::Memory(MemstoreCursor::new(memstore, &Key::row_start(b"")))
        });
        Merge::new(sources.collect(), sequence_max).unwrap()
    }

    /// Creates a table with family `f` and one file per row list.
    fn table_of_files(family: FamilyDescriptor, files: &[&str]) -> (Store, Arc<Table>) {
        let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
        let settings = Settings { compaction, ..Settings::default() };
        let disk = SimulatedDisk::default();
        let store = Store::builder("simulated").settings(settings).with_disk(disk).open().unwrap();
        let name = TableName::parse("t").unwrap();
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        let table = store.table(&name).unwrap();
        for rows in files {
            for row in rows.split(' ') {
                let put = Put::new(row.to_owned()).unwrap().add("f", "q", "").unwrap();
                table.mutate(&put.into()).unwrap();
            }
            table.flush().unwrap();
        }
        (store, table)
    }

    fn files_of(table: &Table) -> Vec<Arc<StoreFile>> {
        table.regions()[0].families()[0].super_version().files.clone()
    }

    /// Returns up to `rows` first rows in a range.
    fn scan(table: &Arc<Table>, range: RowRange, rows: usize) -> String {
        let mut scanner = table.scan(Scan::new(range)).unwrap();
        let mut row = || Some(String::from_utf8_lossy(scanner.next().unwrap()?.key()).into_owned());
        (0..rows).map_while(|_| row()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn files_are_opened_when_their_rows_come() {
        let family = FamilyDescriptor::new("f").unwrap();
        // The last file has a row between the first file's rows.
        let (_store, table) = table_of_files(family, &["a c", "d", "e", "g", "b f"]);
        let opened = || -> String {
            let first = |file: &Arc<StoreFile>| char::from(file.first_row()[0]);
            files_of(&table).iter().filter(|file| file.is_open()).map(first).collect()
        };
        let scan = |start: &'static str, rows| scan(&table, RowRange::new(start, ""), rows);
        // The next row after a is b, so no other file is opened.
        assert_eq!((scan("a", 1), opened()), ("a".to_owned(), "ab".to_owned()));
        // The next known row after c is f, but file d may begin before it.
        assert_eq!((scan("a", 3), opened()), ("a b c".to_owned(), "adb".to_owned()));
        assert_eq!((scan("cc", 2), opened()), ("d e".to_owned(), "adeb".to_owned()));
        assert_eq!((scan("a", 9), opened()), ("a b c d e f g".to_owned(), "adegb".to_owned()));
    }

    #[test]
    fn a_bloom_over_first_bytes_spares_a_scan_within_them_the_files_that_have_none() {
        let mut family =
            FamilyDescriptor::new("f").unwrap().attribute("BLOOMFILTER", "ROWPREFIX_FIXED_LENGTH");
        let len = "RowPrefixBloomFilter.prefix_length".to_owned();
        family.configuration.insert(len, "2".to_owned());
        let (_store, table) = table_of_files(family, &["aa1 cc1", "bb1 bb3", "aa2 cc2"]);
        let held = |range: &RowRange| -> Vec<bool> {
            files_of(&table).iter().map(|file| file.may_hold_prefix(range).unwrap()).collect()
        };
        let within = RowRange::new("bb2", "bb9");
        assert_eq!(held(&within), [false, true, false]);
        assert_eq!(scan(&table, within, 9), "bb3");
        // Rows with several prefixes may be in any file.
        let across = RowRange::new("b", "d");
        assert_eq!(held(&across), [true, true, true]);
        assert_eq!(scan(&table, across, 9), "bb1 bb3 cc1 cc2");
    }

    proptest! {
        #[test]
        fn cells_come_as_if_from_one_sorted_list(
            cells in prop::collection::btree_map((0u8..20, 0i64..3, 1u64..60), 0usize..5, 0..60),
            sequence_max in 0u64..60,
            moves in prop::collection::vec(prop::option::weighted(0.2, 0u8..20), 0..80),
        ) {
            let mut sources = vec![Vec::new(); 5];
            let mut expected = Vec::new();
            for (&(row, millis, sequence), &source) in &cells {
                sources[source].push(cell(row, millis, sequence));
                if sequence <= sequence_max {
                    expected.push(cell(row, millis, sequence));
                }
            }
            expected.sort_by(|a, b| compare(&a.view(), &b.view()));
            let mut expected = &expected[..];
            let mut merge = merge(&sources, sequence_max);
            // Some steps and forward seeks, then steps to the end.
            for step in moves.into_iter().chain(std::iter::repeat_n(None, 60)) {
                let place = |cell: &Cell| (cell.key().timestamp, cell.sequence(), cell.clone());
                let actual = merge.cell().map(|cell| cell.to_cell());
                prop_assert_eq!(actual.as_ref().map(place), expected.first().map(place));
                match step {
                    Some(row) => {
                        let key = [row];
                        let target = Key::row_start(&key);
                        merge.seek(&target).unwrap();
                        let passed = expected.partition_point(|cell| cell.key() < target);
                        expected = &expected[passed..];
                    }
                    None => {
                        merge.advance().unwrap();
                        expected = expected.get(1..).unwrap_or_default();
                    }
                }
            }
        }
    }
}
