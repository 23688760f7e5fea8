//! The sizes that decide about merges.

/// The sizes that decide about merges of segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MergeLimits {
    /// How many new segments of a size become one; at least 2. Default 10.
    pub segments: usize,
    /// Bytes up to which segments are merged at once, in memory: changed rows wait meanwhile.
    /// Larger merges run beside other work. Default 10 MB, which take less than a second.
    pub at_once_bytes_max: u64,
    /// Bytes that merged segments have together at most. A segment with half of them is merged no
    /// more, and only rewritten without its outdated documents. Default 2 GB: tantivy's columns
    /// have at most 4 GB of different values.
    pub bytes_max: u64,
    /// As `bytes_max`, for documents: a merge takes about 50 bytes of memory for each. Default 5
    /// million, with which a merge of 1 GB took 0.4 GB.
    pub documents_max: u64,
}

impl Default for MergeLimits {
    fn default() -> Self {
        Self {
            segments: 10,
            at_once_bytes_max: 10_000_000,
            bytes_max: 2_000_000_000,
            documents_max: 5_000_000,
        }
    }
}
