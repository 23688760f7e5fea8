//! Skipping delete marker runs in a merge over many sources.

use rowhouse_format::hfile::OwnedKey;
use rowhouse_model::{CellKind, Key, Result, equal_bytes};

use super::{Merge, Source, skip_unseen};
use crate::cells::Cells;

impl Source {
    /// Returns where the marker run at the source's position ends, if known at once. Before that
    /// end the source has only column and version markers, and none covers a cell at or after the
    /// end in this source. If the end is in the current cell's column, only version markers precede
    /// it.
    fn run_end(&self) -> Result<Option<OwnedKey>> {
        match self {
            Self::Memory(cursor) => Ok(cursor.run_end()),
            Self::File(cursor) => cursor.run_end(),
            Self::Waiting(..) => Ok(None),
            Self::Traced(traced) => traced.source.run_end(),
        }
    }

    /// As [`Cells::skip_markers`], but skips no marker that may cover `bound`, a cell from another
    /// source.
    fn pass_markers_to(&mut self, bound: Option<&Key<'_>>) -> Result<bool> {
        match self {
            Self::Memory(cursor) => Ok(cursor.pass_markers_to(bound)),
            Self::File(cursor) => cursor.pass_markers_to(bound),
            Self::Waiting(..) => Ok(false),
            Self::Traced(traced) => traced.moved(|source| source.pass_markers_to(bound)),
        }
    }
}

impl Merge {
    /// [`Cells::skip_markers`].
    pub(super) fn pass_some_markers(&mut self) -> Result<bool> {
        Ok(self.pass_runs()? || self.pass_markers_of_first()?)
    }

    /// Skips the runs at whose positions all sources are known to be, up to the first run end or
    /// the first other cell.
    fn pass_runs(&mut self) -> Result<bool> {
        let Some(here) = self.cell().map(|cell| cell.key) else { return Ok(false) };
        let Some((end, only_versions)) = self.first_run_end()? else { return Ok(false) };
        let end = end.view();
        let place = if !equal_bytes(end.qualifier, here.qualifier) {
            // Markers from any source may cover cells in this column.
            Key::column_start(end.row, end.family, end.qualifier)
        } else if only_versions {
            // Or cells at this timestamp.
            Key { kind: u8::MAX, ..end }
        } else {
            return Ok(false);
        };
        let ahead = place > here;
        if ahead {
            self.seek(&place)?;
        }
        Ok(ahead)
    }

    /// Returns the first key at which a source's run ends or at which a source is in no known run,
    /// and whether only version markers in one column precede that key. `None` if that key is the
    /// current cell.
    fn first_run_end(&self) -> Result<Option<(OwnedKey, bool)>> {
        let mut first: Option<OwnedKey> = None;
        let mut only_versions = true;
        for &at in &self.order {
            let source = &self.sources[at];
            let Some(key) = source.cell().map(|cell| cell.key) else { continue };
            if first.as_ref().is_some_and(|first| first.view() <= key) {
                break;
            }
            let Some(end) = source.run_end()? else {
                // The remaining sources are positioned after it.
                first = first.map(|_| OwnedKey::new(&key));
                break;
            };
            let view = end.view();
            only_versions &= key.kind == CellKind::DeleteVersion.code()
                && equal_bytes(view.qualifier, key.qualifier);
            if first.as_ref().is_none_or(|first| view < first.view()) {
                first = Some(end);
            }
        }
        Ok(first.map(|first| (first, only_versions)))
    }

