//! Web pages, metrics and health over HTTP (`docs/web.md`).
//!
//! Everything is read-only and without authentication, so it listens on loopback unless told
//! otherwise; [`guard`] refuses requests that a page of another origin causes. Pages are made on
//! threads that may block: sizes are asked of each region, which takes locks. [`solr`] answers the
//! clients of Solr.

mod assets;
mod calls;
mod connection;
mod guard;
mod heat;
mod jmx;
mod messages;
mod monitoring;
mod paced;
mod page;
mod query;
mod reader;
mod servers;
mod settings;
mod shown;
mod solr;
mod tables;
mod tasks;
mod verdict;
mod words;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use rowhouse_model::{Result, escape_controls};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::connection::Connection;
pub(crate) use self::connection::serve;
use self::page::Page;
use self::reader::Reader;
use crate::limits::{WEB_CONNECTIONS_MAX, WEB_HEATS_MAX, WEB_QUERIES_MAX};
use crate::server::Context;

/// What the connections of the web port share.
#[derive(Clone)]
pub(crate) struct Web {
    context: Context,
    database: Arc<Database>,
    /// A permit for each connection that is answered for all pages.
    connections: Arc<Semaphore>,
    /// A permit for each query that may run.
    queries: Arc<Semaphore>,
    /// A permit for each read of heat that may run.
    heats: Arc<Semaphore>,
    solr: Arc<solr::Solr>,
}

/// The database as pages name it.
struct Database {
    /// The name of its directory.
    name: String,
    path: String,
}

impl Database {
    fn at(dir: &std::path::Path) -> Self {
        let path = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let shown = |text: &std::ffi::OsStr| escape_controls(&text.to_string_lossy());
        let name = shown(path.file_name().unwrap_or(path.as_os_str()));
        Self { name, path: shown(path.as_os_str()) }
    }
}

impl Web {
    pub(crate) fn new(context: Context) -> Self {
        let permits = |count| Arc::new(Semaphore::new(count));
        let (queries, heats) = (permits(WEB_QUERIES_MAX), permits(WEB_HEATS_MAX));
        let database = Arc::new(Database::at(&context.cluster.options.data));
        let connections = permits(WEB_CONNECTIONS_MAX);
        Self { context, database, connections, queries, heats, solr: Arc::new(solr::Solr::new()) }
    }

    /// Answers with a page, which is made on a thread that may block.
    async fn page(
        self,
        reader: Reader,
        make: impl FnOnce(&Self, &Reader) -> Result<Page> + Send + 'static,
    ) -> Response {
        let made = tokio::task::spawn_blocking(move || match make(&self, &reader) {
            Ok(page) => page.response(&self, &reader),
            Err(error) => Page::of_error(&reader, &error).response(&self, &reader),
        });
        made.await.unwrap_or_else(|error| failed(&error))
    }

    /// As [`Web::page`], for work of which only so much may run at once.
    async fn limited_page(
        self,
        reader: Reader,
        permits: Arc<Semaphore>,
        make: impl FnOnce(&Self, &Reader) -> Result<Page> + Send + 'static,
    ) -> Response {
        match permits.try_acquire_owned() {
            Ok(permit) => self.page(reader, with_permit(permit, make)).await,
            Err(_) => Page::busy(&reader).response(&self, &reader),
        }
    }
}

/// Holds the permit until the page is made, also if the reader does not wait for it.
fn with_permit(
    permit: OwnedSemaphorePermit,
    make: impl FnOnce(&Web, &Reader) -> Result<Page> + Send + 'static,
) -> impl FnOnce(&Web, &Reader) -> Result<Page> + Send + 'static {
    move |web, reader| {
        let _permit = permit;
        make(web, reader)
    }
}

/// The answer if the making of an answer ended in a panic.
fn failed(error: &tokio::task::JoinError) -> Response {
    tracing::error!(%error, "a web page was not made");
    (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response()
}

fn routes(web: Web) -> Router {
    let to_page = |make: fn(&Web, &Reader) -> Result<Page>| {
        get(move |State(web): State<Web>, reader: Reader| web.page(reader, make))
    };
    Router::new()
        .route("/", to_page(tables::list))
        .route("/tables/{name}", get(table))
        .route("/servers", to_page(servers::list))
        .route("/heat/{name}", get(heat::answer))
        .route("/query", get(run_query))
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
        .fallback(not_found)
        .layer(middleware::from_fn_with_state(web.clone(), guard::check))
        .with_state(web)
}

/// The routes of a connection beyond the limit.
fn monitoring_routes(web: Web) -> Router {
    Router::new()
        .route("/health", get(monitoring::health))
        .route("/metrics", get(monitoring::metrics))
        .fallback(async || {
            let message = "too many connections are open: /health and /metrics are answered\n";
            (StatusCode::SERVICE_UNAVAILABLE, message)
        })
        .layer(middleware::from_fn_with_state(web.clone(), guard::check))
        .with_state(web)
}

async fn table(State(web): State<Web>, Path(name): Path<String>, reader: Reader) -> Response {
    web.page(reader, move |web, reader| tables::one(web, reader, &name)).await
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
    use rowhouse_model::ServerName;
    use rowhouse_search::SearchEngine;
    use rowhouse_store::Store;

    use super::*;
    use crate::Options;
    use crate::cluster::Cluster;
    use crate::region_server::RegionServer;

    #[tokio::test]
    async fn only_so_many_queries_and_reads_of_heat_run_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options::new(dir.path());
        let name = ServerName { host: "h".into(), port: 1, start_code: 1 };
        let server = Arc::new(RegionServer::new(0, name, (1, None), &options));
        let store = Store::open(dir.path()).unwrap();
        let servers = vec![Arc::clone(&server)];
        let search = Arc::new(SearchEngine::without_thread(&store));
        let cluster = Cluster::new(store, search, Arc::clone(&server), servers, &options).unwrap();
        let web = Web::new(Context::new(Arc::new(cluster), server));
        let query = || run_query(State(web.clone()), Reader::new("/query", Vec::new(), ""));
        let heat = |name: &str| {
            let reader = Reader::new("/heat", Vec::new(), "");
            heat::answer(State(web.clone()), Path(name.to_owned()), reader)
        };
        let running = Arc::clone(&web.queries).acquire_many_owned(WEB_QUERIES_MAX as u32);
        let reading = Arc::clone(&web.heats).acquire_many_owned(WEB_HEATS_MAX as u32);
        let (running, reading) = (running.await.unwrap(), reading.await.unwrap());
        assert_eq!(query().await.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(heat("t").await.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(heat("t.json").await.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop((running, reading));
        // Each gives its permit back.
        for _ in 0..=WEB_HEATS_MAX {
            assert_eq!(query().await.status(), StatusCode::OK);
            assert_eq!(heat("t").await.status(), StatusCode::NOT_FOUND);
            assert_eq!(heat("t.json").await.status(), StatusCode::NOT_FOUND);
        }
    }
}
