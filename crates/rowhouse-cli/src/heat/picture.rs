//! Table heat as a drawing: time from left to right, keys from top to bottom.

use rowhouse::Bytes;
use rowhouse_model::{Svg, SvgStyle, clipped};

use super::{TableHeat, time_of};
use crate::wrapped::wrapped;

const LEFT: f64 = 250.0;
const TOP: f64 = 64.0;
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 512.0;
/// Distance between two labels on the key axis.
const LABEL_DISTANCE: f64 = 24.0;
/// How many colors there are, from the least to the most load on a logarithmic scale.
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
/// How many characters a label has.
const LABEL_CHARS: usize = 36;
/// How many characters a line below the drawing has.
const LINE_CHARS: usize = 150;

/// Returns the drawing.
pub(crate) fn svg(heat: &TableHeat) -> String {
    let map = heat.map();
    let begin = map.columns.first().map_or(0, |column| column.start_millis);
    let end = map.columns.last().map_or(0, |column| column.start_millis + column.length_millis);
    let span = (end - begin).max(60_000) as f64;
    let x = |millis: i64| LEFT + (millis - begin) as f64 / span * WIDTH;
    let row_height = HEIGHT / map.bounds.len().max(1) as f64;

    let mut svg = Svg::new();
    svg.text(
        (16.0, 26.0),
        r#"class="title""#,
        &format!("{}: requests by key and time", heat.table),
    );
    let scale = "darker (lighter on a dark page) is hotter, on a logarithmic scale";
    svg.text((16.0, 46.0), "", scale);
    // Requests per minute and row in the drawing.
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
        let from = x(column.start_millis);
        let to = x(column.start_millis + column.length_millis.max(60_000)).min(LEFT + WIDTH);
        let place = (from, TOP + row as f64 * row_height);
        let size = ((to - from).max(1.0), rows as f64 * row_height);
        svg.rect(&format!("c{color}"), place, size);
    }
    axes(&mut svg, heat, &map.bounds, (begin, end));
    let [light, dark] = [LIGHT, DARK].map(rules);
    let rules = format!(".title {{ font-size: 16px }} {light}");
    let style = SvgStyle { rules: &rules, dark: &dark, print: &light, ..SvgStyle::default() };
    svg.finish((LEFT + WIDTH + 24.0, TOP + HEIGHT + 120.0), &style)
}

/// Returns the color for a rate; `None` without requests.
fn color(rate: f64, most: f64) -> Option<usize> {
    if rate < 0.5 {
        return None;
    }
    let share = (rate + 1.0).ln() / (most + 1.0).ln();
    Some(((share * COLORS as f64) as usize).min(COLORS - 1))
}

/// Returns the style rules for the colors.
fn rules(colors: [&str; COLORS]) -> String {
    let rules = colors.iter().enumerate();
    rules.map(|(at, color)| format!(".c{at} {{ fill: {color} }} ")).collect()
}

fn axes(svg: &mut Svg, heat: &TableHeat, bounds: &[Bytes], (begin, end): (i64, i64)) {
    let row_height = HEIGHT / bounds.len().max(1) as f64;
    svg.rect("frame", (LEFT, TOP), (WIDTH, HEIGHT));
    let every = (LABEL_DISTANCE / row_height).ceil().max(1.0) as usize;
    for (row, start) in bounds.iter().enumerate().step_by(every) {
        let place = (LEFT - 8.0, TOP + row as f64 * row_height + 4.0);
        svg.text(place, r#"text-anchor="end""#, &clipped(&heat.key(start), LABEL_CHARS));
    }
    for quarter in 0..=4 {
        let millis = begin + (end - begin) * quarter / 4;
        let place = (LEFT + WIDTH * quarter as f64 / 4.0, TOP + HEIGHT + 18.0);
        svg.text(place, r#"text-anchor="middle""#, &time_of(millis));
    }
    svg.text((LEFT - 8.0, TOP + HEIGHT + 18.0), r#"text-anchor="end""#, "UTC");
    let verdicts = heat.verdicts().map(|(name, verdict)| format!("{name}: {verdict}"));
    for (at, line) in verdicts.iter().flat_map(|text| wrapped(text, LINE_CHARS, "")).enumerate() {
        svg.text((16.0, TOP + HEIGHT + 44.0 + 16.0 * at as f64), "", &line);
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
        let column = HeatColumn { length_millis: 60_000, buckets, ..HeatColumn::default() };
        let heat = TableHeat {
            table: "<mail>".into(),
            report: HeatReport { columns: vec![column], ..HeatReport::default() },
            schema: Some(schema),
            regions: Vec::new(),
            placement: Default::default(),
            first_values: None,
        };
        let svg = svg(&heat);
        assert!(svg.contains("&lt;mail&gt;") && !svg.contains("<mail>"));
        assert!(svg.contains("user='bob', …"), "{svg}");
        assert_eq!(svg.matches("<rect class=\"c").count(), 2);
        assert!(svg.contains("class=\"c8\""));
    }
}
