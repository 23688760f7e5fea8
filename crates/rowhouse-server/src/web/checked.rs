//! Which requests are answered, and which bodies are read.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::REFERRER_POLICY;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::login;
use super::state::Web;
use crate::http::body::discard;
use crate::http::guard;
use crate::limits::WEB_URI_BYTES_MAX;

/// Answers a request, or refuses it.
pub(crate) async fn check(State(web): State<Web>, request: Request, next: Next) -> Response {
    let has_form = posts_form(request.uri().path());
    let mut response =
        match guard::refuse(&request, &web.context.server.name.host, WEB_URI_BYTES_MAX) {
            Some(refused) => {
                discard(request.into_body()).await;
                refused.into_response()
            }
            // No other page reads a body.
            None if !guard::is_read(&request) && !reads_body(request.uri().path()) => {
                let (parts, body) = request.into_parts();
                discard(body).await;
                next.run(Request::from_parts(parts, Body::empty())).await
            }
            None => next.run(request).await,
        };
    guard::protect(&mut response);
    if has_form {
        // With `no-referrer` a browser says that the form comes from nowhere.
        let same = HeaderValue::from_static("same-origin");
        response.headers_mut().insert(REFERRER_POLICY, same);
    }
    response
}

fn reads_body(path: &str) -> bool {
    path.starts_with("/solr/") || path == login::PATH || path.starts_with("/design/")
}

/// Returns true for pages with a form that is posted.
fn posts_form(path: &str) -> bool {
    path == login::PATH || path.starts_with("/design")
}
