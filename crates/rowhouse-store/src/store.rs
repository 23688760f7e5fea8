//! The store: tables come and go, background work is done.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use rowhouse_model::{
    Bytes, Error, ErrorKind, FamilyDescriptor, Mutation, MutationOutcome, Namespace, RegionInfo,
    Result, RowRange, TableDescriptor, TableName, TableState, check_row,
};

use crate::background::{self, Work};
use crate::catalog::Catalog;
use crate::compact::{self, Policy, Share};
use crate::directory::Directory;
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::flush;
use crate::manifest::{
    Edit, EditKind, LogClosed, NamespaceChanged, RegionMeta, TableCreated, TableDropped,
    TableStateChanged, encode_table,
};
use crate::open::{Background, Builder};
use crate::read::ReadPoint;
use crate::region::{Region, not_serving};
use crate::table::Table;
use crate::wal::LogEnd;
use crate::write::apply;

/// What Apache's master adds to every table it makes, and its shell shows.
const FILE_TRACKER: (&str, &str) = ("hbase.store.file-tracker.impl", "DEFAULT");

/// An open store. Cloning it gives another handle on the same one; it closes with the last, or by
/// [`Store::close`].
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Arc<Engine>,
    catalog: Catalog,
    directory: Mutex<Option<Directory>>,
    /// Held by whoever makes, changes or drops tables and namespaces.
    changing: Mutex<()>,
    /// The creation time in the newest region name: no two regions share one.
    last_region_millis: AtomicI64,
    /// Counts changes of tables, regions and namespaces.
    version: AtomicU64,
    workers: Mutex<Vec<JoinHandle<()>>>,
}