    /// Skips markers in the first source, up to the next source's current cell.
    fn pass_markers_of_first(&mut self) -> Result<bool> {
        let Some((&first, others)) = self.order.split_first() else { return Ok(false) };
        let next = others.first().map(|&next| self.sources.get_disjoint_mut([first, next]));
        let passed = match next {
            Some(Ok([source, next])) => {
                source.pass_markers_to(next.cell().map(|cell| cell.key).as_ref())?
            }
            Some(Err(_)) => false,
            None => self.sources[first].pass_markers_to(None)?,
        };
        if !passed {
            return Ok(false);
        }
        skip_unseen(&mut self.sources[first], self.sequence_max)?;
        self.move_back();
        self.admit()?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rowhouse_model::{Delete, FamilyDescriptor, Put, TableDescriptor, TableName, Timestamp};

    use super::*;
    use crate::block_cache::Caching;
    use crate::disk::simulated::SimulatedDisk;
    use crate::memstore::MemstoreCursor;
    use crate::store_file::FileCursor;
    use crate::{CompactionSettings, Settings, Store, Table};

    const MARKERS: i64 = 900;
    const SOURCES: i64 = 3;

    /// Creates a table with one row whose markers alternate between two files and the memstore,
    /// followed by a put. `of_version` selects version markers instead of column markers.
    fn table(of_version: impl Fn(i64) -> bool) -> (Store, Arc<Table>) {
        let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
        let settings = Settings { compaction, ..Settings::default() };
        let disk = SimulatedDisk::default();
        let store = Store::builder("simulated").settings(settings).with_disk(disk).open().unwrap();
        let name = TableName::parse("t").unwrap();
        let family = FamilyDescriptor::new("f").unwrap().attribute("BLOCKSIZE", "1024");
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        let table = store.table(&name).unwrap();
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        let put = Put::new("row").unwrap().add_at("f", "z", at(1), "").unwrap();
        table.mutate(&put.into()).unwrap();
        for source in 0..SOURCES {
            let mut markers = Delete::new("row").unwrap();
            for number in (source..MARKERS).step_by(SOURCES as usize) {
                markers = if of_version(number) {
                    markers.version("f", "z", at(number + 2)).unwrap()
                } else {
                    markers.column("f", format!("{number:03}"), at(1)).unwrap()
                };
            }
            table.mutate(&markers.into()).unwrap();
            if source + 1 < SOURCES {
                table.flush().unwrap();
            }
        }
        (store, table)
    }

    /// Merges all the row's cells.
    fn merge(table: &Table) -> Merge {
        let super_version = table.regions()[0].families()[0].super_version();
        let start = Key::row_start(b"row");
        let files = super_version.files.iter();
        let files = files.map(|file| FileCursor::open(file, &start, Caching::Shared).unwrap());
        let memory = MemstoreCursor::new(Arc::clone(&super_version.active), &start);
        let sources = files.map(Source::File).chain([Source::Memory(memory)]);
        Merge::new(sources.collect(), u64::MAX).unwrap()
    }

    fn place(merge: &Merge) -> (String, i64) {
        let key = merge.cell().unwrap().key;
        (String::from_utf8_lossy(key.qualifier).into_owned(), key.timestamp)
    }

    #[test]
    fn runs_by_turns_are_passed_together_up_to_where_the_first_of_them_ends() {
        let (_store, of_columns) = table(|_| false);
        let mut of_columns = merge(&of_columns);
        assert!(of_columns.skip_markers().unwrap());
        // The sources' last markers may be part of longer runs.
        let last = place(&of_columns);
        assert!(last.0.as_str() >= "897", "{last:?}");
        let (_store, of_versions) = table(|_| true);
        let mut of_versions = merge(&of_versions);
        assert!(of_versions.skip_markers().unwrap());
        // Each source's oldest marker is the last in its run.
        assert_eq!(place(&of_versions), ("z".to_owned(), 4));
    }

    #[test]
    fn markers_of_versions_are_not_passed_over_one_of_their_column() {
        let (_store, table) = table(|_| true);
        let at = Timestamp::from_millis(500).unwrap();
        let column = Delete::new("row").unwrap().column("f", "z", at).unwrap();
        table.mutate(&column.into()).unwrap();
        let mut merge = merge(&table);
        while merge.cell().unwrap().key.kind == CellKind::DeleteVersion.code() {
            let before = place(&merge);
            if !merge.skip_markers().unwrap() {
                merge.advance().unwrap();
            }
            assert_ne!(place(&merge), before);
        }
        assert_eq!(place(&merge), ("z".to_owned(), 500));
    }
}
