//! Tests scans with queries, over the public API, in one program.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod queried_scans;
mod writers_beside_alterations;
