//! Indexes whose data is damaged: they are put off, and built anew without reading what is damaged
//! (`docs/decisions/0067-indexes.md`).

use std::collections::BTreeSet;
use std::sync::Arc;

use rowhouse_model::{Error, ErrorKind, Key, Result, TableName, TableState};
use rowhouse_schema::{INDEX_DAMAGE_ATTRIBUTE, IndexOf, IndexState};

use super::Store;
use super::handle::Tables;
use super::index_build::RETRY_AFTER;
use super::indexes::{is_copy, with_state};
use crate::aside;
use crate::cells::Cells;
use crate::damage::{Unsettled, is_damage, is_of_noted_file};
use crate::indexed::{is_declared_index, is_in_memory, is_off_by_damage, is_search_table};
use crate::layout::{FILES_DIR, file_path};
use crate::manifest::{ManifestState, TableEntry};
use crate::store_file::{FileCursor, StoreFile};
use crate::table::Table;

/// The most bytes of a reason that a state keeps. An error message may have a long key.
const REASON_BYTES_MAX: usize = 1000;

impl Store {
    /// Reports an error from a read in an index's table: if it says that what is stored there is
    /// not what was written, the index is put off soon, and built anew. A file whose checksums are
    /// wrong is known already; this is for contents that cannot be decoded.
    pub fn report_index_damage(&self, entries: &Table, error: &Error) {
        if is_damage(error) && !is_of_noted_file(error) {
            self.inner.engine.files.damage.note_table(entries.id(), error);
        }
    }

    /// Puts all indexes off that were found damaged before this call: on return, queries do not use
    /// them. If that fails, it is tried again in the background. The caller may hold no lock that a
    /// change to tables takes.
    pub fn settle_index_damage(&self) {
        if let Err(error) = self.inner.engine.files.damage.settle() {
            tracing::warn!(%error, "damaged indexes were not put off yet");
        }
    }

    /// Returns true if the store builds anew, without a request, the index whose entries this table
    /// holds, because the data is damaged and the base table is small and whole.
    pub fn is_index_rebuilt(&self, entries: &Table) -> bool {
        is_off_by_damage(entries.descriptor()) && self.inner.tables.is_rebuilt_at_once(entries)
    }
}

impl Tables {
    /// Settles damage until the store is closed.
    pub(super) fn settle_when_damaged(&self) {
        while self.engine.files.damage.wait() {
            match self.settle_damage() {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::ServerNotRunning => return,
                Err(error) => {
                    tracing::error!(%error, "a damaged index was not put off");
                    std::thread::sleep(RETRY_AFTER);
                }
            }
        }
    }

    /// Puts the indexes off that have damaged data, and those that are being built from a damaged
    /// table.
    ///
    /// # Errors
    /// `Io` from the manifest; `ServerNotRunning`.
    pub(super) fn settle_damage(&self) -> Result<()> {
        let _changing = self.changing.lock();
        let damage = &self.engine.files.damage;
        let unsettled = damage.unsettled();
        self.engine.check_open()?;
        for table in self.catalog.entries().tables.values() {
            let files = files_of(table).filter(|file| unsettled.files.contains(&file.id()));
            let files: Vec<u64> = files.map(|file| file.id()).collect();
            let why = damage.first_of(files.into_iter());
            let why = unsettled.tables.get(&table.id()).cloned().or(why);
            let Some(why) = why else { continue };
            if is_in_memory(table.descriptor()) {
                self.set_off_in_memory(table, cut(why))?;
                continue;
            }
            tracing::error!(table = %table.name(), error = why, "the data of a table is damaged");
            if self.is_index(table) {
                self.settle_index(table, &why, &unsettled)?;
            } else {
                self.settle_base(table, &why)?;
            }
        }
        damage.set_settled(&unsettled);
        Ok(())
    }

    fn settle_index(&self, table: &Table, why: &str, unsettled: &Unsettled) -> Result<()> {
        let is_swept = !is_search_table(table.descriptor())
            && IndexState::of_table(table.descriptor())? == IndexState::Repairing;
        // A sweep reads the entries itself. A read that meets the damage does not wait for it.
        if is_swept && !unsettled.tables.contains_key(&table.id()) {
            return Ok(());
        }
        if is_off_by_damage(table.descriptor()) {
            return Ok(());
        }
        self.set_off_by_damage(table, why)
    }

