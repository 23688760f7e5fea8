//! The heat of all tables in one picture.

use std::cmp::Reverse;

use maud::{Markup, PreEscaped, html};
use rowhouse_model::{Result, RowRange, Svg, TableName, escape_xml};
use rowhouse_schema::HeatMap;

use super::page::{Page, Place};
use super::reader::{Reader, escaped};
use super::shown::{number, time};
use super::state::Web;
use super::words::{self, Text};

/// Tables in the picture: those with the most requests.
const TABLES_MAX: usize = 64;
/// Times in the picture.
const COLUMNS: usize = 120;
const MINUTE_MILLIS: i64 = 60_000;
/// Hours up to now that the page offers.
const HOURS: [(u32, Text); 4] = [
    (1, words::LAST_HOUR),
    (6, words::LAST_6_HOURS),
    (24, words::LAST_DAY),
    (168, words::LAST_WEEK),
];
/// The view box: names at the left, a row for each table, times below.
const LEFT: f64 = 200.0;
const WIDTH: f64 = 720.0;
const ROW: f64 = 20.0;
const BOTTOM: f64 = 24.0;
/// Colours, from the least to the most load; the style sheet has them.
const COLOURS: f64 = 9.0;

/// The requests to a table, by time.
struct TableLoads {
    name: TableName,
    loads: [u64; COLUMNS],
}

impl TableLoads {
    fn sum(&self) -> u64 {
        self.loads.iter().fold(0, |sum, load| sum.saturating_add(*load))
    }
}

/// Shows all tables.
pub(super) fn show(web: &Web, reader: &Reader) -> Result<Page> {
    let text = |text| reader.text(text);
    let param = reader.param("hours");
    let hours = HOURS.iter().map(|(hours, _)| *hours).find(|hours| hours.to_string() == param);
    let hours = hours.unwrap_or(HOURS[0].0);
    let store = &web.context.cluster.store;
    let to = store.now_millis();
    let length = i64::from(hours) * 60 * MINUTE_MILLIS;
    let from = to - length;
    let mut tables: Vec<TableLoads> = Vec::new();
    for table in store.tables() {
        let report = table.heat(from, i64::MAX);
        let requests = |it: &rowhouse_model::HeatBucket| it.reads.saturating_add(it.writes);
        let map = HeatMap::new(&report, requests, &RowRange::all(), from, to);
        let mut loads = [0; COLUMNS];
        for column in &map.columns {
            let sum = column.ranges.iter().map(|(_, load)| load).sum();
            spread(&mut loads, (column.start_millis - from, column.length_millis), sum, length);
        }
        tables.push(TableLoads { name: table.name().clone(), loads });
        tables.retain(|table| table.sum() > 0);
        tables.sort_by_key(|table| (Reverse(table.sum()), table.name.clone()));
        tables.truncate(TABLES_MAX);
    }
    let body = html! {
        form action="/heat" method="get" {
            @if let Some(lang) = reader.chosen_lang() { input type="hidden" name="lang" value=(lang); }
            label {
                (text(words::TIME))
                select name="hours" { @for (choice, label) in HOURS {
                    option value=(choice) selected[choice == hours] { (text(label)) }
                } }
            }
            button { (text(words::SHOW)) }
        }
        p.dim { (text(words::ALL_HEAT_MORE)) }
        @if tables.is_empty() { p { (text(words::NO_HEAT)) } }
        @else { (drawn(reader, &tables, (from, to))) }
    };
    Ok(Page::new(Place::Heat, text(words::HEAT), body))
}

/// Adds the requests of a span, which begins at a time after the first one, to the columns that it
/// overlaps. The last of them has what cannot be divided.
fn spread(loads: &mut [u64; COLUMNS], (begin, span): (i64, i64), requests: u64, length: i64) {
    let column = |millis: i64| (millis * COLUMNS as i64 / length).clamp(0, COLUMNS as i64 - 1);
    let first = column(begin) as usize;
    let last = column(begin + span - 1).max(first as i64) as usize;
    let part = requests / (last - first + 1) as u64;
    for load in &mut loads[first..last] {
        *load += part;
    }
    loads[last] += requests - part * (last - first) as u64;
}

fn drawn(reader: &Reader, tables: &[TableLoads], (from, to): (i64, i64)) -> Markup {
    let most = tables.iter().flat_map(|table| table.loads).max().unwrap_or(0);
    let bottom = ROW * tables.len() as f64;
    let mut svg = Svg::new();
    svg.rect("frame", (LEFT, 0.0), (WIDTH, bottom));
    for (at, table) in tables.iter().enumerate() {
        let top = ROW * at as f64;
        let name = table.name.to_string();
        let link = reader.link(&format!("/heat/{}", escaped(&name)), &[]);
        let sum = number(table.sum());
        svg.element(format_args!(r#"<a href="{}">"#, escape_xml(&link)));
        svg.element(format_args!(
            "<title>{}: {} {sum}</title>",
            escape_xml(&name),
            reader.text(words::REQUESTS)
        ));
        let name = rowhouse_model::clipped(&name, 26);
        svg.text((LEFT - 8.0, top + ROW - 6.0), r#"text-anchor="end""#, &name);
        svg.element("</a>");
        row(&mut svg, table, top, most);
    }
    for (millis, x, anchor) in [(from, LEFT, "start"), (to, LEFT + WIDTH, "end")] {
        let anchor = format!(r#"text-anchor="{anchor}""#);
        svg.text((x, bottom + 16.0), &anchor, &time(millis));
    }
    let size = (LEFT + WIDTH, bottom + BOTTOM);
    html! { (PreEscaped(svg.inline_in_proportion(size, "heats", reader.text(words::HEAT)))) }
}

/// Draws a table's loads, those that are alike as one field.
fn row(svg: &mut Svg, table: &TableLoads, top: f64, most: u64) {
    let width = WIDTH / COLUMNS as f64;
    let mut at = 0;
    for run in table.loads.chunk_by(|one, other| colour(*one, most) == colour(*other, most)) {
        if let Some(colour) = colour(run[0], most) {
            let place = (LEFT + width * at as f64, top + 1.0);
            svg.rect(&format!("heat{colour}"), place, (width * run.len() as f64, ROW - 2.0));
        }
        at += run.len();
    }
}

/// Returns the number of the colour for a load; `None` without one.
fn colour(load: u64, most: u64) -> Option<usize> {
    let share = (load as f64 + 1.0).ln() / (most as f64 + 1.0).ln();
    (load > 0).then(|| ((share * COLOURS) as usize).min(COLOURS as usize - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_in_the_columns_that_they_overlap_and_none_is_lost() {
        let length = 60 * MINUTE_MILLIS;
        let mut loads = [0; COLUMNS];
        // A minute has two columns; one that began before the picture is in it with all requests.
        spread(&mut loads, (MINUTE_MILLIS, MINUTE_MILLIS), 5, length);
        spread(&mut loads, (-MINUTE_MILLIS, 2 * MINUTE_MILLIS), 8, length);
        spread(&mut loads, (length - 1, MINUTE_MILLIS), 7, length);
        assert_eq!(loads[..5], [4, 4, 2, 3, 0]);
        assert_eq!((loads[COLUMNS - 1], loads.iter().sum::<u64>()), (7, 20));
    }

    #[test]
    fn colours_are_logarithmic_and_a_load_is_never_without_one() {
        assert_eq!(
            [0, 1, 9, 99_999].map(|load| colour(load, 99_999)),
            [None, Some(0), Some(1), Some(8)]
        );
        assert_eq!(colour(1, 1), Some(8));
    }
}
