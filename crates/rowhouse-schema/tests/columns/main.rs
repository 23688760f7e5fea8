//! Declared columns: their language, their cells, and conditions on them in queries.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod asked;
mod cells;
mod language;
mod laws;
mod qualifiers;
