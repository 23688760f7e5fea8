//! The layout of cells in data blocks.

use rowhouse_model::DataBlockEncoding;

/// ROW_INDEX_V1's number in a block's first two bytes.
pub(super) const ROW_INDEX_ID: u16 = 7;
/// How many bytes a cell has before the key: key length and value length.
pub(super) const KEY_OFFSET: usize = 4 + 4;
/// How many bytes a cell has before the row: the two lengths and the row length.
pub(super) const ROW_OFFSET: usize = KEY_OFFSET + 2;

/// The layout of a file's cells, as the file info declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The data block encoding.
    pub encoding: DataBlockEncoding,
    /// Whether each cell has a tags length.
    pub tags: bool,
    /// Whether repeated tags are dictionary-compressed; only with a delta encoding.
    pub tags_compressed: bool,
    /// Whether each cell is followed by its sequence number.
    pub sequences: bool,
}
