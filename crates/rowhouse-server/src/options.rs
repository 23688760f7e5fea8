//! A server's options.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use rowhouse_model::{Error, Result};
use rowhouse_store::Settings;

use crate::simulator::DesignSimulator;

/// A server's options. Addresses are `HOST:PORT`; port 0 takes a free one.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data directory.
    pub data: PathBuf,
    /// The address for HBase's RPC port. Default `127.0.0.1:16020`. With several region servers it
    /// is the master's.
    pub listen: String,
    /// How many region servers share the store: a model of a cluster in one process. One, the
    /// default, has the master's address. Several have separate addresses: the ports after the one
    /// in `listen`, or free ones if that is 0. At most 64.
    pub region_servers: u32,
    /// The most operations per second on a region server: gets, mutations, scan calls, and each
    /// action in a multi. Further ones wait. `None`, the default, sets no limit.
    pub ops_per_server: Option<u64>,
    /// The most request and answer bytes per second on a region server. Further calls wait. `None`,
    /// the default, sets no limit.
    pub bytes_per_server: Option<u64>,
    /// The ZooKeeper port's address; `None` for none. Default `127.0.0.1:2181`.
    pub zookeeper: Option<String>,
    /// The address announced to clients, if it differs from the listening address: with NAT, in a
    /// container, or when listening on every interface. Several region servers are announced with
    /// the ports after it.
    pub advertise: Option<String>,
    /// The directory that backups requested by clients are written into; `None` refuses them.
    pub backups: Option<PathBuf>,
    /// The directory below which clients may load HFiles from, beside the staging directories that
    /// they are given. `None`, the default, permits all paths if users are not checked, and the
    /// staging directories alone if they are.
    pub bulk_load_directory: Option<PathBuf>,
    /// Whether clients may stop the server with HBase's `Admin.shutdown`, `stopMaster` and, for the
    /// last region server, `stopRegionServer`. Default `false`.
    pub allow_shutdown: bool,
    /// Whether clients may drop all tables at once, save them as a named state and restore that,
    /// with rowhouse's own calls: for tests. Default `false`.
    pub allow_reset: bool,
    /// Whether clients may make calls fail by rules, with rowhouse's own calls: for tests. Default
    /// `false`.
    pub allow_faults: bool,
    /// Calls that take longer go to the slow log; HBase's `hbase.ipc.warn.response.time`. Default
    /// 10 seconds.
    pub slow_call: Duration,
    /// Calls with larger answers go to the large log; HBase's `hbase.ipc.warn.response.size`.
    /// Default 100 MiB.
    pub large_answer_bytes: u64,
    /// Bytes of the requests, calls and answers that the server holds for all clients; further
    /// calls wait. Requests and single rows above it are served alone. Default 512 MiB.
    pub call_memory_bytes: u64,
    /// The same for one connection. Default 64 MiB.
    pub connection_memory_bytes: u64,
    /// Where web pages, metrics and health are served over HTTP; all but health for users alone if
    /// these are checked ([`Options::users`]). Default [`WebPort::Off`].
    pub web: WebPort,
    /// Where HBase's REST interface is served, with the feature `rest`; `None`, the default, for
    /// nowhere. HBase's own port is [`Options::REST_ADDRESS`].
    pub rest: Option<String>,
    /// Where HBase's Thrift interface is served, with the feature `thrift`; `None`, the default,
    /// for nowhere. HBase's own port is [`Options::THRIFT_ADDRESS`].
    pub thrift: Option<String>,
    /// The user for whom Thrift clients act: their protocol has no users. `None`, the default, is
    /// the user `thrift`, and is an error if users are checked.
    pub thrift_user: Option<String>,
    /// The certificate for TLS on the RPC, web, REST and Thrift ports, with the feature `tls`.
    /// `None`, the default, accepts plain connections alone. The ZooKeeper port is always plain.
    pub tls: Option<TlsFiles>,
    /// Whether connections without TLS are accepted on a server with a certificate. `None`, the
    /// default, accepts them over loopback. [`Plain::Refuse`] without a certificate is an error.
    pub plain: Option<Plain>,
    /// The proofs of users that count. Default [`UserSources::claimed`] alone: users are not
    /// checked.
    pub users: UserSources,
    /// The name in a client certificate that is the user, with [`UserSources::certificate`].
    pub user_from: CertificateName,
    /// Permits ports off loopback without TLS and a proof of the user: a certificate
    /// ([`TlsFiles::clients`]) or a token. Default `false`: the server does not start with such a
    /// port.
    pub allow_unauthenticated: bool,
    /// What simulates designs for the web pages. `None`, the default, leaves them with estimates.
    pub simulator: Option<Arc<dyn DesignSimulator>>,
    /// The store's sizes and limits.
    pub settings: Settings,
}

impl Options {
    /// The port of HBase's REST server, on loopback.
    pub const REST_ADDRESS: &str = "127.0.0.1:8080";
    /// The port of HBase's Thrift server, on loopback.
    pub const THRIFT_ADDRESS: &str = "127.0.0.1:9090";

