//! The manifest's edits and their schema: protobuf messages whose field numbers never change.

use bytes::Bytes;
use prost::{Message, Oneof};
use rowhouse_format::convert::{names, table};
use rowhouse_model::{Error, Namespace, Result, RowRange, TableDescriptor, compare_bytes};

use super::{SnapshotCloned, SnapshotRestored, SnapshotTaken};

/// A change to the store's metadata.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Edit {
    #[prost(
        oneof = "EditKind",
        tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24"
    )]
    pub(crate) kind: Option<EditKind>,
    /// How far the log was on disk before the edit was written. `None` in edits by versions that
    /// did not record it, inside an edit list, and in a store without a log.
    #[prost(message, optional, tag = "25")]
    pub(crate) log: Option<LogSynced>,
}

/// How far the log was on disk at some time. A log that does not reach this position in a segment
/// with this epoch is older, or lacks the end.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct LogSynced {
    #[prost(uint64, tag = "1")]
    pub(crate) segment: u64,
    /// The epoch in the segment's header.
    #[prost(fixed64, tag = "2")]
    pub(crate) epoch: u64,
    /// Bytes in the segment's header and records.
    #[prost(uint64, tag = "3")]
    pub(crate) len: u64,
    #[prost(uint64, tag = "4")]
    pub(crate) last_sequence: u64,
    /// Whether `wal/SYNCED` exists: the log is open.
    #[prost(bool, tag = "5")]
    pub(crate) noted: bool,
}

/// The change kind. A reader refuses a manifest with a kind that it does not know: skipping an edit
/// would serve another store than the one that was written.
#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum EditKind {
    #[prost(message, tag = "1")]
    StoreCreated(StoreCreated),
    #[prost(message, tag = "2")]
    NamespaceChanged(NamespaceChanged),
    #[prost(bytes = "bytes", tag = "3")]
    NamespaceDropped(Bytes),
    #[prost(message, tag = "4")]
    TableCreated(TableCreated),
    #[prost(message, tag = "5")]
    TableStateChanged(TableStateChanged),
    #[prost(message, tag = "6")]
    TableDropped(TableDropped),
    #[prost(message, tag = "7")]
    FilesChanged(FilesChanged),
    #[prost(message, tag = "8")]
    LogForgotten(LogForgotten),
    #[prost(message, tag = "9")]
    LogClosed(LogClosed),
    #[prost(message, tag = "10")]
    TableAltered(TableAltered),
    #[prost(message, tag = "11")]
    TableTruncated(TableTruncated),
    #[prost(message, tag = "12")]
    FilesLoaded(FilesLoaded),
    #[prost(message, tag = "13")]
    RegionsReplaced(RegionsReplaced),
    /// As [`FilesChanged`], for files that other regions name too. A version that does not know
    /// this kind must neither read nor remove them.
    #[prost(message, tag = "14")]
    FilesShared(FilesChanged),
    #[prost(message, tag = "15")]
    SnapshotTaken(SnapshotTaken),
    /// The name of a deleted snapshot. Files that nothing else names go with it.
    #[prost(string, tag = "16")]
    SnapshotDeleted(String),
    #[prost(message, tag = "17")]
    SnapshotCloned(SnapshotCloned),
    #[prost(message, tag = "18")]
    SnapshotRestored(SnapshotRestored),
    #[prost(message, tag = "19")]
    SwitchesChanged(SwitchesChanged),
    #[prost(message, tag = "20")]
    RegionTruncated(RegionTruncated),
    #[prost(message, tag = "21")]
    RegionAssigned(RegionAssigned),
    #[prost(message, tag = "22")]
    Together(Together),
    #[prost(message, tag = "23")]
    TablesSwapped(TablesSwapped),
    #[prost(message, tag = "24")]
    TableRenamed(TableRenamed),
}

/// Edits that take effect together: the edits for a table and for the index tables.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Together {
    /// In the order in which they apply.
    #[prost(message, repeated, tag = "1")]
    pub(crate) edits: Vec<Edit>,
}

