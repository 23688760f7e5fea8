//! A request: the path, the parameters, the client and the body.

use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HOST};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use bytes::{Bytes, BytesMut};
use rowhouse_model::{Error, Result as ModelResult};

use super::media::Media;
use super::model::Budget;
use super::refusal::Refusal;
use super::row_spec::{KeyEncoding, unescaped};
use crate::gateway::Session;
use crate::http::{Connection, HttpClient};
use crate::limits::{
    HANDSHAKE_WAIT, REST_BYTES_PER_BODY_BYTE, REST_ROWS_BYTES_MIN, REST_SMALL_BODY_BYTES,
};
use crate::memory::{CALL_BYTES, Reserved};

/// How long a body may take.
const BODY_WAIT: Duration = HANDSHAKE_WAIT;

/// A request without the body.
pub(super) struct Request {
    pub(super) parts: Parts,
    pub(super) session: Session,
    pub(super) client: HttpClient,
    pub(super) connection: Connection,
    params: Vec<(String, String)>,
}

/// A body, and the memory that it and its rows have reserved.
pub(super) struct ReadBody {
    pub(super) media: Media,
    pub(super) bytes: Bytes,
    /// For a body that is not small.
    pub(super) memory: Option<Reserved>,
}

impl ReadBody {
    /// Returns what the rows of the body may take in memory. A row without a key has one of
    /// `key_len` bytes, from the path.
    pub(super) fn budget(&self, key_len: usize) -> Budget {
        let bytes = self.bytes.len() as u64 * REST_BYTES_PER_BODY_BYTE;
        Budget::new(bytes + REST_ROWS_BYTES_MIN).with_key(key_len)
    }
}

impl Request {
    /// # Errors
    /// `InvalidRequest` for parameters that are not escaped as they should be.
    pub(super) fn new(
        parts: Parts,
        session: Session,
        client: HttpClient,
        connection: Connection,
    ) -> ModelResult<Self> {
        let params = crate::http::form::pairs(parts.uri.query().unwrap_or_default())?;
        Ok(Self { parts, session, client, connection, params })
    }

    /// Returns the path as it is escaped in the address, without the first slash.
    pub(super) fn path(&self) -> &str {
        self.parts.uri.path().trim_start_matches('/')
    }

    /// Returns the method; a HEAD counts as a GET, whose body is not sent.
    pub(super) fn method(&self) -> &Method {
        if self.parts.method == Method::HEAD { &Method::GET } else { &self.parts.method }
    }

