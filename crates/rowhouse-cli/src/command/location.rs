//! The database that a command works on.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rowhouse::{Database, Error, ErrorKind, Result};
use rowhouse_store::Holder;

use crate::output::report;

/// How long a command waits for a server that is starting. A server reads the log first.
const START_WAIT: Duration = Duration::from_secs(20);
/// Time between two looks at a directory's holder.
const LOOK: Duration = Duration::from_millis(50);

/// Returns the database URL for [`rowhouse::open`]. A directory that a server holds becomes that
/// server's URL; a server that is starting is waited for.
pub(super) fn database_url(data: &Path, connect: Option<&str>) -> Result<String> {
    if let Some(url) = connect {
        return Ok(url.to_owned());
    }
    match server_of(data)? {
        Some(address) => Ok(format!("hbase://{address}")),
        None => Ok(format!("file:{}", data.display())),
    }
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
}
