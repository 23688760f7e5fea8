//! Who reads the pages of a server that checks users: by a client certificate, by a token in each
//! request, or by a session that begins with a token.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, html};
use parking_lot::Mutex;
use rowhouse_format::token::TokenIdentifier;

use super::page::head;
use super::reader::Reader;
use super::state::Web;
use super::words::{self, Text};
use crate::access::{new_secret, now_ms};
use crate::http::HttpClient;
use crate::http::body::{Read, discard, read_form};
use crate::http::form::pairs;
use crate::limits::{
    FAILED_LOGIN_WAIT, WEB_LOGIN_BYTES_MAX, WEB_SESSION_TIME, WEB_SESSIONS_MAX,
    WEB_USER_SESSIONS_MAX,
};

/// Where a session begins.
pub(super) const PATH: &str = "/login";
/// Where it is ended.
pub(super) const LOGOUT_PATH: &str = "/logout";
/// Answered without a user: health for whoever watches the server, and what the login page shows.
const OPEN: [&str; 5] = ["/health", PATH, LOGOUT_PATH, "/style.css", "/icon.svg"];
/// The beginning of the cookie's name; the cluster id follows, for a browser sends the cookies of a
/// host to all servers on it.
const COOKIE_PREFIX: &str = "rowhouse_session_";

/// The open sessions, by the secret in the cookie.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Session>>);

struct Session {
    token: TokenIdentifier,
    until: Instant,
}

impl Sessions {
    /// Opens a session. Among the user's own, or among all, the one that ends first makes room.
    fn open(&self, secret: String, token: TokenIdentifier, now: Instant) {
        let mut sessions = self.0.lock();
        sessions.retain(|_, session| session.until > now);
        let own = sessions.values().filter(|session| session.token.user == token.user).count();
        let is_own_full = own >= WEB_USER_SESSIONS_MAX;
        if is_own_full || sessions.len() >= WEB_SESSIONS_MAX {
            let first = sessions
                .iter()
                .filter(|(_, session)| !is_own_full || session.token.user == token.user)
                .min_by_key(|(_, session)| session.until);
            let first = first.map(|(secret, _)| secret.clone());
            first.and_then(|secret| sessions.remove(&secret));
        }
        sessions.insert(secret, Session { token, until: now + WEB_SESSION_TIME });
    }

    /// Ends a session, if it is open.
    fn end(&self, secret: &str) {
        self.0.lock().remove(secret);
    }

    /// Returns the token of a session that has not ended.
    fn token(&self, secret: &str, now: Instant) -> Option<TokenIdentifier> {
        let sessions = self.0.lock();
        let session = sessions.get(secret).filter(|session| session.until > now)?;
        Some(session.token.clone())
    }
}

/// Answers requests of users, and refuses others, on a server that checks users.
pub(super) async fn check(
    State(web): State<Web>,
    Extension(client): Extension<HttpClient>,
    request: Request,
    next: Next,
) -> Response {
    let sources = web.context.cluster.access.users.sources;
    let is_open = sources.claimed || OPEN.contains(&request.uri().path());
    let has_certificate = client.certificate.as_ref().is_some_and(|it| now_ms() < it.until_ms);
    if is_open || has_certificate || has_user(&web, &client, request.headers()) {
        return next.run(request).await;
    }
    let is_page = request.method() == Method::GET
        && header(request.headers(), ACCEPT.as_str()).contains("text/html");
    discard(request.into_body()).await;
    if is_page {
        return (StatusCode::SEE_OTHER, [(LOCATION, PATH)]).into_response();
    }
    let why = "Authentication is required: send `Authorization: Bearer TOKEN`, with a token that \
               `rowhouse user token NAME` makes, or connect with a client certificate\n";
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], why).into_response()
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Returns true if a request has a token, or the cookie of a session, that is accepted. Logs a
/// token that is not.
fn has_user(web: &Web, client: &HttpClient, headers: &HeaderMap) -> bool {
    let users = &web.context.cluster.access.users;
    if let Some(token) = header(headers, AUTHORIZATION.as_str()).strip_prefix("Bearer ") {
        return match users.user_of(token) {
            Ok(_) => true,
            Err(why) => {
                users.log_failure(client.peer, None, &why);
                false
            }
        };
    }
    let token = secret(web, headers).and_then(|secret| web.sessions.token(secret, Instant::now()));
    token.is_some_and(|token| users.is_accepted(&token))
}

/// Returns the secret in the cookie of a session.
fn secret<'h>(web: &Web, headers: &'h HeaderMap) -> Option<&'h str> {
    let cookies = header(headers, COOKIE.as_str()).split(';');
    let mut cookies = cookies.filter_map(|cookie| cookie.trim().split_once('='));
    let own = &web.context.cluster.id;
    let is_own = |name: &str| name.strip_prefix(COOKIE_PREFIX) == Some(own);
    cookies.find(|(name, _)| is_own(name)).map(|(_, secret)| secret)
}

