//! Where a database is: what the argument of [`crate::open`] says.

use std::path::PathBuf;

use rowhouse_model::{Error, Result, ServerName};

/// The default port of a region server, used where an address names none.
const RPC_PORT: u16 = 16020;
/// The default port of ZooKeeper.
const ZOOKEEPER_PORT: u16 = 2181;
/// The znode under which HBase keeps its own, where a URL names none.
const ZNODE: &str = "/hbase";

/// A database's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A data directory of this machine.
    Directory(PathBuf),
    /// Servers that are asked for the rest of the cluster.
    Servers(Vec<(String, u16)>),
    /// A ZooKeeper ensemble that knows the cluster.
    ZooKeeper {
        /// Its servers.
        servers: Vec<(String, u16)>,
        /// The znode under which the cluster's stand.
        znode: String,
    },
}

impl Location {
    /// Reads a path, `file:PATH`, `hbase://HOST[:PORT],…` or `hbase+zk://HOST[:PORT],…[/ZNODE]`.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        if let Some(addresses) = url.strip_prefix("hbase://") {
            let addresses = addresses.strip_suffix('/').unwrap_or(addresses);
            return Ok(Self::Servers(parse_addresses(url, addresses, RPC_PORT)?));
        }
        if let Some(rest) = url.strip_prefix("hbase+zk://") {
            let (addresses, znode) = match rest.find('/') {
                Some(at) if at + 1 < rest.len() => rest.split_at(at),
                _ => (rest.strip_suffix('/').unwrap_or(rest), ZNODE),
            };
            let servers = parse_addresses(url, addresses, ZOOKEEPER_PORT)?;
            return Ok(Self::ZooKeeper { servers, znode: znode.to_owned() });
        }
        if let Some((scheme, _)) = url.split_once("://").filter(|(scheme, _)| *scheme != "file") {
            return Err(Error::invalid(format!(
                "unknown scheme `{scheme}`; a database is a path, file:PATH, hbase://HOST:PORT or \
                 hbase+zk://HOST:PORT/ZNODE: url={url}"
            )));
        }
        let path = url.strip_prefix("file://").or_else(|| url.strip_prefix("file:"));
        match path.unwrap_or(url) {
            "" => Err(Error::invalid("the path of a database must not be empty")),
            path => Ok(Self::Directory(path.into())),
        }
    }
}

fn parse_addresses(url: &str, addresses: &str, port: u16) -> Result<Vec<(String, u16)>> {
    let parse = |address: &str| match address.contains(':') {
        true => ServerName::parse_address(address),
        false if address.is_empty() => {
            Err(Error::invalid(format!("an address is empty, wanted HOST:PORT: url={url}")))
        }
        false => Ok((address.to_owned(), port)),
    };
    addresses.split(',').map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, port: u16) -> (String, u16) {
        (name.to_owned(), port)
    }

    #[test]
    fn paths_are_directories() {
        for (url, path) in [
            ("data", "data"),
            ("/var/lib/rowhouse", "/var/lib/rowhouse"),
            ("file:data", "data"),
            ("file:///var/data", "/var/data"),
            (r"C:\data", r"C:\data"),
        ] {
            assert_eq!(Location::parse(url).unwrap(), Location::Directory(path.into()), "{url}");
        }
    }

    #[test]
    fn clusters_are_found_by_servers_or_by_zookeeper() {
        assert_eq!(
            Location::parse("hbase://a:1,b").unwrap(),
            Location::Servers(vec![host("a", 1), host("b", 16020)])
        );
        let zookeeper = |url, znode: &str| {
            let servers = vec![host("a", 2181)];
            let wanted = Location::ZooKeeper { servers, znode: znode.to_owned() };
            assert_eq!(Location::parse(url).unwrap(), wanted, "{url}");
        };
        zookeeper("hbase+zk://a", "/hbase");
        zookeeper("hbase+zk://a/", "/hbase");
        zookeeper("hbase+zk://a:2181/hbase-unsecure", "/hbase-unsecure");
    }

    #[test]
    fn what_is_none_is_refused() {
        for url in ["", "file:", "hbase://", "hbase://a,", "hbase://a:x", "mysql://a"] {
            assert!(Location::parse(url).is_err(), "{url}");
        }
    }
}
