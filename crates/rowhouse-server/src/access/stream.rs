//! A client's byte stream, plain or in TLS.

#[cfg(feature = "tls")]
use std::io::ErrorKind;
use std::io::Result;
use std::pin::Pin;
#[cfg(feature = "tls")]
use std::task::Waker;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

#[cfg(all(feature = "tls", feature = "web"))]
use super::tls::HTTP_2;

/// A client's byte stream.
pub(crate) enum Stream {
    Plain(TcpStream),
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::server::TlsStream<TcpStream>>),
}

impl Stream {
    /// Returns the socket, which has the encrypted bytes with TLS.
    pub(crate) fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.get_ref().0,
        }
    }

    /// Returns the client's certificate in DER, which was verified.
    #[cfg(feature = "tls")]
    pub(crate) fn certificate(&self) -> Option<&[u8]> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(stream) => {
                stream.get_ref().1.peer_certificates()?.first().map(|certificate| &**certificate)
            }
        }
    }

    /// Returns true if the client has chosen HTTP/2 in the TLS handshake; `None` without TLS.
    #[cfg(feature = "web")]
    pub(crate) fn is_http_2(&self) -> Option<bool> {
        match self {
            Self::Plain(_) => None,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => Some(stream.get_ref().1.alpn_protocol() == Some(HTTP_2)),
        }
    }

    /// Writes as many bytes as can be written now; with TLS some may remain to be flushed.
    ///
    /// # Errors
    /// `WouldBlock` until [`Stream::writable`]; errors of the socket.
    pub(crate) fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Self::Plain(socket) => socket.try_write(bytes),
            // Whoever waits does so by `writable`.
            #[cfg(feature = "tls")]
            Self::Tls(stream) => {
                let mut context = Context::from_waker(Waker::noop());
                at_once(Pin::new(&mut **stream).poll_write(&mut context, bytes))
            }
        }
    }

    /// Writes what TLS holds back of earlier writes.
    ///
    /// # Errors
    /// As [`Stream::try_write`].
    pub(crate) fn try_flush(&mut self) -> Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => {
                let mut context = Context::from_waker(Waker::noop());
                at_once(Pin::new(&mut **stream).poll_flush(&mut context))
            }
        }
    }

    /// Waits until the client takes more bytes.
    pub(crate) async fn writable(&self) -> Result<()> {
        self.socket().writable().await
    }

    /// Returns true if the client has closed the connection, whatever it has sent before.
    pub(crate) async fn is_read_closed(&self) -> bool {
        let ready = self.socket().ready(Interest::READABLE);
        let ready = tokio::time::timeout(std::time::Duration::ZERO, ready).await;
        ready.is_ok_and(|ready| ready.is_ok_and(|ready| ready.is_read_closed()))
    }
}

#[cfg(feature = "tls")]
fn at_once<T>(polled: Poll<Result<T>>) -> Result<T> {
    match polled {
        Poll::Ready(done) => done,
        Poll::Pending => Err(ErrorKind::WouldBlock.into()),
    }
}

/// Calls a method of the stream that a variant holds.
macro_rules! each {
    ($stream:expr, $inner:ident => $call:expr) => {
        match $stream {
            Stream::Plain($inner) => $call,
            #[cfg(feature = "tls")]
            Stream::Tls($inner) => $call,
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_read(context, into))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[std::io::IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_write_vectored(context, parts))
    }

    fn is_write_vectored(&self) -> bool {
        each!(self, stream => stream.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        each!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(context))
    }
}
