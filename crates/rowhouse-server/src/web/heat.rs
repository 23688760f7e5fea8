//! A table's heat map, and the data for it.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use rowhouse_model::{
    Bytes, Error, HeatBucket, HeatReport, HotRow, Result, RowRange, TableName, escape, unescape,
};
use rowhouse_schema::{HeatMap, HottestRange, LoadProfile};
use rowhouse_store::Table;
use serde_json::{Value, json};

use super::page::{Page, Place, status_of};
use super::reader::{Reader, escaped, millis_param};
use super::shown::{Keys, bytes, number, time};
use super::state::{Web, failed};
use super::words::{self, Text};
use super::{messages, monitoring, tables, verdict};
use crate::metrics::{keys_of, placement_of};

/// Hours back from now that the page offers, and all that was measured.
const HOURS: [(&str, Text); 5] = [
    ("", words::ALL_MEASURED),
    ("1", words::LAST_HOUR),
    ("6", words::LAST_6_HOURS),
    ("24", words::LAST_DAY),
    ("168", words::LAST_WEEK),
];
/// How many times less load than the highest has the strongest colour.
const BRIGHTNESS: [&str; 4] = ["1", "2", "4", "8"];
/// Seconds after which the page is loaded again, and never.
const REFRESH: [(&str, Text); 4] = [
    ("", words::NEVER),
    ("30", words::HALF_MINUTE),
    ("60", words::MINUTE),
    ("300", words::FIVE_MINUTES),
];
/// Ranges that the table for readers without scripts has.
const HOTTEST: usize = 10;
/// Hot rows that the page shows.
const HOT_ROWS_SHOWN: usize = 20;
const HOUR_MILLIS: i64 = 3_600_000;

/// What is shown about the requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    Reads,
    Writes,
    Bytes,
}

impl Measure {
    const ALL: [Self; 3] = [Self::Reads, Self::Writes, Self::Bytes];

    /// Returns the measure that an address names; `None` if it names none.
    fn parse(param: &str) -> Result<Option<Self>> {
        match Self::ALL.into_iter().find(|measure| measure.name() == param) {
            None if !param.is_empty() => {
                Err(Error::invalid(format!("not reads, writes or bytes: of={param}")))
            }
            measure => Ok(measure),
        }
    }

    /// Returns the measure for the request kind that is most frequent in a report.
    fn of_most(report: &HeatReport) -> Self {
        let buckets = || report.columns.iter().flat_map(|column| &column.buckets);
        let sum = |measure: Self| buckets().map(|bucket| measure.of(bucket)).sum::<u64>();
        if sum(Self::Writes) > sum(Self::Reads) { Self::Writes } else { Self::Reads }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Bytes => "bytes",
        }
    }

    fn label(self) -> Text {
        match self {
            Self::Reads => words::READS,
            Self::Writes => words::WRITES,
            Self::Bytes => words::BYTES,
        }
    }

    fn of(self, bucket: &HeatBucket) -> u64 {
        match self {
            Self::Reads => bucket.reads,
            Self::Writes => bucket.writes,
            Self::Bytes => bucket.read_bytes.saturating_add(bucket.written_bytes),
        }
    }

    fn show(self, load: u64) -> String {
        match self {
            Self::Reads | Self::Writes => number(load),
            Self::Bytes => bytes(load),
        }
    }
}

/// The time that an address asks for.
struct Span {
    /// `None` for all that was measured.
    from: Option<i64>,
    to: i64,
}

impl Span {
    fn parse(reader: &Reader, now_millis: i64) -> Result<Self> {
        let to = millis_param(reader, "to")?.unwrap_or(now_millis);
        let hours = millis_param(reader, "hours")?;
        let of_hours = hours.map(|hours| to.saturating_sub(hours.saturating_mul(HOUR_MILLIS)));
        Ok(Self { from: millis_param(reader, "from")?.or(of_hours), to })
    }

    /// Returns the times between which a map lies: the times in the address, or the times of the
    /// first and the last request in the report.
    fn measured(&self, report: &HeatReport) -> (i64, i64) {
        if let Some(from) = self.from {
            return (from, self.to);
        }
        let (Some(first), Some(last)) = (report.columns.first(), report.columns.last()) else {
            return (self.to.saturating_sub(HOUR_MILLIS), self.to);
        };
        (first.start_millis, last.start_millis + last.length_millis)
    }
}