    /// Returns the default options for a data directory.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            listen: "127.0.0.1:16020".into(),
            region_servers: 1,
            ops_per_server: None,
            bytes_per_server: None,
            zookeeper: Some("127.0.0.1:2181".into()),
            advertise: None,
            backups: None,
            bulk_load_directory: None,
            allow_shutdown: false,
            allow_reset: false,
            allow_faults: false,
            slow_call: Duration::from_secs(10),
            large_answer_bytes: 100 << 20,
            call_memory_bytes: 512 << 20,
            connection_memory_bytes: 64 << 20,
            web: WebPort::Off,
            rest: None,
            thrift: None,
            thrift_user: None,
            tls: None,
            plain: None,
            users: UserSources::default(),
            user_from: CertificateName::default(),
            allow_unauthenticated: false,
            simulator: None,
            settings: Settings::default(),
        }
    }
}

/// A server's TLS files, all in PEM. They are read again when they change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate, followed by the intermediate ones.
    pub certificate: PathBuf,
    /// The certificate's private key, without a passphrase.
    pub key: PathBuf,
    /// The authorities whose certificates clients must have, or may have if both certificates and
    /// tokens count as proof of users; `None` requires no certificate.
    pub clients: Option<PathBuf>,
}

/// Whether a server with a certificate accepts connections without TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// From everywhere: HBase 2.5 and clients in other languages have no TLS. Their data can be
    /// read on the network.
    Allow,
    /// From nowhere, not even over loopback.
    Refuse,
}

/// Where web pages, metrics and health are served over HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WebPort {
    /// Nowhere.
    #[default]
    Off,
    /// At [`WebPort::DEFAULT_ADDRESS`]. If another process has this port, the log says so and
    /// nothing is served; nor is it without the feature `web`.
    Default,
    /// At this address, `HOST:PORT`; port 0 takes a free one. The server does not start if it
    /// cannot listen there, nor without the feature `web`.
    At(String),
}

impl WebPort {
    /// The address for [`WebPort::Default`]: the same as for the master's pages in HBase, on
    /// loopback.
    pub const DEFAULT_ADDRESS: &str = "127.0.0.1:16010";
}

/// The proofs of users that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserSources {
    /// The client certificate's name ([`CertificateName`]).
    pub certificate: bool,
    /// Tokens: `rowhouse user token`.
    pub token: bool,
    /// The name in the connection header, unchecked.
    pub claimed: bool,
}

impl Default for UserSources {
    fn default() -> Self {
        Self { certificate: false, token: false, claimed: true }
    }
}

impl UserSources {
    /// Returns true if users are checked.
    pub(crate) fn is_checked(self) -> bool {
        self.certificate || self.token
    }
}

/// As [`UserSources::from_str`] parses it.
impl std::fmt::Display for UserSources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names =
            [("certificate", self.certificate), ("token", self.token), ("claimed", self.claimed)];
        let names: Vec<_> = names.into_iter().filter(|(_, counts)| *counts).collect();
        f.write_str(&names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(","))
    }
}

/// Parses names joined by commas: `certificate,token`.
impl FromStr for UserSources {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut sources = Self { certificate: false, token: false, claimed: false };
        for name in text.split(',') {
            match name.trim() {
                "certificate" => sources.certificate = true,
                "token" => sources.token = true,
                "claimed" => sources.claimed = true,
                other => {
                    return Err(Error::invalid(format!(
                        "unknown proof of users `{other}`; there are certificate, token and claimed"
                    )));
                }
            }
        }
        Ok(sources)
    }
}

/// The part of a client certificate that is the user name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CertificateName {
    /// The subject's common name.
    #[default]
    CommonName,
    /// The subject alternative name that is a DNS name.
    Dns,
    /// The subject alternative name that is a URI, as SPIFFE has it.
    Uri,
    /// The subject alternative name that is an email address.
    Email,
}

impl CertificateName {
    /// The names on the command line.
    const NAMES: [(&str, Self); 4] = [
        ("cn", Self::CommonName),
        ("san-dns", Self::Dns),
        ("san-uri", Self::Uri),
        ("san-email", Self::Email),
    ];
}

impl std::fmt::Display for CertificateName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = Self::NAMES.iter().find(|(_, name)| name == self);
        f.write_str(name.map_or("", |(text, _)| text))
    }
}

impl FromStr for CertificateName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let known = Self::NAMES.iter().find(|(name, _)| *name == text);
        known.map(|(_, name)| *name).ok_or_else(|| {
            Error::invalid(format!(
                "unknown name in a certificate `{text}`; there are cn, san-dns, san-uri and \
                 san-email"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str) -> UserSources {
        text.parse().unwrap()
    }

    #[test]
    fn sources_and_names_are_parsed() {
        assert_eq!(sources("claimed"), UserSources::default());
        let both = UserSources { certificate: true, token: true, claimed: false };
        assert_eq!(sources("token, certificate"), both);
        assert_eq!(both.to_string(), "certificate,token");
        for text in ["", "certificate,", "tokens"] {
            assert!(text.parse::<UserSources>().is_err(), "{text}");
        }
        for (text, name) in CertificateName::NAMES {
            assert_eq!(text.parse::<CertificateName>().unwrap(), name);
            assert_eq!(name.to_string(), text);
        }
        assert!("san".parse::<CertificateName>().is_err());
    }
}
