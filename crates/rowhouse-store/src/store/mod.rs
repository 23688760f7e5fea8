//! The store as a whole: a handle on it, its tables and namespaces, its end.

mod close;
mod handle;
mod namespaces;
mod tables;

pub use handle::Store;
