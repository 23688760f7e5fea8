//! Opening a store: hold the directory, read the manifest, find the files, replay the log.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use parking_lot::RwLock;
use rowhouse_model::{Error, Namespace, Result, TableName, TableState};

use crate::background::Queue;
use crate::block_cache::BlockCache;
use crate::catalog::Catalog;
use crate::clock::{Clock, SystemClock, TimestampSource};
use crate::compact::{Compactions, Policy};
use crate::directory::{self, Directory};
use crate::disk::{Disk, RealDisk};
use crate::engine::{Engine, Families, Memory};
use crate::family::FamilyStore;
use crate::manifest::{Edit, EditKind, Manifest, ManifestState, NamespaceChanged, StoreCreated};
use crate::mvcc::Mvcc;
use crate::region::Region;
use crate::settings::Settings;
use crate::store::Store;
use crate::store_file::{self, StoreFile};
use crate::table::Table;
use crate::wal::{self, Record, Wal};
use crate::write::nonce::Nonces;
use crate::write::row_lock::RowLocks;

pub(crate) const TMP_DIR: &str = "tmp";
const ASIDE_DIR: &str = "aside";

/// How a store is opened.
pub struct Builder {
    path: PathBuf,
    settings: Settings,
    clock: Arc<dyn Clock>,
    disk: Option<Arc<dyn Disk>>,
    boot_id: Option<[u8; 16]>,
}

impl Builder {
    pub(crate) fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            settings: Settings::default(),
            clock: Arc::new(SystemClock),
            disk: None,
            boot_id: None,
        }
    }

    /// Sizes and limits.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Another clock than the machine's.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Another disk than the directory; it is not locked against other processes.
    #[must_use]
    pub fn with_disk(mut self, disk: impl Disk) -> Self {
        self.disk = Some(Arc::new(disk));
        self
    }

    /// Another boot id than the machine's: tells whether what was not synced can have been lost.
    #[cfg(test)]
    pub(crate) fn with_boot_id(mut self, boot_id: [u8; 16]) -> Self {
        self.boot_id = Some(boot_id);
        self
    }

    /// Opens the store, or makes one where there is none.
    ///
    /// # Errors
    /// `InUse` when another process has it, naming that; `Corruption` naming file and offset;
    /// `Unsupported` for a store of a newer version.
    pub fn open(self) -> Result<Store> {
        let begun = Instant::now();
        let (disk, directory) = match self.disk {
            Some(disk) => (disk, None),
            None => {
                let directory = Directory::hold(&self.path)?;
                (Arc::new(RealDisk::new(&self.path)) as Arc<dyn Disk>, Some(directory))
            }
        };
        let boot_id = self.boot_id.unwrap_or_else(directory::boot_id);
        prepare(&*disk)?;
        let now = self.clock.now_millis();
        let manifest = Manifest::open(&*disk, || first_edits(now))?;
        let state = manifest.read(ManifestState::clone);
        settle_files(&*disk, &state)?;
        let families = open_families(&disk, &self.settings, &state);
        let nonces = Nonces::new();
        let recovered = wal::recover(&*disk, boot_id, state.log_from, |record| {
            record.nonce.into_iter().for_each(|nonce| nonces.take(nonce));
            replay(&state, &families, record)
        })?;
        let last_sequence = recovered.last_sequence.max(state.last_sequence());
        let memory = Memory::default();
        memory.add(families.values().map(|family| family.memstore_bytes()).sum());
        tracing::info!(
            records = recovered.records,
            bytes = recovered.bytes,
            cut_bytes = recovered.cut_bytes,
            last_sequence,
            took = ?begun.elapsed(),
            "store opened"
        );
        let wal = Wal::start(
            Arc::clone(&disk),
            boot_id,
            self.settings.wal_segment_bytes,
            recovered.next_number,
            last_sequence,
            recovered.segments,
        )?;
        let engine = Arc::new(Engine {
            cache: BlockCache::new(self.settings.block_cache_bytes),
            settings: self.settings,
            disk,
            timestamps: TimestampSource::new(self.clock),
            manifest,
            wal,
            mvcc: Mvcc::new(last_sequence),
            row_locks: RowLocks::new(),
            gate: RwLock::default(),
            memory,
            nonces,
            queue: Queue::default(),
            compactions: Compactions::default(),
            closed: AtomicBool::new(false),
            families: RwLock::new(families),
        });
        let catalog = Catalog::default();
        for (&table_id, entry) in &state.tables {
            let serving = entry.state == TableState::Enabled;
            let regions = entry.regions.iter().map(|(&id, region)| {
                let families = region.families.keys();
                let families = families.map(|name| engine.family(id, name)).collect();
                let (table, info) = (&entry.descriptor, region.info.clone());
                Arc::new(Region::new(id, info, families, table, serving, Arc::clone(&engine)))
            });
            let table =
                Table::new(table_id, entry.descriptor.clone(), regions.collect(), entry.state);
            catalog.add(Arc::new(table));
        }
        Store::start(engine, catalog, directory)
    }
}