/// A map as an address asks for it.
struct Map {
    table: Arc<Table>,
    measure: Measure,
    from: i64,
    to: i64,
    range: RowRange,
    map: HeatMap,
    hot_rows: Vec<HotRow>,
    sampled: bool,
    /// The judgements about writes and reads.
    verdicts: [String; 2],
    /// The shares of writes and of reads on each region server, if there are several.
    servers: [Vec<(String, f64)>; 2],
    /// Judgements about columns that are never read together.
    columns: Vec<String>,
}

impl Map {
    fn read(web: &Web, reader: &Reader, name: &str) -> Result<Self> {
        let store = &web.context.cluster.store;
        let table = store.table(&TableName::parse(name)?)?;
        let measure = Measure::parse(reader.param("of"))?;
        let span = Span::parse(reader, store.now_millis())?;
        let key = |name| unescape(reader.param(name)).map(Bytes::from);
        let range = RowRange::new(key("start")?, key("stop")?);
        let report = table.heat(span.from.unwrap_or(i64::MIN), span.to);
        let (from, to) = span.measured(&report);
        let measure = measure.unwrap_or_else(|| Measure::of_most(&report));
        let map = HeatMap::new(&report, |bucket| measure.of(bucket), &range, from, to);
        let (schema, regions) = keys_of(&table);
        let placement = placement_of(&web.context.cluster.members.live(), &table);
        let profiles = LoadProfile::of_kinds(&report, &regions, &placement);
        let profiles = profiles.map(|(_, profile)| profile);
        let verdicts = verdict::of(reader, schema.as_ref(), &profiles);
        let servers = profiles.each_ref().map(|profile| {
            let shares = profile.server_shares().unwrap_or_default().into_iter();
            shares.map(|(server, share)| (server.to_owned(), share)).collect()
        });
        let columns = verdict::of_columns(reader, &report);
        let hot_rows = report.hot_rows;
        let sampled = report.is_sampled;
        Ok(Self {
            table,
            measure,
            from,
            to,
            range,
            map,
            hot_rows,
            sampled,
            verdicts,
            servers,
            columns,
        })
    }

    fn json(&self) -> Value {
        let keys = Keys::of(self.table.descriptor());
        let key = |key: &[u8]| {
            json!({
                "key": keys.whole_text(key),
                "first": keys.first_field(key),
                "bytes": escape(key),
            })
        };
        let columns = self.map.columns.iter().map(|column| {
            let (starts, values): (Vec<_>, Vec<_>) = column.ranges.iter().copied().unzip();
            json!({
                "begun": column.start_millis,
                "length": column.length_millis,
                "starts": starts,
                "values": values,
            })
        });
        let hot_rows = self.hot_rows.iter().map(|row| {
            json!({
                "key": keys.text(&row.row),
                "bytes": escape(&row.row),
                "reads": row.reads,
                "writes": row.writes,
                "overestimate": row.overestimate,
            })
        });
        json!({
            "table": self.table.name().to_string(),
            "of": self.measure.name(),
            "from": self.from,
            "to": self.to,
            "sampled": self.sampled,
            "bounds": self.map.bounds.iter().map(|bound| key(bound)).collect::<Vec<_>>(),
            "stop": Some(&self.range.stop).filter(|stop| !stop.is_empty()).map(|stop| key(stop)),
            "columns": columns.collect::<Vec<_>>(),
            "hot_rows": hot_rows.collect::<Vec<_>>(),
            "servers": { "writes": shares(&self.servers[0]), "reads": shares(&self.servers[1]) },
            "verdicts": { "writes": self.verdicts[0], "reads": self.verdicts[1] },
        })
    }
}

fn shares(servers: &[(String, f64)]) -> Value {
    servers.iter().map(|(server, share)| json!({ "server": server, "share": share })).collect()
}

/// Answers with a table's page, or with the data if the name ends with `.json`.
pub(super) async fn answer(
    State(web): State<Web>,
    Path(name): Path<String>,
    reader: Reader,
) -> Response {
    let permits = Arc::clone(&web.heats);
    match name.strip_suffix(".json").map(str::to_owned) {
        None => {
            web.limited_page(reader, permits, move |web, reader| page(web, reader, &name)).await
        }
        Some(name) => data(web, reader, name).await,
    }
}

