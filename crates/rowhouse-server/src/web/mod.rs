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
mod held_answer;
mod jmx;
mod messages;
mod monitoring;
mod paced;
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
pub(crate) use state::Web;
