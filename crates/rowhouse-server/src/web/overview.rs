//! The first page: what the server does now and did in the last hour.

use maud::{Markup, html};
use rowhouse_model::{Result, escape_controls};

use super::chart::{Line, chart};
use super::history::{Change, History, SAMPLE_INTERVAL, SAMPLES_MAX, Sample};
use super::page::{Page, Place};
use super::reader::Reader;
use super::shown::{bytes, duration, message, number, shortened};
use super::state::Web;
use super::{calls, words};

/// Calls and tasks that the page lists.
const LISTED: usize = 5;
/// Samples that the table of calls sums: five minutes.
const RECENT: usize = 10;

/// Shows the overview.
pub(super) fn show(web: &Web, reader: &Reader) -> Result<Page> {
    let text = |text| reader.text(text);
    let history = &web.history;
    let body = html! {
        p.dim { (text(words::LAST_HOUR_OF)) " " (duration(SAMPLE_INTERVAL.as_millis() as i64)) (text(words::END)) }
        div.charts { (charts(reader, history)) }
        h2 { (text(words::CALLS_BY_METHOD)) }
        (methods(reader, history))
        h2 { (text(words::SLOWEST_CALLS)) }
        (calls::slowest(web, reader, LISTED))
        h2 { (text(words::TASKS)) }
        (tasks(web, reader))
    };
    let page = Page::new(Place::Overview, text(words::OVERVIEW), body);
    Ok(page.refreshed(SAMPLE_INTERVAL))
}

fn charts(reader: &Reader, history: &History) -> Markup {
    let text = |text| reader.text(text);
    let line = |name, values| Line { name, values };
    let changes = history.changes();
    let changes = |value: fn(&Change) -> Option<f64>| changes.iter().map(value).collect();
    let values = |value: fn(&Sample) -> Option<f64>| history.values(value);
    let room = history.usage().disk_bytes_available.map_or_else(|| "–".to_owned(), bytes);
    let show = |title: &str, lines: &[Line<'_>], shown: fn(f64) -> String| {
        chart(reader, title, lines, SAMPLES_MAX - 1, shown)
    };
    html! {
        (show(text(words::LOAD), &[
            line(text(words::READS), changes(|it| Some(it.per_second(it.reads)))),
            line(text(words::WRITES), changes(|it| Some(it.per_second(it.writes)))),
        ], rate))
        (show(text(words::CALLS_PER_SECOND), &[
            line("", changes(|it| Some(it.calls_per_second(&it.all_calls())))),
        ], rate))
        (show(text(words::LATENCY), &[
            line("p50", changes(|it| it.all_calls().quantile(0.5))),
            line("p99", changes(|it| it.all_calls().quantile(0.99))),
        ], micros))
        (show(text(words::CPU_CORES), &[line("", changes(|it| Some(it.cores)))], |it| format!("{it:.2}")))
        (show(text(words::MEMORY), &[
            line(text(words::PROCESS), values(|it| it.resident_bytes.map(|it| it as f64))),
            line(text(words::MEMSTORES), values(|it| Some(it.usage.memstore_bytes as f64))),
            line(text(words::BLOCK_CACHE), values(|it| Some(it.usage.block_cache_bytes as f64))),
        ], size))
        (show(text(words::HIT_RATE), &[
            line("", changes(|it| it.hit_share.map(|share| share * 100.0))),
        ], |it| format!("{it:.0} %")))
        (show(&format!("{} · {} {room}", text(words::DISK), text(words::AVAILABLE)), &[
            line("HFiles", values(|it| Some(it.file_bytes as f64))),
        ], size))
        (show(text(words::LOG), &[line("", values(|it| Some(it.usage.log_bytes as f64)))], size))
        (show(text(words::COMPACTION_DUE), &[
            line("", values(|it| Some(it.usage.compaction_bytes_due as f64))),
        ], size))
    }
}