/// Ends the session in the cookie.
pub(super) async fn leave(State(web): State<Web>, headers: HeaderMap) -> Response {
    if let Some(secret) = secret(&web, &headers) {
        web.sessions.end(secret);
    }
    let name = format!("{COOKIE_PREFIX}{}", web.context.cluster.id);
    let cookie = format!("{name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    (StatusCode::SEE_OTHER, [(LOCATION, PATH.to_owned()), (SET_COOKIE, cookie)]).into_response()
}

/// Shows the form.
pub(super) async fn show(reader: Reader) -> Response {
    page(&reader, StatusCode::OK, None)
}

/// Opens a session for the token in the form. A wrong one waits.
pub(super) async fn enter(
    State(web): State<Web>,
    Extension(client): Extension<HttpClient>,
    reader: Reader,
    request: Request,
) -> Response {
    let token = match read_form(request.into_body(), WEB_LOGIN_BYTES_MAX).await {
        Read::Whole(body) => String::from_utf8(body).ok().and_then(|body| pairs(&body).ok()),
        Read::TooLong(_) | Read::Lost => None,
    };
    let token = token.into_iter().flatten().find(|(name, _)| name == "token");
    let token = token.map(|(_, token)| token).unwrap_or_default();
    let users = &web.context.cluster.access.users;
    let token = match users.user_of(&token) {
        Ok(token) => token,
        Err(why) => {
            users.log_failure(client.peer, None, &why);
            tokio::time::sleep(FAILED_LOGIN_WAIT).await;
            return page(&reader, StatusCode::FORBIDDEN, Some(words::TOKEN_REFUSED));
        }
    };
    let Ok(secret) = new_secret() else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let left = u64::try_from(token.expires_ms - now_ms()).unwrap_or(0);
    let seconds = WEB_SESSION_TIME.min(Duration::from_millis(left)).as_secs();
    let secure = if client.is_tls { "; Secure" } else { "" };
    let name = format!("{COOKIE_PREFIX}{}", web.context.cluster.id);
    let cookie =
        format!("{name}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    web.sessions.open(secret, token, Instant::now());
    (StatusCode::SEE_OTHER, [(LOCATION, "/".to_owned()), (SET_COOKIE, cookie)]).into_response()
}

/// Returns the page with the form, which tells nothing about the database.
fn page(reader: &Reader, status: StatusCode, error: Option<Text>) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang=(reader.lang.tag()) {
            head { (head(reader.text(words::LOGIN))) }
            body { main id="main" {
                h1 { (reader.text(words::LOGIN)) }
                @if let Some(error) = error {
                    p.error role="alert" { (reader.text(error)) }
                }
                form action=(PATH) method="post" {
                    label.grow {
                        (reader.text(words::TOKEN))
                        input name="token" type="password" required autocomplete="current-password";
                    }
                    button { (reader.text(words::ENTER)) }
                }
                p.dim { (reader.text(words::LOGIN_MORE)) " " code { "rowhouse user token NAME" } }
            } }
        }
    };
    (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], page.into_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(user: &str, sequence: i64) -> TokenIdentifier {
        TokenIdentifier { user: user.into(), key_id: 1, issued_ms: 0, expires_ms: 1, sequence }
    }

    #[test]
    fn sessions_end_and_are_bounded() {
        let sessions = Sessions::default();
        let begin = Instant::now();
        for number in 0..WEB_SESSIONS_MAX + 5 {
            let at = begin + Duration::from_millis(number as u64);
            let user = format!("user{}", number % 100);
            sessions.open(number.to_string(), token(&user, number as i64), at);
        }
        assert_eq!(sessions.0.lock().len(), WEB_SESSIONS_MAX);
        let soon = begin + Duration::from_secs(60);
        assert!(sessions.token("0", soon).is_none());
        assert_eq!(sessions.token("5", soon), Some(token("user5", 5)));
        assert!(sessions.token("5", begin + WEB_SESSION_TIME + Duration::from_secs(1)).is_none());
        assert!(sessions.token("", soon).is_none());
    }

    #[test]
    fn a_user_with_many_sessions_ends_none_of_others() {
        let sessions = Sessions::default();
        let begin = Instant::now();
        sessions.open("first".into(), token("bob", 0), begin);
        for number in 1..WEB_SESSIONS_MAX + 5 {
            let at = begin + Duration::from_millis(number as u64);
            sessions.open(number.to_string(), token("alice", number as i64), at);
        }
        assert_eq!(sessions.0.lock().len(), 1 + WEB_USER_SESSIONS_MAX);
        assert!(sessions.token("first", begin).is_some());
        let last = (WEB_SESSIONS_MAX + 4).to_string();
        assert!(sessions.token(&last, begin).is_some());
    }

    #[tokio::test]
    async fn a_logout_ends_the_session() {
        let dir = tempfile::tempdir().unwrap();
        let web = Web::of_directory(dir.path());
        for secret in ["one", "two"] {
            web.sessions.open(secret.into(), token("alice", 0), Instant::now());
        }
        let mut headers = HeaderMap::new();
        // The other one is of another server on the host.
        let id = &web.context.cluster.id;
        let cookies = format!("a=b; {COOKIE_PREFIX}other=two; {COOKIE_PREFIX}{id}=one");
        headers.insert(COOKIE, cookies.parse().unwrap());
        let response = leave(State(web.clone()), headers).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        assert!(header(response.headers(), SET_COOKIE.as_str()).contains("Max-Age=0"));
        assert!(web.sessions.token("one", Instant::now()).is_none());
        assert!(web.sessions.token("two", Instant::now()).is_some());
    }
}
