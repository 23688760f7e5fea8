//! Answers for programs: health, metrics for Prometheus, and running tasks for HBase's shell.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::state::{Web, failed};
use crate::metrics;

/// Answers 200 while writes are taken, and 503 with the reason otherwise.
pub(super) async fn health(State(web): State<Web>) -> Response {
    // It looks for the data directory on the disk.
    let checked = tokio::task::spawn_blocking(move || web.context.cluster.store.check_writable());
    match checked.await {
        Ok(Ok(())) => "ok\n".into_response(),
        Ok(Err(error)) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
        Err(error) => failed(&error),
    }
}

/// Returns the metrics for Prometheus.
pub(super) async fn metrics(State(web): State<Web>) -> Response {
    let render = move || metrics::render(&web.context.cluster, &web.judged);
    match tokio::task::spawn_blocking(render).await {
        Ok(text) => ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response(),
        Err(error) => failed(&error),
    }
}

/// Returns the running tasks as HBase's `/rs-status?format=json` does: the command `processlist` in
/// HBase's shell reads them there.
pub(super) async fn tasks(State(web): State<Web>) -> Response {
    let tasks = web.context.cluster.store.tasks();
    let tasks = tasks.into_iter().map(|task| {
        serde_json::json!({
            "description": task.description,
            "status": task.status,
            "state": "RUNNING",
            "starttimems": task.started_millis,
            "statustimems": task.started_millis,
        })
    });
    json(&serde_json::Value::Array(tasks.collect()))
}

/// Answers with JSON.
pub(super) fn json(value: &serde_json::Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
