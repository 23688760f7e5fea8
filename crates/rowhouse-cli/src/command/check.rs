//! `rowhouse check`: whether a store is whole.

use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse_store::CheckReport;

use super::Done;
use super::progress::Bar;

/// Which store.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The data directory; no server may have it open
    #[arg(value_name = "DIR")]
    data: PathBuf,
}

/// Reads everything and says what is wrong. Ends with 1 when anything is.
pub(crate) fn run(args: &CheckArgs) -> Done {
    let mut bar = Bar::new();
    let checked = rowhouse_store::check(&args.data, |progress| bar.draw(&progress));
    bar.clear();
    let report = checked?;
    print!("{}", told(&report));
    if report.problems.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("\nWhat can still be read: rowhouse salvage {} --into NEW_DIR", args.data.display());
    Ok(ExitCode::FAILURE)
}

fn told(report: &CheckReport) -> String {
    let mut text = format!(
        "{} tables, {} regions, {} snapshots\n{} files, {} bytes, {} cells\nlog: {} commits, {} bytes\n",
        report.tables,
        report.regions,
        report.snapshots,
        report.files,
        report.file_bytes,
        report.cells,
        report.log_records,
        report.log_bytes,
    );
    if let Some(end) = &report.log_end {
        text.push_str(&format!("the log was not closed: {end}\n"));
    }
    for file in &report.strangers {
        text.push_str(&format!(
            "no table or snapshot has {file}: the next open takes it away, or aside if none ever had it\n"
        ));
    }
    match report.problems.len() {
        0 => text.push_str("nothing is wrong\n"),
        problems => {
            text.push_str(&format!("{problems} wrong:\n"));
            for problem in &report.problems {
                text.push_str(&format!("  {problem}\n"));
            }
        }
    }
    text
}
