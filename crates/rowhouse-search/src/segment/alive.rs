//! Document sets in the form in which tantivy reads them.

use tantivy::BitSet;
use tantivy::directory::OwnedBytes;
use tantivy::fastfield::{AliveBitSet, write_alive_bitset};

/// Returns a document set in the form that reads use.
pub(crate) fn alive_of(docs: &BitSet) -> AliveBitSet {
    let mut bytes = Vec::new();
    write_alive_bitset(docs, &mut bytes).expect("a vector takes all bytes");
    AliveBitSet::open(OwnedBytes::new(bytes))
}