/// Makes the directories and empties the one for unfinished output.
fn prepare(disk: &dyn Disk) -> Result<()> {
    let prepare = || {
        for dir in [wal::WAL_DIR, store_file::FILES_DIR, TMP_DIR, ASIDE_DIR] {
            disk.create_dir(dir)?;
        }
        for name in disk.list(TMP_DIR)? {
            disk.remove(&format!("{TMP_DIR}/{name}"))?;
        }
        disk.sync_dir("")
    };
    prepare().map_err(|source| Error::io("cannot prepare the data directory", source))
}

fn first_edits(now_millis: i64) -> Vec<Edit> {
    let created = EditKind::StoreCreated(StoreCreated {
        cluster_id: uuid::Uuid::new_v4().to_string(),
        created_millis: now_millis,
        next_id: 1,
        last_sequence: 0,
    });
    let namespaces = [TableName::DEFAULT_NAMESPACE, TableName::SYSTEM_NAMESPACE].map(|name| {
        let namespace = Namespace::new(name).expect("HBase's own namespaces have legal names");
        EditKind::NamespaceChanged(NamespaceChanged::new(&namespace))
    });
    [created].into_iter().chain(namespaces).map(Edit::new).collect()
}

/// Moves files that no edit names aside, and makes sure that those that are named are there.
fn settle_files(disk: &dyn Disk, state: &ManifestState) -> Result<()> {
    let dir = store_file::FILES_DIR;
    let names =
        disk.list(dir).map_err(|source| Error::io(format_args!("cannot list {dir}"), source))?;
    let regions = state.tables.values().flat_map(|table| table.regions.values());
    let families = regions.flat_map(|region| region.families.values());
    let mut wanted: HashMap<String, u64> = families
        .flat_map(|family| family.files.keys())
        .map(|&id| (store_file::file_name(id), id))
        .collect();
    for name in names {
        if wanted.remove(&name).is_none() {
            tracing::warn!(file = name, "a file that nothing names was moved aside");
            move_aside(disk, &format!("{dir}/{name}"))?;
        }
    }
    if let Some(missing) = wanted.keys().min() {
        return Err(Error::corruption(format!(
            "{dir}/{missing} is named by MANIFEST and is not there; nothing was changed"
        )));
    }
    Ok(())
}

/// Moves a file to [`ASIDE_DIR`], under a name that nothing there has.
pub(crate) fn move_aside(disk: &dyn Disk, path: &str) -> Result<()> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let move_file = || {
        let taken = disk.list(ASIDE_DIR)?;
        let mut aside = name.to_owned();
        let mut copies = 1;
        while taken.contains(&aside) {
            copies += 1;
            aside = format!("{name}.{copies}");
        }
        disk.rename(path, &format!("{ASIDE_DIR}/{aside}"))
    };
    move_file().map_err(|source| Error::io(format_args!("cannot move {path} aside"), source))
}

fn open_families(disk: &Arc<dyn Disk>, settings: &Settings, state: &ManifestState) -> Families {
    let mut families = Families::new();
    for table in state.tables.values() {
        for (&region_id, region) in &table.regions {
            for (name, files) in &region.families {
                let descriptor = table.descriptor.find_family(name);
                let descriptor = descriptor.expect("regions have the families of their table");
                let files = files.files.values().map(|meta| StoreFile::new(disk, meta.clone()));
                let files = files.map(Arc::new).collect();
                let policy = Policy::of_stored(settings, &table.descriptor, descriptor);
                let family = FamilyStore::new(region_id, descriptor.clone(), policy, files);
                families.insert((region_id, name.clone()), Arc::new(family));
            }
        }
    }
    families
}

/// Puts the cells of a log record that are in no file back into their memstores. Regions and
/// families that are gone need theirs no more.
fn replay(state: &ManifestState, families: &Families, record: Record) -> Result<()> {
    for (region, family, cells) in record.groups {
        let Some(store) = families.get(&(region, family.clone())) else { continue };
        let files = state.region(region).and_then(|region| region.families.get(&family));
        if files.is_some_and(|files| record.sequence <= files.flushed_sequence) {
            continue;
        }
        let memstore = store.active();
        for cell in cells {
            // On bytes of its own: the chunk of the log it was read from can go.
            memstore.insert(cell.detached());
        }
    }
    Ok(())
}
