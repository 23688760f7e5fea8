//! Slow and large calls: HBase's slow log, with decoded keys.

use maud::{Markup, html};
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::proto::slow_log_payload::Type;
use rowhouse_model::{Result, TableName, escape_controls};

use super::page::{Page, Place};
use super::reader::Reader;
use super::servers::address;
use super::shown::{Keys, bytes, duration, shortened, time};
use super::state::Web;
use super::{tables, words};
use crate::region_server::RegionServer;
use crate::slow_log::LoggedCall;

/// Lists all region servers' slow and large calls, newest first.
pub(super) fn list(web: &Web, reader: &Reader) -> Result<Page> {
    let text = |text| reader.text(text);
    let cluster = &web.context.cluster;
    let mut calls: Vec<_> = cluster.ports().iter().flat_map(|server| calls_of(server)).collect();
    calls.sort_by_key(|(call, _)| std::cmp::Reverse(call.payload.start_time));
    let options = &cluster.options;
    let slow = i64::try_from(options.slow_call.as_millis()).unwrap_or(i64::MAX);
    let body = html! {
        p {
            (text(words::SLOW_CALLS_ARE)) " " (duration(slow)) " "
            (text(words::LARGE_CALLS_ARE)) " " (bytes(options.large_answer_bytes)) (text(words::END))
        }
        @if calls.is_empty() { p.dim { (text(words::NONE)) } }
        @else { div.wide { table {
            thead { tr {
                th { (text(words::BEGAN)) } th { (text(words::KIND)) } th { (text(words::METHOD)) }
                th { (text(words::TABLE)) } th { (text(words::ROWS)) }
                th.number { (text(words::TOOK)) } th.number { (text(words::WAITED)) }
                th.number { (text(words::ANSWER)) } th { (text(words::CLIENT)) }
                th { (text(words::SERVER)) }
            } }
            tbody { @for (call, server) in &calls { (row(web, reader, call, server)) } }
        } } }
    };
    Ok(Page::new(Place::Calls, text(words::CALLS), body))
}

/// Shows the slowest calls in the log, at most `count`.
pub(super) fn slowest(web: &Web, reader: &Reader, count: usize) -> Markup {
    let ports = web.context.cluster.ports();
    let mut calls: Vec<_> = ports.iter().flat_map(|server| server.slow_log.calls()).collect();
    calls.sort_by_key(|call| std::cmp::Reverse(call.payload.processing_time));
    html! {
        @if calls.is_empty() { p.dim { (reader.text(words::NONE)) } }
        @else {
            ul { @for LoggedCall { payload, region, rows } in calls.iter().take(count) {
                @let table = region.as_ref().and_then(|region| table_of(web, region));
                li {
                    strong { (duration(payload.processing_time.into())) } " " (payload.method_name) " "
                    @if let Some(table) = &table { a href=(tables::link(reader, table)) { (table) } " " }
                    (shown_rows(web, reader, table.as_ref(), rows, payload.param())) " "
                    span.dim { (time(payload.start_time)) }
                }
            } }
            @if calls.len() > count {
                p { a href=(reader.link("/calls", &[])) { (reader.text(words::ALL_CALLS)) " " (calls.len()) } }
            }
        }
    }
}

/// Returns a server's slow and large calls, each with the server address.
fn calls_of(server: &RegionServer) -> Vec<(LoggedCall, String)> {
    let calls = server.slow_log.calls().into_iter();
    calls.map(|call| (call, address(server))).collect()
}

fn row(web: &Web, reader: &Reader, call: &LoggedCall, server: &str) -> Markup {
    let LoggedCall { payload, region, rows } = call;
    let table = region.as_ref().and_then(|region| table_of(web, region));
    let kind = reader.text(match payload.r#type() {
        Type::SlowLog => words::SLOW,
        Type::LargeLog => words::LARGE,
        Type::All => words::SLOW_AND_LARGE,
    });
    html! { tr {
        td { (time(payload.start_time)) }
        td { (kind) }
        td { (payload.method_name) }
        td { @if let Some(table) = &table { a href=(tables::link(reader, table)) { (table) } } }
        td { (shown_rows(web, reader, table.as_ref(), rows, payload.param())) }
        td.number { (duration(payload.processing_time.into())) }
        td.number { (duration(payload.queue_time.into())) }
        td.number { (bytes(payload.response_size.unsigned_abs())) }
        td { (shortened(&escape_controls(&payload.user_name))) " " (payload.client_address) }
        td { (server) }
    } }
}

fn shown_rows(
    web: &Web,
    reader: &Reader,
    table: Option<&TableName>,
    rows: &[rowhouse_model::Bytes],
    param: &str,
) -> Markup {
    let table = table.and_then(|name| web.context.cluster.store.table(name).ok());
    let keys = table.map_or_else(Keys::unknown, |table| Keys::of(table.descriptor()));
    match rows {
        [] => html! { code.dim { (shortened(&escape_controls(param))) } },
        [row] => keys.show(row),
        [start, stop, ..] => html! { (keys.start(reader, start)) " – " (keys.stop(reader, stop)) },
    }
}

/// Returns the table that a region belongs to, which may be gone.
fn table_of(web: &Web, region: &RegionRef) -> Option<TableName> {
    if let RegionRef::Full(name) = region {
        let table = name.split(|&byte| byte == b',').next()?;
        return TableName::parse(std::str::from_utf8(table).ok()?).ok();
    }
    let region =
        web.context.cluster.store.find_region_by_encoded_name(region.encoded_name().ok()?)?;
    Some(region.info().table.clone())
}
