//! One connection's server side, without the socket.

use bytes::{Buf, Bytes, BytesMut};

use super::wire::take_delimited;
use super::{
    CellCodec, ConnectionHead, FATAL_CALL_ID, FRAME_LEN_MAX, FrameDecoder, FrameTooLong,
    PREAMBLE_LEN, Preamble, Request, decode_message, encode_exception, encode_response,
};
use crate::exception::Exception;
use crate::proto;
use crate::sasl::{MESSAGE_LEN_MAX, encode_refusal, encode_server_frame, encode_switch_to_simple};

/// How many bytes of an oversized frame are read to find the call id.
const HEADER_LEN_MAX: usize = 64 * 1024;

/// The longest connection header: names of the user, service, codec and client, usually a few
/// hundred bytes. A stranger's connection holds no more.
const CONNECTION_HEADER_LEN_MAX: usize = 12 * 1024;

/// The longest ticket of Kerberos, which is skipped.
const TICKET_LEN_MAX: usize = 64 * 1024;

/// The reason for closing a connection that a ZooKeeper client opened.
const ZOOKEEPER_CLIENT: &str =
    "a ZooKeeper client connected to the RPC port: it needs the port that --zookeeper names";

/// The reason for closing a connection that begins as TLS.
const TLS_CLIENT: &str = "a client connected with TLS, for which this server has no certificate";

/// Why a client with a token is refused.
const NO_TOKENS: &str = "this server takes no tokens: connect with a client certificate, or start \
                         the server with --users token";

/// Why a client with Kerberos is refused.
const NO_KERBEROS: &str = "this server has no Kerberos: connect with a token, which `rowhouse user \
                           token NAME` makes, or with a client certificate";

/// Returns true if the first bytes are a TLS handshake record's.
fn is_tls(preamble: &[u8; PREAMBLE_LEN]) -> bool {
    matches!(preamble, [0x16, 3, ..])
}

/// Returns true if the first bytes are as in ZooKeeper's ConnectRequest: a length of at least 44
/// bytes and protocol version 0.
fn is_zookeeper(preamble: &[u8; PREAMBLE_LEN]) -> bool {
    matches!(preamble, [0, 0, 0, 44..=255, 0, 0])
}

/// Parses one client's bytes as Apache HBase's server does, and itself answers preambles, invalid
/// connection headers and calls that cannot be decoded.
///
/// The socket's owner reads into a buffer, takes events until there are none, writes the output,
/// and closes the connection after [`ServerEvent::Close`].
///
/// ```
/// use bytes::BytesMut;
/// use rowhouse_format::rpc::{ServerConnection, ServerEvent};
///
/// let mut connection = ServerConnection::new("127.0.0.1:50000", "b1946ac9");
/// let (mut input, mut output) = (BytesMut::from("Regist"), BytesMut::new());
/// assert!(matches!(connection.next(&mut input, &mut output), Some(ServerEvent::Close(_))));
/// assert!(output.ends_with(b"b1946ac9"));
/// ```
#[derive(Debug)]
pub struct ServerConnection {
    peer: String,
    cluster_id: String,
    frame_len_max: usize,
    /// Why every client is refused.
    refusal: Option<&'static str>,
    authentication: Authentication,
    /// The client has requested security, and was told that there is none.
    is_security_refused: bool,
    state: State,
}

/// How clients may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authentication {
    /// Whether tokens are accepted: messages of SASL become [`ServerEvent::Sasl`].
    pub tokens: bool,
    /// Whether a client can be admitted without: by a claim, or by a certificate.
    pub simple: bool,
}

impl Default for Authentication {
    /// A server without users.
    fn default() -> Self {
        Self { tokens: false, simple: true }
    }
}

/// The answer to [`ServerEvent::Sasl`].
#[derive(Debug)]
pub enum SaslReply {
    /// A message that the client answers.
    Message(Vec<u8>),
    /// The last message: the connection header follows.
    Accepted(Vec<u8>),
    /// The client is refused, and the connection closed.
    Refused(Exception),
}

