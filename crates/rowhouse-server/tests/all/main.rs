//! Tests the server, over sockets, in one program: linking a program is most of what a test costs
//! to build.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod administration;
mod bulk_deletes;
mod bulk_load;
mod clients;
mod compaction;
mod concurrency;
mod endpoints_in_batches;
mod held_up;
#[cfg(feature = "web")]
mod memory;
#[cfg(feature = "web")]
mod metrics;
mod observers;
mod older_clients;
mod region_servers;
mod regions;
mod replication;
#[cfg(feature = "rest")]
mod rest;
mod row_mutations;
#[cfg(feature = "web")]
mod solr;
mod stop;
#[path = "../support/mod.rs"]
mod support;
#[cfg(feature = "thrift")]
mod thrift;
#[cfg(feature = "tls")]
mod tls;
mod users;
#[cfg(feature = "web")]
mod web;
mod zookeeper;
