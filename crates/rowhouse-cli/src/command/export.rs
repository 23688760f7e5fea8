//! `rowhouse export`: a table as HFiles, for a cluster or another database.

use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse::TableName;
use rowhouse_store::{ExportedCells, Store};

use super::progress::Bar;
use super::{DATA_DIR, Done};

/// Which table, and where to.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The table, such as blog or news:blog
    #[arg(value_name = "TABLE", value_parser = TableName::parse)]
    table: TableName,
    /// Where the HFiles go, a folder for each family; made, or empty
    #[arg(long, value_name = "DIR")]
    hfiles: PathBuf,
    /// All cells that are stored, delete markers and what they cover too, instead of what a major compaction would keep
    #[arg(long)]
    raw: bool,
    /// The data directory; no server may have it open
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    data: PathBuf,
}

/// Writes the files.
pub(crate) fn run(args: &ExportArgs) -> Done {
    let table = &args.table;
    let store = Store::builder(&args.data).only_existing().open()?;
    let cells = if args.raw { ExportedCells::Raw } else { ExportedCells::Kept };
    let mut bar = Bar::new();
    let exported = store.export_hfiles(table, &args.hfiles, cells, |progress| bar.draw(&progress));
    bar.clear();
    let report = exported?;
    store.close()?;
    println!(
        "{} cells of {table} in {} HFiles, {} bytes, in {}",
        report.cells,
        report.files.len(),
        report.bytes,
        args.hfiles.display()
    );
    Ok(ExitCode::SUCCESS)
}
