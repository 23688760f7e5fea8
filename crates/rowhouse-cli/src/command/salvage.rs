//! `rowhouse salvage`: copies readable data from a damaged store to a new one.

use std::path::PathBuf;
use std::process::ExitCode;

use super::progress::Bar;
use super::{CommandResult, NOT_CLOSED};
use crate::counted::counted;
use crate::output::print;

/// Arguments of `rowhouse salvage`.
#[derive(Debug, clap::Args)]
pub(crate) struct SalvageArgs {
    /// The damaged data directory; it is not changed
    #[arg(value_name = "DIR")]
    data: PathBuf,
    /// The new data directory; created if missing, otherwise empty
    #[arg(long, value_name = "NEW_DIR")]
    into: PathBuf,
}

/// Writes all readable data. Exits with 1 if some was unreadable, and with 3 if all was readable
/// but the log was not closed: unsynced commits may be missing.
pub(crate) fn run(args: &SalvageArgs) -> CommandResult {
    let mut bar = Bar::new();
    let salvaged = rowhouse_store::salvage(&args.data, &args.into, |progress| bar.draw(&progress));
    bar.clear();
    let report = salvaged?;
    print(format_args!(
        "{}, {} into {}: from {} and {} of the log",
        counted(report.tables, "table"),
        counted(report.cells, "cell"),
        args.into.display(),
        counted(report.files, "file"),
        counted(report.log_records, "commit")
    ))?;
    if let Some(why) = &report.unlocked {
        print(why)?;
    }
    if let Some(end) = &report.log_end {
        print(format_args!("the log was not closed: {end}"))?;
    }
    match (&report.lost[..], &report.log_end) {
        ([], None) => {
            print("nothing is lost")?;
            return Ok(ExitCode::SUCCESS);
        }
        ([], Some(_)) => {
            print("all data that was found is written, of a store that was not closed")?;
            return Ok(ExitCode::from(NOT_CLOSED));
        }
        _ => {}
    }
    print(format_args!("lost from {}:", counted(report.lost.len(), "place")))?;
    for lost in &report.lost {
        print(format_args!("  {lost}"))?;
    }
    Ok(ExitCode::FAILURE)
}
