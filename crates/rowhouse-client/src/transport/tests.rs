//! TLS against a server that echoes.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use rowhouse_format::proto;
use rowhouse_model::ErrorKind;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::Settings;
use crate::connection::{Address, CallRequest, Connections};
use crate::{Place, TlsSettings};

/// An authority, and certificates from it: of a server at 127.0.0.1 and of a client.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = CertifiedIssuer::self_signed(params, key).unwrap();
        fs::write(files.path("ca.pem"), authority.pem()).unwrap();
        for (name, addresses) in [("server", vec!["127.0.0.1"]), ("client", vec![])] {
            let mut params = CertificateParams::default();
            let addresses = addresses.iter().map(|it| SanType::IpAddress(it.parse().unwrap()));
            params.subject_alt_names = addresses.collect();
            let key = KeyPair::generate().unwrap();
            let certificate = params.signed_by(&key, &authority).unwrap();
            let both = certificate.pem() + &key.serialize_pem();
            fs::write(files.path(&format!("{name}.pem")), both).unwrap();
        }
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns a server's side of handshakes, which requires certificates of clients if
    /// `is_mutual`.
    fn acceptor(&self, is_mutual: bool) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if is_mutual {
            let mut roots = rustls::RootCertStore::empty();
            roots.add(CertificateDer::from_pem_file(self.path("ca.pem")).unwrap()).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let chain = vec![CertificateDer::from_pem_file(self.path("server.pem")).unwrap()];
        let key = PrivateKeyDer::from_pem_file(self.path("server.pem")).unwrap();
        TlsAcceptor::from(Arc::new(builder.with_single_cert(chain, key).unwrap()))
    }

    /// Starts a server that echoes; returns the port.
    async fn serve(&self, is_mutual: bool) -> u16 {
        let acceptor = self.acceptor(is_mutual);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                // A handshake that fails is the client's to report.
                let Ok(stream) = acceptor.accept(socket).await else {
                    continue;
                };
                let (mut reader, mut writer) = tokio::io::split(stream);
                let _ = tokio::io::copy(&mut reader, &mut writer).await;
            }
        });
        port
    }
}

/// Sends bytes to the echo at `host` and returns them.
async fn echo(tls: &TlsSettings, port: u16, host: &str) -> IoResult<Vec<u8>> {
    let transport = Transport::new(&target(tls)).unwrap();
    let socket = TcpStream::connect(("127.0.0.1", port)).await?;
    let (mut reader, mut writer) = transport.secure(socket, host).await?.into_split();
    let sent = vec![b'x'; 1 << 16];
    let mut echoed = vec![0; sent.len()];
    let written = async {
        writer.write_all(&sent).await?;
        writer.flush().await
    };
    let (written, read) = tokio::join!(written, reader.read_exact(&mut echoed));
    written?;
    read?;
    Ok(echoed)
}

fn trusting(files: &Files) -> TlsSettings {
    TlsSettings { ca: Some(files.path("ca.pem")), ..TlsSettings::default() }
}

#[tokio::test]
async fn servers_are_trusted_by_authority_and_name() {
    let files = Files::new();
    let port = files.serve(false).await;
    let tls = trusting(&files);
    assert_eq!(echo(&tls, port, "127.0.0.1").await.unwrap(), vec![b'x'; 1 << 16]);
    let error = echo(&tls, port, "db.example.org").await.unwrap_err();
    assert!(error.to_string().contains("db.example.org"), "{error}");
    let unchecked = TlsSettings { check_names: false, ..tls };
    assert!(echo(&unchecked, port, "db.example.org").await.is_ok());
    // Without names, the authority is checked all the same.
    let other = Files::new();
    for check_names in [true, false] {
        let tls = TlsSettings { check_names, ..trusting(&other) };
        let error = echo(&tls, port, "127.0.0.1").await.unwrap_err();
        assert!(error.to_string().contains("the TLS handshake failed"), "{error}");
    }
}

#[tokio::test]
async fn the_certificate_of_the_client_is_presented() {
    let files = Files::new();
    let port = files.serve(true).await;
    let tls = trusting(&files);
    // With TLS 1.3 the refusal comes after the client's side of the handshake.
    assert!(echo(&tls, port, "127.0.0.1").await.is_err());
    let client = files.path("client.pem");
    let known = TlsSettings { identity: Some((client.clone(), client)), ..tls };
    assert!(echo(&known, port, "127.0.0.1").await.is_ok());
}

#[tokio::test]
async fn connections_end_with_the_end_of_tls() {
    let files = Files::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = files.acceptor(false);
    let begun = async {
        let (socket, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(socket).await.unwrap();
        stream.read_u8().await.unwrap();
        stream
    };
    let transport = Transport::new(&target(&trusting(&files))).unwrap();
    let connections = Connections::new(Arc::new(Settings::default()), transport);
    let address = Address { host: "127.0.0.1".to_owned(), port };
    let request = CallRequest {
        message: proto::GetClusterIdRequest {},
        cells: &[],
        is_meta_call: false,
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let mut stream = tokio::select! {
        stream = begun => stream,
        _ = connections.call(&address, request) => panic!("nothing was answered"),
    };
    drop(connections);
    let mut rest = Vec::new();
    // Without the end it is an error.
    stream.read_to_end(&mut rest).await.unwrap();
}

#[test]
fn files_that_do_not_serve_are_refused_by_name() {
    let files = Files::new();
    fs::write(files.path("trust.jks"), b"\xFE\xED\xFE\xED\0\0\0\x02").unwrap();
    let refused = |tls: TlsSettings| Transport::new(&target(&tls)).err().unwrap();
    let keystore = TlsSettings { ca: Some(files.path("trust.jks")), ..TlsSettings::default() };
    let error = refused(keystore);
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.message().contains("keytool -importkeystore"), "{error}");
    let missing = TlsSettings { ca: Some(files.path("none.pem")), ..TlsSettings::default() };
    assert_eq!(refused(missing).kind(), ErrorKind::Io);
    let identity = Some((files.path("client.pem"), files.path("ca.pem")));
    let error = refused(TlsSettings { identity, ..trusting(&files) });
    assert!(error.message().contains("no private key"), "{error}");
}

/// Returns a target with these settings.
fn target(tls: &TlsSettings) -> Target {
    Target { place: Place::Servers(Vec::new()), tls: Some(tls.clone()), token: None }
}