impl Store {
    /// Opens the store in `dir`, or makes one where there is none.
    ///
    /// # Errors
    /// As [`Builder::open`].
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        Self::builder(dir).open()
    }

    /// For opening with other settings or parts.
    pub fn builder(dir: impl AsRef<Path>) -> Builder {
        Builder::new(dir)
    }

    pub(crate) fn start(
        engine: Arc<Engine>,
        catalog: Catalog,
        directory: Option<Directory>,
        background: Background,
    ) -> Result<Self> {
        engine.forget_flushed()?;
        let mut workers = Vec::new();
        if background == Background::Threads {
            workers.push(spawn(&engine, "rowhouse-flush", background::flush)?);
            workers.push(spawn(&engine, "rowhouse-log", background::look_after_log)?);
            for thread in 0..engine.settings.compaction.threads.max(1) {
                let share = if thread == 1 { Share::Small } else { Share::All };
                let merge = move |engine: &Arc<Engine>| compact::work(engine, share);
                workers.push(spawn(&engine, "rowhouse-compact", merge)?);
            }
        }
        engine.log_work.push(Work::TidyLog);
        let entries = catalog.entries();
        let regions = entries.tables.values().flat_map(|table| table.regions());
        let last = regions.map(|region| region.info().id).max().unwrap_or(0);
        Ok(Self {
            inner: Arc::new(Inner {
                engine,
                catalog,
                directory: Mutex::new(directory),
                changing: Mutex::default(),
                last_region_millis: AtomicI64::new(i64::try_from(last).unwrap_or(i64::MAX)),
                version: AtomicU64::new(0),
                workers: Mutex::new(workers),
            }),
        })
    }

    /// The store's UUID, given when it was made.
    pub fn cluster_id(&self) -> String {
        self.inner.engine.manifest.read(|state| state.cluster_id.clone())
    }

    /// Writes into the data directory where this process serves clients, for others to find.
    pub fn set_address(&self, address: &str) -> Result<()> {
        match &*self.inner.directory.lock() {
            Some(directory) => directory.set_address(address),
            None => Ok(()),
        }
    }

    /// Every table of users, by name.
    pub fn tables(&self) -> Vec<Arc<Table>> {
        self.inner.catalog.entries().tables.values().cloned().collect()
    }

    /// The table `name`.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub fn table(&self, name: &TableName) -> Result<Arc<Table>> {
        self.inner.catalog.table(name)
    }

    /// The region with this full name, if it is known, served or not.
    pub fn find_region(&self, name: &[u8]) -> Option<Arc<Region>> {
        self.inner.catalog.region(name)
    }

    /// The region with this encoded name, if it is known, served or not.
    pub fn find_region_by_encoded_name(&self, name: &str) -> Option<Arc<Region>> {
        self.inner.catalog.region_by_encoded_name(name)
    }

    /// The region with this full name.
    ///
    /// # Errors
    /// `NotServingRegion`.
    pub fn region(&self, name: &[u8]) -> Result<Arc<Region>> {
        self.find_region(name).ok_or_else(|| {
            let full = Bytes::copy_from_slice(name);
            not_serving(&rowhouse_model::RegionName { full, encoded: String::new() })
        })
    }

    /// This moment, over all tables, to read at later: see [`Table::get_at`] and [`Table::scan_at`].
    pub fn read_point(&self) -> Arc<ReadPoint> {
        Arc::new(ReadPoint::take(&self.inner.engine))
    }

    /// Changes rows of any tables as one: when this returns all of it is visible and in the log, and
    /// a crash leaves all of it or nothing. Durability is the strongest that any of them asks for.
    ///
    /// # Errors
    /// As [`Region::mutate`], for the first mutation that cannot be done; then nothing was changed.
    /// `InvalidRequest` for an increment of a row, or a delete of its newest version, behind another
    /// mutation of that row: it would have to read what is not written yet.
    pub fn commit(&self, mutations: &[(Arc<Table>, Mutation)]) -> Result<Vec<MutationOutcome>> {
        for (table, _) in mutations {
            table.check_enabled()?;
        }
        let placed = mutations
            .iter()
            .map(|(table, mutation)| (&**table.region_of(mutation.row()), mutation));
        apply::apply_together(&self.inner.engine, &placed.collect::<Vec<_>>())
    }

    /// Makes a table whose regions begin at the first row and at each of `splits`.
    ///
    /// # Errors
    /// `TableExists`, `NamespaceNotFound`, `InvalidRequest` for splits that are empty or not
    /// distinct, and what [`TableDescriptor::check`] refuses.
    pub fn create_table(&self, descriptor: TableDescriptor, splits: &[Bytes]) -> Result<()> {
        let _changing = self.inner.changing.lock();
        self.inner.engine.check_open()?;
        let mut descriptor = descriptor;
        let (tracker, kind) = FILE_TRACKER;
        descriptor.attributes.entry(tracker.into()).or_insert_with(|| kind.into());
        let name = descriptor.name().clone();
        if name.is_system() {
            return Err(Error::invalid(format!("{name}: the hbase namespace is the system's")));
        }
        let manifest = &self.inner.engine.manifest;
        if !manifest.read(|state| state.namespaces.contains_key(name.namespace())) {
            return Err(Error::new(ErrorKind::NamespaceNotFound, name.namespace()));
        }
        if self.inner.catalog.table(&name).is_ok() {
            return Err(Error::new(ErrorKind::TableExists, name.to_string()));
        }
        descriptor.check()?;
        let settings = &self.inner.engine.settings;
        for family in descriptor.families() {
            Policy::of(settings, &descriptor, family)?;
        }
        let ranges = ranges(splits)?;
        let created_millis = self.next_region_millis();
        for range in &ranges {
            // A region's name is its row in hbase:meta.
            let region = RegionInfo::new(name.clone(), range.clone(), created_millis);
            check_row(&region.name().full).map_err(|error| {
                Error::invalid(format!("a split key makes a region name too long: {error}"))
            })?;
        }
        let regions: Vec<RegionMeta> = ranges
            .into_iter()
            .map(|RowRange { start, stop }| RegionMeta {
                region_id: manifest.next_id(),
                start,
                stop,
                created_millis,
            })
            .collect();
        let created = TableCreated {
            table_id: manifest.next_id(),
            descriptor: encode_table(&descriptor),
            regions,
            disabled: false,
        };
        manifest.append(&Edit::new(EditKind::TableCreated(created.clone())))?;
        let regions = created.regions.into_iter().map(|meta| self.new_region(&descriptor, meta));
        let regions = regions.collect();
        let table = Table::new(created.table_id, descriptor, regions, TableState::Enabled);
        self.inner.catalog.add(Arc::new(table));
        self.changed();
        Ok(())
    }

    fn new_region(&self, descriptor: &TableDescriptor, meta: RegionMeta) -> Arc<Region> {
        let engine = &self.inner.engine;
        let range = RowRange { start: meta.start, stop: meta.stop };
        let info = RegionInfo::new(descriptor.name().clone(), range, meta.created_millis);
        let families = descriptor.families().iter().map(|family: &FamilyDescriptor| {
            let policy = Policy::of_stored(&engine.settings, descriptor, family);
            engine.add_family(FamilyStore::new(meta.region_id, family.clone(), policy, Vec::new()))
        });
        let families = families.collect();
        let engine = Arc::clone(engine);
        Arc::new(Region::new(meta.region_id, info, families, descriptor, true, engine))
    }

    /// A creation time for region names, later than that of every other.
    fn next_region_millis(&self) -> u64 {
        let now = self.inner.engine.timestamps.issue().as_millis();
        let last = &self.inner.last_region_millis;
        let before = last.fetch_max(now, Ordering::Relaxed);
        let millis = if before < now { now } else { last.fetch_add(1, Ordering::Relaxed) + 1 };
        millis.unsigned_abs()
    }

    /// Has a table take reads and writes again.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled` when it does already.
    pub fn enable_table(&self, name: &TableName) -> Result<()> {
        self.set_table_state(name, TableState::Enabled)
    }

    /// Has a table take no more reads and writes. Those under way are finished.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotEnabled` when it does not already.
    pub fn disable_table(&self, name: &TableName) -> Result<()> {
        self.set_table_state(name, TableState::Disabled)
    }

    fn set_table_state(&self, name: &TableName, state: TableState) -> Result<()> {
        let _changing = self.inner.changing.lock();
        self.inner.engine.check_open()?;
        let table = self.inner.catalog.table(name)?;
        if table.state() == state {
            return Err(match state {
                TableState::Enabled => not_disabled(name, state),
                TableState::Disabled => Error::new(ErrorKind::TableNotEnabled, name.to_string()),
            });
        }
        let disabled = state == TableState::Disabled;
        let edit = TableStateChanged { table_id: table.id(), disabled };
        self.inner.engine.manifest.append(&Edit::new(EditKind::TableStateChanged(edit)))?;
        table.set_state(state);
        for region in table.regions() {
            region.serve(!disabled);
        }
        self.changed();
        Ok(())
    }

    /// Drops a table, its cells and files.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled`.
    pub fn drop_table(&self, name: &TableName) -> Result<()> {
        let _changing = self.inner.changing.lock();
        self.inner.engine.check_open()?;
        let table = self.inner.catalog.table(name)?;
        if table.state() == TableState::Enabled {
            return Err(not_disabled(name, TableState::Enabled));
        }
        let families: Vec<_> =
            table.regions().iter().flat_map(|region| region.families()).collect();
        // Merges of its files are for nothing.
        families.iter().for_each(|family| family.set_leaving(true));
        {
            // No flush or compaction may name a file of what is gone.
            let _quiet: Vec<_> = families
                .iter()
                .map(|family| (family.flushing.lock(), family.compacting.lock()))
                .collect();
            let edit = TableDropped { table_id: table.id() };
            let dropped =
                self.inner.engine.manifest.append(&Edit::new(EditKind::TableDropped(edit)));
            if dropped.is_err() {
                families.iter().for_each(|family| family.set_leaving(false));
            }
            dropped?;
            self.inner.catalog.remove(name);
            self.changed();
            families.iter().for_each(|family| self.inner.engine.drop_family(family));
        }
        // The table is gone, whatever becomes of the log.
        if let Err(error) = self.inner.engine.forget_flushed() {
            tracing::error!(%error, "log segments cannot be removed");
        }
        Ok(())
    }

    /// Every namespace, by name; `default` and `hbase` among them.
    pub fn namespaces(&self) -> Vec<Namespace> {
        self.inner.engine.manifest.read(|state| state.namespaces.values().cloned().collect())
    }

    /// The namespace `name`.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub fn namespace(&self, name: &str) -> Result<Namespace> {
        let found = self.inner.engine.manifest.read(|state| state.namespaces.get(name).cloned());
        found.ok_or_else(|| Error::new(ErrorKind::NamespaceNotFound, name))
    }

    /// Makes a namespace.
    ///
    /// # Errors
    /// `NamespaceExists`.
    pub fn create_namespace(&self, namespace: Namespace) -> Result<()> {
        let _changing = self.inner.changing.lock();
        if self.namespace(namespace.name()).is_ok() {
            let message = format!("Namespace {} already exists", namespace.name());
            return Err(Error::new(ErrorKind::NamespaceExists, message));
        }
        self.write_namespace(&namespace)
    }

    /// Gives a namespace another configuration.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub fn modify_namespace(&self, namespace: Namespace) -> Result<()> {
        let _changing = self.inner.changing.lock();
        self.namespace(namespace.name())?;
        self.write_namespace(&namespace)
    }

    fn write_namespace(&self, namespace: &Namespace) -> Result<()> {
        self.inner.engine.check_open()?;
        namespace.check()?;
        let edit = EditKind::NamespaceChanged(NamespaceChanged::new(namespace));
        self.inner.engine.manifest.append(&Edit::new(edit))?;
        self.changed();
        Ok(())
    }

    /// Drops an empty namespace.
    ///
    /// # Errors
    /// `NamespaceNotFound`; `NamespaceConstraint` for one that is reserved or holds tables.
    pub fn drop_namespace(&self, name: &str) -> Result<()> {
        let _changing = self.inner.changing.lock();
        self.inner.engine.check_open()?;
        let constraint = |what: String| Err(Error::new(ErrorKind::NamespaceConstraint, what));
        if self.namespace(name)?.is_reserved() {
            return constraint(format!("Reserved namespace {name} cannot be removed."));
        }
        let entries = self.inner.catalog.entries();
        let tables = entries.tables.keys().filter(|table| table.namespace() == name).count();
        if tables > 0 {
            return constraint(format!(
                "Only empty namespaces can be removed. Namespace {name} has {tables} tables"
            ));
        }
        let edit = EditKind::NamespaceDropped(Bytes::copy_from_slice(name.as_bytes()));
        self.inner.engine.manifest.append(&Edit::new(edit))?;
        self.changed();
        Ok(())
    }

    /// When the store was made, in milliseconds.
    pub(crate) fn created_millis(&self) -> i64 {
        self.inner.engine.manifest.read(|state| state.created_millis)
    }

    /// A number that changes whenever a table, region or namespace does.
    pub fn catalog_version(&self) -> u64 {
        self.inner.version.load(Ordering::Acquire)
    }

    fn changed(&self) {
        self.inner.version.fetch_add(1, Ordering::Release);
    }

    /// Does one piece of the work that waits for the background; `false` when there is none.
    #[cfg(test)]
    pub(crate) fn work_by_hand(&self) -> bool {
        let engine = &self.inner.engine;
        let waiting =
            [&engine.log_work, &engine.queue].into_iter().find_map(|queue| queue.pop_waiting());
        match waiting {
            Some(work) => background::do_work(engine, &work),
            None => return compact::work_by_hand(engine),
        }
        true
    }

    /// Ends the store as a killed process does: nothing is synced.
    #[cfg(test)]
    pub(crate) fn abandon(self) {
        self.inner.engine.closing.store(true, Ordering::Release);
        self.inner.engine.closed.store(true, Ordering::Release);
        self.inner.engine.end_background();
        for worker in self.inner.workers.lock().drain(..) {
            worker.join().expect("the store's threads do not panic");
        }
    }

    /// Ends the store: writes under way are finished, later calls refused, the log is synced, the
    /// directory is free. Handles that are left refuse everything.
    pub fn close(&self) -> Result<()> {
        self.inner.close()
    }
}

