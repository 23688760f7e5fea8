//! Which requests are answered: not requests that a page from another origin causes in a browser.

use std::net::IpAddr;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::login;
use super::solr;
use super::state::Web;
use crate::limits::WEB_URI_BYTES_MAX;

/// Headers in every answer. Scripts, styles and pictures come from here alone, no other page may
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
    let has_form = posts_form(request.uri().path());
    let mut response = match refuse(&request, &web.context.server.name.host) {
        Some(refused) => {
            solr::body::discard(request.into_body()).await;
            refused.into_response()
        }
        // No other page reads a body.
        None if !is_read(&request) && !reads_body(request.uri().path()) => {
            let (parts, body) = request.into_parts();
            solr::body::discard(body).await;
            next.run(Request::from_parts(parts, Body::empty())).await
        }
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
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

/// Returns why a request is not answered.
fn refuse(request: &Request, advertised: &str) -> Option<(StatusCode, String)> {
    let uri_bytes = request.uri().path_and_query().map_or(0, |it| it.as_str().len());
    if uri_bytes > WEB_URI_BYTES_MAX {
        let message =
            format!("the address is too long: len={uri_bytes}, max={WEB_URI_BYTES_MAX}\n");
        return Some((StatusCode::URI_TOO_LONG, message));
    }
    let host = match host_of(request) {
        Ok(host) => host,
        Err(why) => return Some((StatusCode::BAD_REQUEST, format!("{why}\n"))),
    };
    if !is_this_machine(host, advertised) {
        return Some((
            StatusCode::FORBIDDEN,
            format!("the request is for another host: {host:?}\n"),
        ));
    }
    let is_read = is_read(request);
    if is_of_another_origin(request.headers(), is_read)
        || !is_read && is_posted_elsewhere(request.headers(), host)
    {
        let message = "a page of another origin cannot read this server\n".to_owned();
        return Some((StatusCode::FORBIDDEN, message));
    }
    None
}

/// Returns the host that a request names.
///
/// # Errors
/// The reason, for a request that RFC 9112 (section 3.2) has answered with 400: one with several
/// `Host` headers, or, in HTTP/1.1, without one. Which of several counts, a proxy before the server
/// may decide in another way.
fn host_of(request: &Request) -> Result<&str, &'static str> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let first = hosts.next();
    if hosts.next().is_some() {
        return Err("the request has several Host headers");
    }
    // HTTP/2, and a request to a proxy, have the host in the address.
    if let Some(authority) = request.uri().authority() {
        return Ok(authority.as_str());
    }
    match first.map(HeaderValue::to_str) {
        Some(Ok(host)) => Ok(host),
        Some(Err(_)) => Err("the Host header is not ASCII text"),
        None if request.version() == Version::HTTP_10 => Ok(""),
        None => Err("the request has no Host header"),
    }
}

/// Returns a header's values; empty for one that is not text.
fn values<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default())
}

fn is_read(request: &Request) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD)
}

/// Whether a `Host` header names this machine: by an address, as `localhost`, or by the name
/// announced to clients of HBase's protocol. Other names may belong to a page that tries to reach
/// it.
fn is_this_machine(header: &str, advertised: &str) -> bool {
    let host = match header.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => header.rsplit_once(':').map_or(header, |(host, _)| host),
    };
    host.parse::<IpAddr>().is_ok()
        || ["localhost", advertised].iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// Whether a page from another origin caused a request other than by a link that a person follows,
/// which only reads. Programs that are no browsers do not send these headers.
fn is_of_another_origin(headers: &HeaderMap, is_read: bool) -> bool {
    // `same-site` is another port on this machine.
    let is_other =
        values(headers, "sec-fetch-site").any(|site| !["none", "same-origin"].contains(&site));
    let is_followed = values(headers, "sec-fetch-mode").eq(["navigate"])
        && values(headers, "sec-fetch-dest").eq(["document"]);
    is_other && !(is_followed && is_read)
}

/// Whether a browser says that a page elsewhere sent a form. Old browsers send no other header that
/// tells.
fn is_posted_elsewhere(headers: &HeaderMap, host: &str) -> bool {
    let mut origins = values(headers, ORIGIN.as_str());
    origins.any(|origin| origin.split_once("://").is_none_or(|(_, origin)| origin != host))
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
    fn a_request_names_one_host() {
        let host = |version: Version, uri: &str, hosts: &[&'static str]| {
            let mut request = Request::new(Body::empty());
            (*request.version_mut(), *request.uri_mut()) = (version, uri.parse().unwrap());
            for host in hosts {
                request.headers_mut().append(HOST, HeaderValue::from_static(host));
            }
            host_of(&request).map(str::to_owned)
        };
        let one = Version::HTTP_11;
        assert_eq!(host(one, "/", &["a:1"]).as_deref(), Ok("a:1"));
        assert_eq!(host(one, "http://b/x", &["a:1"]).as_deref(), Ok("b"));
        assert_eq!(host(Version::HTTP_2, "http://b/x", &[]).as_deref(), Ok("b"));
        assert_eq!(host(Version::HTTP_10, "/", &[]).as_deref(), Ok(""));
        for (uri, hosts) in [("/", &["a", "b"][..]), ("/", &["a", "a"]), ("/", &[])] {
            assert!(host(one, uri, hosts).is_err(), "{hosts:?}");
        }
        assert!(host(one, "http://a/", &["a", "b"]).is_err());
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
        for site in ["cross-site", "same-site", "unknown", ""] {
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