/// Switches for splits and merges in all tables, for snapshot cleanup, and the switches that belong
/// to HBase's master.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct SwitchesChanged {
    /// Whether region splits are off.
    #[prost(bool, tag = "1")]
    pub(crate) splits_off: bool,
    /// Whether region merges are off.
    #[prost(bool, tag = "2")]
    pub(crate) merges_off: bool,
    /// Whether expired snapshots are retained.
    #[prost(bool, tag = "3")]
    pub(crate) snapshot_cleanup_off: bool,
    /// A switch from HBase's master that has no effect on a store, like the ones below.
    #[prost(bool, tag = "4")]
    pub(crate) balancer_off: bool,
    #[prost(bool, tag = "5")]
    pub(crate) normalizer_off: bool,
    #[prost(bool, tag = "6")]
    pub(crate) peer_modification_off: bool,
}

/// The first edit in every manifest.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct StoreCreated {
    /// A UUID that never changes.
    #[prost(string, tag = "1")]
    pub(crate) cluster_id: String,
    #[prost(int64, tag = "2")]
    pub(crate) created_millis: i64,
    /// Ids below this one have been assigned. Recorded because a rewritten manifest lacks the edits
    /// for dropped tables.
    #[prost(uint64, tag = "3")]
    pub(crate) next_id: u64,
    /// The highest sequence number used in files, including removed ones.
    #[prost(uint64, tag = "4")]
    pub(crate) last_sequence: u64,
}

/// A namespace created or changed.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct NamespaceChanged {
    /// HBase's `NamespaceDescriptor`.
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) descriptor: Bytes,
}

/// A table created.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableCreated {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    /// HBase's `TableSchema`.
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) descriptor: Bytes,
    #[prost(message, repeated, tag = "3")]
    pub(crate) regions: Vec<RegionMeta>,
    #[prost(bool, tag = "4")]
    pub(crate) disabled: bool,
}

/// A table's region.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RegionMeta {
    #[prost(uint64, tag = "1")]
    pub(crate) region_id: u64,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) start: Bytes,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) stop: Bytes,
    /// The timestamp in the HBase region name.
    #[prost(uint64, tag = "4")]
    pub(crate) created_millis: u64,
    /// The region server for a new region; later assignments are [`RegionAssigned`].
    #[prost(uint32, tag = "5")]
    pub(crate) server: u32,
}

/// A table enabled or disabled.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableStateChanged {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    #[prost(bool, tag = "2")]
    pub(crate) disabled: bool,
}

/// A table's new descriptor. Families that it no longer has are dropped with their files.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableAltered {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    /// HBase's `TableSchema`.
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) descriptor: Bytes,
    /// Log records up to this sequence number do not belong to any new family: an earlier family
    /// may have had the same name. 0 if no family is new.
    #[prost(uint64, tag = "3")]
    pub(crate) starts_after: u64,
}

/// A table truncated: new regions replace the old ones, whose files go, and the table is enabled.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableTruncated {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    #[prost(message, repeated, tag = "2")]
    pub(crate) regions: Vec<RegionMeta>,
}

/// A region truncated: a region with the same rows and name replaces it, and the old files go.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RegionTruncated {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) removed: u64,
    #[prost(message, required, tag = "3")]
    pub(crate) added: RegionMeta,
}

/// A table's regions replaced by others with the same rows: a split or a merge. All cells in the
/// old regions are in files, and each new region names the files that may hold its rows.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RegionsReplaced {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    #[prost(uint64, repeated, tag = "2")]
    pub(crate) removed: Vec<u64>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) added: Vec<RegionMeta>,
}

/// Two tables with the same families have exchanged their regions, which keep their ids, files and
/// log records: an index was promoted.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TablesSwapped {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    /// HBase's `TableSchema`, as it is afterwards.
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) descriptor: Bytes,
    #[prost(uint64, tag = "3")]
    pub(crate) other_id: u64,
    #[prost(bytes = "bytes", tag = "4")]
    pub(crate) other_descriptor: Bytes,
}

/// A table has another name. The table keeps the families, and the regions keep ids, files and log
/// records.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableRenamed {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    /// HBase's `TableSchema`, with the new name.
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) descriptor: Bytes,
}

