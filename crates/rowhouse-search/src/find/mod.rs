//! Searches: [`Found`] is the answer of one, [`filter`] narrows it to documents of key ranges and
//! values, and [`cursor`] reads it in the order of the keys.

mod cursor;
mod filter;
mod found;

pub use found::{FacetCount, Found, ScoredRow};