#[derive(Debug)]
enum State {
    Preamble,
    /// Messages of SASL are exchanged.
    Sasl,
    /// The client's first message of SASL is skipped.
    Switched,
    Header,
    /// The next call is refused.
    Denied(Exception),
    Calls(ConnectionHead),
    TooLong {
        frame: FrameTooLong,
        client_release: Option<(u32, u32)>,
    },
    Closed,
}

/// An event in a client's input.
#[derive(Debug)]
pub enum ServerEvent {
    /// A message by which the client authenticates, to be answered by
    /// [`ServerConnection::reply_sasl`] before the next event is taken.
    Sasl(Bytes),
    /// The client sent the connection header; calls follow.
    Connected(ConnectionHead),
    /// A call to answer.
    Request(Request),
    /// Write the output, then close the connection. No event follows. Holds the client's error;
    /// `None` without an error, for example after a registry request.
    Close(Option<String>),
}

impl ServerConnection {
    /// Creates a connection from `peer` (`host:port`, which HBase's error messages include) to a
    /// server in the cluster `cluster_id`.
    pub fn new(peer: impl Into<String>, cluster_id: impl Into<String>) -> Self {
        Self {
            peer: peer.into(),
            cluster_id: cluster_id.into(),
            frame_len_max: FRAME_LEN_MAX,
            refusal: None,
            authentication: Authentication::default(),
            is_security_refused: false,
            state: State::Preamble,
        }
    }

    /// Sets the longest frame in bytes; [`FRAME_LEN_MAX`] by default.
    #[must_use]
    pub fn with_frame_len_max(mut self, len: usize) -> Self {
        self.frame_len_max = len;
        self
    }

    /// Answers the client's first bytes with an exception that has this message, and closes the
    /// connection.
    #[must_use]
    pub fn refusing(mut self, why: &'static str) -> Self {
        self.refusal = Some(why);
        self
    }

    /// Sets how clients may begin.
    #[must_use]
    pub fn with_authentication(mut self, authentication: Authentication) -> Self {
        self.authentication = authentication;
        self
    }

    /// Answers the client's message of SASL; returns the last event if the client is refused.
    pub fn reply_sasl(&mut self, reply: &SaslReply, output: &mut BytesMut) -> Option<ServerEvent> {
        match reply {
            SaslReply::Message(message) => encode_server_frame(output, message),
            SaslReply::Accepted(message) => {
                encode_server_frame(output, message);
                self.state = State::Header;
            }
            SaslReply::Refused(refusal) => {
                encode_refusal(output, refusal);
                return Some(self.close(Some(refusal.message.clone())));
            }
        }
        None
    }

    /// Refuses a client that has sent the connection header: the next call is answered with the
    /// exception, since Java's clients show no other that has this class, and the connection ends.
    pub fn deny(&mut self, refusal: Exception) {
        self.state = State::Denied(refusal);
    }

    /// Returns the codec for the connection's cell blocks, once the client has named one.
    pub fn codec(&self) -> Option<CellCodec> {
        match &self.state {
            State::Calls(head) => head.codec,
            _ => None,
        }
    }

    /// Returns the HBase release that the client announced, as (major, minor); `None` if it
    /// announced none.
    pub fn client_release(&self) -> Option<(u32, u32)> {
        match &self.state {
            State::Calls(head) => head.client_release,
            _ => None,
        }
    }

    /// Returns how many bytes the request at the start of `input` lacks, as far as the length is
    /// known.
    pub fn missing_bytes(&self, input: &BytesMut) -> usize {
        match self.state {
            State::Sasl | State::Switched | State::Header | State::Calls(_) => {
                self.frame_decoder().missing_bytes(input)
            }
            State::Preamble | State::Denied(_) | State::TooLong { .. } | State::Closed => 0,
        }
    }

    /// Returns the decoder with the limit for the next frame. Before calls it is low: a stranger
    /// may send the frame.
    fn frame_decoder(&self) -> FrameDecoder {
        match self.state {
            State::Sasl => FrameDecoder::new(MESSAGE_LEN_MAX),
            State::Switched => FrameDecoder::new(TICKET_LEN_MAX),
            State::Header => FrameDecoder::new(CONNECTION_HEADER_LEN_MAX.min(self.frame_len_max)),
            _ => FrameDecoder::new(self.frame_len_max),
        }
    }

