//! Parses a database location, the argument to [`crate::open`].

use std::path::PathBuf;

use rowhouse_client::Target;
use rowhouse_model::{Error, Result};

/// A database location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A data directory on this machine.
    Directory(PathBuf),
    /// A cluster.
    Cluster(Target),
}

impl Location {
    /// Parses a path, `file:PATH`, or a cluster's URL, as [`Target::parse`].
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme);
        match scheme {
            Some(scheme) if Target::is_scheme(scheme) => {
                return Target::parse(url).map(Self::Cluster);
            }
            None | Some("file") => {}
            Some(other) => {
                return Err(Error::invalid(format!(
                    "unknown scheme `{other}`; a database is a path, file:PATH, hbase://HOST:PORT \
                     or hbase+zk://HOST:PORT/ZNODE, with TLS hbase+tls:// or hbase+zk+tls://: \
                     url={url}"
                )));
            }
        }
        let path = url.strip_prefix("file://").or_else(|| url.strip_prefix("file:"));
        if path.is_none() && is_address(url) {
            return Err(Error::invalid(format!(
                "a server is hbase://HOST:PORT or hbase+zk://HOST:PORT; for a directory of that \
                 name write file:PATH: url={url}"
            )));
        }
        match path.unwrap_or(url) {
            "" => Err(Error::invalid("the path of a database must not be empty")),
            path => Ok(Self::Directory(path.into())),
        }
    }
}

/// Returns true if the text looks like `HOST:PORT`, or a list of these.
fn is_address(text: &str) -> bool {
    let is_one = |text: &str| {
        text.rsplit_once(':').is_some_and(|(host, port)| {
            host.len() > 1 && !host.contains('/') && port.parse::<u16>().is_ok()
        })
    };
    text.split(',').all(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_directories() {
        for (url, path) in [
            ("data", "data"),
            ("/var/lib/rowhouse", "/var/lib/rowhouse"),
            ("file:data", "data"),
            ("file:///var/data", "/var/data"),
            (r"C:\data", r"C:\data"),
            ("file:localhost:16020", "localhost:16020"),
            ("./localhost:16020", "./localhost:16020"),
        ] {
            assert_eq!(Location::parse(url).unwrap(), Location::Directory(path.into()), "{url}");
        }
    }

    #[test]
    fn clusters_are_found_by_servers_or_by_zookeeper() {
        for url in ["hbase://a:1,b:2", "hbase+zk://a:2181/hbase-unsecure", "hbase+tls://a:1?ca=/c"]
        {
            let Location::Cluster(target) = Location::parse(url).unwrap() else { panic!("{url}") };
            assert_eq!(target.to_string(), url);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for url in [
            "",
            "file:",
            "localhost:16020",
            "a1:1,b2:2",
            "hbase://",
            "hbase://a,",
            "hbase://a:x",
            "mysql://a",
        ] {
            assert!(Location::parse(url).is_err(), "{url}");
        }
    }
}
