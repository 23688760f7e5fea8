//! Opens connections, and has servers announce the cluster id before a user is proved.

use bytes::BytesMut;
use rowhouse_format::proto;
use rowhouse_format::rpc::{FrameDecoder, Preamble, Response};
use rowhouse_model::{Error, ErrorKind, Result};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::{Address, dial};
use crate::transport::{Reader, Transport, Writer};
use crate::{Place, Settings, Target, TlsSettings};

/// How servers before HBase 2.6 answer the preamble of the registry.
const UNKNOWN_PREAMBLE: &str = "Expected HEADER=";

/// Connects, with TLS where the transport has it.
pub(super) async fn open(
    address: &Address,
    settings: &Settings,
    transport: &Transport,
) -> Result<(Reader, Writer)> {
    let connecting = async {
        let socket = dial(address).await?;
        // Requests are written in one piece; Nagle's algorithm would only delay them.
        socket.set_nodelay(true)?;
        transport.secure(socket, &address.host).await
    };
    let stream = timeout(settings.connect_timeout, connecting).await;
    let stream = stream.map_err(|_| late(address, settings))?;
    let stream = stream.map_err(|error| failed(address, &error.to_string()).with_source(error))?;
    Ok(stream.into_split())
}

/// Returns the cluster id that a server announces to everybody, with the preamble that HBase 2.6
/// has for it. Tokens are selected by it.
///
/// # Errors
/// `Connection`; `Unsupported` if the server announces none.
pub(super) async fn announced_cluster_id(
    address: &Address,
    settings: &Settings,
    transport: &Transport,
) -> Result<String> {
    let (mut reader, mut writer) = open(address, settings, transport).await?;
    let exchange = async {
        writer.write_all(&Preamble::Registry.to_bytes()).await?;
        writer.flush().await?;
        let mut input = BytesMut::new();
        loop {
            match FrameDecoder::default().next(&mut input) {
                Ok(None) => {}
                frame => return Ok(frame.transpose()),
            }
            if reader.read_buf(&mut input).await? == 0 {
                return Ok(None);
            }
        }
    };
    let answered = timeout(settings.connect_timeout, exchange).await;
    let answered: std::io::Result<_> = answered.map_err(|_| late(address, settings))?;
    let frame = answered.map_err(|error| failed(address, &error.to_string()).with_source(error))?;
    let frame = frame.ok_or_else(|| failed(address, "closed by the server"))??;
    let body = Response::decode(frame)?.outcome.map_err(|exception| {
        if !exception.message.starts_with(UNKNOWN_PREAMBLE) {
            return exception.into_error();
        }
        Error::unsupported(format!(
            "the server does not announce the cluster id, by which a token is selected; connect by \
             ZooKeeper, with hbase+zk://: address={address}, answer={}",
            exception.message
        ))
    })?;
    Ok(body.message::<proto::GetConnectionRegistryResponse>()?.cluster_id)
}

impl TlsSettings {
    /// Connects with TLS to any port, such as the one for web pages.
    ///
    /// # Errors
    /// As [`Client::connect`](crate::Client::connect).
    pub async fn connect(
        &self,
        host: &str,
        port: u16,
    ) -> Result<impl AsyncRead + AsyncWrite + Send + Unpin + use<>> {
        let address = Address { host: host.to_owned(), port };
        let place = Place::Servers(Vec::new());
        let target = Target { place, tls: Some(self.clone()), token: None };
        let transport = Transport::new(&target)?;
        let (reader, writer) = open(&address, &Settings::default(), &transport).await?;
        Ok(tokio::io::join(reader, writer))
    }
}

/// Makes the error for a server that was too slow.
pub(super) fn late(address: &Address, settings: &Settings) -> Error {
    failed(address, &format!("no response in {:?}", settings.connect_timeout))
}

fn failed(address: &Address, why: &str) -> Error {
    Error::new(ErrorKind::Connection, format!("cannot connect: {why}, address={address}"))
}
