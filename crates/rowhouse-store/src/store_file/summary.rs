//! The file properties by which compactions choose files.

/// The properties of a file known without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FileSummary<'a> {
    pub(crate) id: u64,
    /// Bytes.
    pub(crate) len: u64,
    pub(crate) first_row: &'a [u8],
    pub(crate) last_row: &'a [u8],
    pub(crate) timestamp_min: i64,
    pub(crate) timestamp_max: i64,
    /// Creation time in milliseconds; 0 if unknown.
    pub(crate) created_millis: i64,
    pub(crate) cells: u64,
    /// The garbage it may have; `None` if it was not counted.
    pub(crate) surplus: Option<Surplus>,
    /// Whether it was written by a compaction that dropped every cell that no read can show.
    pub(crate) major: bool,
    /// Whether the file has rows from other regions, because the region was made by a split.
    pub(crate) wider: bool,
}

/// Counts of a file's cells that a compaction of all files may drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Surplus {
    /// Delete markers.
    pub(crate) markers: u64,
    /// Puts and markers after another cell in the same column.
    pub(crate) older_versions: u64,
}
