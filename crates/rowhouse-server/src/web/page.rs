//! A page's frame, and pages without their own content.

use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::{CONTENT_LANGUAGE, CONTENT_TYPE, VARY};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use rowhouse_model::{Error, ErrorKind};

use super::reader::{Lang, Reader};
use super::shown;
use super::state::Web;
use super::words::{self, Text};

/// The navigation's parts, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Overview,
    Tables,
    Heat,
    Servers,
    Query,
    Design,
    Calls,
    Tasks,
    Settings,
}

impl Place {
    const ALL: [Self; 9] = [
        Self::Overview,
        Self::Tables,
        Self::Heat,
        Self::Servers,
        Self::Query,
        Self::Design,
        Self::Calls,
        Self::Tasks,
        Self::Settings,
    ];

    fn path_and_name(self) -> (&'static str, Text) {
        match self {
            Self::Overview => ("/", words::OVERVIEW),
            Self::Tables => ("/tables", words::TABLES),
            Self::Heat => ("/heat", words::HEAT),
            Self::Servers => ("/servers", words::SERVERS),
            Self::Query => ("/query", words::QUERY),
            Self::Design => ("/design", words::DESIGN),
            Self::Calls => ("/calls", words::CALLS),
            Self::Tasks => ("/tasks", words::TASKS),
            Self::Settings => ("/settings", words::SETTINGS),
        }
    }
}

/// A page without the frame.
pub(super) struct Page {
    /// The navigation part that the page belongs to.
    place: Option<Place>,
    pub(super) status: StatusCode,
    /// Title and first heading. Names in it are as they are: it is escaped when it is written.
    title: String,
    pub(super) body: Markup,
    /// A script on this server that the page runs.
    script: Option<&'static str>,
    /// The time after which a browser loads the page again.
    refresh: Option<Duration>,
}

impl Page {
    /// Creates a page in a navigation part.
    pub(super) fn new(place: Place, title: impl Into<String>, body: Markup) -> Self {
        Self { place: Some(place), ..Self::without_place(StatusCode::OK, title, body) }
    }

    fn without_place(status: StatusCode, title: impl Into<String>, body: Markup) -> Self {
        Self { place: None, status, title: title.into(), body, script: None, refresh: None }
    }

    /// Has the page run a script on this server.
    pub(super) fn with_script(self, path: &'static str) -> Self {
        Self { script: Some(path), ..self }
    }

    /// Has browsers load the page again at this interval.
    pub(super) fn refreshed(self, interval: Duration) -> Self {
        Self { refresh: Some(interval), ..self }
    }

    /// Returns the page that shows an error.
    pub(super) fn of_error(reader: &Reader, error: &Error) -> Self {
        let title = reader.text(match error.kind() {
            ErrorKind::TableNotFound => words::NO_SUCH_TABLE,
            ErrorKind::InvalidRequest => words::BAD_REQUEST,
            ErrorKind::Unsupported => words::UNSUPPORTED,
            _ => words::FAILED,
        });
        Self::without_place(status_of(error), title, shown::error(reader, error))
    }

    /// Returns the page for an address where nothing is.
    pub(super) fn not_found(reader: &Reader) -> Self {
        let body = html! { p { (reader.text(words::NOT_FOUND_MORE)) } };
        Self::without_place(StatusCode::NOT_FOUND, reader.text(words::NOT_FOUND), body)
    }

    /// Returns the page that says that too much is running.
    pub(super) fn busy(reader: &Reader) -> Self {
        let body = html! { p.error role="alert" { (reader.text(words::BUSY_MORE)) } };
        Self::without_place(StatusCode::SERVICE_UNAVAILABLE, reader.text(words::BUSY), body)
    }

    /// Returns the answer: the page in its frame.
    pub(super) fn response(self, web: &Web, reader: &Reader) -> Response {
        let headers = [
            (CONTENT_TYPE, "text/html; charset=utf-8"),
            (CONTENT_LANGUAGE, reader.lang.tag()),
            (VARY, "Accept-Language"),
        ];
        (self.status, headers, self.framed(web, reader).into_string()).into_response()
    }

    fn framed(&self, web: &Web, reader: &Reader) -> Markup {
        let Self { place, status: _, title, body, script, refresh } = self;
        html! {
            (DOCTYPE)
            html lang=(reader.lang.tag()) {
                head {
                    (head(&format!("{title} – {}", web.database.name)))
                    @if let Some(refresh) = refresh {
                        meta http-equiv="refresh" content=(refresh.as_secs());
                    }
                    @if let Some(script) = script { script src=(script) defer {} }
                }
                body {
                    a.skip href="#main" { (reader.text(words::SKIP)) }
                    header {
                        span {
                            a.product href=(reader.link("/", &[])) { "rowhouse" } " / "
                            span.database title=(web.database.path) { (web.database.name) }
                        }
                        (navigation(reader, *place)) (health(web, reader)) (languages(reader))
                    }
                    main id="main" { h1 { (title) } (body) }
                    footer {
                        "rowhouse " (env!("CARGO_PKG_VERSION")) " · "
                        (web.context.server.name) " · "
                        a href="/health" { "/health" } " "
                        a href="/metrics" { "/metrics" } " "
                        a href="/jmx" { "/jmx" }
                    }
                }
            }
        }
    }
}

/// Returns what the head of every page has.
pub(super) fn head(title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (title) " – rowhouse" }
        link rel="stylesheet" href="/style.css";
        link rel="icon" href="/icon.svg" type="image/svg+xml";
    }
}

fn navigation(reader: &Reader, place: Option<Place>) -> Markup {
    html! {
        nav aria-label=(reader.text(words::NAVIGATION)) {
            @for part in Place::ALL {
                @let (path, name) = part.path_and_name();
                a href=(reader.link(path, &[])) aria-current=[(place == Some(part)).then_some("page")] {
                    (reader.text(name))
                }
            }
        }
    }
}

fn health(web: &Web, reader: &Reader) -> Markup {
    match web.context.cluster.store.check_writable() {
        Ok(()) => html! { span.good { (reader.text(words::HEALTHY)) } },
        Err(error) => html! {
            span.bad role="alert" {
                (reader.text(words::NO_WRITES)) (reader.text(words::COLON))
                (shown::message(reader, error.message()))
            }
        },
    }
}

fn languages(reader: &Reader) -> Markup {
    let (lang, name) = match reader.lang {
        Lang::En => (Lang::Zh, "中文"),
        Lang::Zh => (Lang::En, "English"),
    };
    html! { a.lang href=(reader.link_in(lang)) hreflang=(lang.tag()) lang=(lang.tag()) { (name) } }
}

/// Returns the status of the page that shows an error.
pub(super) fn status_of(error: &Error) -> StatusCode {
    match error.kind() {
        ErrorKind::TableNotFound => StatusCode::NOT_FOUND,
        ErrorKind::InvalidRequest | ErrorKind::Unsupported => StatusCode::BAD_REQUEST,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
