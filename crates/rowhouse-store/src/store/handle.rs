//! The handle on an open store: threads, lookups, read points, and atomic row changes in several
//! tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use rowhouse_model::{
    Bytes, Error, ErrorKind, Mutation, MutationOutcome, Result, ServerTask, TableName,
};
use rowhouse_schema::check_buffered_columns;

use super::change_lock::{ChangeLock, Changing};
use super::servers_in_turn::ServersInTurn;
use super::workers;
use crate::background::Work;
use crate::catalog::Catalog;
use crate::compact::{self, Share};
use crate::directory::Directory;
use crate::engine::Engine;
use crate::flush;
use crate::memstore::RetainedChunks;
use crate::observer::{self, Observer};
use crate::read::ReadPoint;
use crate::region::{Region, not_serving};
use crate::request_totals::StoreRequests;
use crate::side_effects::SideEffects;
use crate::table::Table;
use crate::write::apply;

/// An open store. A clone is another handle on the same store, which closes with the last handle or
/// by [`Store::close`].
#[derive(Clone)]
pub struct Store {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    /// First, so that the memory of the store's memstores is freed with them.
    pub(super) _retained_chunks: RetainedChunks,
    pub(super) engine: Arc<Engine>,
    pub(super) tables: Arc<Tables>,
    pub(super) directory: Mutex<Option<Directory>>,
    /// Held while the store is being closed.
    pub(super) ending: Mutex<()>,
    pub(super) workers: Mutex<Vec<JoinHandle<()>>>,
}

/// The tables and the locks for changing them. Shared by the handles and the thread that splits
/// regions, which must not keep the store open.
pub(super) struct Tables {
    pub(super) engine: Arc<Engine>,
    pub(super) catalog: Catalog,
    /// Serializes changes to tables and namespaces.
    pub(super) changing: ChangeLock,
    /// The creation time in the newest region name: no two regions share one.
    pub(super) last_region_millis: AtomicI64,
    /// How many changes to tables, regions and namespaces there were.
    pub(super) version: AtomicU64,
    /// The servers for new regions.
    pub(super) region_servers: ServersInTurn,
}

/// The way background work runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Background {
    /// On the store's own threads.
    Threads,
    /// When a test calls for it, so that a history is reproducible.
    #[cfg(test)]
    ByHand,
}

impl Store {
    pub(crate) fn start(
        engine: Arc<Engine>,
        catalog: Catalog,
        directory: Option<Directory>,
        background: Background,
    ) -> Result<Self> {
        flush::release_flushed_segments(&engine)?;
        let regions = catalog.entries();
        let regions = regions.tables.values().flat_map(|table| table.regions());
        let last = regions.map(|region| region.info().id).max().unwrap_or(0);
        let effects = Arc::clone(catalog.effects());
        let tables = Arc::new(Tables {
            engine: Arc::clone(&engine),
            catalog,
            changing: ChangeLock::new(effects),
            last_region_millis: AtomicI64::new(i64::try_from(last).unwrap_or(i64::MAX)),
            version: AtomicU64::new(0),
            region_servers: ServersInTurn::default(),
        });
        let settling = Arc::downgrade(&tables);
        engine.files.damage.set_settle(Box::new(move || match settling.upgrade() {
            Some(tables) => tables.settle_damage(),
            None => Ok(()),
        }));
        if let Err(error) = engine.files.damage.settle() {
            // Queries meet the damage until it is settled.
            tracing::error!(%error, "a damaged index was not put off");
        }
        let mut workers = Vec::new();
        if background == Background::Threads {
            workers.push(spawn(&engine, "rowhouse-flush", workers::flush)?);
            workers.push(spawn(&engine, "rowhouse-log", workers::maintain_log)?);
            workers.push(spawn(&engine, "rowhouse-counters", workers::log_counters)?);
            for thread in 0..engine.settings.compaction.threads.max(1) {
                let share = if thread == 1 { Share::Small } else { Share::All };
                let merge = move |engine: &Arc<Engine>| compact::work(engine, share);
                workers.push(spawn(&engine, "rowhouse-compact", merge)?);
            }
            let splits = Arc::clone(&tables);
            workers.push(spawn(&engine, "rowhouse-split", move |_| splits.split_when_due())?);
            let indexes = Arc::clone(&tables);
            workers.push(spawn(&engine, "rowhouse-index", move |_| indexes.build_indexes())?);
            let damaged = Arc::clone(&tables);
            workers
                .push(spawn(&engine, "rowhouse-damage", move |_| damaged.settle_when_damaged())?);
        }
        tables.request_index_builds();
        engine.log_work.push(Work::TidyLog);
        Ok(Self {
            inner: Arc::new(Inner {
                _retained_chunks: RetainedChunks::new(),
                engine,
                tables,
                directory: Mutex::new(directory),
                ending: Mutex::default(),
                workers: Mutex::new(workers),
            }),
        })
    }

