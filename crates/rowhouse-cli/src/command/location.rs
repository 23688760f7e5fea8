//! The database that a command works on.

use std::path::Path;

use rowhouse::{Database, Result};
use rowhouse_store::Holder;

/// Returns the URL of the database for [`rowhouse::open`]. A directory that a server holds becomes
/// that server's URL.
pub(super) fn database_url(data: &Path, connect: Option<&str>) -> Result<String> {
    if let Some(url) = connect {
        return Ok(url.to_owned());
    }
    match Holder::of(data)?.and_then(|holder| holder.address) {
        Some(address) => Ok(format!("hbase://{address}")),
        None => Ok(format!("file:{}", data.display())),
    }
}

/// Opens a database that is there: a data directory is not made.
pub(super) async fn open_existing(url: &str) -> Result<Database> {
    let builder = Database::builder(url);
    match directory_of(url) {
        Some(_) => builder.only_existing().open().await,
        None => builder.open().await,
    }
}

/// Returns the data directory of a URL, unless it is a server's.
pub(super) fn directory_of(url: &str) -> Option<&Path> {
    let path = url.strip_prefix("file://").or_else(|| url.strip_prefix("file:"));
    path.or_else(|| (!url.contains("://")).then_some(url)).map(Path::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_nobody_holds_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let url = |connect| database_url(dir.path(), connect).unwrap();
        assert_eq!(url(None), format!("file:{}", dir.path().display()));
        assert_eq!(url(Some("hbase://a:1")), "hbase://a:1");
    }
}