impl Inner {
    fn close(&self) -> Result<()> {
        if self.engine.closing.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.engine.memory.wake();
        // No commit is half done once the gate has been held.
        drop(self.engine.gate.write());
        let flushed = self.flush_unlogged();
        self.engine.closed.store(true, Ordering::Release);
        let workers = std::mem::take(&mut *self.workers.lock());
        self.engine.end_background();
        let panics = workers.into_iter().map(JoinHandle::join).filter(Result::is_err).count();
        // Flushes, merges and changes of tables that others have begun end before the directory
        // is let go; none begins any more.
        let _changing = self.changing.lock();
        let families: Vec<_> = self.engine.families.read().values().cloned().collect();
        for family in &families {
            drop(family.flushing.lock());
            drop(family.compacting.lock());
        }
        let synced = self.engine.wal().sync();
        self.engine.wal().close("the store is closed");
        if synced.is_ok() {
            self.note_end();
        }
        *self.directory.lock() = None;
        if panics > 0 {
            tracing::error!(panics, "a thread of the store ended in a panic");
        }
        flushed.and(synced)
    }

    /// Brings to files what is in no log: it has nothing else to survive the process by.
    fn flush_unlogged(&self) -> Result<()> {
        let families: Vec<_> = self.engine.families.read().values().cloned().collect();
        let unlogged = families.iter().filter(|family| family.has_unlogged());
        unlogged.map(|family| flush::flush(&self.engine, family)).fold(Ok(()), Result::and)
    }

