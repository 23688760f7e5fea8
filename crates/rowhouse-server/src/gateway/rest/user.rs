//! The user of a request: by the client certificate, by a token in `Authorization: Bearer`, or
//! claimed in the parameter `user.name`, as Hadoop's services take it.

use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};

use super::RestConnection;
use crate::access::{Claim, Identity, Proof, decide, now_ms};
use crate::http::HttpClient;
use crate::http::form::pairs;

/// The user who claims to be nobody.
const DEFAULT_USER: &str = "rest";

/// Decides for which user a request is answered.
///
/// # Errors
/// The answer to a request without the proof that is required.
pub(super) fn user_of(
    connection: &RestConnection,
    client: &HttpClient,
    parts: &Parts,
) -> Result<Identity, Box<Response>> {
    let users = &connection.rest.gateway.cluster.access.users;
    let params = pairs(parts.uri.query().unwrap_or_default()).unwrap_or_default();
    let param = |name: &str| params.iter().find(|(of, _)| of == name).map(|(_, value)| &value[..]);
    let denied = |status: StatusCode, why: &str| {
        users.log_failure(client.peer, param("user.name"), why);
        let word = if status == StatusCode::FORBIDDEN { "Forbidden" } else { "Unauthorized" };
        let mut response = (status, format!("{word}\r\n{why}\r\n")).into_response();
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        Box::new(response)
    };
    if let Some(other) = param("doAs").or_else(|| param("doas")) {
        let why = format!("a user cannot act for another one: doAs={other}");
        return Err(denied(StatusCode::FORBIDDEN, &why));
    }
    let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token =
        header.and_then(|text| text.strip_prefix("Bearer ")).map(|text| users.user_of(text));
    let token = token.transpose().map_err(|why| denied(StatusCode::UNAUTHORIZED, &why))?;
    let certificate = client.certificate.as_deref().cloned().map(Ok);
    let claim = Claim { user: param("user.name"), real_user: None };
    match decide(users.sources, certificate.as_ref(), token.as_ref(), claim, now_ms()) {
        Ok(mut identity) => {
            if identity.proof == Proof::Claim && identity.user.is_empty() {
                DEFAULT_USER.clone_into(&mut identity.user);
            }
            Ok(identity)
        }
        Err(_) if token.is_none() && certificate.is_none() => {
            let why = "Authentication is required: send `Authorization: Bearer TOKEN`, with a \
                       token that `rowhouse user token NAME` makes, or connect with a client \
                       certificate";
            Err(denied(StatusCode::UNAUTHORIZED, why))
        }
        Err(why) => Err(denied(StatusCode::FORBIDDEN, &why)),
    }
}
