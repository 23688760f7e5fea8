//! Declared indexes: their language, their entries, and the plans of queries that they serve.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod entries;
mod language;
mod laws;
