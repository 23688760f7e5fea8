//! Slow and large calls: HBase's slow log, with decoded keys.

use maud::{Markup, html};
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::proto::slow_log_payload::Type;
use rowhouse_model::{Bytes, Result, RowRange, TableName, escape, escape_controls, unescape};

use super::page::{Page, Place};
use super::reader::{Reader, escaped, millis_param};
use super::servers::address;
use super::shown::{Keys, bytes, duration, shortened, time};
use super::state::Web;
use super::{tables, words};
use crate::region_server::RegionServer;
use crate::slow_log::LoggedCall;

/// The time around a call whose heat its link shows.
const AROUND_MILLIS: i64 = 5 * 60_000;

/// A part of a heat map: the calls that are shown.
struct Part {
    table: TableName,
    /// In milliseconds since 1970.
    from: i64,
    to: i64,
    keys: RowRange,
}

impl Part {
    /// Returns the part that an address names; `None` if it names no table.
    fn parse(reader: &Reader) -> Result<Option<Self>> {
        if reader.param("table").is_empty() {
            return Ok(None);
        }
        let key = |name| unescape(reader.param(name)).map(Bytes::from);
        Ok(Some(Self {
            table: TableName::parse(reader.param("table"))?,
            from: millis_param(reader, "from")?.unwrap_or(i64::MIN),
            to: millis_param(reader, "to")?.unwrap_or(i64::MAX),
            keys: RowRange::new(key("start")?, key("stop")?),
        }))
    }

    /// Returns true for a call that ran in the time and read or wrote in the keys. Of a call whose
    /// keys are not logged the time decides.
    fn has(&self, web: &Web, call: &LoggedCall) -> bool {
        let begun = call.payload.start_time;
        let ended = begun.saturating_add(call.payload.processing_time.into());
        let is_of_table = || {
            let table = call.region.as_ref().and_then(|region| table_of(web, region));
            table.as_ref() == Some(&self.table)
        };
        begun < self.to && self.from <= ended && self.overlaps(&call.rows) && is_of_table()
    }

    fn overlaps(&self, rows: &[Bytes]) -> bool {
        match rows {
            [] => true,
            [row] => self.keys.contains(row),
            [start, stop, ..] => self.keys.overlaps(&RowRange::new(start.clone(), stop.clone())),
        }
    }

    fn show(&self, web: &Web, reader: &Reader) -> Markup {
        let keys = keys_of(web, Some(&self.table));
        let times = [self.from, self.to].map(|millis| match millis {
            i64::MIN | i64::MAX => "…".to_owned(),
            millis => time(millis),
        });
        html! { p {
            (reader.text(words::CALLS_OF)) " "
            a href=(tables::link(reader, &self.table)) { (self.table) } " · "
            (times[0]) " – " (times[1]) " · "
            (keys.start(reader, &self.keys.start)) " – " (keys.stop(reader, &self.keys.stop)) " · "
            a href=(reader.link("/calls", &[])) { (reader.text(words::ALL_CALLS_AGAIN)) }
        } }
    }
}

/// Lists all region servers' slow and large calls, newest first; with a table in the address, the
/// calls in a part of a heat map.
pub(super) fn list(web: &Web, reader: &Reader) -> Result<Page> {
    let text = |text| reader.text(text);
    let cluster = &web.context.cluster;
    let part = Part::parse(reader)?;
    let mut calls: Vec<_> = cluster.ports().iter().flat_map(|server| calls_of(server)).collect();
    calls.retain(|(call, _)| part.as_ref().is_none_or(|part| part.has(web, call)));
    calls.sort_by_key(|(call, _)| std::cmp::Reverse(call.payload.start_time));
    let options = &cluster.options;
    let slow = i64::try_from(options.slow_call.as_millis()).unwrap_or(i64::MAX);
    let body = html! {
        p {
            (text(words::SLOW_CALLS_ARE)) " " (duration(slow)) " "
            (text(words::LARGE_CALLS_ARE)) " " (bytes(options.large_answer_bytes)) (text(words::END))
        }
        @if let Some(part) = &part { (part.show(web, reader)) }
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
        td { @if let Some(table) = &table {
            a href=(tables::link(reader, table)) { (table) } " "
            a href=(heat_link(reader, table, call)) title=(reader.text(words::HEAT_HERE)) {
                (reader.text(words::HEAT))
            }
        } }
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
    rows: &[Bytes],
    param: &str,
) -> Markup {
    let keys = keys_of(web, table);
    match rows {
        [] => html! { code.dim { (shortened(&escape_controls(param))) } },
        [row] => keys.show(row),
        [start, stop, ..] => html! { (keys.start(reader, start)) " – " (keys.stop(reader, stop)) },
    }
}

fn keys_of(web: &Web, table: Option<&TableName>) -> Keys {
    let table = table.and_then(|name| web.context.cluster.store.table(name).ok());
    table.map_or_else(Keys::unknown, |table| Keys::of(table.descriptor()))
}

/// Returns the address of a table's heat in the minutes around a call, at the call's keys.
fn heat_link(reader: &Reader, table: &TableName, call: &LoggedCall) -> String {
    let begun = call.payload.start_time;
    let ended = begun.saturating_add(call.payload.processing_time.into());
    let from = begun.saturating_sub(AROUND_MILLIS).to_string();
    let to = ended.saturating_add(AROUND_MILLIS).to_string();
    // One row is the range that ends before the next possible key.
    let [start, stop] = match &call.rows[..] {
        [] => [Bytes::new(), Bytes::new()],
        [row] => [row.clone(), Bytes::from([row, &b"\0"[..]].concat())],
        [start, stop, ..] => [start.clone(), stop.clone()],
    };
    let [start, stop] = [start, stop].map(|key| escape(&key));
    let path = format!("/heat/{}", escaped(&table.to_string()));
    reader.link(&path, &[("from", &from), ("to", &to), ("start", &start), ("stop", &stop)])
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
