//! Certificates, and a client with TLS.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use prost::Message;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType};
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::{Call, FrameDecoder, RequestHead, Response, Service, encode_request};
use rowhouse_server::{Options, TlsFiles};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;

use super::{TestServer, head};

/// A directory with the certificate files for tests.
pub(crate) struct Files {
    dir: TempDir,
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Files {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "test authority");
        let key = KeyPair::generate().unwrap();
        let authority = CertifiedIssuer::self_signed(params, key).unwrap();
        let files = Self { dir: tempfile::tempdir().unwrap(), authority };
        fs::write(files.path("ca.pem"), files.authority.pem()).unwrap();
        files.issue("server", &["127.0.0.1".parse().unwrap()]);
        files
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes `NAME.pem` and `NAME.key`: a certificate with this common name.
    pub(crate) fn issue(&self, name: &str, addresses: &[IpAddr]) {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.subject_alt_names = addresses.iter().copied().map(SanType::IpAddress).collect();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.authority).unwrap();
        fs::write(self.path(&format!("{name}.pem")), certificate.pem()).unwrap();
        fs::write(self.path(&format!("{name}.key")), key.serialize_pem()).unwrap();
    }

    pub(crate) fn server(&self, clients: bool) -> TlsFiles {
        TlsFiles {
            certificate: self.path("server.pem"),
            key: self.path("server.key"),
            clients: clients.then(|| self.path("ca.pem")),
        }
    }

    pub(crate) fn start(&self, set: impl FnOnce(&mut Options)) -> TestServer {
        TestServer::start_with(|options| {
            options.tls = Some(self.server(false));
            set(options);
        })
    }
}

/// A TLS client with one connection.
pub(crate) struct TlsClient(pub(crate) StreamOwned<ClientConnection, TcpStream>);

impl TlsClient {
    /// Connects, with the certificate `identity` of the client.
    pub(crate) fn connect(address: &str, files: &Files, identity: Option<&str>) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self(StreamOwned::new(Self::session(files, identity), socket))
    }

    /// Returns a client's side of a handshake.
    pub(crate) fn session(files: &Files, identity: Option<&str>) -> ClientConnection {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(files.path("ca.pem")).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match identity {
            None => builder.with_no_client_auth(),
            Some(name) => {
                let chain = CertificateDer::from_pem_file(files.path(&format!("{name}.pem")));
                let key = PrivateKeyDer::from_pem_file(files.path(&format!("{name}.key")));
                builder.with_client_auth_cert(vec![chain.unwrap()], key.unwrap()).unwrap()
            }
        };
        let name = ServerName::try_from("127.0.0.1").unwrap();
        ClientConnection::new(Arc::new(config), name).unwrap()
    }

    pub(crate) fn opened(
        address: &str,
        files: &Files,
        identity: Option<&str>,
        service: Service,
    ) -> Self {
        let mut client = Self::connect(address, files, identity);
        let mut opening = BytesMut::new();
        head(service).encode_opening(&mut opening);
        // A server that refuses the certificate is noticed when the answer is read.
        let _ = client.0.write_all(&opening);
        client
    }

    pub(crate) fn call<M: Call>(
        &mut self,
        message: &M,
    ) -> std::io::Result<Result<M::Answer, Exception>> {
        let frame = self.answer_frame(message)?;
        let response = Response::decode(frame).unwrap();
        Ok(response.outcome.map(|body| body.message::<M::Answer>().unwrap()))
    }

    /// Calls a method whose message type is shared by several methods.
    pub(crate) fn raw<M: Message, A: Message + Default>(
        &mut self,
        method: &str,
        message: &M,
    ) -> std::io::Result<Result<A, Exception>> {
        let header = proto::RequestHeader {
            call_id: Some(1),
            method_name: Some(method.to_owned()),
            request_param: Some(true),
            ..Default::default()
        };
        let mut frame = header.encode_length_delimited_to_vec();
        frame.extend(message.encode_length_delimited_to_vec());
        self.0.write_all(&(frame.len() as u32).to_be_bytes())?;
        self.0.write_all(&frame)?;
        let response = Response::decode(self.read_frame()?).unwrap();
        Ok(response.outcome.map(|body| body.message::<A>().unwrap()))
    }

    /// Returns an answer's frame: the response with the cells.
    pub(crate) fn answer_frame<M: Call>(&mut self, message: &M) -> std::io::Result<Bytes> {
        let mut bytes = BytesMut::new();
        let codec = head(Service::Client).codec;
        encode_request(&mut bytes, RequestHead::default(), message, codec, []).unwrap();
        self.0.write_all(&bytes)?;
        self.read_frame()
    }

    fn read_frame(&mut self) -> std::io::Result<Bytes> {
        let mut input = BytesMut::new();
        loop {
            if let Some(frame) = FrameDecoder::default().next(&mut input).unwrap() {
                return Ok(frame);
            }
            let mut chunk = [0; 16 << 10];
            match self.0.read(&mut chunk)? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                len => input.extend_from_slice(&chunk[..len]),
            }
        }
    }

    pub(crate) fn cluster_id(&mut self) -> std::io::Result<Option<String>> {
        let answer = self.call(&proto::GetClusterIdRequest {})?;
        Ok(answer.unwrap().cluster_id)
    }
}
