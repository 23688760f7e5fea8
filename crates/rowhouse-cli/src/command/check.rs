//! `rowhouse check`: verifies a store.

use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse_store::CheckReport;

use super::progress::Bar;
use super::{CommandResult, NOT_CLOSED};
use crate::counted::counted;
use crate::output::print;

/// Arguments of `rowhouse check`.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The data directory; no server may have it open
    #[arg(value_name = "DIR")]
    data: PathBuf,
}

/// Reads everything and reports damage. Exits with 1 if there is any, and with 3 if there is none
/// but the log was not closed: unsynced commits may be missing.
pub(crate) fn run(args: &CheckArgs) -> CommandResult {
    let mut bar = Bar::new();
    let checked = rowhouse_store::check(&args.data, |progress| bar.draw(&progress));
    bar.clear();
    let report = checked?;
    print(report_text(&report).trim_end())?;
    if report.problems.is_empty() {
        return Ok(match report.log_end {
            None => ExitCode::SUCCESS,
            Some(_) => ExitCode::from(NOT_CLOSED),
        });
    }
    print(format_args!(
        "\nWhat can still be read: rowhouse salvage {} --into NEW_DIR",
        args.data.display()
    ))?;
    Ok(ExitCode::FAILURE)
}

fn report_text(report: &CheckReport) -> String {
    let mut text = format!(
        "{}, {}, {}\n{}, {}, {}\nlog: {}, {}\n",
        counted(report.tables, "table"),
        counted(report.regions, "region"),
        counted(report.snapshots, "snapshot"),
        counted(report.files, "file"),
        counted(report.file_bytes, "byte"),
        counted(report.cells, "cell"),
        counted(report.log_records, "commit"),
        counted(report.log_bytes, "byte"),
    );
    if let Some(why) = &report.unlocked {
        text.push_str(&format!("{why}\n"));
    }
    if let Some(end) = &report.log_end {
        text.push_str(&format!("the log was not closed: {end}\n"));
    }
    for file in &report.strangers {
        text.push_str(&format!(
            "no table or snapshot has {file}: the next open removes it, or moves it aside if none \
             ever had it\n"
        ));
    }
    match report.problems.len() {
        0 if report.log_end.is_some() => {
            text.push_str("no damage found, in a store that was not closed\n");
        }
        0 => text.push_str("no damage found\n"),
        problems => {
            text.push_str(&format!("{problems} wrong:\n"));
            for problem in &report.problems {
                text.push_str(&format!("  {problem}\n"));
            }
        }
    }
    text
}
