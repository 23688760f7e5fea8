//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::case::CaseName;
use crate::engine::EngineName;

/// Measures rowhouse's store beside other engines and prints a Markdown table.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Args {
    /// Engine to run; may be repeated. Default: all that are compiled in
    #[arg(long = "engine", value_name = "NAME")]
    pub(crate) engines: Vec<EngineName>,
    /// Case to run; may be repeated. Default: all
    #[arg(long = "case", value_name = "NAME")]
    pub(crate) cases: Vec<CaseName>,
    /// Cells of 100 bytes in the large cases; the others scale with it
    #[arg(long, default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(10_000..))]
    pub(crate) cells: u64,
    /// Number of rounds; the table shows medians
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// Seed of keys, values and orders
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Parent of the data directories, which are removed again; default: the system's temporary
    /// directory. Needs about 5 GB, and a real disk for meaningful synced writes
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// With `--child`: load, and end by SIGKILL, which is the first half of `scale`
    #[arg(long, hide = true)]
    pub(crate) until_killed: bool,
    /// Run one case of one engine in this directory and print lines for the parent
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) child: Option<PathBuf>,
}
