//! HFiles from a cluster, or from another database.

use std::path::Path;

use rowhouse::schema::TableName;
use rowhouse::{Error, Result};
use rowhouse_store::{LoadReport, Progress, Store, files_to_load};

/// Loads the HFiles under `hfiles`, in a folder for each family, atomically into a table in the
/// store in the data directory `data`. The table has these families, and nothing may have the
/// directory open. It blocks the thread.
///
/// # Errors
/// `InvalidRequest` for a folder without HFiles; `InUse` if something has the store open;
/// otherwise as `rowhouse_store::Store::bulk_load`.
pub fn load_hfiles(
    data: impl AsRef<Path>,
    table: &TableName,
    hfiles: impl AsRef<Path>,
    progress: impl FnMut(Progress<'_>),
) -> Result<LoadReport> {
    let hfiles = hfiles.as_ref();
    let files = files_to_load(hfiles)?;
    if files.is_empty() {
        return Err(Error::invalid(format!("no HFiles in {}", hfiles.display())));
    }
    let store = Store::builder(data.as_ref()).only_existing().open()?;
    let report = store.bulk_load(table, &files, progress)?;
    store.close()?;
    Ok(report)
}
