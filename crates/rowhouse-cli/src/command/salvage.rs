//! `rowhouse salvage`: what can be read of a damaged store, as a new one.

use std::path::PathBuf;
use std::process::ExitCode;

use super::progress::Bar;
use super::{Done, NOT_CLOSED};
use crate::counted::counted;

/// Which store, and where to.
#[derive(Debug, clap::Args)]
pub(crate) struct SalvageArgs {
    /// The damaged data directory; it is not changed
    #[arg(value_name = "DIR")]
    data: PathBuf,
    /// The new data directory; made, or empty
    #[arg(long, value_name = "NEW_DIR")]
    into: PathBuf,
}

/// Writes what can be read. Ends with 1 when anything could not, and with 3 when all could but the log was not closed:
/// what was not synced may be missing.
pub(crate) fn run(args: &SalvageArgs) -> Done {
    let mut bar = Bar::new();
    let salvaged = rowhouse_store::salvage(&args.data, &args.into, |progress| bar.draw(&progress));
    bar.clear();
    let report = salvaged?;
    println!(
        "{}, {} into {}: from {} and {} of the log",
        counted(report.tables, "table"),
        counted(report.cells, "cell"),
        args.into.display(),
        counted(report.files, "file"),
        counted(report.log_records, "commit")
    );
    if let Some(why) = &report.unlocked {
        println!("{why}");
    }
    if let Some(end) = &report.log_end {
        println!("the log was not closed: {end}");
    }
    match (&report.lost[..], &report.log_end) {
        ([], None) => {
            println!("nothing is lost");
            return Ok(ExitCode::SUCCESS);
        }
        ([], Some(_)) => {
            println!("everything that was found is there, of a store that was not closed");
            return Ok(ExitCode::from(NOT_CLOSED));
        }
        _ => {}
    }
    println!("lost is what stood in {}:", counted(report.lost.len(), "place"));
    for lost in &report.lost {
        println!("  {lost}");
    }
    Ok(ExitCode::FAILURE)
}
