//! The heat of a table as a drawing: time from left to right, keys from top to bottom.

use std::fmt::Write;

use super::TableHeat;
use super::grid::Grid;

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
    let grid = Grid::new(&heat.report);
    let columns = &heat.report.columns;
    let begin = columns.first().map_or(0, |column| column.begun_millis);
    let end = columns.iter().map(|it| it.begun_millis + it.length_millis).max().unwrap_or(begin);
    let span = (end - begin).max(60_000) as f64;
    let x = |millis: i64| LEFT + (millis - begin) as f64 / span * WIDTH;
    let row_height = HEIGHT / grid.starts.len() as f64;

    let mut svg = head(heat);
    // Requests per minute.
    let rate = |column: usize, requests: f64| {
        requests / (columns[column].length_millis.max(1) as f64 / 60_000.0)
    };
    let most = grid
        .columns
        .iter()
        .enumerate()
        .flat_map(|(at, requests)| requests.iter().map(move |&requests| rate(at, requests)));
    let most = most.fold(1.0, f64::max);
    for (at, requests) in grid.columns.iter().enumerate() {
        let (from, to) = (x(columns[at].begun_millis), {
            let column = &columns[at];
            x(column.begun_millis + column.length_millis.max(60_000)).min(LEFT + WIDTH)
        });
        let colors: Vec<_> =
            requests.iter().map(|&requests| color(rate(at, requests), most)).collect();
        let mut row = 0;
        while row < colors.len() {
            let same = colors[row..].iter().take_while(|color| **color == colors[row]).count();
            if let Some(color) = colors[row] {
                // A string takes everything.
                let _ = writeln!(
                    svg,
                    r#"<rect class="c{color}" x="{from:.1}" y="{:.1}" width="{:.1}" height="{:.1}"/>"#,
                    TOP + row as f64 * row_height,
                    (to - from).max(1.0),
                    same as f64 * row_height,
                );
            }
            row += same;
        }
    }
    axes(&mut svg, heat, &grid, row_height, (begin, end));
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
        escaped(&heat.table),
    )
}

fn axes(svg: &mut String, heat: &TableHeat, grid: &Grid, row_height: f64, time: (i64, i64)) {
    let (begin, end) = time;
    let _ = writeln!(
        svg,
        r#"<rect class="frame" x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}"/>"#
    );
    let every = (LABEL_DISTANCE / row_height).ceil().max(1.0) as usize;
    for (row, start) in grid.starts.iter().enumerate().step_by(every) {
        let mut label = heat.key(start);
        if label.chars().count() > LABEL_CHARS {
            label = label.chars().take(LABEL_CHARS - 1).chain(['…']).collect();
        }
        let y = TOP + row as f64 * row_height + 4.0;
        let _ = writeln!(
            svg,
            r#"<text x="{}" y="{y:.1}" text-anchor="end">{}</text>"#,
            LEFT - 8.0,
            escaped(&label)
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
    for (at, line) in verdicts.iter().flat_map(|text| wrapped(text)).enumerate() {
        let y = TOP + HEIGHT + 44.0 + 16.0 * at as f64;
        let _ = writeln!(svg, r#"<text x="16" y="{y}">{}</text>"#, escaped(&line));
    }
}

/// Breaks a text into lines that fit the width.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > LINE_CHARS {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// Returns the time in UTC.
fn time_of(millis: i64) -> String {
    match jiff::Timestamp::from_millisecond(millis) {
        Ok(time) => time.strftime("%m-%d %H:%M").to_string(),
        Err(_) => String::new(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
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
        };
        let svg = svg(&heat);
        assert!(svg.contains("&lt;mail&gt;") && !svg.contains("<mail>"));
        assert!(svg.contains("user='bob', …"), "{svg}");
        assert_eq!(svg.matches("<rect class=\"c").count(), 2);
        assert!(svg.contains("class=\"c8\""));
    }
}