    /// Takes the next event off `input`; returns `None` if it needs more bytes. Appends the
    /// connection's own responses to `output`.
    pub fn next(&mut self, input: &mut BytesMut, output: &mut BytesMut) -> Option<ServerEvent> {
        loop {
            match &self.state {
                State::Preamble => {
                    let preamble = *input.first_chunk::<PREAMBLE_LEN>()?;
                    input.advance(PREAMBLE_LEN);
                    if let Some(why) = self.refusal {
                        let why = why.to_owned();
                        let refused = Exception::fatal("FatalConnectionException", why);
                        return Some(self.refuse(&refused, output));
                    }
                    if let Err(close) = self.take_preamble(&preamble, output) {
                        return Some(match close {
                            ServerEvent::Close(Some(_)) if is_zookeeper(&preamble) => {
                                ServerEvent::Close(Some(ZOOKEEPER_CLIENT.to_owned()))
                            }
                            ServerEvent::Close(Some(_)) if is_tls(&preamble) => {
                                ServerEvent::Close(Some(TLS_CLIENT.to_owned()))
                            }
                            close => close,
                        });
                    }
                }
                State::Sasl | State::Switched => {
                    let frame = match self.frame_decoder().next(input) {
                        Ok(frame) => frame?,
                        Err(long) => return Some(self.close(Some(long.to_string()))),
                    };
                    if matches!(self.state, State::Sasl) {
                        return Some(ServerEvent::Sasl(frame));
                    }
                    self.state = State::Header;
                }
                State::Denied(refusal) => {
                    // The frame may be long: the call id is in the beginning.
                    let start = input.get(4..)?;
                    let refusal = refusal.clone();
                    return self.refuse_call(start, &refusal, output);
                }
                State::Header => {
                    // As Apache HBase, close the connection without a response to an oversized
                    // header.
                    let frame = match self.frame_decoder().next(input) {
                        Ok(frame) => frame,
                        Err(long) => return Some(self.close(Some(long.to_string()))),
                    };
                    return Some(self.take_header(frame?, output));
                }
                State::Calls(head) => match self.frame_decoder().next(input) {
                    Err(too_long) => {
                        input.advance(4);
                        let client_release = head.client_release;
                        self.state = State::TooLong { frame: too_long, client_release };
                    }
                    Ok(frame) => match Request::decode(frame?, head.service) {
                        Ok(request) => return Some(ServerEvent::Request(request)),
                        Err(refusal) => {
                            let Some(call_id) = refusal.call_id else {
                                return Some(self.close(Some(refusal.error.to_string())));
                            };
                            encode_exception(output, call_id, &Exception::from(&refusal.error));
                        }
                    },
                },
                &State::TooLong { frame, client_release } => {
                    return self.refuse_too_long(frame, client_release, input, output);
                }
                State::Closed => {
                    input.clear();
                    return None;
                }
            }
        }
    }

    fn take_preamble(
        &mut self,
        bytes: &[u8; PREAMBLE_LEN],
        output: &mut BytesMut,
    ) -> Result<(), ServerEvent> {
        match Preamble::parse(bytes, &self.peer) {
            Ok(Preamble::Rpc) => {
                self.state = State::Header;
                Ok(())
            }
            Ok(Preamble::Digest) if self.authentication.tokens => {
                self.state = State::Sasl;
                Ok(())
            }
            Ok(Preamble::Digest | Preamble::Kerberos) if self.authentication.simple => {
                encode_switch_to_simple(output);
                self.state = State::Switched;
                Ok(())
            }
            Ok(preamble @ (Preamble::Digest | Preamble::Kerberos)) => {
                let why = if preamble == Preamble::Digest { NO_TOKENS } else { NO_KERBEROS };
                let refusal = Exception::access_denied(why);
                encode_refusal(output, &refusal);
                Err(self.close(Some(refusal.message)))
            }
            // Each is answered with many more bytes.
            Ok(Preamble::Security) if self.is_security_refused => {
                Err(self.close(Some("the client requested security twice".to_owned())))
            }
            Ok(Preamble::Security) => {
                self.is_security_refused = true;
                let exception = Exception::security_not_enabled();
                encode_exception(output, FATAL_CALL_ID, &exception);
                Ok(())
            }
            Ok(Preamble::Registry) => {
                let message =
                    proto::GetConnectionRegistryResponse { cluster_id: self.cluster_id.clone() };
                encode_response(output, FATAL_CALL_ID, &message, CellCodec::KeyValue, [])
                    .expect("a cluster id is short");
                Err(self.close(None))
            }
            Err(refusal) => Err(self.refuse(&refusal, output)),
        }
    }

