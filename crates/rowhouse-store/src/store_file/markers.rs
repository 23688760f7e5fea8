//! Skipping long delete marker runs. If the file records where a run ends, a reader seeks there at
//! once. Otherwise the first reader scans the run's blocks and later readers reuse the result.

use parking_lot::RwLock;
use rowhouse_format::hfile::{Cursor, MarkerRun, OwnedKey, RunRelation};
use rowhouse_model::{Key, Result};

use super::FileCursor;
use crate::cells::Cells;

/// Long runs in a file that readers found and the file does not record. Files are immutable, so the
/// entries stay valid.
#[derive(Default)]
pub(super) struct MarkerRuns(RwLock<Vec<MarkerRun>>);

impl MarkerRuns {
    /// Returns the end of the run that contains a key.
    fn target(&self, key: &Key<'_>) -> Option<OwnedKey> {
        target_in(&self.0.read(), key)
    }

    fn note(&self, run: MarkerRun) {
        let mut runs = self.0.write();
        if has_whole(&runs, &run) {
            return;
        }
        runs.retain(|known| !has_whole(std::slice::from_ref(&run), known));
        if runs.len() == MarkerRun::RUNS_MAX {
            runs.remove(0);
        }
        runs.push(run);
    }
}

/// Returns true if a run in `runs` contains all of `other`.
fn has_whole(runs: &[MarkerRun], other: &MarkerRun) -> bool {
    let first = other.first().view();
    let target = other.target().view();
    runs.iter().any(|run| run.has(&first) && target <= run.target().view())
}

fn target_in(runs: &[MarkerRun], key: &Key<'_>) -> Option<OwnedKey> {
    runs.iter().find(|run| run.has(key)).map(|run| run.target().clone())
}

impl FileCursor {
    /// As [`Cells::skip_markers`], but stops before markers that may cover `bound`, a cell from
    /// another source.
    pub(crate) fn pass_markers_to(&mut self, bound: Option<&Key<'_>>) -> Result<bool> {
        let first = self.cursor.clone();
        let known = self.pass_known(bound)?;
        let (any, blocks) = self.scan_markers(bound)?;
        // A known run and another that begins at its end are one run.
        if (known && any) || blocks >= MarkerRun::BLOCKS_MIN {
            let ends = [first.as_ref(), self.cursor.as_ref()];
            if let [Some(first), Some(target)] = ends.map(|end| end.and_then(Cursor::key))
                && let Some(run) = MarkerRun::new(&first, &target)
                && !has_whole(self.file.marker_runs()?, &run)
            {
                self.file.marker_runs.note(run);
            }
        }
        Ok(known || any)
    }

    /// Returns where the known run ends that contains the current cell, if there is one.
    pub(crate) fn run_end(&self) -> Result<Option<OwnedKey>> {
        let Some(here) = self.key() else { return Ok(None) };
        let recorded = target_in(self.file.marker_runs()?, &here);
        Ok(recorded.or_else(|| self.file.marker_runs.target(&here)))
    }

    /// Seeks to the end of a known run, or to the column of `bound`.
    fn pass_known(&mut self, bound: Option<&Key<'_>>) -> Result<bool> {
        let Some(here) = self.key() else { return Ok(false) };
        let target = self.run_end()?;
        let Some(target) = target.as_ref().map(OwnedKey::view) else { return Ok(false) };
        let target = match bound.filter(|bound| **bound < target) {
            Some(bound) => Key::column_start(bound.row, bound.family, bound.qualifier),
            None => target,
        };
        let ahead = target > here;
        if ahead {
            self.seek(&target)?;
        }
        Ok(ahead)
    }

