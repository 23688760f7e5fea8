//! Long runs of delete markers: who comes to one goes through its blocks once, and whoever comes after goes to its end.

use parking_lot::RwLock;
use rowhouse_format::hfile::Cursor;
use rowhouse_model::{Cell, CellKind, Key, Result};

use super::FileCursor;
use crate::cells::Cells;

/// How many blocks a run reaches over that is worth remembering.
const BLOCKS_MIN: usize = 4;

/// How many runs of a file are remembered.
const RUNS_MAX: usize = 16;

/// Bytes of the longest cell that a remembered run begins or ends with.
const CELL_LEN_MAX: usize = 1024;

/// The long runs of a file that are known. A file never changes, and so what is known of it stays true.
#[derive(Default)]
pub(super) struct MarkerRuns(RwLock<Vec<MarkerRun>>);

/// Markers of single columns that follow each other in one row.
struct MarkerRun {
    first: Cell,
    /// The first one that may matter to what is behind the run.
    target: Cell,
}

impl MarkerRun {
    /// Whether the cell with this key is one of the run in front of its target.
    fn has(&self, key: &Key<'_>) -> bool {
        (self.first.key()..self.target.key()).contains(key)
    }
}

impl MarkerRuns {
    /// Where the run ends that a cell is in.
    fn target(&self, key: &Key<'_>) -> Option<Cell> {
        let runs = self.0.read();
        runs.iter().find(|run| run.has(key)).map(|run| run.target.clone())
    }

    fn note(&self, first: &Cell, target: &Cell) {
        if first.as_bytes().len().max(target.as_bytes().len()) > CELL_LEN_MAX {
            return;
        }
        let run = MarkerRun { first: first.detached(), target: target.detached() };
        let mut runs = self.0.write();
        runs.retain(|known| !run.has(&known.first.key()));
        if runs.len() == RUNS_MAX {
            runs.remove(0);
        }
        runs.push(run);
    }
}

fn row(cursor: &Cursor) -> Option<&[u8]> {
    Some(cursor.key()?.row)
}

impl FileCursor {
    /// As [`Cells::pass_markers`], but none that may cover `bound`, a cell of another source.
    pub(crate) fn pass_markers_to(&mut self, bound: Option<&Key<'_>>) -> Result<bool> {
        let first = self.cursor.clone();
        let known = self.pass_known(bound)?;
        // Behind a run that ends its row another begins, in which sources may have cells that nobody has asked yet.
        if known && first.as_ref().and_then(row) != self.cursor.as_ref().and_then(row) {
            return Ok(true);
        }
        let (any, blocks) = self.go_through_markers(bound)?;
        // A run that is known and another that begins where it ends are one.
        if (known && any) || blocks >= BLOCKS_MIN {
            let ends = [first.as_ref(), self.cursor.as_ref()];
            if let [Some(first), Some(target)] = ends.map(|end| end.and_then(Cursor::to_cell)) {
                self.file.marker_runs.note(&first, &target);
            }
        }
        Ok(known || any)
    }

    /// To the end of a run that is known, or to the column of `bound`.
    fn pass_known(&mut self, bound: Option<&Key<'_>>) -> Result<bool> {
        let Some(here) = self.key() else { return Ok(false) };
        let Some(target) = self.file.marker_runs.target(&here) else { return Ok(false) };
        let target = match bound.filter(|bound| **bound < target.key()) {
            Some(bound) => Key::column_start(bound.row, bound.family, bound.qualifier),
            None => target.key(),
        };
        let ahead = target > here;
        if ahead {
            self.seek(&target)?;
        }
        Ok(ahead)
    }

    /// Block by block. Gives whether there were markers to pass, and how many blocks they were in.
    fn go_through_markers(&mut self, bound: Option<&Key<'_>>) -> Result<(bool, usize)> {
        let (mut any, mut blocks) = (false, 1);
        loop {
            let passed = self.pass_markers_in_block(bound)?;
            any |= passed.any;
            if !(passed.open && self.follow_markers(bound)?) {
                return Ok((any, blocks));
            }
            any = true;
            blocks += 1;
        }
    }

