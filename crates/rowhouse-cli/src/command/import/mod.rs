//! `rowhouse import`: imports files with rows, or HFiles, into a table.
//!
//! `rowhouse-import` does it; this is the command line, the bar and the report.

mod args;
mod bar;
mod hfiles;
mod report;
mod run;

use super::CommandResult;
pub(crate) use args::ImportArgs;

/// Imports the files.
pub(crate) fn run(args: &ImportArgs) -> CommandResult {
    match &args.hfiles {
        Some(hfiles) => hfiles::run(&args.table, hfiles, &args.data),
        None => run::run(args),
    }
}
