//! Access to the ports: TLS, plain connections beside it, and users.
//!
//! [`tls`] holds the certificates; [`stream`] is a connection of either kind; [`plain`] decides
//! about connections without TLS, [`exposure`] about ports that others can reach.
//!
//! [`identity`] decides for which user a connection acts: by [`certificate`], or by a token, which
//! [`login`] checks with the master keys and revocations in [`keys`]. [`user_file`] stores these,
//! and [`users`] holds them while a server runs. [`watched`] reads changed files again.

#[cfg(feature = "tls")]
mod certificate;
mod exposure;
mod failures;
mod identity;
mod keys;
mod login;
#[cfg(feature = "tls")]
mod plain;
mod stream;
#[cfg(feature = "tls")]
mod tls;
mod user_file;
mod users;
mod watched;

use std::io::Result as IoResult;
#[cfg(feature = "tls")]
use std::io::{Error as IoError, ErrorKind};
use std::net::SocketAddr;

use rowhouse_model::{Error, Result};
use tokio::net::TcpStream;
#[cfg(feature = "tls")]
use tokio::time::{error::Elapsed, timeout};

pub(crate) use self::exposure::{refuse_exposed, refuse_exposed_without_users};
pub(crate) use self::identity::{CertificateUser, Claim, Identity, Proof, decide};
pub use self::keys::User;
pub(crate) use self::login::Login;
pub(crate) use self::stream::Stream;
pub use self::user_file::UserFile;
#[cfg(feature = "web")]
pub(crate) use self::user_file::new_secret;
pub(crate) use self::user_file::now_ms;
pub(crate) use self::users::Users;
#[cfg(feature = "tls")]
use crate::CertificateName;
#[cfg(feature = "tls")]
use crate::limits::TLS_HANDSHAKE_WAIT;
use crate::{Options, Plain};

/// How every TLS connection begins: with a record for the handshake. No plain request to the RPC or
/// web port begins so.
#[cfg(feature = "tls")]
const TLS_RECORD: u8 = 0x16;

/// The ports' protection.
pub(crate) struct Access {
    #[cfg(feature = "tls")]
    tls: Option<tls::Tls>,
    plain: Option<Plain>,
    #[cfg(feature = "tls")]
    user_from: CertificateName,
    pub(crate) users: Users,
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
    /// The user of the client certificate, if there is one and it counts; or why it names none.
    pub(crate) certificate: Option<Result<CertificateUser, String>>,
}

impl Opened {
    fn plain(socket: TcpStream, refusal: Option<&'static str>) -> Self {
        Self { stream: Stream::Plain(socket), refusal, certificate: None }
    }
}

/// Returns true if a client may have a token instead of a certificate.
pub(crate) fn are_certificates_optional(options: &Options) -> bool {
    options.users.certificate && options.users.token
}

impl Access {
    /// Reads the certificates.
    ///
    /// # Errors
    /// `InvalidRequest` for files that hold no certificates or keys in PEM, or that do not belong
    /// together, and if neither TLS nor plain connections are accepted; `Io` for unreadable ones;
    /// `Unsupported` without the feature `tls`.
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let users = options.users;
        if !users.is_checked() && !users.claimed {
            return Err(Error::invalid("no proof of users counts: nobody could connect"));
        }
        if users.certificate && options.tls.as_ref().is_none_or(|tls| tls.clients.is_none()) {
            return Err(Error::invalid(
                "certificates count as proof of users, and there are no authorities for them: \
                 --tls-clients CA-FILE",
            ));
        }
        let access = Self {
            #[cfg(feature = "tls")]
            tls: None,
            plain: options.plain,
            #[cfg(feature = "tls")]
            user_from: options.user_from,
            users: Users::new(users),
        };
        let Some(files) = &options.tls else {
            if options.plain == Some(Plain::Refuse) {
                return Err(Error::invalid(
                    "plain connections are refused, and there is no certificate for TLS",
                ));
            }
            return Ok(access);
        };
        #[cfg(feature = "tls")]
        return Ok(Self {
            tls: Some(tls::Tls::load(files, are_certificates_optional(options))?),
            ..access
        });
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
                let certificate = stream.certificate().filter(|_| self.users.sources.certificate);
                let certificate = certificate.map(|der| certificate::user(der, self.user_from));
                return Ok(Opened { stream, refusal: None, certificate });
            }
            return Ok(Opened::plain(socket, plain::refusal(self.plain, peer.ip())));
        }
        let _ = (peer, protocol, self.plain);
        Ok(Opened::plain(socket, None))
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
    use crate::UserSources;

    #[test]
    fn users_that_cannot_be_checked_are_refused() {
        let error = |users: UserSources| {
            let mut options = Options::new("data");
            options.users = users;
            Access::new(&options).err().map(|error| error.message().to_owned())
        };
        let certificates = error("certificate,token".parse().unwrap()).unwrap();
        assert!(certificates.contains("--tls-clients CA-FILE"), "{certificates}");
        assert!(error(UserSources { claimed: false, ..UserSources::default() }).is_some());
        assert_eq!(error("token".parse().unwrap()), None);
    }

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
