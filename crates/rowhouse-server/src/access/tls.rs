//! The server's certificates, and the TLS handshake.

use std::fs;
use std::io::{Error as IoError, Result as IoResult};
use std::path::Path;
use std::sync::Arc;

use rowhouse_format::pem;
use rowhouse_model::{Error, Result};
use rustls::client::verify_server_name;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::{NoServerSessionStorage, ParsedCertificate, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::watched::Watched;
use super::{Protocol, Stream, late};
use crate::TlsFiles;
use crate::limits::{TLS_BUFFER_BYTES_MAX, TLS_HANDSHAKE_WAIT};

/// The server's certificates, which are read again when they change.
pub(super) struct Tls {
    files: TlsFiles,
    /// Whether a client may come without a certificate.
    is_optional: bool,
    loaded: Watched<Loaded>,
}

/// The content of the files.
struct Loaded {
    certificate: CertificateDer<'static>,
    rpc: TlsAcceptor,
    #[cfg(feature = "web")]
    http: TlsAcceptor,
}

impl Tls {
    /// Reads certificates and key. With `is_optional` a client may come without a certificate; one
    /// that it has is verified.
    ///
    /// # Errors
    /// `Io` for an unreadable file; `InvalidRequest` for one that is not PEM or holds nothing that
    /// serves, and for a key that does not belong to the certificate.
    pub(super) fn load(files: &TlsFiles, is_optional: bool) -> Result<Self> {
        let paths = [Some(&files.certificate), Some(&files.key), files.clients.as_ref()];
        let paths = paths.into_iter().flatten().cloned().collect();
        let read = || Loaded::read(files, is_optional);
        let loaded = Watched::open("TLS certificates", paths, read)?;
        Ok(Self { files: files.clone(), is_optional, loaded })
    }

    /// As [`Access::reload`](super::Access::reload).
    pub(super) fn reload(&self, only_changed: bool, host: &str) {
        let read = || Loaded::read(&self.files, self.is_optional);
        if self.loaded.reload(only_changed, read) {
            self.check_name(host);
        }
    }

    /// As [`Access::check_name`](super::Access::check_name).
    pub(super) fn check_name(&self, host: &str) {
        let loaded = self.loaded.content();
        let named = ServerName::try_from(host).ok().zip(
            // A certificate that cannot be parsed names nobody.
            ParsedCertificate::try_from(&loaded.certificate).ok(),
        );
        if named.is_none_or(|(name, parsed)| verify_server_name(&parsed, &name).is_err()) {
            tracing::warn!(
                host,
                "the TLS certificate does not name the host announced to clients: they refuse it \
                 unless they do not check names; add a subject alternative name, or see --advertise"
            );
        }
    }

    /// Completes the handshake, within a limit on the time.
    pub(super) async fn accept(&self, socket: TcpStream, protocol: Protocol) -> IoResult<Stream> {
        let loaded = self.loaded.content();
        let acceptor = match protocol {
            Protocol::Rpc => &loaded.rpc,
            #[cfg(feature = "web")]
            Protocol::Http => &loaded.http,
        };
        let bounded = |session: &mut rustls::ServerConnection| {
            session.set_buffer_limit(Some(TLS_BUFFER_BYTES_MAX));
        };
        let accepted = acceptor.accept_with(socket, bounded);
        let stream = timeout(TLS_HANDSHAKE_WAIT, accepted).await;
        let stream = stream.map_err(late("the TLS handshake took too long"))?;
        stream.map(|stream| Stream::Tls(Box::new(stream))).map_err(|error| {
            IoError::new(error.kind(), format!("the TLS handshake failed: {error}"))
        })
    }
}

impl Loaded {
    fn read(files: &TlsFiles, is_optional: bool) -> Result<Self> {
        let chain = certificates(&files.certificate, "--tls-certificate")?;
        let certificate = chain[0].clone();
        let key = named("--tls-key", &files.key, pem::private_key)?;
        let provider = Arc::new(default_provider());
        let wrong = |error: rustls::Error| {
            let certificate = files.certificate.display();
            let key = files.key.display();
            Error::invalid(format!(
                "the TLS certificate does not serve: {error}, certificate={certificate}, key={key}"
            ))
        };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(wrong)?;
        let builder = match &files.clients {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let roots = Arc::new(roots(path)?);
                let mut verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                if is_optional {
                    verifier = verifier.allow_unauthenticated();
                }
                let verifier = verifier.build().map_err(|error| {
                    Error::invalid(format!("--tls-clients: {error}, file={}", path.display()))
                })?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let mut rpc = builder.with_single_cert(chain, key).map_err(wrong)?;
        if files.clients.is_some() {
            // A resumed session would keep a certificate whose authority was removed, or that has
            // ended.
            rpc.session_storage = Arc::new(NoServerSessionStorage {});
            rpc.send_tls13_tickets = 0;
        }
        #[cfg(feature = "web")]
        let http = {
            let mut http = rpc.clone();
            http.alpn_protocols = vec![HTTP_2.to_vec(), HTTP_1.to_vec()];
            TlsAcceptor::from(Arc::new(http))
        };
        Ok(Self {
            certificate,
            rpc: TlsAcceptor::from(Arc::new(rpc)),
            #[cfg(feature = "web")]
            http,
        })
    }
}

/// The protocols on the web port, as TLS names them.
#[cfg(feature = "web")]
pub(super) const HTTP_2: &[u8] = b"h2";
#[cfg(feature = "web")]
const HTTP_1: &[u8] = b"http/1.1";

/// Reads the authorities whose certificates clients may have.
fn roots(path: &Path) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path, "--tls-clients")? {
        roots.add(certificate).map_err(|error| {
            Error::invalid(format!("--tls-clients: {error}, file={}", path.display()))
        })?;
    }
    Ok(roots)
}

fn certificates(path: &Path, flag: &str) -> Result<Vec<CertificateDer<'static>>> {
    named(flag, path, pem::certificates)
}

/// Reads a file and parses it; errors name the flag.
fn named<T>(flag: &str, path: &Path, parse: impl Fn(&[u8], &str) -> Result<T>) -> Result<T> {
    let bytes = fs::read(path).map_err(|source| {
        Error::io(format_args!("{flag}: cannot read {}", path.display()), source)
    })?;
    parse(&bytes, &path.display().to_string()).map_err(|error| error.with_context(flag))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    #[test]
    fn sessions_are_resumed_only_without_client_certificates() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::default().self_signed(&key).unwrap();
        fs::write(path("certificate"), certificate.pem()).unwrap();
        fs::write(path("key"), key.serialize_pem()).unwrap();
        for has_clients in [true, false] {
            let files = TlsFiles {
                certificate: path("certificate"),
                key: path("key"),
                clients: has_clients.then(|| path("certificate")),
            };
            let loaded = Loaded::read(&files, false).unwrap();
            let config = loaded.rpc.config();
            assert_eq!(config.session_storage.can_cache(), !has_clients);
            assert_eq!(config.send_tls13_tickets == 0, has_clients);
        }
    }
}
