//! A blocking client with one connection.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use bytes::BytesMut;
use prost::Message;
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::{
    Body, Call, CellCodec, CellReader, ConnectionHead, FrameDecoder, Preamble, RequestHead,
    Response, Service, encode_request,
};
use rowhouse_format::sasl::{
    Challenge, DigestResponse, SaslAnswer, encode_client_frame, take_answer,
};
use rowhouse_format::token::{Token, to_base64};
use rowhouse_model::Cell;

/// How long a client waits for bytes before the test fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// A connection for synchronous calls.
pub(crate) struct Client {
    stream: TcpStream,
    input: BytesMut,
    last_call: u32,
    codec: Option<CellCodec>,
    /// The timeout sent with each call.
    pub(crate) timeout_ms: Option<u32>,
}

/// An answer's message and the cells that follow it.
pub(crate) type Answer<M> = (<M as Call>::Answer, CellReader);

/// Returns a stock client's connection header.
pub(crate) fn head(service: Service) -> ConnectionHead {
    ConnectionHead {
        service,
        codec: Some(CellCodec::KeyValue),
        user: Some("test".into()),
        real_user: None,
        client_version: Some("2.6.4".into()),
        client_release: Some((2, 6)),
    }
}

impl Client {
    /// Opens a TCP connection and sends nothing.
    pub(crate) fn silent(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream, input: BytesMut::new(), last_call: 0, codec: None, timeout_ms: None }
    }

    /// Opens a connection to a service.
    pub(crate) fn connect(address: &str, service: Service) -> Self {
        Self::connect_as(address, &head(service))
    }

    /// Opens a connection with this connection header.
    pub(crate) fn connect_as(address: &str, head: &ConnectionHead) -> Self {
        let mut client = Self::silent(address);
        let mut opening = BytesMut::new();
        head.encode_opening(&mut opening);
        client.send_bytes(&opening);
        client.codec = head.codec;
        client
    }

    /// Calls a method and returns the answer's message.
    pub(crate) fn call<M: Call>(&mut self, message: &M) -> Result<M::Answer, Exception> {
        self.call_with(message, &[]).map(|(answer, _)| answer)
    }

    /// Calls a method with cells and returns the answer.
    pub(crate) fn call_with<M: Call>(
        &mut self,
        message: &M,
        cells: &[Cell],
    ) -> Result<Answer<M>, Exception> {
        let call_id = self.send(message, cells);
        let response = self.receive().expect("the server closed the connection");
        assert_eq!(response.call_id, call_id);
        let body = response.outcome?;
        Ok((body.message::<M::Answer>().unwrap(), body.cells(self.codec)))
    }

    /// Calls a method whose message type is shared by several methods.
    pub(crate) fn raw<M: Message, A: Message + Default>(
        &mut self,
        method: &str,
        message: &M,
    ) -> Result<A, Exception> {
        self.last_call += 1;
        let header = proto::RequestHeader {
            call_id: Some(self.last_call),
            method_name: Some(method.to_owned()),
            request_param: Some(true),
            ..Default::default()
        };
        let mut frame = header.encode_length_delimited_to_vec();
        frame.extend(message.encode_length_delimited_to_vec());
        self.send_bytes(&(frame.len() as u32).to_be_bytes());
        self.send_bytes(&frame);
        let response = self.receive().expect("the server closed the connection");
        assert_eq!(response.call_id, self.last_call);
        Ok(response.outcome?.message::<A>().unwrap())
    }

    /// Sends a request; returns the call number.
    pub(crate) fn send<M: Call>(&mut self, message: &M, cells: &[Cell]) -> u32 {
        let mut bytes = BytesMut::new();
        let call_id = self.write(&mut bytes, message, cells);
        self.send_bytes(&bytes);
        call_id
    }

    /// Appends a request to `out`; returns the call number.
    pub(crate) fn write<M: Call>(
        &mut self,
        out: &mut BytesMut,
        message: &M,
        cells: &[Cell],
    ) -> u32 {
        self.last_call += 1;
        let call_id = self.last_call;
        let head = RequestHead { call_id, priority: 0, timeout_ms: self.timeout_ms };
        encode_request(out, head, message, self.codec, cells).unwrap();
        call_id
    }

    /// Sends raw bytes.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// As [`Client::send_bytes`], to a server that may be gone; returns true if the bytes were
    /// sent.
    pub(crate) fn try_send_bytes(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Returns another handle to the socket.
    pub(crate) fn socket(&self) -> TcpStream {
        self.stream.try_clone().unwrap()
    }

    /// Closes the sending side; answers can still be read.
    pub(crate) fn finish_sending(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// Returns the next answer, or `None` once the server has closed the connection.
    pub(crate) fn receive(&mut self) -> Option<Response> {
        loop {
            if let Some(frame) = FrameDecoder::default().next(&mut self.input).unwrap() {
                return Some(Response::decode(frame).unwrap());
            }
            let mut chunk = [0; 64 << 10];
            match self.stream.read(&mut chunk) {
                Ok(0) => break,
                Ok(len) => self.input.extend_from_slice(&chunk[..len]),
                // The server closed with unread requests; answers may be lost in transit.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("no answer within {PATIENCE:?}: {error}"),
            }
        }
        assert!(self.input.is_empty(), "half an answer: {} bytes", self.input.len());
        None
    }

    /// Waits for the next answer's first byte.
    pub(crate) fn wait_for_answer(&mut self) {
        let mut byte = [0];
        assert_eq!(self.stream.peek(&mut byte).unwrap(), 1, "the server closed the connection");
    }

    /// Returns true if an answer's first byte has arrived.
    pub(crate) fn has_answer(&mut self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let peeked = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false).unwrap();
        matches!(peeked, Ok(1))
    }

    /// Returns the next answer, which must not be an exception.
    pub(crate) fn receive_body(&mut self) -> (u32, Body) {
        let response = self.receive().expect("the server closed the connection");
        (response.call_id, response.outcome.unwrap())
    }
}