/// A region assigned to a region server, or taken out of service. Regions without this edit are in
/// service, assigned to the server they were created on ([`RegionMeta::server`]). Regions that
/// replace others have the assignment that the first replaced region had. An enabled table has all
/// regions in service.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct RegionAssigned {
    #[prost(uint64, tag = "1")]
    pub(crate) region_id: u64,
    /// The region server's number.
    #[prost(uint32, tag = "2")]
    pub(crate) server: u32,
    #[prost(bool, tag = "3")]
    pub(crate) out_of_service: bool,
}

/// Where a region is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The region server's number, from 0.
    pub server: u32,
    /// Whether it is served while the table is enabled.
    pub in_service: bool,
}

impl Default for Assignment {
    /// The first region server, in service.
    fn default() -> Self {
        Self { server: 0, in_service: true }
    }
}

impl RegionAssigned {
    pub(crate) fn new(region_id: u64, assignment: Assignment) -> Self {
        let Assignment { server, in_service } = assignment;
        Self { region_id, server, out_of_service: !in_service }
    }

    pub(crate) fn assignment(&self) -> Assignment {
        Assignment { server: self.server, in_service: !self.out_of_service }
    }
}

/// A table dropped, with the regions and files.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableDropped {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
}

/// Files in one (region, family) added and removed together: a flush or a compaction.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FilesChanged {
    #[prost(uint64, tag = "1")]
    pub(crate) region_id: u64,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) family: Bytes,
    #[prost(message, repeated, tag = "3")]
    pub(crate) added: Vec<FileMeta>,
    #[prost(uint64, repeated, tag = "4")]
    pub(crate) removed: Vec<u64>,
    /// Every cell in the (region, family) up to this sequence number was flushed; 0 leaves the
    /// value unchanged.
    #[prost(uint64, tag = "5")]
    pub(crate) flushed_sequence: u64,
    /// Log records up to this sequence number belong to another family with the same name, as in
    /// [`TableAltered`]; 0 leaves the value unchanged. Written only when the manifest is rewritten,
    /// and not by versions that did not record it.
    #[prost(uint64, tag = "6")]
    pub(crate) starts_after: u64,
}

/// Files for any regions and families added together from outside the store: a bulk load.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FilesLoaded {
    #[prost(message, repeated, tag = "1")]
    pub(crate) files: Vec<LoadedFile>,
}

/// A file from outside the store, and the region and family that it went to.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LoadedFile {
    #[prost(uint64, tag = "1")]
    pub(crate) region_id: u64,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) family: Bytes,
    /// The `loaded` flag is set.
    #[prost(message, required, tag = "3")]
    pub(crate) meta: FileMeta,
}

/// The store was closed, and the log ended at this position, synced to the end. The note stays true
/// afterwards: the segment is not written again.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct LogClosed {
    #[prost(uint64, tag = "1")]
    pub(crate) segment: u64,
    /// Bytes in the segment's header and records.
    #[prost(uint64, tag = "2")]
    pub(crate) len: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) last_sequence: u64,
}

/// The log begins later: earlier segments are about to be removed. A power cut can bring them back;
/// they are ignored then.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LogForgotten {
    /// Every log record below this sequence number was flushed.
    #[prost(uint64, tag = "1")]
    pub(crate) below_sequence: u64,
    /// The oldest remaining segment, which existed before this edit was written; 0 leaves the value
    /// unchanged.
    #[prost(uint64, tag = "2")]
    pub(crate) first_segment: u64,
}

