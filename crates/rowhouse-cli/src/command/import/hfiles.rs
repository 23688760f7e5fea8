//! Loads HFiles of a cluster, or of another database, into a table.

use std::path::Path;
use std::process::ExitCode;

use rowhouse::Error;
use rowhouse::schema::TableName;
use rowhouse_store::{Store, files_to_load};

use crate::command::CommandResult;
use crate::command::progress::Bar;
use crate::counted::counted;

/// Loads the files under `hfiles` atomically into a table of the store in `data`.
pub(super) fn run(table: &TableName, hfiles: &Path, data: &Path) -> CommandResult {
    let files = files_to_load(hfiles)?;
    if files.is_empty() {
        return Err(Error::invalid(format!("no HFiles in {}", hfiles.display())));
    }
    let store = Store::builder(data).only_existing().open()?;
    let mut bar = Bar::new();
    let loaded = store.bulk_load(table, &files, |progress| bar.draw(&progress));
    bar.clear();
    let report = loaded?;
    store.close()?;
    let (cells, files) = (counted(report.cells, "cell"), counted(report.files, "HFile"));
    let are = if report.cells == 1 { "is" } else { "are" };
    println!("{cells} of {files} {are} in {table}");
    Ok(ExitCode::SUCCESS)
}
