//! A cluster's location.

use std::fmt;
use std::path::PathBuf;

use rowhouse_model::{Error, Result, ServerName};

/// HBase's default port for a region server.
const RPC_PORT: u16 = 16020;
/// ZooKeeper's default port.
const ZOOKEEPER_PORT: u16 = 2181;
/// HBase's default parent znode.
const ZNODE: &str = "/hbase";

/// Where a cluster is located, and how its servers are connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The servers that are contacted to locate the cluster.
    pub place: Place,
    /// TLS to masters and region servers; `None` connects without. ZooKeeper's connections are
    /// always plain.
    pub tls: Option<TlsSettings>,
    /// A file with the token by which the client proves its user, as `rowhouse user token` writes
    /// it. `None` takes the file that the environment names in `HADOOP_TOKEN_FILE_LOCATION`, if
    /// any.
    pub token: Option<PathBuf>,
}

/// The servers that are contacted to locate a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
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

/// TLS to a cluster's servers. All files are PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSettings {
    /// The authorities that are trusted; `None` trusts the authorities that the system trusts.
    pub ca: Option<PathBuf>,
    /// The client's certificate, followed by the intermediate ones, and its private key, which may
    /// be in the same file.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whether a server's certificate must name the host that is connected to. Default `true`.
    pub check_names: bool,
}

impl Default for TlsSettings {
    fn default() -> Self {
        Self { ca: None, identity: None, check_names: true }
    }
}

/// The schemes in URLs: the scheme, whether ZooKeeper locates the cluster, whether TLS is used.
const SCHEMES: [(&str, bool, bool); 4] = [
    ("hbase", false, false),
    ("hbase+tls", false, true),
    ("hbase+zk", true, false),
    ("hbase+zk+tls", true, true),
];

impl Target {
    /// Returns true if a URL with this scheme is a cluster's.
    pub fn is_scheme(scheme: &str) -> bool {
        SCHEMES.iter().any(|(name, ..)| *name == scheme)
    }

    /// Parses `hbase://HOST[:PORT][,HOST[:PORT]…]` or `hbase+zk://HOST[:PORT][,…][/ZNODE]`. An
    /// address in brackets (`[::1]:16020`) may contain colons. The default ports are 16020 and
    /// 2181, the default znode is `/hbase`.
    ///
    /// `hbase+tls://` and `hbase+zk+tls://` connect to the servers with TLS. Such a URL may end in
    /// `?ca=FILE` for the trusted authorities, `certificate=FILE` and `key=FILE` for the client's
    /// own certificate, and `names=unchecked`, all joined by `&`. Every URL may have `token=FILE`.
    ///
    /// ```
    /// use rowhouse_client::Target;
    ///
    /// let target = Target::parse("hbase+zk://zk1,zk2:2182/hbase-unsecure")?;
    /// assert_eq!(target.to_string(), "hbase+zk://zk1:2181,zk2:2182/hbase-unsecure");
    /// let target = Target::parse("hbase+tls://db.example.org?ca=/etc/ssl/ours.pem")?;
    /// assert!(target.tls.is_some());
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for another scheme, no address, an empty host, an invalid port or an
    /// unknown parameter.
    pub fn parse(url: &str) -> Result<Self> {
        let scheme = url.split_once("://").and_then(|(scheme, rest)| {
            let known = SCHEMES.iter().find(|(name, ..)| *name == scheme)?;
            Some((known, rest))
        });
        let Some((&(_, is_zookeeper, has_tls), rest)) = scheme else {
            return Err(Error::invalid(format!(
                "a cluster is hbase://HOST:PORT or hbase+zk://HOST:PORT/ZNODE, or with TLS \
                 hbase+tls://HOST:PORT or hbase+zk+tls://HOST:PORT/ZNODE: url={url}"
            )));
        };
        let (rest, parameters) = match rest.split_once('?') {
            Some((rest, parameters)) => (rest, Some(parameters)),
            None => (rest, None),
        };
        let (tls, token) = parse_parameters(url, parameters, has_tls)?;
        if !is_zookeeper {
            let servers = parse_addresses(url, rest.strip_suffix('/').unwrap_or(rest), RPC_PORT)?;
            return Ok(Self { place: Place::Servers(servers), tls, token });
        }
        let (addresses, znode) = match rest.split_once('/') {
            Some((addresses, znode)) => (addresses, znode.trim_end_matches('/')),
            None => (rest, ""),
        };
        let znode = if znode.is_empty() { ZNODE.to_owned() } else { format!("/{znode}") };
        let servers = parse_addresses(url, addresses, ZOOKEEPER_PORT)?;
        Ok(Self { place: Place::ZooKeeper { servers, znode }, tls, token })
    }
}

