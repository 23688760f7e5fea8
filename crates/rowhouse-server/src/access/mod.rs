//! Access to the ports: TLS, and plain connections beside it.
//!
//! [`tls`] holds the certificates; [`stream`] is a connection of either kind; [`plain`] decides
//! about connections without TLS, [`exposure`] about ports that others can reach.

mod exposure;
#[cfg(feature = "tls")]
mod plain;
mod stream;
#[cfg(feature = "tls")]
mod tls;

use std::io::Result as IoResult;
#[cfg(feature = "tls")]
use std::io::{Error as IoError, ErrorKind};
use std::net::SocketAddr;

use rowhouse_model::{Error, Result};
use tokio::net::TcpStream;
#[cfg(feature = "tls")]
use tokio::time::{error::Elapsed, timeout};

pub(crate) use self::exposure::refuse_exposed;
pub(crate) use self::stream::Stream;
#[cfg(feature = "tls")]
use crate::limits::TLS_HANDSHAKE_WAIT;
use crate::{Options, Plain};

/// How every TLS connection begins: with a record for the handshake. No plain request to the RPC or
/// web port begins so.
#[cfg(feature = "tls")]
const TLS_RECORD: u8 = 0x16;

/// The ports' protection.
#[derive(Default)]
pub(crate) struct Access {
    #[cfg(feature = "tls")]
    tls: Option<tls::Tls>,
    plain: Option<Plain>,
}

/// A port's protocol, inside TLS or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Rpc,
    #[cfg(feature = "web")]
    Http,
}

/// A connection, and the reason why a plain one is to be refused.
pub(crate) struct Opened {
    pub(crate) stream: Stream,
    pub(crate) refusal: Option<&'static str>,
}

impl Access {
    /// Reads the certificates.
    ///
    /// # Errors
    /// `InvalidRequest` for files that hold no certificates or keys in PEM, or that do not belong
    /// together, and if neither TLS nor plain connections are accepted; `Io` for unreadable ones;
    /// `Unsupported` without the feature `tls`.
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let Some(files) = &options.tls else {
            if options.plain == Some(Plain::Refuse) {
                return Err(Error::invalid(
                    "plain connections are refused, and there is no certificate for TLS",
                ));
            }
            return Ok(Self::default());
        };
        #[cfg(feature = "tls")]
        return Ok(Self { tls: Some(tls::Tls::load(files)?), plain: options.plain });
        #[cfg(not(feature = "tls"))]
        Err(Error::unsupported(format!(
            "this server was built without the feature `tls`: certificate={}",
            files.certificate.display()
        )))
    }

    /// Returns true if connections may be in TLS.
    pub(crate) fn has_tls(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        false
    }

    /// Warns if clients that check the name would refuse the certificate.
    pub(crate) fn check_name(&self, host: &str) {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            tls.check_name(host);
        }
        #[cfg(not(feature = "tls"))]
        let _ = host;
    }

    /// Reads the certificates again; with `only_changed`, if the files have changed since they were
    /// read. Where they are wrong the earlier ones stay, and the log says why. Warns as
    /// [`Access::check_name`] does.
    pub(crate) fn reload(&self, only_changed: bool, host: &str) {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            tls.reload(only_changed, host);
        }
        #[cfg(not(feature = "tls"))]
        let _ = (only_changed, host);
    }

    /// Waits for a connection's first byte, by which TLS is recognized, and for the TLS handshake,
    /// each within a limit on the time. Without TLS it returns at once.
    pub(crate) async fn open(
        &self,
        socket: TcpStream,
        peer: SocketAddr,
        protocol: Protocol,
    ) -> IoResult<Opened> {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            let mut first = [0];
            let count = timeout(TLS_HANDSHAKE_WAIT, socket.peek(&mut first)).await;
            let count = count.map_err(late("the client sent nothing in time"))??;
            if count > 0 && first[0] == TLS_RECORD {
                let stream = tls.accept(socket, protocol).await?;
                return Ok(Opened { stream, refusal: None });
            }
            let refusal = plain::refusal(self.plain, peer.ip());
            return Ok(Opened { stream: Stream::Plain(socket), refusal });
        }
        let _ = (peer, protocol, self.plain);
        Ok(Opened { stream: Stream::Plain(socket), refusal: None })
    }
}

/// Makes the error for a wait that was too long.
#[cfg(feature = "tls")]
fn late(why: &'static str) -> impl FnOnce(Elapsed) -> IoError {
    move |_| IoError::new(ErrorKind::TimedOut, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_would_accept_no_connection_are_refused() {
        let mut options = Options::new("data");
        assert!(Access::new(&options).is_ok());
        options.plain = Some(Plain::Allow);
        assert!(Access::new(&options).is_ok());
        options.plain = Some(Plain::Refuse);
        let error = Access::new(&options).err().unwrap();
        assert!(error.message().contains("there is no certificate"), "{error}");
    }
}
