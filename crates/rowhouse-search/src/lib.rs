//! Full-text search in tables, on tantivy: analysers, the search text language, highlights, and the
//! engine that maintains full-text indexes and searches them.
//!
//! | folder or file | content |
//! |---|---|
//! | `analyse/`, `words/`, `lucene/`, `highlight/` | terms, the two query languages, snippets |
//! | `segment/` | documents in tantivy's segments, stored as cells |
//! | `view.rs`, `memory.rs`, `find/` | segments and queued rows at a read point; searches |
//! | `merge/`, `maintain.rs` | choice of merges, large ones; builds, the queue, the list |
//! | `engine/` | the handle and the threads |
//!
//! The store puts every changed row into the queue of the index's table, in the log record for the
//! change. [`SearchEngine`] writes the documents for these rows to immutable segments, which are
//! cells in the same table, and searches the segments together with the rows still in the queue, at
//! one read point: an answer sees every acknowledged write. `docs/decisions/0073-search.md` has the
//! design.

mod analyse;
mod engine;
mod find;
mod highlight;
mod list;
mod lucene;
mod maintain;
mod memory;
mod merge;
mod pinned;
mod rows;
mod segment;
mod view;
mod words;

pub use analyse::{Analyse, TERM_BYTES_MAX, register_analysers, text_of};
pub use engine::{PlannedMerge, SearchEngine, SegmentFacts};
pub use find::{
    DocumentQuery, Matches, ORDER_KEYS_MAX, OrderKey, OrderedPage, OrderedRow, PagePart, ROW_NAME,
    ScoredRow, SearchedRows, declared_name, document_name,
};
pub use highlight::{Highlighter, MATCHES_MAX, Snippet};
pub use lucene::{LUCENE_BYTES_MAX, LuceneQuery, Operator};
pub use merge::MergeLimits;
pub use pinned::{Pinned, PinnedViews};
pub use words::{DEPTH_MAX, FUZZY_CHARS_MAX, TERMS_MAX, TEXT_BYTES_MAX, WORDS_MAX, Words};

pub use rowhouse_schema::Analyser;
