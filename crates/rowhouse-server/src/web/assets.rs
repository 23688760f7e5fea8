//! Files that pages use.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

pub(super) async fn style() -> Response {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("style.css")).into_response()
}

pub(super) async fn heat_script() -> Response {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("heat.js")).into_response()
}

pub(super) async fn icon() -> Response {
    ([(CONTENT_TYPE, "image/svg+xml")], include_str!("icon.svg")).into_response()
}
