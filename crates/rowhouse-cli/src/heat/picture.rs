//! The heat of a table as a drawing: time from left to right, keys from top to bottom.

use std::fmt::Write;

use rowhouse::Bytes;
use rowhouse_model::escape_xml;

use super::{TableHeat, time_of};
use crate::wrapped::wrapped;

const LEFT: f64 = 250.0;
const TOP: f64 = 64.0;
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 512.0;
/// Distance between two labels of the key axis.
const LABEL_DISTANCE: f64 = 24.0;
/// The number of colors, from the least to the most load on a logarithmic scale.
const COLORS: usize = 9;
/// From light to dark, also without color: in print the darker is the hotter.
const LIGHT: [&str; COLORS] = [
    "#fff7ec", "#fee8c8", "#fdd49e", "#fdbb84", "#fc8d59", "#ef6548", "#d7301f", "#b30000",
    "#7f0000",
];
/// For a dark page: the lighter is the hotter.
const DARK: [&str; COLORS] = [
    "#1b1020", "#34124a", "#5b1a6b", "#85216b", "#b03060", "#d84b40", "#f1731d", "#fca50a",
    "#fcffa4",
];
/// Characters of a label.
const LABEL_CHARS: usize = 36;
/// Characters of a line below the drawing.
const LINE_CHARS: usize = 150;

/// Returns the drawing.
pub(crate) fn svg(heat: &TableHeat) -> String {
    let map = heat.map();
    let begin = map.columns.first().map_or(0, |column| column.begun_millis);
    let end = map.columns.last().map_or(0, |column| column.begun_millis + column.length_millis);
    let span = (end - begin).max(60_000) as f64;
    let x = |millis: i64| LEFT + (millis - begin) as f64 / span * WIDTH;
    let row_height = HEIGHT / map.bounds.len().max(1) as f64;

    let mut svg = head(heat);
    // Requests per minute and row of the drawing.
    let cells = map.columns.iter().flat_map(|column| {
        let minutes = column.length_millis.max(60_000) as f64 / 60_000.0;
        let ends = column.ranges.iter().skip(1).map(|&(row, _)| row).chain([map.bounds.len()]);
        column.ranges.iter().zip(ends).map(move |(&(row, load), end)| {
            let rows = (end - row).max(1);
            (column, row, rows, load as f64 / minutes / rows as f64)
        })
    });
    let cells: Vec<_> = cells.collect();
    let most = cells.iter().map(|(.., rate)| *rate).fold(1.0, f64::max);
    for (column, row, rows, rate) in cells {
        let Some(color) = color(rate, most) else { continue };
        let from = x(column.begun_millis);
        let to = x(column.begun_millis + column.length_millis.max(60_000)).min(LEFT + WIDTH);
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            r#"<rect class="c{color}" x="{from:.1}" y="{:.1}" width="{:.1}" height="{:.1}"/>"#,
            TOP + row as f64 * row_height,
            (to - from).max(1.0),
            rows as f64 * row_height,
        );
    }
    axes(&mut svg, heat, &map.bounds, (begin, end));
    svg.push_str("</svg>\n");
    svg
}

/// Returns the color of a rate; `None` without requests.
fn color(rate: f64, most: f64) -> Option<usize> {
    if rate < 0.5 {
        return None;
    }
    let share = (rate + 1.0).ln() / (most + 1.0).ln();
    Some(((share * COLORS as f64) as usize).min(COLORS - 1))
}

fn head(heat: &TableHeat) -> String {
    let colors = |colors: [&str; COLORS]| {
        let rules = colors.iter().enumerate();
        rules.map(|(at, color)| format!(".c{at} {{ fill: {color} }} ")).collect::<String>()
    };
    let (width, height) = (LEFT + WIDTH + 24.0, TOP + HEIGHT + 120.0);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">
<style>
  {} text {{ fill: #222 }} .page {{ fill: #fff }} .frame {{ fill: none; stroke: #888 }} .title {{ font-size: 16px }}
  @media (prefers-color-scheme: dark) {{ {} text {{ fill: #ddd }} .page {{ fill: #161616 }} }}
  @media print {{ {} text {{ fill: #000 }} .page {{ fill: #fff }} }}
</style>
<rect class="page" width="{width}" height="{height}"/>
<text class="title" x="16" y="26">{}: requests by key and time</text>
<text x="16" y="46">darker (lighter on a dark page) is hotter, on a logarithmic scale</text>
"##,
        colors(LIGHT),
        colors(DARK),
        colors(LIGHT),
        escape_xml(&heat.table),
    )
}

fn axes(svg: &mut String, heat: &TableHeat, bounds: &[Bytes], (begin, end): (i64, i64)) {
    let row_height = HEIGHT / bounds.len().max(1) as f64;
    let _ = writeln!(
        svg,
        r#"<rect class="frame" x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}"/>"#
    );
    let every = (LABEL_DISTANCE / row_height).ceil().max(1.0) as usize;
    for (row, start) in bounds.iter().enumerate().step_by(every) {
        let mut label = heat.key(start);
        if label.chars().count() > LABEL_CHARS {
            label = label.chars().take(LABEL_CHARS - 1).chain(['…']).collect();
        }
        let y = TOP + row as f64 * row_height + 4.0;
        let _ = writeln!(
            svg,
            r#"<text x="{}" y="{y:.1}" text-anchor="end">{}</text>"#,
            LEFT - 8.0,
            escape_xml(&label)
        );
    }
    for quarter in 0..=4 {
        let millis = begin + (end - begin) * quarter / 4;
        let x = LEFT + WIDTH * quarter as f64 / 4.0;
        let _ = writeln!(
            svg,
            r#"<text x="{x:.1}" y="{}" text-anchor="middle">{}</text>"#,
            TOP + HEIGHT + 18.0,
            time_of(millis)
        );
    }
    let verdicts = heat.verdicts().map(|(name, verdict)| format!("{name}: {verdict}"));
    for (at, line) in verdicts.iter().flat_map(|text| wrapped(text, LINE_CHARS, "")).enumerate() {
        let y = TOP + HEIGHT + 44.0 + 16.0 * at as f64;
        let _ = writeln!(svg, r#"<text x="16" y="{y}">{}</text>"#, escape_xml(&line));
    }
}

#[cfg(test)]
mod tests {
    use rowhouse::admin::{HeatBucket, HeatColumn, HeatReport};
    use rowhouse::key::KeySchema;

    use super::*;

    #[test]
    fn keys_are_decoded_and_names_escaped_and_each_hot_range_has_a_color() {
        let schema = KeySchema::parse("[user string][at millis]").unwrap();
        let bucket = |start: &'static [u8], writes| HeatBucket {
            start: start.into(),
            writes,
            ..HeatBucket::default()
        };
        let buckets = vec![bucket(b"", 0), bucket(b"bob\x00\x01", 900), bucket(b"eve\x00\x01", 3)];
        let column = HeatColumn { begun_millis: 0, length_millis: 60_000, buckets };
        let heat = TableHeat {
            table: "<mail>".into(),
            report: HeatReport { columns: vec![column], ..HeatReport::default() },
            schema: Some(schema),
            regions: Vec::new(),
            first_values: None,
        };
        let svg = svg(&heat);
        assert!(svg.contains("&lt;mail&gt;") && !svg.contains("<mail>"));
        assert!(svg.contains("user='bob', …"), "{svg}");
        assert_eq!(svg.matches("<rect class=\"c").count(), 2);
        assert!(svg.contains("class=\"c8\""));
    }
}
