//! Declared columns: their language, their cells, and conditions on them in queries.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cells;
mod conditions;
mod language;
mod laws;
mod qualifiers;
