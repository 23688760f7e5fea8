//! Searches: [`Found`] is the answer of one, [`filter`] narrows it to documents of key ranges and
//! values, [`cursor`] reads it in the order of the keys, and [`by_value`] in that of a field.
//! [`Candidates`] are the rows for scans that judge the rest of a query themselves.

mod by_value;
mod candidates;
mod cursor;
mod filter;
mod found;

pub use by_value::ValueRow;
pub(crate) use found::NoteError;
pub use found::{FacetCount, Found, ScoredRow};
