//! HFiles, written and read back.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod apache;
mod damage;
mod exchange;
mod marker_runs;
mod model;
mod order;
mod support;
