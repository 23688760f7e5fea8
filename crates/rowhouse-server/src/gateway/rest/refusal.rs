//! Answers to requests that fail, with HBase's status codes and texts.

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use rowhouse_format::exception::Exception;
use rowhouse_model::{Error, ErrorKind};

/// What a request is answered with instead of a result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    /// Plain text, which ends with `\r\n` as in HBase.
    pub(super) text: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    /// There is no such row, scanner, table or resource.
    pub(super) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "Not found\r\n")
    }

    /// The request says something that is not understood; `why` becomes the second line.
    pub(super) fn bad(why: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("Bad request\r\n{why}\r\n"))
    }

    /// As [`Refusal::bad`], with HBase's text for it.
    pub(super) fn bad_text(text: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("{text}\r\n"))
    }

    /// The request needs more memory than it may have.
    pub(super) fn too_large(why: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, format!("Too large\r\n{why}\r\n"))
    }

    /// Returns true for an exception after which a get finds nothing, as in HBase: it is final.
    pub(super) fn hides_row(exception: &Exception) -> bool {
        exception.do_not_retry && kind(exception) != ErrorKind::AccessDenied
    }
}

fn kind(exception: &Exception) -> ErrorKind {
    exception.clone().into_error().kind()
}

impl From<Exception> for Refusal {
    fn from(exception: Exception) -> Self {
        let (status, word) = match kind(&exception) {
            ErrorKind::AccessDenied => (StatusCode::FORBIDDEN, "Forbidden"),
            ErrorKind::TableNotFound | ErrorKind::NoSuchColumnFamily => {
                (StatusCode::NOT_FOUND, "Not found")
            }
            _ if exception.class.starts_with("java.lang.") => {
                (StatusCode::BAD_REQUEST, "Bad request")
            }
            _ => (StatusCode::SERVICE_UNAVAILABLE, "Unavailable"),
        };
        let Exception { class, message, .. } = exception;
        Self::new(status, format!("{word}\r\n{class}: {message}\r\n"))
    }
}

/// An error in what the request says: HBase's client refuses it before any call.
impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::bad(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, [(CONTENT_TYPE, "text/plain")], self.text).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_have_the_status_of_hbase() {
        for (kind, status) in [
            (ErrorKind::TableNotFound, 404),
            (ErrorKind::NoSuchColumnFamily, 404),
            (ErrorKind::AccessDenied, 403),
            (ErrorKind::InvalidRequest, 503),
            (ErrorKind::RegionTooBusy, 503),
        ] {
            let refusal = Refusal::from(Exception::from(&Error::new(kind, "why")));
            assert_eq!(refusal.status.as_u16(), status, "{kind:?}");
            assert!(refusal.text.ends_with("why\r\n"), "{}", refusal.text);
        }
        let exception = Exception {
            class: "java.lang.IllegalArgumentException".into(),
            message: "m".into(),
            do_not_retry: true,
        };
        assert_eq!(Refusal::from(exception).status.as_u16(), 400);
    }
}
