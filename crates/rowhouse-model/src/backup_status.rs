//! The progress of a backup.

/// The progress of a backup. The totals are set when it is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackupStatus {
    /// Whether the backup is complete.
    pub is_done: bool,
    /// The file being read.
    pub file: String,
    /// Bytes written, plus bytes read back for verification.
    pub bytes_done: u64,
    /// Final value of `bytes_done`.
    pub bytes_total: u64,
    /// Number of tables.
    pub tables: u64,
    /// Number of snapshots.
    pub snapshots: u64,
    /// Number of HFiles.
    pub files: u64,
    /// Total length of the HFiles in bytes.
    pub file_bytes: u64,
}
