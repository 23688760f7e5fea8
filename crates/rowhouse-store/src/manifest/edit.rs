//! The edits, and with them the manifest's schema: protobuf messages whose field numbers are for
//! ever.

use bytes::Bytes;
use prost::{Message, Oneof};
use rowhouse_format::convert::{names, table};
use rowhouse_model::{Error, Namespace, Result, RowRange, TableDescriptor, compare_bytes};

use super::{SnapshotCloned, SnapshotRestored, SnapshotTaken};

/// One event.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Edit {
    #[prost(
        oneof = "EditKind",
        tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20"
    )]
    pub(crate) kind: Option<EditKind>,
}

/// What happened. A reader that meets a kind it does not know refuses the manifest: skipping an
/// event would mean serving another store than the one that was written.
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
    /// As [`FilesChanged`], of files that other regions name too: who does not know that must neither read
    /// nor remove them.
    #[prost(message, tag = "14")]
    FilesShared(FilesChanged),
    #[prost(message, tag = "15")]
    SnapshotTaken(SnapshotTaken),
    /// The name of a snapshot that is gone; files that nobody names any more go with it.
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
}

/// What regions may do, in all tables, whether snapshots go, and what servers remember.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct SwitchesChanged {
    /// No region is split.
    #[prost(bool, tag = "1")]
    pub(crate) splits_off: bool,
    /// No regions are merged.
    #[prost(bool, tag = "2")]
    pub(crate) merges_off: bool,
    /// Snapshots stay when their time has passed.
    #[prost(bool, tag = "3")]
    pub(crate) snapshot_cleanup_off: bool,
    /// The switches of HBase's master that have no effect on a store.
    #[prost(bool, tag = "4")]
    pub(crate) balancer_off: bool,
    #[prost(bool, tag = "5")]
    pub(crate) normalizer_off: bool,
    #[prost(bool, tag = "6")]
    pub(crate) peer_modification_off: bool,
}

/// The first edit of every manifest.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct StoreCreated {
    /// A UUID, for ever the same.
    #[prost(string, tag = "1")]
    pub(crate) cluster_id: String,
    #[prost(int64, tag = "2")]
    pub(crate) created_millis: i64,
    /// Ids below this one have been given out: kept when dropped things have taken their edits
    /// with them.
    #[prost(uint64, tag = "3")]
    pub(crate) next_id: u64,
    /// No sequence above this one was used in files that are gone.
    #[prost(uint64, tag = "4")]
    pub(crate) last_sequence: u64,
}

/// A namespace made or changed.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct NamespaceChanged {
    /// HBase's `NamespaceDescriptor`.
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) descriptor: Bytes,
}

/// A table made.
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

/// A region of a table.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RegionMeta {
    #[prost(uint64, tag = "1")]
    pub(crate) region_id: u64,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) start: Bytes,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) stop: Bytes,
    /// The number in its HBase name.
    #[prost(uint64, tag = "4")]
    pub(crate) created_millis: u64,
}

/// A table enabled or disabled.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableStateChanged {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    #[prost(bool, tag = "2")]
    pub(crate) disabled: bool,
}

/// A table declared anew. Families that it does not have any more go with their files.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableAltered {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    /// HBase's `TableSchema`.
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) descriptor: Bytes,
    /// What the log has up to this sequence is of no family that is new: one of the name may have been
    /// there before. 0 where none is new.
    #[prost(uint64, tag = "3")]
    pub(crate) begins_behind: u64,
}

/// A table emptied: other regions are in the place of those it had, whose files go, and it is enabled.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableTruncated {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    #[prost(message, repeated, tag = "2")]
    pub(crate) regions: Vec<RegionMeta>,
}

/// A region emptied: another with the same rows and name replaces it, and its files go.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RegionTruncated {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) removed: u64,
    #[prost(message, required, tag = "3")]
    pub(crate) added: RegionMeta,
}

/// Regions of a table in the place of others that held the same rows, whose cells were all in files: a
/// split or a merge. Each has the files in which it may have rows.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RegionsReplaced {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
    #[prost(uint64, repeated, tag = "2")]
    pub(crate) removed: Vec<u64>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) added: Vec<RegionMeta>,
}

/// A table gone, its regions and files with it.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableDropped {
    #[prost(uint64, tag = "1")]
    pub(crate) table_id: u64,
}

/// Files of one (region, family) that came and went together: a flush or a compaction.
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
    /// Every cell of the (region, family) up to this sequence was flushed; 0 leaves it as it is.
    #[prost(uint64, tag = "5")]
    pub(crate) flushed_sequence: u64,
    /// What the log has up to this sequence is of another family of the name, as in [`TableAltered`]; 0 leaves it as it
    /// is. Only in a manifest that was rewritten, and not in those of versions that did not say.
    #[prost(uint64, tag = "6")]
    pub(crate) begins_behind: u64,
}

