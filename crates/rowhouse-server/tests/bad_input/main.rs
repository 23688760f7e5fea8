//! What no well-behaved client sends: each gets an exception that a client understands or a closed
//! connection, and the other clients notice nothing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod admin;
mod calls;
mod connections;
mod data;
mod methods;
mod scene;
#[path = "../support/mod.rs"]
mod support;