async fn data(web: Web, reader: Reader, name: String) -> Response {
    let Ok(permit) = Arc::clone(&web.heats).try_acquire_owned() else {
        let error = json!({ "error": reader.text(words::BUSY_MORE) });
        return (StatusCode::SERVICE_UNAVAILABLE, monitoring::json(&error)).into_response();
    };
    let made = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        match Map::read(&web, &reader, &name) {
            Ok(map) => monitoring::json(&map.json()),
            Err(error) => {
                let message = messages::translated(reader.lang, error.message());
                let message = message.unwrap_or_else(|| error.to_string());
                let json = json!({ "error": message });
                (status_of(&error), monitoring::json(&json)).into_response()
            }
        }
    });
    made.await.unwrap_or_else(|error| failed(&error))
}

fn page(web: &Web, reader: &Reader, name: &str) -> Result<Page> {
    let map = Map::read(web, reader, name)?;
    let text = |text| reader.text(text);
    let address = format!("/heat/{}", escaped(name));
    let name = map.table.name().to_string();
    let brightness = chosen(reader, "brightness", &BRIGHTNESS)?;
    let refresh = chosen(reader, "refresh", &REFRESH.map(|(seconds, _)| seconds))?;
    let calls = reader.link("/calls", &[("table", &name)]);
    let [from, to] = [map.from, map.to].map(|millis| millis.to_string());
    let [start, stop] = [&map.range.start, &map.range.stop].map(|key| escape(key));
    let part = [("table", &name), ("from", &from), ("to", &to), ("start", &start), ("stop", &stop)];
    let calls_here = reader.link("/calls", &part.map(|(name, value)| (name, &value[..])));
    let body = html! {
        p { a href=(tables::link(reader, map.table.name())) { (text(words::TABLE)) } }
        (form(reader, &address, &map))
        @if map.sampled { p.dim { (text(words::SAMPLED)) } }
        @if map.map.columns.is_empty() { p { (text(words::NO_HEAT)) } }
        canvas id="heat" tabindex="0" role="application" aria-describedby="heat-keys"
            aria-label=(text(words::HEAT)) data-json=(format!("{address}.json"))
            data-of=(map.measure.name()) data-unit=(text(map.measure.label())) data-from=(map.from) data-to=(map.to)
            data-start=(start) data-stop=(stop) data-calls=(calls) data-brightness=(brightness) data-refresh=(refresh)
            data-first=(text(words::FIRST_KEY)) data-end=(text(words::LAST_KEY))
            data-colon=(text(words::COLON)) data-scale=(text(words::IN_ONE_FIELD)) data-failed=(text(words::HEAT_FAILED)) {}
        output id="heat-at" for="heat" aria-live="polite" {}
        p.dim id="heat-keys" { (text(words::HEAT_KEYS)) }
        p { a id="heat-calls" href=(calls_here) { (text(words::CALLS_HERE)) } }
        noscript {
            h2 { (text(words::HOTTEST)) }
            (hottest(reader, &map))
        }
        h2 { (text(words::VERDICT)) }
        dl {
            dt { (text(words::WRITES)) } dd { (map.verdicts[0]) }
            dt { (text(words::READS)) } dd { (map.verdicts[1]) }
            @for verdict in &map.columns { dt { (text(words::COLUMNS)) } dd { (verdict) } }
        }
        p { a href=(reader.link("/design", &[("table", &name)])) { (text(words::WHAT_INSTEAD)) } }
        @if map.servers.iter().any(|servers| !servers.is_empty()) { (servers(reader, &map)) }
        h2 { (text(words::HOT_ROWS)) }
        (hot_rows(reader, &map))
    };
    let title = format!("{}{}{}", text(words::HEAT), text(words::COLON), map.table.name());
    let page = Page::new(Place::Heat, title, body).with_script("/heat.js");
    Ok(match refresh.parse() {
        Ok(seconds) => page.refreshed(Duration::from_secs(seconds)),
        Err(_) => page,
    })
}

