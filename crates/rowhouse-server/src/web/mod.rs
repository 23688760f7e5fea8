//! Web pages, metrics and health over HTTP (`docs/operation.md`).
//!
//! Everything is read-only, and for all who connect unless the server checks users ([`login`]). So
//! it listens on loopback unless configured otherwise; [`crate::http::guard`] refuses requests
//! that a page from another origin causes. Pages are made on threads that may block: each region
//! is queried for sizes, which takes locks. [`solr`] answers Solr clients.

mod assets;
mod calls;
mod chart;
mod checked;
mod connection;
mod design;
mod heat;
mod heats;
mod history;
mod jmx;
mod login;
mod messages;
mod monitoring;
mod overview;
mod page;
mod query;
mod reader;
mod routes;
mod servers;
mod settings;
mod shown;
mod solr;
mod state;
mod tables;
mod tasks;
mod verdict;
mod words;

pub(crate) use connection::serve;
pub(crate) use history::run as sample;
pub(crate) use state::Web;