/// Files of any regions and families that came from elsewhere together: a bulk load.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FilesLoaded {
    #[prost(message, repeated, tag = "1")]
    pub(crate) files: Vec<LoadedFile>,
}

/// A file that came from elsewhere, and where it went.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LoadedFile {
    #[prost(uint64, tag = "1")]
    pub(crate) region_id: u64,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) family: Bytes,
    /// Marked as loaded.
    #[prost(message, required, tag = "3")]
    pub(crate) meta: FileMeta,
}

/// The store was closed, and the log ended there, all of it on the disk. It stays true afterwards:
/// the segment is not written again.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct LogClosed {
    #[prost(uint64, tag = "1")]
    pub(crate) segment: u64,
    /// Bytes of the segment's header and records.
    #[prost(uint64, tag = "2")]
    pub(crate) len: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) last_sequence: u64,
}

/// The log begins later: segments before are about to be removed, and come back as they may after
/// a power cut, they mean nothing.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LogForgotten {
    /// Everything in the log below this sequence was flushed.
    #[prost(uint64, tag = "1")]
    pub(crate) below_sequence: u64,
    /// The oldest segment that is left, which was there before this was written; 0 leaves it as it is.
    #[prost(uint64, tag = "2")]
    pub(crate) first_segment: u64,
}

/// What is known of an HFile without opening it, and what vouches for it.
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
    /// CRC32C of everything from the load-on-open section to the end.
    #[prost(uint32, tag = "9")]
    pub(crate) meta_crc: u32,
    /// Whether the file came of a compaction that dropped what nobody can see.
    #[prost(bool, tag = "10")]
    pub(crate) major: bool,
    /// Where the load-on-open section begins.
    #[prost(uint64, tag = "11")]
    pub(crate) meta_offset: u64,
    /// When it was written; 0 in edits of versions that did not say.
    #[prost(int64, tag = "12")]
    pub(crate) created_millis: i64,
    /// Whether every cell has the sequence `sequence_max`, whatever the file says.
    #[prost(bool, tag = "13")]
    pub(crate) loaded: bool,
    /// Delete markers in it; `None` in edits of versions that did not count.
    #[prost(uint64, optional, tag = "14")]
    pub(crate) markers: Option<u64>,
    /// Cells behind another of the same column; `None` as with `markers`.
    #[prost(uint64, optional, tag = "15")]
    pub(crate) behind: Option<u64>,
    /// The last sequence of what was in the log before it was in the file, where that is another than
    /// `sequence_max`: of merges with what was loaded.
    #[prost(uint64, optional, tag = "16")]
    pub(crate) logged_max: Option<u64>,
}

impl FileMeta {
    /// The last sequence of what was in the log before it was in the file; 0 of files that were loaded.
    pub(crate) fn logged_up_to(&self) -> u64 {
        if self.loaded { 0 } else { self.logged_max.unwrap_or(self.sequence_max) }
    }

    /// Behind which commits of the log it counts: its own sequence, or where others were merged with it that of
    /// what was logged.
    pub(crate) fn counts_from(&self) -> u64 {
        if self.loaded { self.sequence_max } else { self.logged_up_to() }
    }

    /// Whether any row of the file may lie in `range`.
    pub(crate) fn may_hold_rows(&self, range: &RowRange) -> bool {
        compare_bytes(&range.start, &self.last_row).is_le()
            && (range.stop.is_empty() || self.first_row < range.stop)
    }

    /// Whether it has, or had, rows of other regions than that of `range`: one that was split. Whoever
    /// reads it for the region must keep to the range.
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
        table::from_proto(decode(&self.descriptor)?)
    }
}

impl TableAltered {
    pub(crate) fn table(&self) -> Result<TableDescriptor> {
        table::from_proto(decode(&self.descriptor)?)
    }
}

/// A table's descriptor as edits hold it.
pub(crate) fn encode_table(descriptor: &TableDescriptor) -> Bytes {
    table::to_proto(descriptor).encode_to_vec().into()
}

pub(super) fn decode<M: Message + Default>(bytes: &Bytes) -> Result<M> {
    M::decode(bytes.clone()).map_err(|error| {
        Error::corruption("MANIFEST holds a descriptor that is none").with_source(error)
    })
}

impl Edit {
    pub(crate) fn new(kind: EditKind) -> Self {
        Self { kind: Some(kind) }
    }
}
