//! Components of segments, kept in parts.

use bytes::Bytes;
use rowhouse_model::Result;

/// The bytes of a part; the last one of a component may be shorter.
pub(crate) const PART_BYTES: usize = 64 << 10;

/// Keeps parts. A part is written once, and read until its segment is deleted.
pub(crate) trait Parts: Send + Sync + 'static {
    /// Writes a part.
    ///
    /// # Errors
    /// Those of the store.
    fn write(&self, part: PartId, bytes: Vec<u8>) -> Result<()>;

    /// Reads a part.
    ///
    /// # Errors
    /// Those of the store, and `Corruption` for a part that is missing.
    fn read(&self, part: PartId) -> Result<Bytes>;
}

/// Names a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PartId {
    pub(crate) segment: u64,
    pub(crate) component: Component,
    pub(crate) number: u32,
}

/// A file of a tantivy segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Component {
    /// The dictionary of each field.
    Terms,
    /// The documents of each term, and how often they have it.
    Postings,
    /// The places of each term in each document.
    Positions,
    /// Columns of values by document.
    FastFields,
    /// The length of each field of each document.
    FieldNorms,
    /// Stored documents. Ours store nothing; tantivy needs the file.
    Store,
}

impl Component {
    pub(crate) const ALL: [Self; 6] = [
        Self::Terms,
        Self::Postings,
        Self::Positions,
        Self::FastFields,
        Self::FieldNorms,
        Self::Store,
    ];

    /// The extension of the file's name in tantivy.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Terms => "term",
            Self::Postings => "idx",
            Self::Positions => "pos",
            Self::FastFields => "fast",
            Self::FieldNorms => "fieldnorm",
            Self::Store => "store",
        }
    }

    /// Whether tantivy reads large pieces of it whenever it opens a segment.
    pub(super) fn is_read_at_open(self) -> bool {
        matches!(self, Self::Terms | Self::FastFields | Self::FieldNorms)
    }
}
