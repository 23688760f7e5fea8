//! Which page answers which path.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::middleware;
use axum::response::Response;
use axum::routing::{any, get, post};
use rowhouse_model::Result;

use super::page::Page;
use super::reader::Reader;
use super::state::Web;
use super::{
    assets, calls, checked, design, heat, heats, jmx, login, monitoring, overview, query, servers,
    settings, solr, tables, tasks,
};

pub(super) fn routes(web: Web) -> Router {
    let to_page = |make: fn(&Web, &Reader) -> Result<Page>| {
        get(move |State(web): State<Web>, reader: Reader| web.page(reader, make))
    };
    Router::new()
        .route("/", to_page(overview::show))
        .route("/tables", to_page(tables::list))
        .route("/tables/{name}", get(table))
        .route("/servers", to_page(servers::list))
        .route("/heat", get(heats_page))
        .route("/heat/{name}", get(heat::answer))
        .route("/query", get(run_query))
        .route("/design", get(design::answer))
        .route("/design/file", post(design::upload))
        .route("/design/simulation", post(design::start))
        .route("/design/simulation/{number}", get(design::show))
        .route("/calls", to_page(calls::list))
        .route("/tasks", to_page(tasks::list))
        .route("/settings", to_page(settings::list))
        .route("/style.css", get(assets::style))
        .route("/heat.js", get(assets::heat_script))
        .route("/icon.svg", get(assets::icon))
        .route("/health", get(monitoring::health))
        .route("/metrics", get(monitoring::metrics))
        .route("/rs-status", get(monitoring::tasks))
        .route("/jmx", get(jmx::beans))
        .route("/solr/{*path}", any(solr::answer))
        .route(login::PATH, get(login::show).post(login::enter))
        .route(login::LOGOUT_PATH, post(login::leave))
        .fallback(not_found)
        .layer(middleware::from_fn_with_state(web.clone(), login::check))
        .layer(middleware::from_fn_with_state(web.clone(), checked::check))
        .with_state(web)
}

/// The routes for a connection beyond the limit.
pub(super) fn monitoring_routes(web: Web) -> Router {
    Router::new()
        .route("/health", get(monitoring::health))
        .route("/metrics", get(monitoring::metrics))
        .fallback(async || {
            let message = "too many connections are open: /health and /metrics are answered\n";
            (StatusCode::SERVICE_UNAVAILABLE, message)
        })
        .layer(middleware::from_fn_with_state(web.clone(), login::check))
        .layer(middleware::from_fn_with_state(web.clone(), checked::check))
        .with_state(web)
}

async fn table(State(web): State<Web>, Path(name): Path<String>, reader: Reader) -> Response {
    web.page(reader, move |web, reader| tables::one(web, reader, &name)).await
}

async fn heats_page(State(web): State<Web>, reader: Reader) -> Response {
    let permits = Arc::clone(&web.heats);
    web.limited_page(reader, permits, heats::show).await
}

async fn run_query(State(web): State<Web>, reader: Reader) -> Response {
    let permits = Arc::clone(&web.queries);
    web.limited_page(reader, permits, query::run).await
}

async fn not_found(State(web): State<Web>, reader: Reader) -> Response {
    Page::not_found(&reader).response(&web, &reader)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{WEB_DESIGNS_MAX, WEB_HEATS_MAX, WEB_QUERIES_MAX};

    #[tokio::test]
    async fn only_so_many_queries_reads_of_heat_and_searches_for_designs_run_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let web = Web::of_directory(dir.path());
        let query = || run_query(State(web.clone()), Reader::new("/query", Vec::new(), ""));
        let heat = |name: &str| {
            let reader = Reader::new("/heat", Vec::new(), "");
            heat::answer(State(web.clone()), Path(name.to_owned()), reader)
        };
        let design = |text: &str| {
            let params = vec![("w".to_owned(), text.to_owned())];
            let reader = Reader::new("/design", params, "");
            design::answer(State(web.clone()), reader)
        };
        let searching = Arc::clone(&web.designs).acquire_many_owned(WEB_DESIGNS_MAX as u32);
        let searching = searching.await.unwrap();
        let running = Arc::clone(&web.queries).acquire_many_owned(WEB_QUERIES_MAX as u32);
        let reading = Arc::clone(&web.heats).acquire_many_owned(WEB_HEATS_MAX as u32);
        let running = running.await.unwrap();
        let reading = reading.await.unwrap();
        assert_eq!(query().await.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(heat("t").await.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(heat("t.json").await.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(design("field n u64: sequence").await.status(), StatusCode::SERVICE_UNAVAILABLE);
        // The form costs nothing.
        assert_eq!(design("").await.status(), StatusCode::OK);
        drop((running, reading, searching));
        // Each request gives the permit back.
        for _ in 0..=WEB_HEATS_MAX {
            assert_eq!(query().await.status(), StatusCode::OK);
            assert_eq!(design("nothing").await.status(), StatusCode::BAD_REQUEST);
            assert_eq!(heat("t").await.status(), StatusCode::NOT_FOUND);
            assert_eq!(heat("t.json").await.status(), StatusCode::NOT_FOUND);
        }
    }
}
