//! How servers are connected to: plainly or with TLS, and with a token or not.

mod login;
#[cfg(feature = "tls")]
#[cfg(test)]
mod tests;
#[cfg(feature = "tls")]
mod tls;
#[cfg(test)]
mod token_tests;

use std::io::Result as IoResult;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rowhouse_format::token::Token;
use rowhouse_model::Result;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

pub(crate) use self::login::{Tokens, login};
use crate::Target;

/// How servers are connected to. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Transport {
    #[cfg(feature = "tls")]
    tls: Option<tokio_rustls::TlsConnector>,
    token: Option<Arc<Token>>,
}

impl Transport {
    /// Reads the files of TLS. There is no token yet.
    ///
    /// # Errors
    /// `InvalidRequest` for files that are not PEM or do not belong together; `Io` for unreadable
    /// ones; `Unsupported` without the feature `tls`.
    pub(crate) fn new(target: &Target) -> Result<Self> {
        let token = None;
        let Some(tls) = &target.tls else {
            return Ok(Self {
                #[cfg(feature = "tls")]
                tls: None,
                token,
            });
        };
        #[cfg(feature = "tls")]
        return Ok(Self { tls: Some(tls::connector(tls)?), token });
        #[cfg(not(feature = "tls"))]
        Err(rowhouse_model::Error::unsupported(format!(
            "this client was built without the feature `tls`: hbase+tls://…?{tls}"
        )))
    }

    /// Proves the user by a token on each connection.
    pub(crate) fn with_token(mut self, token: Token) -> Self {
        self.token = Some(Arc::new(token));
        self
    }

    /// Returns the token by which clients prove their user.
    pub(crate) fn token(&self) -> Option<&Token> {
        self.token.as_deref()
    }

    /// Completes the TLS handshake, if there is one.
    pub(crate) async fn secure(&self, socket: TcpStream, host: &str) -> IoResult<Stream> {
        #[cfg(feature = "tls")]
        if let Some(connector) = &self.tls {
            let stream = tls::secure(connector, socket, host).await?;
            return Ok(Stream::Tls(Box::new(stream)));
        }
        let _ = host;
        Ok(Stream::Plain(socket))
    }
}

/// A connection to a server.
pub(crate) enum Stream {
    Plain(TcpStream),
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::client::TlsStream<TcpStream>>),
}

impl Stream {
    /// Splits the connection, so that one task reads and writes at the same time.
    pub(crate) fn into_split(self) -> (Reader, Writer) {
        match self {
            Self::Plain(socket) => {
                let (reader, writer) = socket.into_split();
                (Reader::Plain(reader), Writer::Plain(writer))
            }
            #[cfg(feature = "tls")]
            Self::Tls(stream) => {
                let (reader, writer) = tokio::io::split(stream);
                (Reader::Tls(reader), Writer::Tls(writer))
            }
        }
    }
}

#[cfg(feature = "tls")]
type TlsHalf = Box<tokio_rustls::client::TlsStream<TcpStream>>;

/// A connection's reading half.
pub(crate) enum Reader {
    Plain(OwnedReadHalf),
    #[cfg(feature = "tls")]
    Tls(tokio::io::ReadHalf<TlsHalf>),
}

/// A connection's writing half.
pub(crate) enum Writer {
    Plain(OwnedWriteHalf),
    #[cfg(feature = "tls")]
    Tls(tokio::io::WriteHalf<TlsHalf>),
}

impl Writer {
    /// Returns true if written bytes may have to be flushed.
    pub(crate) fn may_hold_back(&self) -> bool {
        !matches!(self, Self::Plain(_))
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<IoResult<()>> {
        match self.get_mut() {
            Self::Plain(reader) => Pin::new(reader).poll_read(context, into),
            #[cfg(feature = "tls")]
            Self::Tls(reader) => Pin::new(reader).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Writer {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<IoResult<usize>> {
        match self.get_mut() {
            Self::Plain(writer) => Pin::new(writer).poll_write(context, bytes),
            #[cfg(feature = "tls")]
            Self::Tls(writer) => Pin::new(writer).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<IoResult<()>> {
        match self.get_mut() {
            Self::Plain(writer) => Pin::new(writer).poll_flush(context),
            #[cfg(feature = "tls")]
            Self::Tls(writer) => Pin::new(writer).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<IoResult<()>> {
        match self.get_mut() {
            Self::Plain(writer) => Pin::new(writer).poll_shutdown(context),
            #[cfg(feature = "tls")]
            Self::Tls(writer) => Pin::new(writer).poll_shutdown(context),
        }
    }
}
