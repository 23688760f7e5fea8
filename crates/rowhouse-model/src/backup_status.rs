//! Backup progress.

/// How far a backup is. The totals are set when it is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackupStatus {
    /// Whether the backup is complete.
    pub is_done: bool,
    /// The file being read.
    pub file: String,
    /// Bytes written, plus bytes read back for verification.
    pub bytes_done: u64,
    /// Final `bytes_done` value.
    pub bytes_total: u64,
    /// Table count.
    pub tables: u64,
    /// Snapshot count.
    pub snapshots: u64,
    /// HFile count.
    pub files: u64,
    /// Total HFile length in bytes.
    pub file_bytes: u64,
}
