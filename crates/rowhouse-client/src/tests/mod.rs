//! What the client does when a cluster misbehaves.

mod batches;
mod rows;
mod scans;