    fn take_header(&mut self, frame: Bytes, output: &mut BytesMut) -> ServerEvent {
        match ConnectionHead::decode(frame) {
            Ok(head) => {
                self.state = State::Calls(head.clone());
                ServerEvent::Connected(head)
            }
            Err(refusal) => self.refuse(&refusal, output),
        }
    }

    /// Reads an oversized frame's start until the call id is known, and answers that call.
    fn refuse_too_long(
        &mut self,
        frame: FrameTooLong,
        client_release: Option<(u32, u32)>,
        input: &BytesMut,
        output: &mut BytesMut,
    ) -> Option<ServerEvent> {
        let exception = request_too_big(&self.peer, frame, client_release);
        self.refuse_call(input, &exception, output)
    }

    /// Answers a call whose frame begins with these bytes, without the length, with an exception,
    /// and closes the connection. Returns `None` if the call id needs more bytes.
    fn refuse_call(
        &mut self,
        frame: &[u8],
        exception: &Exception,
        output: &mut BytesMut,
    ) -> Option<ServerEvent> {
        let mut start = Bytes::copy_from_slice(&frame[..frame.len().min(HEADER_LEN_MAX)]);
        let whole = start.len() == HEADER_LEN_MAX;
        match take_delimited(&mut start).and_then(decode_message::<proto::RequestHeader>) {
            Ok(header) => {
                encode_exception(output, header.call_id.unwrap_or_default(), exception);
                Some(self.close(Some(exception.message.clone())))
            }
            Err(_) if !whole => None,
            Err(error) => Some(self.close(Some(error.to_string()))),
        }
    }

    /// Responds with an exception that belongs to no call, and closes the connection.
    fn refuse(&mut self, refusal: &Exception, output: &mut BytesMut) -> ServerEvent {
        encode_exception(output, FATAL_CALL_ID, refusal);
        self.close(Some(refusal.message.clone()))
    }

    fn close(&mut self, why: Option<String>) -> ServerEvent {
        self.state = State::Closed;
        ServerEvent::Close(why)
    }
}

