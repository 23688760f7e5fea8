//! `rowhouse import`: files of rows, or HFiles, into a table.
//!
//! [`source`] reads files, [`mapping`] and [`row`] make rows of the table of what is in them. [`survey`] looks at all rows
//! before any is written; [`write`] writes them as puts, and [`load`] as files of the store.

mod bar;
mod cells;
mod compose;
mod hfiles;
mod journal;
mod lanes;
mod load;
mod making;
mod mapping;
mod rejects;
mod row;
mod rows;
mod run;
mod sort;
mod source;
mod summary;
mod survey;
mod targets;
mod times;
mod write;

use std::path::PathBuf;

use rowhouse::TableName;

use super::{DATA_DIR, Done, argument};
use making::MakingArgs;
use mapping::MappingArgs;
use source::Reading;

/// Which files, and into which table.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rowhouse import [OPTIONS] TABLE FILE...\n       rowhouse import TABLE --hfiles DIR [--data DIR]"
)]
pub(crate) struct ImportArgs {
    /// The table, such as blog or news:blog
    #[arg(value_name = "TABLE", value_parser = TableName::parse)]
    table: TableName,
    /// Files of rows: CSV, JSON lines, Parquet
    #[arg(value_name = "FILE", required_unless_present = "hfiles")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    mapping: MappingArgs,
    #[command(flatten)]
    making: MakingArgs,
    /// HFiles, in a folder for each family; the table has these families, and no server may have the data directory open
    #[arg(long, value_name = "DIR", conflicts_with_all = ["files", "RowArgs", "Reading", "MappingArgs", "MakingArgs", "connect"])]
    hfiles: Option<PathBuf>,
    /// The data directory; a server that holds it is connected to
    #[arg(long, value_name = "DIR", default_value = DATA_DIR, conflicts_with = "connect")]
    data: PathBuf,
    /// The database, by URL: hbase://HOST:PORT, hbase+zk://HOST:PORT/ZNODE, or a path
    #[arg(long, value_name = "URL", value_parser = argument::url)]
    connect: Option<String>,
}

/// What becomes of rows.
#[derive(Debug, clap::Args)]
struct RowArgs {
    /// What is done where rows have the key of another, in the files or in the table
    #[arg(long, value_name = "HOW", default_value = "refuse")]
    duplicates: Duplicates,
    /// Look at all rows, and write none
    #[arg(long)]
    dry_run: bool,
    /// Bring the rows into order and write them to files of the table's regions, all at once, instead of as puts; no server
    /// may have the data directory open
    #[arg(long, conflicts_with = "connect")]
    sorted: bool,
    /// Where rows go that cannot be written, for each FILE to FILE.rejected
    #[arg(long, value_name = "DIR", default_value = ".")]
    rejects: PathBuf,
    /// More rejected rows than this stop the import before anything is written
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    rejects_max: u64,
    /// The file that says how far the import has come while it writes, by which the same command goes on after it was
    /// ended [default: the first FILE, in this directory, with .progress behind it]
    #[arg(long, value_name = "FILE")]
    progress: Option<PathBuf>,
    /// How many rows are written at once
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batch_rows: u32,
    /// How many megabytes of keys, and with --sorted of rows, are sorted in memory, before temporary files are used
    #[arg(long, value_name = "MB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    memory: u32,
    /// Print a JSON document instead of text
    #[arg(long)]
    json: bool,
}

/// What is done where rows have the key of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Duplicates {
    /// Nothing is written, and the rows are told
    Refuse,
    /// The columns of later rows stand over those of earlier ones; columns that only one of them has are all there
    Merge,
}

/// Imports the files.
pub(crate) fn run(args: &ImportArgs) -> Done {
    match &args.hfiles {
        Some(hfiles) => hfiles::run(&args.table, hfiles, &args.data),
        None => run::run(args, &args.table),
    }
}
