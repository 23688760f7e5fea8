//! The database that a command works on.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rowhouse::{Database, Error, ErrorKind, Result};
use rowhouse_client::Target;
use rowhouse_store::Holder;

use crate::output::report;

/// How long a command waits for a server that is starting. A server reads the log first.
const START_WAIT: Duration = Duration::from_secs(20);
/// Time between two looks at a directory's holder.
const LOOK: Duration = Duration::from_millis(50);

/// Returns the database URL for [`rowhouse::open`]. A file `….xml` has the settings of HBase's own
/// client. A directory that a server holds becomes that
/// server's URL; a server that is starting is waited for.
pub(super) fn database_url(data: &Path, connect: Option<&str>) -> Result<String> {
    if let Some(url) = connect {
        return if url.ends_with(".xml") { url_in_site(url) } else { Ok(url.to_owned()) };
    }
    match server_of(data)? {
        Some(address) => Ok(format!("hbase://{address}")),
        None => Ok(format!("file:{}", data.display())),
    }
}

/// Returns the URL of the cluster that the settings of HBase in an `hbase-site.xml` name.
fn url_in_site(path: &str) -> Result<String> {
    let xml = std::fs::read_to_string(path)
        .map_err(|source| Error::io(format_args!("cannot read {path}"), source))?;
    let target = Target::from_hbase_site(&xml).map_err(|error| error.with_context(path))?;
    Ok(target.to_string())
}

/// Returns the address of the server that holds a directory. If it is starting, prints that and
/// waits for it.
///
/// # Errors
/// `InUse` if the server does not serve in time.
pub(super) fn server_of(data: &Path) -> Result<Option<String>> {
    let started = Instant::now();
    let mut is_announced = false;
    while let Some(holder) = Holder::of(data)? {
        // The text about a holder that changes is empty for a moment.
        if !holder.is_starting && holder.pid.is_some() {
            return Ok(holder.address);
        }
        if started.elapsed() > START_WAIT {
            let data = data.display();
            let message = format!("data directory {data} is held by {holder}; try again later");
            return Err(Error::new(ErrorKind::InUse, message));
        }
        if holder.is_starting && !is_announced {
            let data = data.display();
            report(format_args!("waiting: data directory {data} is held by {holder}"));
            is_announced = true;
        }
        thread::sleep(LOOK);
    }
    Ok(None)
}

/// Opens a database that is there: a data directory is not made.
pub(super) async fn open_existing(url: &str) -> Result<Database> {
    let builder = Database::builder(url);
    match directory_of(url) {
        Some(_) => builder.only_existing().open().await,
        None => builder.open().await,
    }
}

/// Returns the data directory in a URL, unless it is a server's.
pub(super) fn directory_of(url: &str) -> Option<&Path> {
    let path = url.strip_prefix("file://").or_else(|| url.strip_prefix("file:"));
    path.or_else(|| (!url.contains("://")).then_some(url)).map(Path::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_without_a_holder_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let url = |connect| database_url(dir.path(), connect).unwrap();
        assert_eq!(url(None), format!("file:{}", dir.path().display()));
        assert_eq!(url(Some("hbase://a:1")), "hbase://a:1");
    }

    #[test]
    fn a_file_with_settings_of_hbase_names_a_cluster() {
        let dir = tempfile::tempdir().unwrap();
        let site = dir.path().join("hbase-site.xml");
        let site = site.to_str().unwrap();
        assert_eq!(database_url(dir.path(), Some(site)).unwrap_err().kind(), ErrorKind::Io);
        let property = "<property><name>hbase.zookeeper.quorum</name><value>zk1</value></property>";
        std::fs::write(site, format!("<configuration>{property}</configuration>")).unwrap();
        assert_eq!(database_url(dir.path(), Some(site)).unwrap(), "hbase+zk://zk1:2181/hbase");
        std::fs::write(site, "zk1").unwrap();
        let error = database_url(dir.path(), Some(site)).unwrap_err();
        assert!(error.message().contains(site), "{error}");
    }
}
