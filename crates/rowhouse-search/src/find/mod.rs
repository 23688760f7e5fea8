//! Searches: [`Matches`] is a search's answer, [`filter`] narrows it to documents in key ranges and
//! with values, [`cursor`] reads it in key order, [`by_value`] in a field's order, and [`page`]
//! from a place in any order on. [`Candidates`] are the rows for scans that judge the rest of a
//! query themselves.

mod best;
mod bind;
mod by_value;
mod candidates;
mod compile;
mod cursor;
mod doc_predicate;
mod documents;
mod filter;
mod matches;
mod ordered;
mod page;
mod watch;

pub use documents::{DocumentQuery, ROW_NAME, declared_name, document_name};
pub use matches::{Matches, ScoredRow, SearchedRows};
pub(crate) use matches::{NoteError, SearchOptions};
pub use ordered::{ORDER_KEYS_MAX, OrderKey, OrderedPage, OrderedRow, PagePart};