    /// From the last marker of a block that may matter behind it to the first cell of the next block: if that is a marker
    /// too, and nothing lies between them that the last one may cover.
    fn follow_markers(&mut self, bound: Option<&Key<'_>>) -> Result<bool> {
        let before = (self.walk.clone(), self.cursor.clone());
        self.next_block()?;
        let goes_on = match (before.1.as_ref().and_then(Cursor::key), self.key()) {
            (Some(last), Some(next)) => {
                let only_there = last.kind == CellKind::DeleteVersion.code();
                let is_marker = [CellKind::DeleteColumn, CellKind::DeleteVersion]
                    .iter()
                    .any(|kind| kind.code() == next.kind);
                is_marker
                    && next.row == last.row
                    && (next.qualifier != last.qualifier
                        || only_there && next.timestamp != last.timestamp)
                    && bound.is_none_or(|bound| next <= *bound)
            }
            _ => false,
        };
        if !goes_on {
            (self.walk, self.cursor) = before;
        }
        Ok(goes_on)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rowhouse_model::{Delete, FamilyDescriptor, Put, TableDescriptor, TableName, Timestamp};

    use super::*;
    use crate::block_cache::Caching;
    use crate::disk::simulated::SimulatedDisk;
    use crate::store_file::StoreFile;
    use crate::{Store, Table};

    const MARKERS: usize = 500;

    fn qualifier(number: usize) -> String {
        format!("{number:03}")
    }

    fn key(qualifier: &str) -> Key<'_> {
        Key::column_start(b"row", b"f", qualifier.as_bytes())
    }

    /// A file of a row with a marker in each of many columns, in blocks of a few, and a cell behind them.
    fn file() -> (Store, Arc<StoreFile>) {
        let store = Store::builder("simulated").with_disk(SimulatedDisk::default()).open().unwrap();
        let name = TableName::parse("t").unwrap();
        let family = FamilyDescriptor::new("f").unwrap().attribute("BLOCKSIZE", "1024");
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        let table: Arc<Table> = store.table(&name).unwrap();
        let mut markers = Delete::new("row").unwrap();
        for number in 0..MARKERS {
            let at = Timestamp::from_millis(1).unwrap();
            markers = markers.column("f", qualifier(number), at).unwrap();
        }
        table.mutate(&markers.into()).unwrap();
        let put = Put::new("row").unwrap().add("f", "z", "").unwrap();
        table.mutate(&put.into()).unwrap();
        table.flush().unwrap();
        let parts = table.regions()[0].families()[0].parts();
        (store, Arc::clone(&parts.files[0]))
    }

    /// Where one comes to from the marker of a column.
    fn passed(file: &Arc<StoreFile>, from: usize, bound: Option<&str>) -> String {
        let mut cursor = FileCursor::open(file, &key(&qualifier(from)), Caching::Shared).unwrap();
        cursor.pass_markers_to(bound.map(key).as_ref()).unwrap();
        String::from_utf8_lossy(cursor.key().unwrap().qualifier).into_owned()
    }

    fn known(file: &StoreFile) -> usize {
        file.marker_runs.0.read().len()
    }

    #[test]
    fn a_long_run_is_remembered_and_passed_from_anywhere_in_it() {
        let (_store, file) = file();
        assert_eq!((passed(&file, 100, None), known(&file)), ("z".to_owned(), 1));
        let run = |from| (passed(&file, from, None), known(&file));
        assert_eq!(run(300), ("z".to_owned(), 1));
        // A longer one takes its place.
        assert_eq!(run(20), ("z".to_owned(), 1));
        assert_eq!(run(40), ("z".to_owned(), 1));
        assert!(file.marker_runs.target(&key("020")).is_none(), "in front of the marker");
        assert!(file.marker_runs.target(&key("021")).is_some());
        assert!(file.marker_runs.target(&Key::column_end(b"row", b"f", b"z")).is_none());
    }

    #[test]
    fn no_run_is_passed_beyond_a_column_that_another_source_has_cells_in() {
        let (_store, file) = file();
        for _ in 0..2 {
            assert_eq!(passed(&file, 3, Some("003")), "003");
            assert_eq!(passed(&file, 3, Some("0041")), "005");
            assert_eq!(passed(&file, 3, Some("4001")), "401");
            // Now the whole is known.
            assert_eq!(passed(&file, 3, None), "z");
        }
    }
}