    /// Puts a damaged table's indexes off that are being built: their builds cannot end.
    fn settle_base(&self, table: &Arc<Table>, why: &str) -> Result<()> {
        for index in self.with_indexes(table)?.iter().skip(1) {
            let state = IndexState::of_table(index.descriptor())?;
            if matches!(state, IndexState::Building { .. } | IndexState::Repairing) {
                let why = cut(format!("{} is damaged: {why}", table.name()));
                if is_in_memory(index.descriptor()) {
                    self.set_off_in_memory(index, why)?;
                    continue;
                }
                let state = IndexState::Off(why);
                let mut descriptor = with_state(index, &state);
                let damage = index.descriptor().attributes.get(INDEX_DAMAGE_ATTRIBUTE.as_bytes());
                if let Some(damage) = damage {
                    descriptor = descriptor.attribute(INDEX_DAMAGE_ATTRIBUTE, damage.clone());
                }
                self.declare_index(index, descriptor, || {})?;
            }
        }
        Ok(())
    }

    /// Puts an index off whose data is damaged. Queries do not read it from now on, and writes do
    /// not keep it. Requests a build if it is built anew at once. The caller prevents changes to
    /// tables meanwhile.
    pub(super) fn set_off_by_damage(&self, table: &Table, why: &str) -> Result<()> {
        let why = cut(why.to_owned());
        let state = IndexState::Off(format!("its data is damaged: {why}"));
        let descriptor = with_state(table, &state).attribute(INDEX_DAMAGE_ATTRIBUTE, why);
        self.declare_index(table, descriptor, || {
            // Transactions that read entries must see the commits that write none.
            let sequence = self.engine.mvcc.reserve();
            self.engine.recent_writes.note_all(sequence);
            self.engine.mvcc.publish(sequence);
        })?;
        tracing::warn!(index = %table.name(), %state, "an index was put off");
        self.request_index_builds();
        Ok(())
    }

    /// Builds an index anew: replaces the index table by an empty one. `damage` states why the
    /// entries are lost, if the index state does not: a unique index then takes no new values until
    /// it is built. The caller holds `reindexing` on the base table.
    ///
    /// # Errors
    /// `Corruption` if the base table is damaged, and `Io`; the index then stays as it is.
    pub(super) fn rebuild_index(
        &self,
        base: &Table,
        entries: &Table,
        damage: Option<&Error>,
    ) -> Result<()> {
        if is_copy(entries) {
            // It may have the last good version of a row.
            self.read_all(&*self.catalog.table(base.name())?)?;
        }
        let _changing = self.changing.lock();
        let base = self.catalog.table(base.name())?;
        let mut now = self.catalog.table(entries.name())?;
        if now.id() != entries.id() {
            return Ok(());
        }
        self.check_undamaged(&base)?;
        if let Some(error) = damage {
            let why = cut(error.to_string());
            let descriptor = now.descriptor().clone().attribute(INDEX_DAMAGE_ATTRIBUTE, why);
            now = Arc::new(now.altered(descriptor));
        }
        self.put_aside(&now)?;
        self.rebuild_indexes(&base, vec![now])
    }

    /// Reads all cells in a table's files, which notes whatever is damaged.
    ///
    /// # Errors
    /// The errors from the reads; `ServerNotRunning`.
    fn read_all(&self, table: &Table) -> Result<()> {
        for file in files_of(table) {
            let mut cells = FileCursor::open_once(&file, &Key::row_start(b""))?;
            while cells.cell().is_some() {
                self.engine.check_open()?;
                cells.next_block()?;
            }
        }
        Ok(())
    }

    /// Refuses to build an index from a table with a damaged file.
    ///
    /// # Errors
    /// `Corruption`.
    pub(super) fn check_undamaged(&self, base: &Table) -> Result<()> {
        match self.damage_of(base) {
            None => Ok(()),
            Some(why) => Err(Error::corruption(format!(
                "no index is built anew while its table is damaged: table={}, damage={why}",
                base.name()
            ))),
        }
    }

