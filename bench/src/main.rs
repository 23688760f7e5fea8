//! Rowhouse's store beside other embedded engines: one workload, one machine, one run.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml` runs every case for every engine and
//! prints a Markdown table. Each (engine, case) runs in a child process of this binary, so that CPU
//! time, peak memory and threads are those of one engine. `README.md` explains the lines.
//!
//! # The comparison
//!
//! The unit is the **cell**. A table of `N` cells has `N / 10` rows of ten columns (one column
//! where values have 1,000 bytes). A cell has a 16-byte row, a 12-byte qualifier, a timestamp, a
//! kind and a value.
//!
//! * Rowhouse stores it through its own API: a put of one cell, a batch of a hundred such puts, a
//!   get that names row and column and finds the newest version, a scan that returns rows.
//! * The others have one keyspace of 37-byte keys (row, qualifier, inverted timestamp, kind), and a
//!   get names exactly that key. This favors them: a reader of the *newest* version of a column
//!   does not know its timestamp and needs a seek instead of a get. They also have no versions,
//!   families, delete rules or row filters. A scan of 100 cells is one of ten rows in rowhouse and
//!   of 100 entries elsewhere.
//!
//! Durability is "survives a killed process, no fsync" unless a case says otherwise. redb has no
//! level between no durability and fsync: its commits are not durable until the end of the load,
//! which favors it.
//!
//! Half of each value are random bytes and half are not, so that compression has an effect.

mod args;
mod case;
mod engine;
mod measure;
mod report;
mod run;
mod workload;

use clap::Parser;

fn main() -> anyhow::Result<()> {
    let args = args::Args::parse();
    match &args.child {
        Some(dir) => run::child(&args, dir),
        None => run::parent(&args),
    }
}