/// Returns the response to an oversized request. Clients before HBase 1.3 lack the usual class.
fn request_too_big(
    peer: &str,
    frame: FrameTooLong,
    client_release: Option<(u32, u32)>,
) -> Exception {
    let class = match client_release {
        Some((1, 3..) | (2.., _)) => "org.apache.hadoop.hbase.exceptions.RequestTooBigException",
        _ => "org.apache.hadoop.hbase.DoNotRetryIOException",
    };
    Exception {
        class: class.into(),
        message: format!(
            "RPC data length of {} received from {peer} is greater than max allowed {}",
            frame.len, frame.len_max
        ),
        do_not_retry: true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Method, RequestHead, Response, Service, encode_request};
    use super::*;

    fn opening() -> BytesMut {
        opening_of(None)
    }

    fn opening_of(client_release: Option<(u32, u32)>) -> BytesMut {
        let mut bytes = BytesMut::new();
        let head = ConnectionHead {
            service: Service::Client,
            codec: Some(CellCodec::KeyValue),
            user: None,
            real_user: None,
            client_version: client_release.map(|(major, minor)| format!("{major}.{minor}.0")),
            client_release,
        };
        head.encode_opening(&mut bytes);
        let call = RequestHead { call_id: 3, ..Default::default() };
        encode_request(&mut bytes, call, &proto::GetRequest::default(), None, []).unwrap();
        bytes
    }

    fn refusal(output: &mut BytesMut) -> (u32, Exception) {
        let frame = FrameDecoder::default().next(output).unwrap().unwrap();
        let response = Response::decode(frame).unwrap();
        (response.call_id, response.outcome.unwrap_err())
    }

    #[test]
    fn a_client_connects_and_calls_in_pieces_of_any_length() {
        let bytes = opening();
        for piece in [1, 2, 7, bytes.len()] {
            let mut connection = ServerConnection::new("h:1", "id");
            let mut input = BytesMut::new();
            let mut output = BytesMut::new();
            let mut events = Vec::new();
            for part in bytes.chunks(piece) {
                input.extend_from_slice(part);
                while let Some(event) = connection.next(&mut input, &mut output) {
                    events.push(event);
                }
            }
            assert!(output.is_empty());
            assert!(matches!(
                &events[..],
                [
                    ServerEvent::Connected(_),
                    ServerEvent::Request(Request { call_id: 3, method: Method::Get, .. })
                ]
            ));
            assert_eq!(connection.codec(), Some(CellCodec::KeyValue));
        }
    }

    #[test]
    fn without_security_a_second_preamble_follows() {
        let mut connection = ServerConnection::new("h:1", "id");
        let mut input = BytesMut::from("Securi");
        let mut output = BytesMut::new();
        assert!(connection.next(&mut input, &mut output).is_none());
        let (call_id, exception) = refusal(&mut output);
        assert_eq!(call_id, FATAL_CALL_ID);
        assert_eq!(exception.class, "org.apache.hadoop.hbase.ipc.SecurityNotEnabledException");
        input.unsplit(opening());
        assert!(matches!(
            connection.next(&mut input, &mut output),
            Some(ServerEvent::Connected(_))
        ));
    }

    #[test]
    fn a_client_that_requests_security_twice_is_closed_without_another_answer() {
        let (events, mut output) = answers(Authentication::default(), b"SecuriSecuriSecuri");
        assert!(matches!(&events[..], [ServerEvent::Close(Some(_))]), "{events:?}");
        refusal(&mut output);
        assert!(output.is_empty());
    }

    #[test]
    fn an_over_long_connection_header_closes_the_connection_before_it_is_read() {
        for (len, is_closed) in [(CONNECTION_HEADER_LEN_MAX, false), (20 << 10, true)] {
            let mut connection = ServerConnection::new("h:1", "id");
            let mut input = BytesMut::from(&Preamble::Rpc.to_bytes()[..]);
            input.extend_from_slice(&(len as u32).to_be_bytes());
            let event = connection.next(&mut input, &mut BytesMut::new());
            assert_eq!(matches!(event, Some(ServerEvent::Close(Some(_)))), is_closed, "{event:?}");
            assert_eq!(connection.missing_bytes(&input), if is_closed { 0 } else { len });
        }
    }

    #[test]
    fn a_newer_preamble_is_refused_in_the_words_that_clients_look_for() {
        let mut connection = ServerConnection::new("h:1", "id");
        let mut input = BytesMut::from("Future");
        let mut output = BytesMut::new();
        assert!(matches!(connection.next(&mut input, &mut output), Some(ServerEvent::Close(_))));
        assert!(refusal(&mut output).1.message.starts_with("Expected HEADER="));
        assert!(connection.next(&mut input, &mut output).is_none());
    }

    #[test]
    fn a_zookeeper_client_is_recognized() {
        let mut input = BytesMut::new();
        crate::zk::client::put_connect(&mut input, 30_000);
        let mut connection = ServerConnection::new("h:1", "id");
        let closed = connection.next(&mut input, &mut BytesMut::new());
        let Some(ServerEvent::Close(Some(why))) = closed else { panic!("{closed:?}") };
        assert_eq!(why, ZOOKEEPER_CLIENT);
    }

    /// Returns what a server with this authentication answers to the bytes, and the events.
    fn answers(authentication: Authentication, bytes: &[u8]) -> (Vec<ServerEvent>, BytesMut) {
        let mut connection = ServerConnection::new("h:1", "id").with_authentication(authentication);
        let mut input = BytesMut::from(bytes);
        let mut output = BytesMut::new();
        let events = std::iter::from_fn(|| connection.next(&mut input, &mut output));
        (events.collect(), output)
    }

    /// A preamble, a first message of SASL, and the rest of an opening.
    fn opening_with(preamble: Preamble, message: &[u8]) -> BytesMut {
        let mut bytes = BytesMut::from(&preamble.to_bytes()[..]);
        crate::sasl::encode_client_frame(&mut bytes, message);
        bytes.extend_from_slice(&opening()[PREAMBLE_LEN..]);
        bytes
    }

    #[test]
    fn servers_without_users_have_clients_go_on_without_authentication() {
        for (preamble, message) in [(Preamble::Digest, &b""[..]), (Preamble::Kerberos, b"ticket")] {
            let opening = opening_with(preamble, message);
            let (events, mut output) = answers(Authentication::default(), &opening);
            let is_served =
                matches!(&events[..], [ServerEvent::Connected(_), ServerEvent::Request(_)]);
            assert!(is_served, "{events:?}");
            let answer = crate::sasl::take_answer(&mut output).unwrap();
            assert_eq!(answer, Some(crate::sasl::SaslAnswer::SwitchToSimple));
        }
    }

    #[test]
    fn servers_that_require_users_refuse_kerberos_with_the_remedy() {
        for (tokens, preamble, remedy) in [
            (false, Preamble::Kerberos, "rowhouse user token NAME"),
            (true, Preamble::Kerberos, "rowhouse user token NAME"),
            (false, Preamble::Digest, "--users token"),
        ] {
            let required = Authentication { tokens, simple: false };
            let (events, mut output) = answers(required, &opening_with(preamble, b"ticket"));
            assert!(matches!(&events[..], [ServerEvent::Close(Some(_))]), "{events:?}");
            let answer = crate::sasl::take_answer(&mut output).unwrap().unwrap();
            let crate::sasl::SaslAnswer::Refused(refusal) = answer else { panic!("{answer:?}") };
            assert!(refusal.class.ends_with("AccessDeniedException"), "{refusal:?}");
            assert!(refusal.message.contains(remedy), "{refusal:?}");
        }
    }

    #[test]
    fn messages_of_sasl_come_before_the_header_and_are_answered() {
        let tokens = Authentication { tokens: true, simple: false };
        let mut connection = ServerConnection::new("h:1", "id").with_authentication(tokens);
        let mut input = BytesMut::from(&Preamble::Digest.to_bytes()[..]);
        let mut output = BytesMut::new();
        for (message, reply) in [
            (&b""[..], SaslReply::Message(b"challenge".to_vec())),
            (b"response", SaslReply::Accepted(b"proof".to_vec())),
        ] {
            assert!(connection.next(&mut input, &mut output).is_none());
            crate::sasl::encode_client_frame(&mut input, message);
            let event = connection.next(&mut input, &mut output);
            assert!(matches!(event, Some(ServerEvent::Sasl(bytes)) if bytes == message));
            assert!(connection.reply_sasl(&reply, &mut output).is_none());
        }
        input.extend_from_slice(&opening()[PREAMBLE_LEN..]);
        let connected = connection.next(&mut input, &mut output);
        assert!(matches!(connected, Some(ServerEvent::Connected(_))), "{connected:?}");
        for expected in ["challenge", "proof"] {
            let answer = crate::sasl::take_answer(&mut output).unwrap();
            assert_eq!(answer, Some(crate::sasl::SaslAnswer::Message(expected.into())));
        }
        assert!(output.is_empty());
    }

    #[test]
    fn an_over_long_message_of_sasl_closes_the_connection() {
        let tokens = Authentication { tokens: true, simple: false };
        let mut bytes = Preamble::Digest.to_bytes().to_vec();
        bytes.extend((MESSAGE_LEN_MAX as u32 + 1).to_be_bytes());
        let (events, output) = answers(tokens, &bytes);
        assert!(matches!(&events[..], [ServerEvent::Close(Some(_))]), "{events:?}");
        assert!(output.is_empty());
    }

    #[test]
    fn a_denied_client_gets_the_exception_as_answer_to_the_next_call() {
        let mut connection = ServerConnection::new("h:1", "id");
        let mut input = opening();
        let mut output = BytesMut::new();
        let connected = connection.next(&mut input, &mut output);
        assert!(matches!(connected, Some(ServerEvent::Connected(_))));
        connection.deny(Exception::access_denied("not you"));
        // The beginning of the call suffices.
        let rest = input.split_off(9);
        assert!(connection.next(&mut input, &mut output).is_none());
        input.unsplit(rest);
        input.truncate(input.len() - 1);
        let closed = connection.next(&mut input, &mut output);
        assert!(matches!(closed, Some(ServerEvent::Close(Some(why))) if why == "not you"));
        let (call_id, exception) = refusal(&mut output);
        assert_eq!((call_id, &*exception.message), (3, "not you"));
        assert!(exception.class.ends_with("AccessDeniedException"));
    }

    #[test]
    fn a_tls_client_is_recognized() {
        let mut connection = ServerConnection::new("h:1", "id");
        let mut input = BytesMut::from(&b"\x16\x03\x01\x02\0\x01\0"[..]);
        let closed = connection.next(&mut input, &mut BytesMut::new());
        let Some(ServerEvent::Close(Some(why))) = closed else { panic!("{closed:?}") };
        assert_eq!(why, TLS_CLIENT);
    }

    #[test]
    fn every_preamble_is_refused_with_the_reason_that_is_set() {
        for preamble in [Preamble::Rpc, Preamble::Registry, Preamble::Security] {
            let mut connection = ServerConnection::new("h:1", "id").refusing("not so");
            let mut input = BytesMut::from(&preamble.to_bytes()[..]);
            let mut output = BytesMut::new();
            let closed = connection.next(&mut input, &mut output);
            assert!(matches!(closed, Some(ServerEvent::Close(Some(why))) if why == "not so"));
            let (_, exception) = refusal(&mut output);
            assert_eq!(exception.message, "not so");
            // Java's clients show no other class that answers no call.
            assert_eq!(exception.class, "org.apache.hadoop.hbase.ipc.FatalConnectionException");
        }
    }

    #[test]
    fn an_over_long_call_is_answered_and_the_connection_closed() {
        let class = over_long_call(Some((1, 3)));
        assert_eq!(class, "org.apache.hadoop.hbase.exceptions.RequestTooBigException");
        // Older clients do not know that class and would retry.
        for release in [None, Some((1, 2))] {
            assert_eq!(over_long_call(release), "org.apache.hadoop.hbase.DoNotRetryIOException");
        }
    }

    /// Sends an oversized call and returns the exception class.
    fn over_long_call(client_release: Option<(u32, u32)>) -> String {
        let bytes = opening_of(client_release);
        let mut connection = ServerConnection::new("h:1", "id").with_frame_len_max(100);
        let mut input = bytes;
        let mut output = BytesMut::new();
        while connection.next(&mut input, &mut output).is_some() {}
        let mut call = BytesMut::new();
        let mut message = proto::GetRequest::default();
        message.get.row = vec![b'x'; 200].into();
        let head = RequestHead { call_id: 8, ..Default::default() };
        encode_request(&mut call, head, &message, None, []).unwrap();
        let rest = call.split_off(6);
        input.unsplit(call);
        assert!(connection.next(&mut input, &mut output).is_none());
        input.unsplit(rest);
        assert!(matches!(connection.next(&mut input, &mut output), Some(ServerEvent::Close(_))));
        let (call_id, exception) = refusal(&mut output);
        assert_eq!(call_id, 8);
        exception.class.into()
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(pieces: Vec<Vec<u8>>, after_opening: bool, auth in 0x50_u8..0x54) {
            let authentication = Authentication { tokens: true, simple: auth == 0x51 };
            let mut connection =
                ServerConnection::new("h:1", "id").with_authentication(authentication);
            let preamble = [b"HBas\0", &[auth][..]].concat();
            let mut input = if after_opening { opening() } else { BytesMut::from(&preamble[..]) };
            let mut output = BytesMut::new();
            for piece in pieces {
                input.extend_from_slice(&piece);
                while connection.next(&mut input, &mut output).is_some() {}
            }
        }
    }
}
