//! Loads HFiles from a cluster, or from another database, into a table.

use std::path::Path;
use std::process::ExitCode;

use rowhouse::schema::TableName;
use rowhouse_import::load_hfiles;

use crate::command::CommandResult;
use crate::command::progress::Bar;
use crate::counted::counted;
use crate::output::print;

/// Loads the files under `hfiles` atomically into a table in the store in `data`.
pub(super) fn run(table: &TableName, hfiles: &Path, data: &Path) -> CommandResult {
    let mut bar = Bar::new();
    let loaded = load_hfiles(data, table, hfiles, |progress| bar.draw(&progress));
    bar.clear();
    let report = loaded?;
    let cells = counted(report.cells, "cell");
    let files = counted(report.files, "HFile");
    let are = if report.cells == 1 { "is" } else { "are" };
    print(format_args!("{cells} of {files} {are} in {table}"))?;
    Ok(ExitCode::SUCCESS)
}
