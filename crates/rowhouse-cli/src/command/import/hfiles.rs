//! `rowhouse import`: HFiles of a cluster, or of another database, into a table.

use std::path::PathBuf;
use std::process::ExitCode;

use rowhouse::{Error, TableName};
use rowhouse_store::{Store, files_to_load};

use super::progress::Bar;
use super::{DATA_DIR, Done};

/// Which files, and into which table.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The table, such as blog or news:blog; it has the families that the files are of
    #[arg(value_name = "TABLE")]
    table: String,
    /// The HFiles, in a folder for each family; they stay as they are
    #[arg(long, value_name = "DIR")]
    hfiles: PathBuf,
    /// The data directory; no server may have it open
    #[arg(long, value_name = "DIR", default_value = DATA_DIR)]
    data: PathBuf,
}

/// Loads the files, all of them or none.
pub(crate) fn run(args: &ImportArgs) -> Done {
    let table = TableName::parse(&args.table)?;
    let files = files_to_load(&args.hfiles)?;
    if files.is_empty() {
        return Err(Error::invalid(format!("no HFiles in {}", args.hfiles.display())));
    }
    let store = Store::builder(&args.data).only_existing().open()?;
    let mut bar = Bar::new();
    let loaded = store.bulk_load(&table, &files, |progress| bar.draw(&progress));
    bar.clear();
    let report = loaded?;
    store.close()?;
    println!("{} cells of {} HFiles are in {table}", report.cells, report.files);
    Ok(ExitCode::SUCCESS)
}
