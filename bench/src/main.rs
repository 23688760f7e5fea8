//! Rowhouse's store beside the ready-made engines: one workload, one machine, one run.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml` runs every case for every engine and prints a
//! Markdown table. Each (engine, case) runs in a process of its own, which this binary starts from itself, so
//! that CPU time, peak memory and threads belong to nobody else. `README.md` says how to read the lines.
//!
//! # What is compared
//!
//! The unit is the **cell**. A table of `N` cells has `N / 10` rows of ten columns (one column where values
//! have 1,000 bytes). A cell has a 16-byte row, a 12-byte qualifier, a timestamp, a kind and a value.
//!
//! * Rowhouse stores it through its own API: a put of one cell, a batch of a hundred such puts, a get that
//!   names row and column and finds the newest version, a scan that gives rows.
//! * The others have one keyspace of 37-byte keys — row, qualifier, inverted timestamp, kind — and are asked for
//!   exactly that key. That favours them: who wants the *newest* version of a column does not know its
//!   timestamp and needs a seek instead of a get; they keep no versions, families, delete rules or row filters
//!   either. A scan of 100 cells is one of ten rows in rowhouse and of 100 entries elsewhere.
//!
//! Durability is "survives a killed process, no fsync" unless a case says otherwise. redb has nothing between
//! nothing and fsync: its commits are not durable at all until the end of the load, which favours it.
//!
//! Half of each value are random bytes and half are not, so that a compressor has something to do.

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
