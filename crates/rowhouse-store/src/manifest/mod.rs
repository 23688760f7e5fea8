//! The manifest: the only record of tables, regions and files, as a log of edits.
//! `docs/formats/manifest.md` draws the bytes.

mod edit;
mod log;
mod read;
mod record;
mod snapshot;
mod state;
mod whole_changes;

pub use edit::Assignment;
use edit::decode_table;
pub(crate) use edit::{
    Edit, EditKind, FileMeta, FilesChanged, FilesLoaded, LoadedFile, LogClosed, LogForgotten,
    LogSynced, NamespaceChanged, RegionAssigned, RegionMeta, RegionTruncated, RegionsReplaced,
    StoreCreated, SwitchesChanged, TableAltered, TableCreated, TableDropped, TableRenamed,
    TableStateChanged, TableTruncated, TablesSwapped, Together, encode_table,
};
pub(crate) use log::{Manifest, write};
pub(crate) use read::{COPY_PATH, ManifestAge, PATH, read, read_cluster_id, read_readable};
pub(crate) use snapshot::{
    SnapshotCloned, SnapshotEntry, SnapshotFamily, SnapshotRegion, SnapshotRestored, SnapshotTaken,
};
pub(crate) use state::{FamilyFiles, ManifestState, NamedFile, RegionState, TableEntry};
pub(crate) use whole_changes::RetiredRegion;
