//! Input that no correct client sends: each is answered with an exception that clients understand
//! or with a closed connection, and other clients are not affected.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod admin;
mod calls;
mod connections;
mod data;
mod methods;
mod scene;
#[path = "../support/mod.rs"]
mod support;