    /// Returns the error of a table's first damaged file.
    pub(super) fn damage_of(&self, table: &Table) -> Option<String> {
        // Collected first: a file that ends here takes the list's lock.
        let files: Vec<u64> = files_of(table).map(|file| file.id()).collect();
        self.engine.files.damage.first_of(files.into_iter())
    }

    /// Returns the damaged index whose entries are in this table, with the base table, if it is to
    /// be built anew at once.
    pub(super) fn find_damaged(&self, table_id: u64) -> Option<(Arc<Table>, Arc<Table>)> {
        let tables = self.catalog.entries();
        let entries = tables.tables.values().find(|table| table.id() == table_id)?;
        if !is_off_by_damage(entries.descriptor()) || !self.is_rebuilt_at_once(entries) {
            return None;
        }
        Some((self.base_of(entries)?, Arc::clone(entries)))
    }

    /// Returns true if an index whose data is damaged is built anew without a request.
    pub(super) fn is_rebuilt_at_once(&self, entries: &Table) -> bool {
        let Some(base) = self.base_of(entries) else { return false };
        base.state() == TableState::Enabled
            && base.stored_bytes() <= self.engine.settings.index_rebuild_bytes_max
            && self.damage_of(&base).is_none()
    }

    fn base_of(&self, entries: &Table) -> Option<Arc<Table>> {
        let of = IndexOf::of_table(entries.descriptor()).ok().flatten()?;
        self.catalog.table(&of.table).ok()
    }

    fn is_index(&self, table: &Table) -> bool {
        let tables = self.catalog.entries();
        let find = |name: &TableName| tables.tables.get(name).map(|table| table.descriptor());
        is_declared_index(table.descriptor(), find)
    }

    /// Moves an index's damaged files aside that nothing else names. The index is off: until the
    /// index table is replaced, it lacks them.
    fn put_aside(&self, entries: &Table) -> Result<()> {
        let engine = &self.engine;
        let damaged: BTreeSet<u64> = files_of(entries)
            .map(|file| file.id())
            .filter(|id| engine.files.damage.has_file(*id))
            .collect();
        let state = engine.manifest.state();
        let mut moved = false;
        for id in damaged.into_iter().filter(|id| has_alone(&state, entries.id(), *id)) {
            let path = file_path(id);
            // It may be what is missing.
            if engine.disk.open(&path).is_ok() {
                tracing::warn!(file = path, "a damaged file of an index was moved aside");
                aside::move_aside(&*engine.disk, &path, engine.timestamps.now_millis())?;
                moved = true;
            }
        }
        if !moved {
            return Ok(());
        }
        aside::trim(&*engine.disk, &engine.settings, engine.timestamps.now_millis());
        // The edit that replaces the table must not survive alone: the file would be removed.
        [aside::DIR, FILES_DIR].into_iter().try_for_each(|dir| {
            let synced = engine.disk.sync_dir(dir);
            synced.map_err(|source| Error::io(format_args!("cannot sync {dir}"), source))
        })
    }
}

/// Returns true if neither another table nor a snapshot names a table's file.
fn has_alone(state: &ManifestState, table_id: u64, file_id: u64) -> bool {
    let names = |table: &TableEntry| {
        let mut families = table.regions.values().flat_map(|region| region.families.values());
        families.any(|family| family.files.contains_key(&file_id))
    };
    let mut snapshots = state.snapshots.values().flat_map(|snapshot| snapshot.files());
    !state.tables.iter().any(|(id, table)| *id != table_id && names(table))
        && !snapshots.any(|file| file.meta.file_id == file_id)
}

/// Returns a table's files.
fn files_of(table: &Table) -> impl Iterator<Item = Arc<StoreFile>> {
    let families = table.regions_now().into_iter().flat_map(|region| region.families());
    families.flat_map(|family| family.super_version().files.clone())
}

/// Cuts a reason that is too long for a state.
fn cut(mut why: String) -> String {
    let end = (0..=REASON_BYTES_MAX.min(why.len())).rfind(|at| why.is_char_boundary(*at));
    why.truncate(end.unwrap_or(0));
    why
}