    /// Returns the first value of a parameter.
    pub(super) fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(of, _)| of == name).map(|(_, value)| &value[..])
    }

    pub(super) fn params<'r>(&'r self, name: &'r str) -> impl Iterator<Item = &'r str> {
        self.params.iter().filter(move |(of, _)| of == name).map(|(_, value)| &value[..])
    }

    /// Returns a parameter as a number.
    ///
    /// # Errors
    /// `InvalidRequest`.
    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> ModelResult<Option<T>> {
        let value = self.param(name).map(|text| {
            let number = text.trim().parse::<T>();
            number.map_err(|_| Error::invalid(format!("{name} is no number in range: {text:?}")))
        });
        value.transpose()
    }

    /// Returns a parameter as true or false, as Java reads it.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.param(name).map(|value| value.eq_ignore_ascii_case("true"))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.parts.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the encoding of keys in the path: the header `Encoding`, or the parameter `e`.
    ///
    /// # Errors
    /// As [`KeyEncoding::parse`].
    pub(super) fn key_encoding(&self) -> ModelResult<KeyEncoding> {
        KeyEncoding::parse(self.header("encoding").or_else(|| self.param("e")))
    }

    /// Returns the media type for the answer.
    ///
    /// # Errors
    /// A refusal if the client accepts none.
    pub(super) fn accepted(&self, produced: &[Media]) -> Result<Media, Refusal> {
        let accept = self.header(ACCEPT.as_str()).unwrap_or_default();
        Media::accepted(accept, produced).ok_or_else(|| {
            let names: Vec<_> = produced.iter().map(|media| media.name()).collect();
            let text = format!("Not acceptable\r\nthere are {}\r\n", names.join(", "));
            Refusal::new(StatusCode::NOT_ACCEPTABLE, text)
        })
    }

    /// Returns the address of the resource, or of one below it.
    pub(super) fn location(&self, below: &str) -> String {
        let scheme = if self.client.is_tls { "https" } else { "http" };
        let authority = self.parts.uri.authority().map(|authority| authority.as_str());
        let host = authority.or_else(|| self.header(HOST.as_str())).unwrap_or("localhost");
        let path = self.parts.uri.path().trim_end_matches('/');
        let below = if below.is_empty() { String::new() } else { format!("/{below}") };
        format!("{scheme}://{host}{path}{below}")
    }

    /// Reads the body. Memory for one that is not small is reserved before.
    ///
    /// # Errors
    /// A refusal for a media type that is not among `consumed`, an encoding, and a body that is too
    /// long, has no length, or does not come in time.
    pub(super) async fn read(
        &self,
        body: Body,
        consumed: &[Media],
        bytes_max: u64,
    ) -> Result<ReadBody, Refusal> {
        let unsupported = |why: String| {
            let text = format!("Unsupported Media Type\r\n{why}\r\n");
            Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text)
        };
        let length = body.size_hint().exact();
        let (content_type, media) = match self.header(CONTENT_TYPE.as_str()) {
            Some(name) => (name, Media::of_body(name).filter(|media| consumed.contains(media))),
            // No body has no type.
            None => ("", consumed.first().copied().filter(|_| length == Some(0))),
        };
        let refusal = match (media, self.header(CONTENT_ENCODING.as_str())) {
            (None, _) => Some(unsupported(format!("the body is of {content_type:?}"))),
            (_, Some(encoding)) if !encoding.eq_ignore_ascii_case("identity") => {
                Some(unsupported(format!("the body is encoded: {encoding:?}")))
            }
            (Some(_), _) => None,
        };
        let refusal = refusal.or_else(|| match length {
            Some(length) if length > bytes_max => {
                Some(Refusal::too_large(format_args!("body: len={length}, max={bytes_max}")))
            }
            _ => None,
        });
        let (Some(media), None) = (media, &refusal) else {
            crate::http::body::discard(body).await;
            return Err(refusal.unwrap_or_else(Refusal::not_found));
        };
        let memory = match length {
            Some(length) if length > REST_SMALL_BODY_BYTES => {
                let bytes = length * (1 + REST_BYTES_PER_BODY_BYTE);
                Some(self.session.reserve(bytes + REST_ROWS_BYTES_MIN + CALL_BYTES).await)
            }
            _ => None,
        };
        let bytes_max = length.unwrap_or(REST_SMALL_BODY_BYTES);
        match tokio::time::timeout(BODY_WAIT, read_all(body, bytes_max)).await {
            Ok(Ok(bytes)) => Ok(ReadBody { media, bytes, memory }),
            Ok(Err(refusal)) => Err(refusal),
            Err(_) => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "Request timeout\r\n")),
        }
    }
}

async fn read_all(mut body: Body, bytes_max: u64) -> Result<Bytes, Refusal> {
    let mut bytes = BytesMut::new();
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        let Some(frame) = frame else { return Ok(bytes.freeze()) };
        let frame = frame.map_err(Refusal::bad)?;
        let Ok(data) = frame.into_data() else { continue };
        if (bytes.len() + data.len()) as u64 > bytes_max {
            let text = format!(
                "Length required\r\na body of more than {bytes_max} bytes needs a Content-Length\r\n"
            );
            return Err(Refusal::new(StatusCode::LENGTH_REQUIRED, text));
        }
        if bytes.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        bytes.extend_from_slice(&data);
    }
}

/// Decodes a part of a path to text.
///
/// # Errors
/// `InvalidRequest` for what is not UTF-8.
pub(super) fn text_of(part: &str) -> ModelResult<String> {
    // In a path, a plus is a plus; only HBase's row specifications read it as a blank.
    let bytes = unescaped(&part.replace('+', "%2B"))?;
    String::from_utf8(bytes).map_err(|_| Error::invalid(format!("the path is not UTF-8: {part}")))
}