/// Facts about an HFile that need no opening, and the checksum that vouches for it.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FileMeta {
    #[prost(uint64, tag = "1")]
    pub(crate) file_id: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) len: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) cells: u64,
    #[prost(bytes = "bytes", tag = "4")]
    pub(crate) first_row: Bytes,
    #[prost(bytes = "bytes", tag = "5")]
    pub(crate) last_row: Bytes,
    #[prost(int64, tag = "6")]
    pub(crate) timestamp_min: i64,
    #[prost(int64, tag = "7")]
    pub(crate) timestamp_max: i64,
    #[prost(uint64, tag = "8")]
    pub(crate) sequence_max: u64,
    /// CRC32C over everything from the load-on-open section to the end.
    #[prost(uint32, tag = "9")]
    pub(crate) meta_crc: u32,
    /// Whether a compaction over all files wrote it, which dropped every invisible cell.
    #[prost(bool, tag = "10")]
    pub(crate) major: bool,
    /// The load-on-open section's offset.
    #[prost(uint64, tag = "11")]
    pub(crate) meta_offset: u64,
    /// When it was written; 0 in edits by versions that did not record it.
    #[prost(int64, tag = "12")]
    pub(crate) created_millis: i64,
    /// Whether every cell has the sequence number `sequence_max`, regardless of the number in the
    /// file.
    #[prost(bool, tag = "13")]
    pub(crate) loaded: bool,
    /// How many delete markers there are; `None` in edits by versions that did not count them.
    #[prost(uint64, optional, tag = "14")]
    pub(crate) markers: Option<u64>,
    /// How many cells follow another cell in the same column; `None` as with `markers`.
    #[prost(uint64, optional, tag = "15")]
    pub(crate) older_versions: Option<u64>,
    /// The highest sequence number among the logged cells, if it differs from `sequence_max`: set
    /// by compactions that include bulk-loaded files.
    #[prost(uint64, optional, tag = "16")]
    pub(crate) logged_max: Option<u64>,
    /// How many single-version markers there are; `None` as with `markers`.
    #[prost(uint64, optional, tag = "17")]
    pub(crate) version_markers: Option<u64>,
}

impl FileMeta {
    /// Returns the highest sequence number among the logged cells; 0 for bulk-loaded files.
    pub(crate) fn logged_up_to(&self) -> u64 {
        if self.loaded { 0 } else { self.logged_max.unwrap_or(self.sequence_max) }
    }

    /// Returns the sequence number that orders the file among the log's commits: the file's own
    /// number if it was bulk-loaded, otherwise the number that the last logged cell has.
    pub(crate) fn log_order(&self) -> u64 {
        if self.loaded { self.sequence_max } else { self.logged_up_to() }
    }

    /// Returns true if any row in the file may lie in `range`.
    pub(crate) fn may_hold_rows(&self, range: &RowRange) -> bool {
        compare_bytes(&range.start, &self.last_row).is_le()
            && (range.stop.is_empty() || self.first_row < range.stop)
    }

    /// Returns true if a split left the file with rows outside `range`, now or in the past. A
    /// reader must then restrict itself to the range.
    pub(crate) fn is_wider_than(&self, range: &RowRange) -> bool {
        !range.contains(&self.first_row) || !range.contains(&self.last_row)
    }
}

impl NamespaceChanged {
    pub(crate) fn new(namespace: &Namespace) -> Self {
        Self { descriptor: names::namespace_to_proto(namespace).encode_to_vec().into() }
    }

    pub(crate) fn namespace(&self) -> Result<Namespace> {
        names::namespace_from_proto(decode(&self.descriptor)?)
    }
}

impl TableCreated {
    pub(crate) fn table(&self) -> Result<TableDescriptor> {
        decode_table(&self.descriptor)
    }
}

impl TableAltered {
    pub(crate) fn table(&self) -> Result<TableDescriptor> {
        decode_table(&self.descriptor)
    }
}

/// Encodes a table's descriptor as edits hold it.
pub(crate) fn encode_table(descriptor: &TableDescriptor) -> Bytes {
    table::to_proto(descriptor).encode_to_vec().into()
}

/// Decodes what [`encode_table`] returns.
pub(super) fn decode_table(descriptor: &Bytes) -> Result<TableDescriptor> {
    table::from_proto(decode(descriptor)?)
}

pub(super) fn decode<M: Message + Default>(bytes: &Bytes) -> Result<M> {
    M::decode(bytes.clone()).map_err(|error| {
        Error::corruption("MANIFEST holds an invalid descriptor").with_source(error)
    })
}

impl LogSynced {
    /// Returns the later position; `other` if they are equal.
    pub(super) fn or_later(self, other: Self) -> Self {
        if (other.segment, other.len) >= (self.segment, self.len) { other } else { self }
    }
}

impl Edit {
    pub(crate) fn new(kind: EditKind) -> Self {
        Self { kind: Some(kind), log: None }
    }
}

impl EditKind {
    /// Returns one edit for several; there is at least one.
    pub(crate) fn together(mut kinds: Vec<Self>) -> Self {
        if kinds.len() == 1 {
            return kinds.swap_remove(0);
        }
        Self::Together(Together { edits: kinds.into_iter().map(Edit::new).collect() })
    }
}
