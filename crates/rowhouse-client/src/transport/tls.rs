//! TLS by rustls.

use std::fs;
use std::io::{Error as IoError, ErrorKind, Result as IoResult};
use std::path::Path;
use std::sync::Arc;

use rowhouse_format::pem;
use rowhouse_model::{Error, Result};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::TlsSettings;

pub(super) fn connector(tls: &TlsSettings) -> Result<TlsConnector> {
    let provider = Arc::new(default_provider());
    let unusable = |error: &dyn std::fmt::Display| {
        Error::invalid(format!("TLS cannot be used: {error}, url parameters={tls}"))
    };
    let roots = Arc::new(roots(tls.ca.as_deref())?);
    let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider));
    let verifier = verifier.build().map_err(|error| unusable(&error))?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?;
    let builder = if tls.check_names {
        builder.with_webpki_verifier(verifier)
    } else {
        let unchecked = Arc::new(UncheckedNames(verifier));
        builder.dangerous().with_custom_certificate_verifier(unchecked)
    };
    let config = match &tls.identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = read(certificate, pem::certificates)?;
            let key = read(key, pem::private_key)?;
            builder.with_client_auth_cert(chain, key).map_err(|error| unusable(&error))?
        }
    };
    Ok(TlsConnector::from(Arc::new(config)))
}

pub(super) async fn secure(
    connector: &TlsConnector,
    socket: TcpStream,
    host: &str,
) -> IoResult<TlsStream<TcpStream>> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| IoError::new(ErrorKind::InvalidInput, error))?;
    connector
        .connect(name, socket)
        .await
        .map_err(|error| IoError::new(error.kind(), format!("the TLS handshake failed: {error}")))
}

/// Returns the trusted authorities.
fn roots(ca: Option<&Path>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let Some(path) = ca else {
        let system = rustls_native_certs::load_native_certs();
        // Systems have old certificates that nothing can parse.
        let (added, _) = roots.add_parsable_certificates(system.certs);
        if added == 0 {
            let why = system.errors.first().map(|error| format!(": {error}"));
            return Err(Error::invalid(format!(
                "the system trusts no certificate authority; name a file with ca=FILE{}",
                why.unwrap_or_default()
            )));
        }
        return Ok(roots);
    };
    for certificate in read(path, pem::certificates)? {
        roots.add(certificate).map_err(|error| {
            Error::invalid(format!("not an authority: {error}, file={}", path.display()))
        })?;
    }
    Ok(roots)
}

fn read<T>(path: &Path, parse: impl Fn(&[u8], &str) -> Result<T>) -> Result<T> {
    let bytes = fs::read(path)
        .map_err(|source| Error::io(format_args!("cannot read {}", path.display()), source))?;
    parse(&bytes, &path.display().to_string())
}

/// Verifies everything but a server's name.
#[derive(Debug)]
struct UncheckedNames(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for UncheckedNames {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        // The name is checked last: all else is valid where only the name is not.
        let verified = self.0.verify_server_cert(certificate, intermediates, name, ocsp, now);
        match verified {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
