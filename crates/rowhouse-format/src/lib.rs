//! Every byte that Apache HBase defines, as pure code.
//!
//! This crate is fed with bytes and drained of values and bytes. It never sees a socket, a path, a
//! clock or a thread; whoever owns those drives it. Both directions of a format stand side by side,
//! so that server and client cannot drift apart.

pub mod hfile;