/// Parses a URL's parameters: TLS, and the file of a token.
fn parse_parameters(
    url: &str,
    parameters: Option<&str>,
    has_tls: bool,
) -> Result<(Option<TlsSettings>, Option<PathBuf>)> {
    let mut tls = TlsSettings::default();
    let mut certificate = None;
    let mut key = None;
    let mut token = None;
    for parameter in parameters.into_iter().flat_map(|parameters| parameters.split('&')) {
        match parameter.split_once('=') {
            Some(("token", file)) if !file.is_empty() => token = Some(file.into()),
            Some(("ca", file)) if has_tls && !file.is_empty() => tls.ca = Some(file.into()),
            Some(("certificate", file)) if has_tls && !file.is_empty() => {
                certificate = Some(file.into());
            }
            Some(("key", file)) if has_tls && !file.is_empty() => key = Some(file.into()),
            Some(("names", "unchecked")) if has_tls => tls.check_names = false,
            _ => {
                return Err(Error::invalid(format!(
                    "unknown parameter `{parameter}`; there are token=FILE and, in hbase+tls:// \
                     and hbase+zk+tls://, ca=FILE, certificate=FILE, key=FILE and \
                     names=unchecked: url={url}"
                )));
            }
        }
    }
    tls.identity = match (certificate, key) {
        (None, None) => None,
        (Some(certificate), Some(key)) => Some((certificate, key)),
        _ => {
            return Err(Error::invalid(format!(
                "certificate=FILE and key=FILE belong together: url={url}"
            )));
        }
    };
    Ok((has_tls.then_some(tls), token))
}

/// Formats the parameters of a URL.
impl fmt::Display for TlsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ca = self.ca.as_ref().map(|file| format!("ca={}", file.display()));
        let identity = self.identity.as_ref().map(|(certificate, key)| {
            format!("certificate={}&key={}", certificate.display(), key.display())
        });
        let names = (!self.check_names).then(|| "names=unchecked".to_owned());
        let parameters: Vec<_> = [ca, identity, names].into_iter().flatten().collect();
        f.write_str(&parameters.join("&"))
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
        let (scheme, servers, znode) = match &self.place {
            Place::Servers(servers) => ("hbase", servers, ""),
            Place::ZooKeeper { servers, znode } => ("hbase+zk", servers, &**znode),
        };
        let tls = if self.tls.is_some() { "+tls" } else { "" };
        write!(f, "{scheme}{tls}://")?;
        for (at, (host, port)) in servers.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{}", ServerName::format_address(host, *port))?;
        }
        f.write_str(znode)?;
        let tls = self.tls.as_ref().map(TlsSettings::to_string);
        let token = self.token.as_ref().map(|file| format!("token={}", file.display()));
        let parameters = tls.into_iter().chain(token).filter(|parameter| !parameter.is_empty());
        let parameters: Vec<_> = parameters.collect();
        let mark = if parameters.is_empty() { "" } else { "?" };
        write!(f, "{mark}{}", parameters.join("&"))
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
            ("hbase+tls://h", "hbase+tls://h:16020"),
            ("hbase+zk+tls://h", "hbase+zk+tls://h:2181/hbase"),
            ("hbase://h/?token=/t", "hbase://h:16020?token=/t"),
            ("hbase+zk+tls://h?token=/t", "hbase+zk+tls://h:2181/hbase?token=/t"),
            ("hbase+tls://h?token=/t&ca=/c", "hbase+tls://h:16020?ca=/c&token=/t"),
            (
                "hbase+tls://h/?names=unchecked&key=/k&ca=/c d&certificate=/e",
                "hbase+tls://h:16020?ca=/c d&certificate=/e&key=/k&names=unchecked",
            ),
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
            "hbase://h?ca=/c",
            "hbase://h?",
            "hbase://h?token=",
            "hbase+tls://h?",
            "hbase+tls://h?ca=",
            "hbase+tls://h?names=x",
            "hbase+tls://h?certificate=/c",
            "hbase+tls://h?key=/c",
        ] {
            let error = Target::parse(url).unwrap_err();
            assert!(error.message().contains(url), "{error}");
        }
    }
}