/// Connects by a token, as stock clients do with `hbase.security.authentication=kerberos`.
impl Client {
    /// Opens a connection to a service after authentication by a token; the connection header
    /// names no user.
    pub(crate) fn login(address: &str, token: &Token, service: Service) -> Result<Self, Exception> {
        Self::login_as(address, token, &ConnectionHead { user: None, ..head(service) })
    }

    /// As [`Client::login`], with this connection header.
    pub(crate) fn login_as(
        address: &str,
        token: &Token,
        head: &ConnectionHead,
    ) -> Result<Self, Exception> {
        let mut client = Self::silent(address);
        client.send_bytes(&Preamble::Digest.to_bytes());
        client.send_sasl(b"");
        let challenge = match client.receive_sasl().expect("a challenge") {
            SaslAnswer::Message(challenge) => Challenge::parse(&challenge).unwrap(),
            SaslAnswer::Refused(refusal) => return Err(refusal),
            SaslAnswer::SwitchToSimple => panic!("the server takes no tokens"),
        };
        let password = to_base64(&token.password);
        let user = to_base64(&token.identifier);
        let response = DigestResponse::new(&challenge, user, password.as_bytes(), "cn".into());
        client.send_sasl(&response.to_bytes());
        match client.receive_sasl().expect("a proof") {
            SaslAnswer::Message(proof) => assert!(response.is_proof(password.as_bytes(), &proof)),
            SaslAnswer::Refused(refusal) => return Err(refusal),
            SaslAnswer::SwitchToSimple => panic!("the server takes no tokens"),
        }
        let mut header = BytesMut::new();
        head.encode(&mut header);
        client.send_bytes(&header);
        client.codec = head.codec;
        Ok(client)
    }

    pub(crate) fn send_sasl(&mut self, message: &[u8]) {
        let mut frame = BytesMut::new();
        encode_client_frame(&mut frame, message);
        self.send_bytes(&frame);
    }

    /// Returns the next answer to a message of SASL; `None` once the server has closed.
    pub(crate) fn receive_sasl(&mut self) -> Option<SaslAnswer> {
        loop {
            if let Some(answer) = take_answer(&mut self.input).unwrap() {
                return Some(answer);
            }
            let mut chunk = [0; 4096];
            match self.stream.read(&mut chunk) {
                Ok(0) => return None,
                Ok(len) => self.input.extend_from_slice(&chunk[..len]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("no answer within {PATIENCE:?}: {error}"),
            }
        }
    }
}
