//! Which requests are answered: not those that a page of another origin causes in a browser.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Web;
use crate::limits::WEB_URI_BYTES_MAX;

/// Headers of every answer. Scripts, styles and pictures come from here alone, no other page may
/// show these ones in a frame or load them, and no browser keeps them.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
];

/// Answers a request, or refuses it.
pub(super) async fn check(State(web): State<Web>, request: Request, next: Next) -> Response {
    let mut response = match refuse(&request, &web.context.server.name.host) {
        Some(refused) => refused.into_response(),
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns why a request is not answered.
fn refuse(request: &Request, advertised: &str) -> Option<(StatusCode, String)> {
    let uri_bytes = request.uri().path_and_query().map_or(0, |it| it.as_str().len());
    if uri_bytes > WEB_URI_BYTES_MAX {
        let message =
            format!("the address is too long: len={uri_bytes}, max={WEB_URI_BYTES_MAX}\n");
        return Some((StatusCode::URI_TOO_LONG, message));
    }
    // HTTP/2 has the host in the address.
    let host = match request.uri().authority() {
        Some(authority) => authority.as_str(),
        None => header(request.headers(), HOST.as_str()),
    };
    if !is_this_machine(host, advertised) {
        return Some((
            StatusCode::FORBIDDEN,
            format!("the request is for another host: {host:?}\n"),
        ));
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_of_another_origin(request.headers(), is_read)
        || !is_read && is_posted_elsewhere(request.headers(), host)
    {
        let message = "a page of another origin cannot read this server\n".to_owned();
        return Some((StatusCode::FORBIDDEN, message));
    }
    None
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Whether a `Host` header names this machine: by an address, as `localhost`, or by the name that
/// clients of HBase's protocol are told. Other names may be of a page that tries to reach it.
fn is_this_machine(header: &str, advertised: &str) -> bool {
    let host = match header.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => header.rsplit_once(':').map_or(header, |(host, _)| host),
    };
    host.parse::<IpAddr>().is_ok()
        || ["localhost", advertised].iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// Whether a page of another origin caused a request other than by a link that a person follows,
/// which only reads. Programs that are no browsers do not send these headers.
fn is_of_another_origin(headers: &HeaderMap, is_read: bool) -> bool {
    let is_other = match header(headers, "sec-fetch-site") {
        "" | "none" | "same-origin" => false,
        // `same-site` is another port of this machine.
        _ => true,
    };
    let is_followed = header(headers, "sec-fetch-mode") == "navigate"
        && header(headers, "sec-fetch-dest") == "document";
    is_other && !(is_followed && is_read)
}

/// Whether a browser says that a page elsewhere sent a form. Old browsers send no other header that
/// tells.
fn is_posted_elsewhere(headers: &HeaderMap, host: &str) -> bool {
    match header(headers, ORIGIN.as_str()) {
        "" => false,
        origin => origin.split_once("://").is_none_or(|(_, origin)| origin != host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_localhost_and_the_advertised_name_are_this_machine() {
        for host in ["127.0.0.1:16010", "[::1]:16010", "localhost", "LocalHost:80", "db1:16010"] {
            assert!(is_this_machine(host, "db1"), "{host}");
        }
        for host in ["", "evil.example", "evil.example:16010", "127.0.0.1.evil.example:80", "db2"] {
            assert!(!is_this_machine(host, "db1"), "{host}");
        }
    }

    #[test]
    fn pages_of_other_origins_may_link_here_and_nothing_else() {
        let is_refused = |site: &'static str, mode: &'static str, dest: &'static str| {
            let mut headers = HeaderMap::new();
            let names = ["sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"];
            for (name, value) in names.into_iter().zip([site, mode, dest]) {
                headers.insert(name, HeaderValue::from_static(value));
            }
            is_of_another_origin(&headers, true)
        };
        assert!(!is_of_another_origin(&HeaderMap::new(), true));
        assert!(!is_refused("none", "navigate", "document"));
        assert!(!is_refused("same-origin", "cors", "empty"));
        for site in ["cross-site", "same-site", "unknown"] {
            assert!(!is_refused(site, "navigate", "document"), "{site}");
            assert!(is_refused(site, "navigate", "iframe"), "{site}");
            assert!(is_refused(site, "no-cors", "script"), "{site}");
            assert!(is_refused(site, "cors", "empty"), "{site}");
        }
    }

    #[test]
    fn forms_of_other_origins_are_refused() {
        let is_refused = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, HeaderValue::from_static(value));
            }
            is_of_another_origin(&headers, false) || is_posted_elsewhere(&headers, "localhost:1")
        };
        assert!(!is_refused(&[]));
        assert!(!is_refused(&[
            ("origin", "http://localhost:1"),
            ("sec-fetch-site", "same-origin")
        ]));
        assert!(is_refused(&[("origin", "null")]));
        assert!(is_refused(&[("origin", "http://localhost:2")]));
        assert!(is_refused(&[("origin", "https://evil.example")]));
        let followed = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        assert!(is_refused(&[[("sec-fetch-site", "cross-site")].as_slice(), &followed].concat()));
    }
}
