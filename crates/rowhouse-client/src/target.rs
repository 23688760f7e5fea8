//! A cluster's location.

use std::fmt;

use rowhouse_model::{Error, Result};

/// HBase's default port for a region server.
const RPC_PORT: u16 = 16020;
/// ZooKeeper's default port.
const ZOOKEEPER_PORT: u16 = 2181;
/// HBase's default parent znode.
const ZNODE: &str = "/hbase";

/// The servers that are contacted to locate a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The cluster's masters or region servers, as host and port, tried one after the other.
    Servers(Vec<(String, u16)>),
    /// The ZooKeeper ensemble that the cluster registers with.
    ZooKeeper {
        /// ZooKeeper servers, as host and port, tried one after the other.
        servers: Vec<(String, u16)>,
        /// The cluster's parent znode, by default `/hbase`.
        znode: String,
    },
}

impl Target {
    /// Parses `hbase://HOST[:PORT][,HOST[:PORT]…]` or `hbase+zk://HOST[:PORT][,…][/ZNODE]`. An
    /// address in brackets (`[::1]:16020`) may contain colons. The default ports are 16020 and
    /// 2181, the default znode is `/hbase`.
    ///
    /// ```
    /// use rowhouse_client::Target;
    ///
    /// let target = Target::parse("hbase+zk://zk1,zk2:2182/hbase-unsecure")?;
    /// assert_eq!(target.to_string(), "hbase+zk://zk1:2181,zk2:2182/hbase-unsecure");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for another scheme, no address, an empty host or an invalid port.
    pub fn parse(url: &str) -> Result<Self> {
        if let Some(rest) = url.strip_prefix("hbase://") {
            let servers = parse_addresses(url, rest.strip_suffix('/').unwrap_or(rest), RPC_PORT)?;
            return Ok(Self::Servers(servers));
        }
        let Some(rest) = url.strip_prefix("hbase+zk://") else {
            return Err(Error::invalid(format!(
                "a cluster is hbase://HOST:PORT or hbase+zk://HOST:PORT/ZNODE: url={url}"
            )));
        };
        let (addresses, znode) = match rest.split_once('/') {
            Some((addresses, znode)) => (addresses, znode.trim_end_matches('/')),
            None => (rest, ""),
        };
        let znode = if znode.is_empty() { ZNODE.to_owned() } else { format!("/{znode}") };
        let servers = parse_addresses(url, addresses, ZOOKEEPER_PORT)?;
        Ok(Self::ZooKeeper { servers, znode })
    }
}

fn parse_addresses(url: &str, addresses: &str, port: u16) -> Result<Vec<(String, u16)>> {
    addresses.split(',').map(|address| parse_address(url, address, port)).collect()
}

fn parse_address(url: &str, address: &str, default_port: u16) -> Result<(String, u16)> {
    let (host, port) = match address.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None => match address.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (address, None),
        },
    };
    if host.is_empty() {
        return Err(Error::invalid(format!(
            "an address has no host: address={address}, url={url}"
        )));
    }
    let port = match port {
        None => default_port,
        Some(port) => port.parse().ok().filter(|&port| port != 0).ok_or_else(|| {
            Error::invalid(format!("port must be 1 to 65535: address={address}, url={url}"))
        })?,
    };
    Ok((host.to_owned(), port))
}

/// Formats the target in the form that [`Target::parse`] accepts.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, servers, znode) = match self {
            Self::Servers(servers) => ("hbase", servers, ""),
            Self::ZooKeeper { servers, znode } => ("hbase+zk", servers, &**znode),
        };
        write!(f, "{scheme}://")?;
        for (at, (host, port)) in servers.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            if host.contains(':') {
                write!(f, "{comma}[{host}]:{port}")?;
            } else {
                write!(f, "{comma}{host}:{port}")?;
            }
        }
        f.write_str(znode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_with_their_defaults() {
        for (url, canonical) in [
            ("hbase://h", "hbase://h:16020"),
            ("hbase://h:1,k/", "hbase://h:1,k:16020"),
            ("hbase://[::1]:7,[fe80::1]", "hbase://[::1]:7,[fe80::1]:16020"),
            ("hbase+zk://h", "hbase+zk://h:2181/hbase"),
            ("hbase+zk://h:1,k:2/", "hbase+zk://h:1,k:2/hbase"),
            ("hbase+zk://h/a/b", "hbase+zk://h:2181/a/b"),
        ] {
            let target = Target::parse(url).unwrap();
            assert_eq!(target.to_string(), canonical);
            assert_eq!(Target::parse(canonical).unwrap(), target);
        }
    }

    #[test]
    fn url_without_a_cluster_is_refused() {
        for url in [
            "",
            "h:1",
            "http://h",
            "hbase://",
            "hbase://h,",
            "hbase://:1",
            "hbase://h:0",
            "hbase://h:x",
            "hbase://h:65536",
            "hbase+zk:///hbase",
        ] {
            let error = Target::parse(url).unwrap_err();
            assert!(error.message().contains(url), "{error}");
        }
    }
}