    /// Passes markers block by block. Returns true if there were any, and how many blocks they
    /// take.
    fn scan_markers(&mut self, bound: Option<&Key<'_>>) -> Result<(bool, usize)> {
        let mut any = false;
        let mut blocks = 1;
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

    /// Moves from the last marker in a block to the first cell in the next block if that is a
    /// marker too, `bound` is not before it, and no cell between them can be covered by the last
    /// marker.
    fn follow_markers(&mut self, bound: Option<&Key<'_>>) -> Result<bool> {
        let before = (self.walk.clone(), self.cursor.clone());
        self.next_block()?;
        let goes_on = match (before.1.as_ref().and_then(Cursor::key), self.key()) {
            (Some(last), Some(next)) => {
                RunRelation::of(&last, &next) == RunRelation::Target
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
    const LAST: &str = "499";

    fn qualifier(number: usize) -> String {
        format!("{number:03}")
    }

    fn key(qualifier: &str) -> Key<'_> {
        Key::column_start(b"row", b"f", qualifier.as_bytes())
    }

    /// Returns a file with a row that has a marker in each of many columns, in small blocks, and a
    /// cell after them; plus `longer_rows` rows with more markers.
    fn file(longer_rows: usize) -> (Store, Arc<StoreFile>) {
        let store = Store::builder("simulated").with_disk(SimulatedDisk::default()).open().unwrap();
        let name = TableName::parse("t").unwrap();
        let family = FamilyDescriptor::new("f").unwrap().attribute("BLOCKSIZE", "1024");
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        let table: Arc<Table> = store.table(&name).unwrap();
        let mark = |row: String, count: usize| {
            let mut markers = Delete::new(row).unwrap();
            for number in 0..count {
                let at = Timestamp::from_millis(1).unwrap();
                markers = markers.column("f", qualifier(number), at).unwrap();
            }
            table.mutate(&markers.into()).unwrap();
        };
        mark("row".to_owned(), MARKERS);
        (0..longer_rows).for_each(|row| mark(format!("longer{row:02}"), 2 * MARKERS));
        let put = Put::new("row").unwrap().add("f", "z", "").unwrap();
        table.mutate(&put.into()).unwrap();
        table.flush().unwrap();
        let super_version = table.regions()[0].families()[0].super_version();
        (store, Arc::clone(&super_version.files[0]))
    }

    /// Returns a file that records the row's run.
    fn telling() -> (Store, Arc<StoreFile>) {
        file(0)
    }

    /// Returns a file whose run readers have to find, because it records only longer ones.
    fn silent() -> (Store, Arc<StoreFile>) {
        file(MarkerRun::RUNS_MAX)
    }

    fn open(file: &Arc<StoreFile>, from: usize) -> FileCursor {
        FileCursor::open(file, &key(&qualifier(from)), Caching::Shared).unwrap()
    }

    fn column(cursor: &FileCursor) -> String {
        String::from_utf8_lossy(cursor.key().unwrap().qualifier).into_owned()
    }

    /// Returns the qualifier reached by passing markers from the one in column `from`.
    fn passed(file: &Arc<StoreFile>, from: usize, bound: Option<&str>) -> String {
        let mut cursor = open(file, from);
        cursor.pass_markers_to(bound.map(key).as_ref()).unwrap();
        column(&cursor)
    }

    fn noted_runs(file: &StoreFile) -> usize {
        file.marker_runs.0.read().len()
    }

    #[test]
    fn a_cursor_passing_a_run_arrives_at_the_target_in_the_file() {
        let (_store, file) = telling();
        let [run] = file.opened().unwrap().marker_runs() else { panic!("one run is told") };
        assert_eq!(run.first().view().qualifier, b"000");
        let mut cursor = open(&file, 0);
        let (_, blocks) = cursor.scan_markers(None).unwrap();
        assert!(blocks > MarkerRun::BLOCKS_MIN);
        assert!(cursor.key().unwrap() == run.target().view());
        for from in [0, 100, MARKERS - 2] {
            assert_eq!(passed(&file, from, None), LAST);
        }
        assert_eq!(noted_runs(&file), 0);
    }

    #[test]
    fn a_long_run_is_remembered_and_passed_from_anywhere_in_it() {
        let (_store, file) = silent();
        let recorded = file.opened().unwrap().marker_runs();
        assert!(recorded.iter().all(|run| run.first().row() != b"row"));
        assert_eq!((passed(&file, 100, None), noted_runs(&file)), (LAST.to_owned(), 1));
        let run = |from| (passed(&file, from, None), noted_runs(&file));
        assert_eq!(run(300), (LAST.to_owned(), 1));
        // A longer run replaces it.
        assert_eq!(run(20), (LAST.to_owned(), 1));
        assert_eq!(run(40), (LAST.to_owned(), 1));
        assert!(file.marker_runs.target(&key("020")).is_none(), "in front of the marker");
        assert!(file.marker_runs.target(&key("021")).is_some());
        assert!(file.marker_runs.target(&Key::column_end(b"row", b"f", b"z")).is_none());
    }

    #[test]
    fn no_run_is_passed_beyond_a_column_that_another_source_has_cells_in() {
        for (_store, file) in [telling(), silent()] {
            for _ in 0..2 {
                assert_eq!(passed(&file, 3, Some("003")), "003");
                // A scan stops at the last marker before the bound; a known run leads to the first
                // column after it.
                for (bound, around) in [("0041", ["004", "005"]), ("4001", ["400", "401"])] {
                    let passed = passed(&file, 3, Some(bound));
                    assert!(around.contains(&&passed[..]), "{passed}");
                }
                // The whole run is known now.
                assert_eq!(passed(&file, 3, None), LAST);
            }
        }
    }
}
