//! `rowhouse salvage`: what can be read of a damaged store, as a new one.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Done;
use super::progress::Bar;

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

/// Writes what can be read. Ends with 1 when anything could not.
pub(crate) fn run(args: &SalvageArgs) -> Done {
    let mut bar = Bar::new();
    let salvaged = rowhouse_store::salvage(&args.data, &args.into, |progress| bar.draw(&progress));
    bar.clear();
    let report = salvaged?;
    println!(
        "{} tables, {} cells into {}: from {} files and {} commits of the log",
        report.tables,
        report.cells,
        args.into.display(),
        report.files,
        report.log_records
    );
    if report.lost.is_empty() {
        println!("nothing is lost");
        return Ok(ExitCode::SUCCESS);
    }
    println!("lost is what stood in {} places:", report.lost.len());
    for lost in &report.lost {
        println!("  {lost}");
    }
    Ok(ExitCode::FAILURE)
}