/// Returns the choice in the address; the first one if there is none.
fn chosen(reader: &Reader, name: &str, choices: &[&'static str]) -> Result<&'static str> {
    let param = reader.param(name);
    if param.is_empty() {
        return Ok(choices.first().copied().unwrap_or_default());
    }
    let choice = choices.iter().find(|choice| **choice == param).copied();
    choice.ok_or_else(|| {
        let choices = choices.iter().filter(|choice| !choice.is_empty()).copied();
        let choices = choices.collect::<Vec<_>>().join(", ");
        Error::invalid(format!("not one of {choices}: {name}={param}"))
    })
}

fn form(reader: &Reader, address: &str, map: &Map) -> Markup {
    let hours = reader.param("hours");
    html! {
        form action=(address) method="get" {
            @if let Some(lang) = reader.chosen_lang() { input type="hidden" name="lang" value=(lang); }
            label {
                (reader.text(words::SHOWN))
                select name="of" { @for measure in Measure::ALL {
                    option value=(measure.name()) selected[measure == map.measure] { (reader.text(measure.label())) }
                } }
            }
            label {
                (reader.text(words::TIME))
                select name="hours" { @for (choice, label) in HOURS {
                    option value=(choice) selected[choice == hours] { (reader.text(label)) }
                } }
            }
            label {
                (reader.text(words::BRIGHTNESS))
                select name="brightness" { @for choice in BRIGHTNESS {
                    option value=(choice) selected[choice == reader.param("brightness")] { (choice) " ×" }
                } }
            }
            label {
                (reader.text(words::REFRESHED))
                select name="refresh" { @for (choice, label) in REFRESH {
                    option value=(choice) selected[choice == reader.param("refresh")] { (reader.text(label)) }
                } }
            }
            button { (reader.text(words::SHOW)) }
        }
    }
}

fn hottest(reader: &Reader, map: &Map) -> Markup {
    let keys = Keys::of(map.table.descriptor());
    html! { div.wide { table {
        thead { tr {
            th { (reader.text(words::BEGAN)) } th { (reader.text(words::START)) }
            th { (reader.text(words::STOP)) } th.number { (reader.text(map.measure.label())) }
        } }
        tbody { @for range in map.map.hottest(HOTTEST, &map.range.stop) {
            @let HottestRange { start_millis, start, stop, load } = range;
            tr {
                td { (time(start_millis)) }
                td { (keys.start(reader, &start)) }
                td { (keys.stop(reader, &stop)) }
                td.number { (map.measure.show(load)) }
            }
        } }
    } } }
}

/// Shows which part of the writes and reads each region server carries.
fn servers(reader: &Reader, map: &Map) -> Markup {
    let [writes, reads] = &map.servers;
    let named = if writes.is_empty() { reads } else { writes };
    let share = |servers: &[(String, f64)], at: usize| {
        servers.get(at).map_or("–".to_owned(), |(_, share)| format!("{:.0} %", share * 100.0))
    };
    html! {
        h2 { (reader.text(words::LOAD_BY_SERVER)) }
        div.wide { table {
            thead { tr {
                th { (reader.text(words::SERVER)) }
                th.number { (reader.text(words::WRITES)) } th.number { (reader.text(words::READS)) }
            } }
            tbody { @for (at, (server, _)) in named.iter().enumerate() { tr {
                td { (server) }
                td.number { (share(writes, at)) }
                td.number { (share(reads, at)) }
            } } }
        } }
    }
}

fn hot_rows(reader: &Reader, map: &Map) -> Markup {
    let keys = Keys::of(map.table.descriptor());
    html! {
        p.dim { (reader.text(words::HOT_ROWS_MORE)) }
        @if map.hot_rows.is_empty() { p.dim { (reader.text(words::NONE)) } }
        @else { div.wide { table {
            thead { tr {
                th { (reader.text(words::ROW)) }
                th.number { (reader.text(words::READS)) } th.number { (reader.text(words::WRITES)) }
                th.number { (reader.text(words::TOO_HIGH_BY)) }
            } }
            tbody { @for row in map.hot_rows.iter().take(HOT_ROWS_SHOWN) { tr {
                td { (keys.show(&row.row)) }
                td.number { (number(row.reads)) }
                td.number { (number(row.writes)) }
                td.number { (number(row.overestimate)) }
            } } }
        } } }
    }
}
