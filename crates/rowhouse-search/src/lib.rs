//! Full-text search over the rows of a table, on tantivy. `docs/decisions/0073-search.md` has the
//! design.

mod error;
mod fields;
mod query;
mod segment;
mod view;

#[cfg(test)]
mod tests;
