//! What the web pages share: the cluster, the database as they name it, and the permits for what
//! may run at once.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rowhouse_model::{Result, escape_controls};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::design::Simulations;
use super::history::History;
use super::login::Sessions;
use super::page::Page;
use super::reader::Reader;
use super::solr::Solr;
use crate::context::Context;
use crate::limits::{WEB_CONNECTIONS_MAX, WEB_DESIGNS_MAX, WEB_HEATS_MAX, WEB_QUERIES_MAX};
use crate::metrics::JudgedHeats;

/// What the web port's connections share.
#[derive(Clone)]
pub(crate) struct Web {
    pub(super) context: Context,
    pub(super) database: Arc<Database>,
    /// A permit for each connection that is answered for all pages.
    pub(super) connections: Arc<Semaphore>,
    /// A permit for each query that may run.
    pub(super) queries: Arc<Semaphore>,
    /// A permit for each heat read that may run.
    pub(super) heats: Arc<Semaphore>,
    /// A permit for each search for designs that may run.
    pub(super) designs: Arc<Semaphore>,
    pub(super) simulations: Arc<Simulations>,
    pub(super) solr: Arc<Solr>,
    pub(super) history: Arc<History>,
    /// Sessions of users who have logged in.
    pub(super) sessions: Arc<Sessions>,
    /// The heats of tables for metrics.
    pub(super) judged: Arc<JudgedHeats>,
}

/// The database as pages name it.
pub(super) struct Database {
    /// The store directory's name.
    pub(super) name: String,
    pub(super) path: String,
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
        let queries = permits(WEB_QUERIES_MAX);
        let heats = permits(WEB_HEATS_MAX);
        let designs = permits(WEB_DESIGNS_MAX);
        let database = Arc::new(Database::at(&context.cluster.options.data));
        let connections = permits(WEB_CONNECTIONS_MAX);
        let solr = Arc::new(Solr::new());
        let simulations = Arc::default();
        let history = Arc::default();
        let sessions = Arc::default();
        let judged = Arc::default();
        Self {
            context,
            database,
            connections,
            queries,
            heats,
            designs,
            simulations,
            solr,
            history,
            sessions,
            judged,
        }
    }

    /// Answers with a page, which is made on a thread that may block.
    pub(super) async fn page(
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
    pub(super) async fn limited_page(
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
pub(super) fn with_permit(
    permit: OwnedSemaphorePermit,
    make: impl FnOnce(&Web, &Reader) -> Result<Page> + Send + 'static,
) -> impl FnOnce(&Web, &Reader) -> Result<Page> + Send + 'static {
    move |web, reader| {
        let _permit = permit;
        make(web, reader)
    }
}

/// The answer if making an answer ended in a panic.
pub(super) fn failed(error: &tokio::task::JoinError) -> Response {
    tracing::error!(%error, "a web page was not made");
    (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response()
}

#[cfg(test)]
impl Web {
    /// Returns the pages of a server without ports over the store in a directory.
    pub(super) fn of_directory(dir: &std::path::Path) -> Self {
        let options = crate::Options::new(dir);
        let name = rowhouse_model::ServerName { host: "h".into(), port: 1, start_code: 1 };
        let server = crate::region_server::RegionServer::new(0, name, (1, None), &options);
        let server = Arc::new(server);
        let store = rowhouse_store::Store::open(dir).unwrap();
        let search = Arc::new(rowhouse_search::SearchEngine::without_thread(&store));
        let servers = vec![Arc::clone(&server)];
        let store = (store, search);
        let cluster = crate::cluster::Cluster::new(
            store,
            crate::access::Access::new(&options).unwrap(),
            Arc::clone(&server),
            servers,
            |_, _, _| {},
            &options,
        );
        Self::new(Context::new(Arc::new(cluster.unwrap()), server))
    }
}
