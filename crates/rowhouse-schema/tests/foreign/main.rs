//! Foreign types against the original code's output. Every golden file line is encoded, decoded and
//! compared, or listed here as outside the language and then refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bigtable;
mod exhaustive;
mod golden;
mod hashes;
mod hbasewd;
mod java;
mod kiji;
mod opentsdb;
mod ordered;
mod ordered_code;
mod phoenix;
mod plans;
mod refusals;
mod tuple;
