//! The server's ports. They are bound before the store is opened: a server that cannot bind them
//! then creates no store.

use std::net::SocketAddr;

use rowhouse_model::{Error, ErrorKind, Result, ServerName};

use crate::limits::REGION_SERVERS_MAX;
use crate::listener::Listener;
use crate::{Options, WebPort};

/// A server's ports.
pub(crate) struct Ports {
    /// The master's, which is also an only region server's port.
    pub(crate) master: RpcPort,
    /// The region servers' ports, if there are several.
    pub(crate) region_servers: Vec<RpcPort>,
    pub(crate) web: Option<Listener>,
    pub(crate) rest: Option<Listener>,
    pub(crate) thrift: Option<Listener>,
}

/// A port for HBase's RPC.
pub(crate) struct RpcPort {
    pub(crate) listener: Listener,
    /// The host and port announced to clients.
    pub(crate) announced: (String, u16),
}

impl RpcPort {
    /// Binds the port, which is number `offset` after the one in `--listen`.
    async fn bind(options: &Options, offset: u32) -> Result<Self> {
        let flag = "--listen";
        let (host, port) = parse(&options.listen, flag)?;
        let advertised = options.advertise.as_deref().map(advertised).transpose()?;
        let port = if port == 0 { 0 } else { after(port, offset, flag)? };
        let listener = bind(&ServerName::format_address(&host, port), flag).await?;
        let addresses = local_addresses(&listener)?;
        let listen = addresses[0];
        let announced = match advertised {
            Some((host, port)) => (host, after(port, offset, "--advertise")?),
            None if listen.ip().is_unspecified() => {
                return Err(Error::invalid(format!(
                    "clients cannot be told to connect to {listen}: give --advertise HOST:PORT"
                )));
            }
            // Clients try all addresses of a name.
            None if addresses.len() > 1 => (host, listen.port()),
            None => (listen.ip().to_string(), listen.port()),
        };
        Ok(Self { listener, announced })
    }
}

/// Returns the port that is `offset` after this one.
fn after(port: u16, offset: u32, flag: &str) -> Result<u16> {
    let after = u16::try_from(u32::from(port) + offset);
    after.map_err(|_| Error::invalid(format!("{flag}: there is no port {offset} after {port}")))
}

impl Ports {
    /// Binds a server's ports.
    ///
    /// # Errors
    /// `InUse` with the address if another process holds a port; `InvalidRequest` for an invalid
    /// address or region server count; `Unsupported` for a port whose feature was not built.
    pub(crate) async fn bind(options: &Options) -> Result<Self> {
        let count = options.region_servers;
        if !(1..=REGION_SERVERS_MAX).contains(&count) {
            return Err(Error::invalid(format!(
                "--region-servers: there can be 1 to {REGION_SERVERS_MAX}: {count}"
            )));
        }
        let master = RpcPort::bind(options, 0).await?;
        let mut region_servers = Vec::new();
        for offset in (1..=count).filter(|_| count > 1) {
            region_servers.push(RpcPort::bind(options, offset).await?);
        }
        let web = bind_web(&options.web).await?;
        let rest = bind_gateway(options.rest.as_deref(), "rest", cfg!(feature = "rest")).await?;
        let thrift =
            bind_gateway(options.thrift.as_deref(), "thrift", cfg!(feature = "thrift")).await?;
        Ok(Self { master, region_servers, web, rest, thrift })
    }
}

/// Binds a gateway's port, if it is on. The flag and the feature have the same name.
async fn bind_gateway(
    address: Option<&str>,
    name: &str,
    has_feature: bool,
) -> Result<Option<Listener>> {
    let Some(address) = address else { return Ok(None) };
    if !has_feature {
        let message = format!("this server was built without the feature `{name}`");
        return Err(Error::unsupported(message));
    }
    bind(address, &format!("--{name}")).await.map(Some)
}

/// Binds the web port, if it is on. The default port may be taken: then there is no web.
async fn bind_web(port: &WebPort) -> Result<Option<Listener>> {
    let has_web = cfg!(feature = "web");
    match port {
        WebPort::Off => Ok(None),
        WebPort::Default if !has_web => Ok(None),
        WebPort::Default => match bind(WebPort::DEFAULT_ADDRESS, "--web").await {
            Ok(listener) => Ok(Some(listener)),
            Err(error) => {
                tracing::warn!(%error, "no web pages are served");
                Ok(None)
            }
        },
        WebPort::At(_) if !has_web => {
            Err(Error::unsupported("this server was built without the feature `web`"))
        }
        WebPort::At(address) => bind(address, "--web").await.map(Some),
    }
}

/// Parses the address announced to clients.
fn advertised(address: &str) -> Result<(String, u16)> {
    let (host, port) = parse(address, "--advertise")?;
    if port == 0 {
        let message = format!("--advertise: clients cannot connect to port 0: {address}");
        return Err(Error::invalid(message));
    }
    Ok((host, port))
}

fn parse(address: &str, flag: &str) -> Result<(String, u16)> {
    ServerName::parse_address(address).map_err(|error| error.with_context(flag))
}

pub(crate) async fn bind(address: &str, flag: &str) -> Result<Listener> {
    parse(address, flag)?;
    Listener::bind(address).await.map_err(|source| {
        if source.kind() == std::io::ErrorKind::AddrInUse {
            let message =
                format!("address {address} is in use already: choose another with {flag}");
            return Error::new(ErrorKind::InUse, message).with_source(source);
        }
        Error::io(format_args!("cannot listen on {address} ({flag})"), source)
    })
}

/// Returns the first address of a port.
pub(crate) fn local_address(listener: &Listener) -> Result<SocketAddr> {
    Ok(local_addresses(listener)?[0])
}

/// Returns the addresses of a port, of which there is at least one.
pub(crate) fn local_addresses(listener: &Listener) -> Result<Vec<SocketAddr>> {
    listener.addresses().map_err(|source| Error::io("cannot read the port", source))
}
