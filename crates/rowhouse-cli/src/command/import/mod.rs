//! `rowhouse import`: imports files of rows, or HFiles, into a table.
//!
//! [`source`] reads files; [`mapping`] and [`row`] convert their records to rows of the table.
//! [`survey`] checks all rows before any is written; [`write`] writes them as puts, and [`load`] as
//! files of the store.

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

use rowhouse::schema::TableName;

use super::{CommandResult, DATA_DIR, argument};
use making::CreateTableArgs;
use mapping::MappingArgs;
use source::Reading;

/// Arguments of `rowhouse import`.
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
    making: CreateTableArgs,
    /// HFiles, in a folder for each family; the table has these families, and no server may have
    /// the data directory open
    #[arg(long, value_name = "DIR", conflicts_with_all = ["files", "RowArgs", "Reading", "MappingArgs", "CreateTableArgs", "connect"])]
    hfiles: Option<PathBuf>,
    /// The data directory; a server that holds it is connected to
    #[arg(long, value_name = "DIR", default_value = DATA_DIR, conflicts_with = "connect")]
    data: PathBuf,
    /// The database, by URL: hbase://HOST:PORT, hbase+zk://HOST:PORT/ZNODE, or a path
    #[arg(long, value_name = "URL", value_parser = argument::url)]
    connect: Option<String>,
}

/// Arguments for the treatment of rows.
#[derive(Debug, clap::Args)]
struct RowArgs {
    /// The treatment of rows that have the key of another, in the files or in the table
    #[arg(long, value_name = "HOW", default_value = "refuse")]
    duplicates: Duplicates,
    /// Check all rows, and write none
    #[arg(long)]
    dry_run: bool,
    /// Sort the rows and write them to files of the table's regions, atomically, instead of as
    /// puts; no server may have the data directory open
    #[arg(long, conflicts_with = "connect")]
    sorted: bool,
    /// The directory for rejected rows, for each FILE in FILE.rejected
    #[arg(long, value_name = "DIR", default_value = ".")]
    rejects: PathBuf,
    /// Stop before anything is written if more rows than this are rejected
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    rejects_max: u64,
    /// The progress file of the import, with which the same command resumes after an interruption
    /// [default: FILE.progress of the first FILE, in this directory]
    #[arg(long, value_name = "FILE")]
    progress: Option<PathBuf>,
    /// The number of rows written at once
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batch_rows: u32,
    /// The megabytes of keys, and with --sorted of rows, that are sorted in memory, before
    /// temporary files are used
    #[arg(long, value_name = "MB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    memory: u32,
    /// Print a JSON document instead of text
    #[arg(long)]
    json: bool,
}

/// The treatment of rows that have the key of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Duplicates {
    /// Write nothing, and report the rows
    Refuse,
    /// Columns of later rows replace those of earlier ones; columns that only one of them has are
    /// all kept
    Merge,
}

/// Imports the files.
pub(crate) fn run(args: &ImportArgs) -> CommandResult {
    match &args.hfiles {
        Some(hfiles) => hfiles::run(&args.table, hfiles, &args.data),
        None => run::run(args, &args.table),
    }
}
