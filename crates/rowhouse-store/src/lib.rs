//! The embedded store: the contents of one HBase region server, for one process.
//!
//! The store is synchronous: threads and files. Tables have families and regions; every (region,
//! family) has a memstore and HFiles; one write-ahead log and one sequence number serve them all.
//! Readers see mutations atomically, over all tables, and an acknowledged write survives the
//! process.
//!
//! | folder | content |
//! |---|---|
//! | `wal/`, `manifest/`, `disk/` | log, edits that name files, file systems, one simulated |
//! | `memstore/`, `store_file/`, `family/` | cells in memory, in files, and both for one family |
//! | `read/`, `write/` | rows out of families; the steps of a write; transactions |
//! | `flush/`, `compact/`, `compaction_policy/` | cells into files, files into files, the choice |
//! | `region/`, `table.rs`, `store/` | what callers hold; changes to tables and snapshots |
//! | `open/`, `check.rs`, `salvage/`, `backup/` | opening and recovery, checks, rescue, copies |
//! | `crash_tests/` | histories on the simulated disk, with kills and power cuts |
//!
//! ```
//! use rowhouse_model::{FamilyDescriptor, Get, Put, TableDescriptor, TableName};
//! use rowhouse_store::Store;
//!
//! # let dir = tempfile::tempdir().unwrap();
//! let store = Store::open(dir.path())?;
//! let name = TableName::parse("blog")?;
//! let family = FamilyDescriptor::new("cf")?;
//! store.create_table(TableDescriptor::new(name.clone()).family(family), &[])?;
//!
//! let blog = store.table(&name)?;
//! blog.mutate(&Put::new("123")?.add("cf", "title", "first post")?.into())?;
//! let row = blog.get(&Get::new("123")?)?;
//! assert_eq!(row.value("cf", "title").as_deref(), Some(&b"first post"[..]));
//! # Ok::<(), rowhouse_model::Error>(())
//! ```

mod aside;
mod background;
mod backup;
mod block_cache;
mod catalog;
mod cells;
mod check;
mod clock;
mod commits;
mod compact;
mod compaction_policy;
mod compaction_queue;
mod damage;
mod directory;
mod disk;
mod engine;
mod estimate;
mod family;
mod flush;
mod followers;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod hand_over;
mod heat;
mod hfile;
mod id_queue;
mod index_memory;
mod indexed;
mod key_formatter;
mod layout;
mod manifest;
mod memstore;
mod mvcc;
mod new_file;
mod newest;
mod observer;
mod open;
mod oversized_rows;
mod read;
mod reader_memory;
mod region;
mod request_totals;
mod retention;
mod salvage;
mod settings;
mod side_effects;
mod space;
mod split;
mod stats;
mod store;
mod store_file;
mod system;
mod table;
mod tasks;
mod wait_mode;
mod wal;
mod write;

pub use backup::{CopyReport, copy_store};
pub use block_cache::Evicted;
pub use catalog::{IndexRead, SearchRead};
pub use check::{CheckReport, Progress, check};
pub use clock::{Clock, SystemClock, thread_cpu_time};
pub use compaction_policy::CompactionKind;
pub use damage::is_unreadable;
pub use directory::{Holder, cluster_id_of, create_data_directory, is_data_directory};
pub use disk::{Disk, DiskFile, RealDisk};
pub use estimate::RangeEstimate;
pub use hand_over::{ExportOptions, ExportReport, ExportedCells, LoadReport, files_to_load};
pub use hfile::{BlockFacts, HFile, HFileCells};
pub use manifest::Assignment;
pub use observer::{
    Additions, OBSERVERS_ATTRIBUTE, Observer, RowChange, TableChange, check_observer_name,
    named_observers, with_observers,
};
pub use open::Builder;
pub use read::{
    FamilyReads, ReadPoint, ReadReport, ReadTotals, ReadTrace, RegionReads, RegionScanner,
    RowSelection, RowsInOrder, ScanLimits, ScanProgress, Scanned, SelectedRows, TableReads,
};
pub use region::{FamilyRequests, Region, RegionRequests, RegionSize};
pub use request_totals::StoreRequests;
pub use rowhouse_format::hfile::ZstdForm;
pub use rowhouse_model::{IndexReport, ServerTask};
pub use salvage::{SalvageReport, salvage};
pub use settings::{CompactionSettings, Settings, SplitSettings};
pub use stats::{
    FamilyStats, LARGEST_ROWS, RegionStats, RowSize, SAMPLE_ROWS, StoreStats, TableStats, stats,
};
pub use store::{Changes, ChangesFrom, LayoutChange, NO_SEARCH, SearchIndex, Store, StoreUsage};
pub use store_file::{FILE_PARTS, FileReads};
pub use table::{Table, TableScanner};
pub use wait_mode::{NonBlocking, WaitMode};
pub use write::RegionInMode;
pub use write::transaction::Transaction;

#[cfg(test)]
mod crash_tests;