fn methods(reader: &Reader, history: &History) -> Markup {
    let recent = history.recent(RECENT);
    let Some(change) = recent.filter(|change| !change.calls.is_empty()) else {
        return html! { p.dim { (reader.text(words::NO_CALLS)) } };
    };
    let quantile = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), micros);
    html! { div.wide { table {
        thead { tr {
            th { (reader.text(words::METHOD)) }
            th.number { (reader.text(words::CALLS_PER_SECOND)) }
            th.number { "p50" } th.number { "p99" }
            th.number { (reader.text(words::ERRORS)) }
        } }
        tbody { @for (method, calls) in &change.calls { tr {
            td { (method.name()) }
            td.number { (rate(change.calls_per_second(calls))) }
            td.number { (quantile(calls.quantile(0.5))) }
            td.number { (quantile(calls.quantile(0.99))) }
            td.number { (number(calls.errors())) }
        } } }
    } } }
}

fn tasks(web: &Web, reader: &Reader) -> Markup {
    let store = &web.context.cluster.store;
    let running = store.tasks();
    let now = store.now_millis();
    html! {
        @if running.is_empty() { p.dim { (reader.text(words::NO_TASKS)) } }
        @else {
            ul { @for task in running.iter().take(LISTED) { li {
                (message(reader, &shortened(&escape_controls(&task.description)))) " "
                span.dim { (duration(now - task.started_millis)) }
            } } }
            @if running.len() > LISTED {
                p { a href=(reader.link("/tasks", &[])) { (reader.text(words::ALL_TASKS)) " " (running.len()) } }
            }
        }
    }
}

/// Returns a rate, with one decimal below 10.
fn rate(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        ..9.95 => format!("{value:.1}"),
        _ => number(value.round() as u64),
    }
}

/// Returns a duration, given in microseconds.
fn micros(value: f64) -> String {
    match value {
        ..1_000.0 => format!("{value:.0} µs"),
        ..1_000_000.0 => format!("{:.1} ms", value / 1e3),
        _ => format!("{:.1} s", value / 1e6),
    }
}

fn size(value: f64) -> String {
    bytes(value as u64)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rowhouse_format::rpc::Method;
    use rowhouse_model::{FamilyDescriptor, Put, TableDescriptor, TableName};

    use super::*;
    use crate::web::tables;

    #[test]
    fn rates_and_latencies_are_of_the_time_between_samples() {
        let dir = tempfile::tempdir().unwrap();
        let web = Web::of_directory(dir.path());
        let cluster = &web.context.cluster;
        let name = TableName::parse("t").unwrap();
        let descriptor = TableDescriptor::new(name.clone());
        let descriptor = descriptor.family(FamilyDescriptor::new("d").unwrap());
        cluster.store.create_table(descriptor, &[]).unwrap();
        let reader = Reader::new("/", Vec::new(), "en");
        let framed = |page: Result<Page>| page.unwrap().body.into_string();
        let start = Instant::now();
        let first = framed(show(&web, &reader));
        assert!(first.contains("No calls were measured yet."), "{first}");
        let calls = &web.context.server.calls;
        calls.count(Method::Get, Duration::from_secs(5), true);
        web.history.sample(cluster, start);
        // These are in the interval; the call above was before it.
        for row in 0..60_u8 {
            let put = Put::new(vec![row]).unwrap().add("d", "q", "v").unwrap();
            cluster.store.table(&name).unwrap().mutate(&put.into()).unwrap();
            calls.count(Method::Mutate, Duration::from_micros(80), row == 0);
        }
        web.history.sample(cluster, start + SAMPLE_INTERVAL);
        let shown = framed(show(&web, &reader));
        for expected in [
            "Requests per second: Rows read 0, Mutations 2.0",
            "Calls per second: 2.0",
            "<td>Mutate</td>",
            "<td class=\"number\">1</td>",
        ] {
            assert!(shown.contains(expected), "{expected}: {shown}");
        }
        assert!(!shown.contains("<td>Get</td>"), "{shown}");
        let list = framed(tables::list(&web, &reader));
        assert!(list.contains("class=\"spark\""), "{list}");
    }

    #[test]
    fn numbers_have_units_and_few_digits() {
        assert_eq!(
            ["0", "0.4", "9.9", "12", "1,234"],
            [0.0, 0.4, 9.94, 12.3, 1234.0].map(rate)[..]
        );
        assert_eq!(["80 µs", "2.5 ms", "10.0 s"], [80.0, 2_500.0, 1e7].map(micros)[..]);
    }
}
