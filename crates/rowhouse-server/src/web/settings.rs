//! Settings and limits.

use std::time::Duration;

use maud::{Markup, html};
use rowhouse_model::Result;
use rowhouse_store::{CompactionSettings, Settings, SplitSettings};

use super::page::{Page, Place};
use super::reader::Reader;
use super::shown::{bytes, count, duration, number};
use super::state::Web;
use super::words;
use crate::{Options, Plain, WebPort, limits};

/// Names and values.
type Rows = Vec<(&'static str, String)>;

/// Shows the server's and the store's settings, and limits that cannot be set.
pub(super) fn list(web: &Web, reader: &Reader) -> Result<Page> {
    let options = &web.context.cluster.options;
    let body = html! {
        h2 { (reader.text(words::SERVER)) } (table(server(reader, options)))
        h2 { (reader.text(words::STORE)) } (table(store(reader, &options.settings)))
        h2 { (reader.text(words::COMPACTIONS)) } (table(compactions(reader, &options.settings)))
        h2 { (reader.text(words::SPLITS)) } (table(splits(reader, &options.settings.split)))
        h2 { (reader.text(words::LIMITS)) } (table(fixed(reader)))
    };
    Ok(Page::new(Place::Settings, reader.text(words::SETTINGS), body))
}

fn table(rows: Rows) -> Markup {
    html! { table { tbody { @for (name, value) in rows {
        tr { th scope="row" { code { (name) } } td { (value) } }
    } } } }
}

fn server(reader: &Reader, options: &Options) -> Rows {
    // The store settings have separate tables. A new option does not compile until it is shown
    // here.
    let Options {
        data,
        listen,
        region_servers,
        ops_per_server,
        bytes_per_server,
        zookeeper,
        advertise,
        backups,
        bulk_load_directory,
        allow_shutdown,
        allow_reset,
        allow_faults,
        slow_call,
        large_answer_bytes,
        call_memory_bytes,
        connection_memory_bytes,
        web,
        rest,
        thrift,
        thrift_user,
        tls,
        plain,
        users,
        user_from,
        allow_unauthenticated,
        simulator: _,
        settings: _,
    } = options;
    let tls_clients = tls.as_ref().and_then(|it| it.clients.as_ref());
    vec![
        ("data", data.display().to_string()),
        ("listen", listen.clone()),
        ("region_servers", number((*region_servers).into())),
        ("ops_per_server", limit(reader, ops_per_server.map(number))),
        ("bytes_per_server", limit(reader, bytes_per_server.map(bytes))),
        ("zookeeper", or_none(reader, zookeeper.clone())),
        ("advertise", or_none(reader, advertise.clone())),
        ("backups", or_none(reader, backups.as_ref().map(|dir| dir.display().to_string()))),
        (
            "bulk_load_directory",
            or_none(reader, bulk_load_directory.as_ref().map(|dir| dir.display().to_string())),
        ),
        ("allow_shutdown", switch(reader, *allow_shutdown)),
        ("allow_reset", switch(reader, *allow_reset)),
        ("allow_faults", switch(reader, *allow_faults)),
        ("slow_call", time(reader, *slow_call)),
        ("large_answer_bytes", bytes(*large_answer_bytes)),
        ("call_memory_bytes", bytes(*call_memory_bytes)),
        ("connection_memory_bytes", bytes(*connection_memory_bytes)),
        ("web", web_port(reader, web)),
        ("rest", or_none(reader, rest.clone())),
        ("thrift", or_none(reader, thrift.clone())),
        ("thrift_user", or_none(reader, thrift_user.clone())),
        ("tls", or_none(reader, tls.as_ref().map(|it| it.certificate.display().to_string()))),
        ("tls_clients", or_none(reader, tls_clients.map(|it| it.display().to_string()))),
        ("plain", plain_connections(reader, *plain)),
        ("users", users.to_string()),
        ("user_from", user_from.to_string()),
        ("allow_unauthenticated", switch(reader, *allow_unauthenticated)),
    ]
}

/// Returns the words of the command line.
fn plain_connections(reader: &Reader, plain: Option<Plain>) -> String {
    let word = plain.map(|plain| match plain {
        Plain::Allow => "allow".to_owned(),
        Plain::Refuse => "refuse".to_owned(),
    });
    or_none(reader, word)
}

fn web_port(reader: &Reader, port: &WebPort) -> String {
    match port {
        WebPort::Off => reader.text(words::OFF).to_owned(),
        WebPort::Default => WebPort::DEFAULT_ADDRESS.to_owned(),
        WebPort::At(address) => address.clone(),
    }
}

fn store(reader: &Reader, settings: &Settings) -> Rows {
    let Settings {
        memstore_flush_bytes,
        memstore_bytes_max,
        reader_memstore_bytes_max,
        block_cache_bytes,
        mutation_bytes_max,
        cell_bytes_max,
        wal_segment_bytes,
        wal_bytes_max,
        wal_sync_interval,
        followers_bytes_max,
        followers_age_max,
        disk_reserve_bytes,
        open_files_max,
        heat,
        aside_age_max,
        aside_bytes_max,
        index_rebuild_bytes_max,
        index_memory_bytes_max,
        compaction: _,
        split: _,
        busy_wait,
        scan_age_max,
    } = settings;
    vec![
        ("memstore_flush_bytes", bytes(*memstore_flush_bytes)),
        ("memstore_bytes_max", bytes(*memstore_bytes_max)),
        // Without its own value it has another setting's value.
        (
            "reader_memstore_bytes_max",
            bytes(reader_memstore_bytes_max.unwrap_or(*memstore_bytes_max)),
        ),
        ("block_cache_bytes", bytes(*block_cache_bytes)),
        ("mutation_bytes_max", bytes(*mutation_bytes_max as u64)),
        ("cell_bytes_max", bytes(*cell_bytes_max as u64)),
        ("wal_segment_bytes", bytes(*wal_segment_bytes)),
        ("wal_bytes_max", bytes(*wal_bytes_max)),
        ("wal_sync_interval", time(reader, *wal_sync_interval)),
        ("followers_bytes_max", bytes(*followers_bytes_max)),
        ("followers_age_max", time(reader, *followers_age_max)),
        ("disk_reserve_bytes", bytes(*disk_reserve_bytes)),
        ("open_files_max", count(*open_files_max)),
        ("heat", switch(reader, *heat)),
        ("aside_age_max", time(reader, *aside_age_max)),
        ("aside_bytes_max", bytes(*aside_bytes_max)),
        ("index_rebuild_bytes_max", bytes(*index_rebuild_bytes_max)),
        ("index_memory_bytes_max", bytes(*index_memory_bytes_max)),
        ("busy_wait", time(reader, *busy_wait)),
        ("scan_age_max", time(reader, *scan_age_max)),
    ]
}

fn compactions(reader: &Reader, settings: &Settings) -> Rows {
    let CompactionSettings {
        files_min,
        files_max,
        ratio,
        bytes_min,
        bytes_max,
        major_period,
        major_jitter,
        files_blocking,
        blocking_wait,
        threads,
        bytes_per_second,
        check_period,
    } = &settings.compaction;
    vec![
        ("files_min", count(*files_min)),
        ("files_max", count(*files_max)),
        ("ratio", ratio.to_string()),
        ("bytes_min", bytes(bytes_min.unwrap_or(settings.memstore_flush_bytes))),
        ("bytes_max", limit(reader, Some(*bytes_max).filter(|&max| max < u64::MAX).map(bytes))),
        ("major_period", period(reader, *major_period)),
        ("major_jitter", major_jitter.to_string()),
        ("files_blocking", count(*files_blocking)),
        ("blocking_wait", time(reader, *blocking_wait)),
        ("threads", count(*threads)),
        ("bytes_per_second", limit(reader, bytes_per_second.map(bytes))),
        ("check_period", time(reader, *check_period)),
    ]
}

fn splits(reader: &Reader, settings: &SplitSettings) -> Rows {
    let SplitSettings { automatic, region_bytes_max, first_bytes, jitter, regions_max } = settings;
    vec![
        ("automatic", switch(reader, *automatic)),
        ("region_bytes_max", bytes(*region_bytes_max)),
        ("first_bytes", bytes(*first_bytes)),
        ("jitter", jitter.to_string()),
        ("regions_max", count(*regions_max)),
    ]
}

/// Returns limits that are part of the program.
fn fixed(reader: &Reader) -> Rows {
    let time = |wait| time(reader, wait);
    vec![
        ("connections_max", count(limits::CONNECTIONS_MAX)),
        ("web_connections_max", count(limits::WEB_CONNECTIONS_MAX)),
        ("web_queries_max", count(limits::WEB_QUERIES_MAX)),
        ("web_query_wait", time(limits::WEB_QUERY_WAIT)),
        ("web_query_rows_max", count(limits::WEB_QUERY_ROWS_MAX)),
        ("web_heats_max", count(limits::WEB_HEATS_MAX)),
        ("solr_searches_max", count(limits::SOLR_SEARCHES_MAX)),
        ("solr_search_time", time(limits::SOLR_SEARCH_TIME)),
        ("solr_rows_max", count(limits::SOLR_ROWS_MAX)),
        ("scanners_max", count(limits::SCANNERS_MAX)),
        ("scanner_lease", time(limits::SCANNER_LEASE)),
        ("scan_answer_bytes_max", bytes(limits::SCAN_ANSWER_BYTES_MAX)),
        ("multi_answer_bytes_max", bytes(limits::MULTI_ANSWER_BYTES_MAX)),
        ("workers_max", count(limits::WORKERS_MAX)),
        ("slow_log_entries_max", count(limits::SLOW_LOG_ENTRIES_MAX)),
        ("balancer_interval", time(limits::BALANCER_INTERVAL)),
    ]
}

fn or_none(reader: &Reader, value: Option<String>) -> String {
    value.unwrap_or_else(|| reader.text(words::NONE).to_owned())
}

/// Shows a limit that may not be set.
fn limit(reader: &Reader, value: Option<String>) -> String {
    value.unwrap_or_else(|| reader.text(words::NO_LIMIT).to_owned())
}

fn switch(reader: &Reader, is_on: bool) -> String {
    reader.text(if is_on { words::ON } else { words::OFF }).to_owned()
}

/// Shows a time; the longest sets no limit.
fn time(reader: &Reader, time: Duration) -> String {
    limit(reader, i64::try_from(time.as_millis()).ok().map(duration))
}

/// Shows the time between two runs of work that zero switches off.
fn period(reader: &Reader, period: Duration) -> String {
    if period.is_zero() { reader.text(words::NEVER).to_owned() } else { time(reader, period) }
}