    /// Notes where the log ends, so that the next open can tell if any of it has gone.
    fn note_end(&self) {
        let Some(end) = self.engine.wal().end() else { return };
        let LogEnd { segment, len, last_sequence } = end;
        let edit = LogClosed { segment, len, last_sequence };
        if let Err(error) = self.engine.manifest.append(&Edit::new(EditKind::LogClosed(edit))) {
            tracing::warn!(%error, "where the log ends could not be noted");
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::error!(%error, "the store did not close cleanly");
        }
    }
}

fn spawn(
    engine: &Arc<Engine>,
    name: &str,
    work: impl FnOnce(&Arc<Engine>) + Send + 'static,
) -> Result<JoinHandle<()>> {
    let engine = Arc::clone(engine);
    std::thread::Builder::new()
        .name(name.into())
        .spawn(move || work(&engine))
        .map_err(|source| Error::io(format_args!("cannot start the thread {name}"), source))
}

/// The ranges between split keys.
fn ranges(splits: &[Bytes]) -> Result<Vec<RowRange>> {
    let mut splits = splits.to_vec();
    splits.sort();
    for split in &splits {
        check_row(split)
            .map_err(|error| Error::invalid(format!("a split key must be a row key: {error}")))?;
    }
    if let Some(twice) = splits.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::invalid(format!(
            "All split keys must be unique, found duplicate: {}",
            rowhouse_model::escape(&twice[0])
        )));
    }
    let starts = [Bytes::new()].into_iter().chain(splits.iter().cloned());
    let stops = splits.iter().cloned().chain([Bytes::new()]);
    Ok(starts.zip(stops).map(|(start, stop)| RowRange { start, stop }).collect())
}

fn not_disabled(name: &TableName, state: TableState) -> Error {
    let state = match state {
        TableState::Enabled => "ENABLED",
        TableState::Disabled => "DISABLED",
    };
    Error::new(
        ErrorKind::TableNotDisabled,
        format!("Not DISABLED; tableName={name}, state={state}"),
    )
}
