//! Request bodies. Each is read to the end before the answer: SolrJ takes an answer before that for
//! a broken connection, and the program never sees the error.

use std::future::poll_fn;
use std::pin::Pin;

use axum::body::{Body, HttpBody};

use crate::limits::{HANDSHAKE_WAIT, SOLR_BODY_BYTES_MAX, SOLR_FORM_BYTES_MAX};

/// How many bytes are retained from the end of a body that is too long for a form. SolrJ's forms
/// end with the parameter `wt`.
const END_BYTES: usize = 256;

/// What was read from a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Whole(Vec<u8>),
    /// The end of a body that is too long for a form.
    TooLong(Vec<u8>),
    /// It did not arrive in time, or the connection broke.
    Lost,
}

/// Reads a body, and drops what is too long for a Solr form.
pub(crate) async fn read(body: Body) -> Read {
    read_form(body, SOLR_FORM_BYTES_MAX).await
}

/// Reads a body that nobody uses, and retains none of it.
pub(crate) async fn discard(body: Body) {
    read_form(body, 0).await;
}

/// Reads a body, and drops what is too long for a form with so many bytes. Above
/// [`SOLR_BODY_BYTES_MAX`] it stops.
pub(crate) async fn read_form(body: Body, len_max: usize) -> Read {
    tokio::time::timeout(HANDSHAKE_WAIT, read_all(body, len_max)).await.unwrap_or(Read::Lost)
}

async fn read_all(mut body: Body, len_max: usize) -> Read {
    let mut retained = Vec::new();
    let mut len = 0;
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(frame) = frame else { return Read::Lost };
        let Ok(data) = frame.into_data() else { continue };
        len += data.len();
        retained.extend_from_slice(&data);
        if len > len_max {
            retained.drain(..retained.len().saturating_sub(END_BYTES));
        }
        if len > SOLR_BODY_BYTES_MAX {
            break;
        }
    }
    if len > len_max { Read::TooLong(retained) } else { Read::Whole(retained) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_end_of_a_long_body_is_retained() {
        let whole = vec![b'a'; SOLR_FORM_BYTES_MAX];
        assert_eq!(read(Body::from(whole.clone())).await, Read::Whole(whole.clone()));
        let mut long = whole;
        long.extend_from_slice(b"&wt=javabin");
        let Read::TooLong(end) = read(Body::from(long)).await else { panic!("not too long") };
        assert_eq!(end.len(), END_BYTES);
        assert!(end.ends_with(b"a&wt=javabin"));
        assert_eq!(read_form(Body::from("abc"), 3).await, Read::Whole(b"abc".to_vec()));
        assert_eq!(read_form(Body::from("abc"), 2).await, Read::TooLong(b"abc".to_vec()));
    }
}