    /// Returns the store's UUID, assigned when it was created.
    pub fn cluster_id(&self) -> String {
        self.inner.engine.manifest.read(|state| state.cluster_id.clone())
    }

    /// Writes the address at which this process serves clients into the data directory, for other
    /// processes to find.
    pub fn set_address(&self, address: &str) -> Result<()> {
        match &*self.inner.directory.lock() {
            Some(directory) => directory.set_address(address),
            None => Ok(()),
        }
    }

    /// Returns the store's directory; `None` once it is closed, and on a disk passed to the
    /// builder.
    pub(crate) fn directory_path(&self) -> Option<std::path::PathBuf> {
        self.inner.directory.lock().as_ref().map(|directory| directory.path().to_owned())
    }

    /// Returns every user table, by name.
    pub fn tables(&self) -> Vec<Arc<Table>> {
        self.inner.tables.catalog.entries().tables.values().cloned().collect()
    }

    /// Returns the table `name`.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub fn table(&self, name: &TableName) -> Result<Arc<Table>> {
        self.inner.tables.catalog.table(name)
    }

    /// Returns the requests to each table since the store was opened. They do not fall when regions
    /// are split, merged or replaced, unlike sums over [`Region::requests`].
    pub fn requests(&self) -> StoreRequests {
        self.inner.tables.catalog.requests()
    }

    /// Returns the region with this full name if it exists, whether it serves or not.
    pub fn find_region(&self, name: &[u8]) -> Option<Arc<Region>> {
        self.inner.tables.catalog.region(name)
    }

    /// Returns the region with this encoded name if it exists, whether it serves or not.
    pub fn find_region_by_encoded_name(&self, name: &str) -> Option<Arc<Region>> {
        self.inner.tables.catalog.region_by_encoded_name(name)
    }

    /// Returns the region with this full name.
    ///
    /// # Errors
    /// `NotServingRegion`.
    pub fn region(&self, name: &[u8]) -> Result<Arc<Region>> {
        self.find_region(name).ok_or_else(|| {
            let full = Bytes::copy_from_slice(name);
            not_serving(&rowhouse_model::RegionName { full, encoded: String::new() })
        })
    }

    /// Returns a read point at the current state of all tables, for [`Table::get_at`] and
    /// [`Table::scan_at`].
    pub fn read_point(&self) -> Arc<ReadPoint> {
        Arc::new(self.inner.tables.catalog.read_point(&self.inner.engine).0)
    }

    /// Returns a table and a read point, at which the table has this descriptor and these regions.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub fn table_read_point(&self, table: &TableName) -> Result<(Arc<Table>, Arc<ReadPoint>)> {
        let (point, tables) = self.inner.tables.catalog.read_point(&self.inner.engine);
        Ok((tables.table(table)?, Arc::new(point)))
    }

    /// Changes rows in any tables atomically: when this returns, all changes are visible and in the
    /// log, and a crash leaves all or none. The strongest durability among the mutations applies to
    /// all. A mutation that reads its row sees the effect of the mutations before it.
    ///
    /// # Errors
    /// As [`Region::mutate`], for the first mutation that fails; nothing is changed then.
    pub fn commit(&self, mutations: &[(Arc<Table>, Mutation)]) -> Result<Vec<MutationOutcome>> {
        for (table, _) in mutations {
            table.check_enabled()?;
        }
        loop {
            let placed = mutations.iter();
            let placed = placed.map(|(table, it)| (&**table.region_of(it.row()), it));
            let placed: Vec<_> = placed.collect();
            for ((table, _), (region, _)) in mutations.iter().zip(&placed) {
                table.check_layout(region)?;
            }
            match apply::apply_together(&placed) {
                Err(error)
                    if error.kind() == ErrorKind::NotServingRegion
                        && placed.iter().all(|(region, _)| region.wait_for_replacement()) => {}
                done => {
                    for (region, mutation) in placed {
                        region.count_writes(std::slice::from_ref(mutation));
                    }
                    return done;
                }
            }
        }
    }

    /// Adds an observer to every table that names it ([`with_observers`](crate::with_observers)),
    /// now and as long as the store is open: a table that is created or altered to name it is
    /// observed from then on.
    ///
    /// An observer that holds a store handle keeps the store open until [`Store::close`].
    ///
    /// # Errors
    /// `InvalidRequest` for a name that no table can give, or that another observer has.
    pub fn observe_named(&self, observer: Arc<dyn Observer>) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        let engine = &self.inner.engine;
        engine.check_open()?;
        self.effects().observers.offer(observer)?;
        // Families of tables that name observers are steady already.
        drop(engine.row_locks.lock_all(std::iter::empty()));
        Ok(())
    }

    /// Adds an observer for a table's changes, until the table is dropped or the store closed. It
    /// sees every change that is committed after this call returns. See [`Observer`].
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` for a system table, and for an observer that reads a
    /// family whose increments are BUFFERED.
    pub fn observe(&self, table: &TableName, observer: Arc<dyn Observer>) -> Result<()> {
        if table.is_system() {
            return Err(Self::refuse_write(table));
        }
        // The table must not be dropped meanwhile.
        let _changing = self.inner.tables.changing.lock();
        let observed = self.table(table)?;
        let described = observer::described(observer.name());
        check_buffered_columns(observed.descriptor(), &observer.columns(), &described)?;
        let engine = &self.inner.engine;
        observed.regions().iter().for_each(|region| region.set_steady(|_| true));
        self.effects().observers.add(table.clone(), observer);
        // A write that began before holds its row lock until it is committed.
        drop(engine.row_locks.lock_all(std::iter::empty()));
        Ok(())
    }

    /// Begins a new log segment, unless the current one is empty, and removes segments whose cells
    /// are all in files.
    ///
    /// # Errors
    /// `Io`, `ReadOnly`, `OutcomeUnknown`.
    pub fn roll_log(&self) -> Result<()> {
        self.inner.engine.check_open()?;
        flush::roll_log(&self.inner.engine)
    }

    /// Enables or disables background compactions until the store is next opened; returns true if
    /// they were enabled. Disabling stops running compactions and discards requested ones.
    pub fn set_compactions(&self, on: bool) -> bool {
        self.inner.engine.compactions.set_enabled(on)
    }

    /// Returns true if background compactions are enabled.
    pub fn compactions(&self) -> bool {
        self.inner.engine.compactions.is_enabled()
    }

    /// Discards requested compactions that have not begun: the large ones or the others.
    pub fn forget_requested_compactions(&self, large: bool) {
        let engine = &self.inner.engine;
        engine.compactions.forget_requested(&engine.candidates(), large);
    }

    /// Returns an error while the store takes no writes: it is closing, the log or manifest could
    /// not be written, or the directory was removed or replaced, and it has to be opened again.
    ///
    /// # Errors
    /// The errors that any write returns.
    pub fn check_writable(&self) -> Result<()> {
        let engine = &self.inner.engine;
        engine.check_open()?;
        engine.manifest.check_writable()?;
        engine.wal().check_in_place()?;
        engine.wal().check_writable()
    }

    /// Returns the store's running tasks: flushes, compactions, region splits and merges; and the
    /// full-text index queues that are not empty.
    pub fn tasks(&self) -> Vec<ServerTask> {
        let mut tasks = self.inner.engine.tasks.list();
        tasks.extend(self.search_queues());
        tasks
    }

    /// Returns the bytes in all memstores that are not flushed yet, and their limit.
    pub fn memstore_bytes(&self) -> (u64, u64) {
        (self.inner.engine.memory.bytes(), self.inner.engine.settings.memstore_bytes_max)
    }

    /// Returns the bytes that indexes in memory hold, and their limit.
    pub fn index_memory_bytes(&self) -> (u64, u64) {
        let memory = &self.inner.engine.index_memory;
        (memory.bytes(), memory.bytes_max())
    }

    /// Returns the flushed memstore bytes that read points and open scanners hold, and their limit.
    pub fn reader_memstore_bytes(&self) -> (u64, u64) {
        let memory = &self.inner.engine.reader_memory;
        (memory.bytes(), memory.bytes_max())
    }

    /// Makes all read points and open scanners continue in files, and ends those that cannot, as if
    /// they held too much: for a program that is short on memory.
    pub fn release_reader_memory(&self) {
        self.inner.engine.reader_memory.free_to(0);
    }

    /// Returns the bytes in the block cache, and their limit.
    pub fn block_cache_bytes(&self) -> (u64, u64) {
        let blocks = &self.inner.engine.files.blocks;
        (blocks.bytes(), blocks.bytes_max())
    }

    /// Returns the time by which cells expire, in milliseconds since 1970.
    pub fn now_millis(&self) -> i64 {
        self.inner.engine.timestamps.now_millis()
    }

    /// Returns when the store was created, in milliseconds since 1970.
    pub(crate) fn created_millis(&self) -> i64 {
        self.inner.engine.manifest.read(|state| state.created_millis)
    }

    /// Returns a number that changes whenever a table, region or namespace does.
    pub fn catalog_version(&self) -> u64 {
        self.inner.tables.version.load(Ordering::Acquire)
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.inner.engine
    }

    /// What else writes to the tables do.
    pub(crate) fn effects(&self) -> &Arc<SideEffects> {
        self.inner.tables.catalog.effects()
    }

    /// Prevents changes to tables and regions while the guard is held.
    pub(crate) fn changing(&self) -> Changing<'_> {
        self.inner.tables.changing.lock()
    }

    /// Increments the catalog version, so that holders of cached catalog data refresh it.
    pub(super) fn changed(&self) {
        self.inner.tables.changed();
    }

    /// Does what the background does after a time without writes.
    #[cfg(test)]
    pub(crate) fn idle_by_hand(&self) {
        workers::do_work(&self.inner.engine, &Work::GiveBackLogSpace);
    }

    /// Runs one pending background task; `false` when there is none.
    #[cfg(test)]
    pub(crate) fn work_by_hand(&self) -> bool {
        let engine = &self.inner.engine;
        let waiting = [&engine.log_work, &engine.counter_work, &engine.queue]
            .into_iter()
            .find_map(|queue| queue.pop_waiting());
        match waiting {
            Some(work) => workers::do_work(engine, &work),
            None => {
                return compact::work_by_hand(engine)
                    || engine.splits.pop_waiting().is_some_and(|region| {
                        self.inner.tables.split_if_due(region);
                        true
                    })
                    || engine.files.damage.has_unsettled()
                        && self.inner.tables.settle_damage().is_ok()
                    || engine
                        .index_builds
                        .pop_waiting()
                        .is_some_and(|table| self.inner.tables.build_index(table));
            }
        }
        true
    }
}

impl Tables {
    /// Increments the catalog version, so that holders of cached catalog data refresh it.
    pub(super) fn changed(&self) {
        self.version.fetch_add(1, Ordering::Release);
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
