//! Small charts: functions from numbers to SVG, without scripts.

use maud::{Markup, PreEscaped, html};
use rowhouse_model::Svg;

use super::reader::Reader;
use super::words;

/// The view box: pages stretch it.
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 60.0;
/// Room for the line's width above the greatest value.
const MARGIN: f64 = 2.0;

/// A line of a chart.
pub(super) struct Line<'a> {
    /// The name, where a chart has several lines.
    pub(super) name: &'a str,
    /// Values at equal distances, the newest last; `None` where nothing was measured.
    pub(super) values: Vec<Option<f64>>,
}

/// Shows a chart with title, newest values and greatest value. `capacity` is the count of values
/// that fills the width.
pub(super) fn chart(
    reader: &Reader,
    title: &str,
    lines: &[Line<'_>],
    capacity: usize,
    shown: impl Fn(f64) -> String,
) -> Markup {
    let top = greatest(lines);
    let newest = |line: &Line<'_>| {
        line.values.last().copied().flatten().map_or_else(|| "–".to_owned(), &shown)
    };
    let label =
        lines.iter().map(|line| format!("{} {}", line.name, newest(line)).trim().to_owned());
    let label = label.collect::<Vec<_>>().join(reader.text(words::COMMA));
    let label = format!("{title}{}{label}", reader.text(words::COLON));
    html! {
        figure.chart {
            figcaption {
                (title)
                @for (at, line) in lines.iter().enumerate() {
                    " " span class=(format!("line{at}")) { (line.name) " " strong { (newest(line)) } }
                }
            }
            (PreEscaped(drawn(lines, top, capacity).inline((WIDTH, HEIGHT), "plot", &label)))
            span.top.dim { (shown(top)) }
        }
    }
}

/// Shows the course of a number in the height of a text line.
pub(super) fn sparkline(label: &str, lines: &[Line<'_>], capacity: usize) -> Markup {
    let drawn = drawn(lines, greatest(lines), capacity);
    html! { (PreEscaped(drawn.inline((WIDTH, HEIGHT), "spark", label))) }
}

fn greatest(lines: &[Line<'_>]) -> f64 {
    lines.iter().flat_map(|line| &line.values).flatten().copied().fold(0.0, f64::max)
}

fn drawn(lines: &[Line<'_>], top: f64, capacity: usize) -> Svg {
    let step = WIDTH / capacity.saturating_sub(1).max(1) as f64;
    let scale = if top > 0.0 { (HEIGHT - 2.0 * MARGIN) / top } else { 0.0 };
    let mut svg = Svg::new();
    for (at, line) in lines.iter().enumerate() {
        let values = &line.values[line.values.len().saturating_sub(capacity)..];
        let first = WIDTH - step * values.len().saturating_sub(1) as f64;
        let points = values.iter().enumerate().map(|(n, value)| {
            value.map(|value| (first + step * n as f64, HEIGHT - MARGIN - value * scale))
        });
        let points: Vec<_> = points.collect();
        for part in points.split(Option::is_none).filter(|part| !part.is_empty()) {
            svg.polyline(&format!("line{at}"), part.iter().flatten().copied());
        }
    }
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_the_right_edge_and_reach_the_top_at_the_greatest_value() {
        let reader = Reader::new("/", Vec::new(), "en");
        let line = Line { name: "reads", values: [0.0, 5.0, 10.0].map(Some).to_vec() };
        let shown =
            chart(&reader, "Requests", &[line], 5, |value| format!("{value}/s")).into_string();
        assert!(shown.contains(r#"points="120,58 180,30 240,2""#), "{shown}");
        assert!(shown.contains("aria-label=\"Requests: reads 10/s\""), "{shown}");
        // More values than there is room for: the newest are drawn.
        let line = Line { name: "", values: [9.0, 1.0, 1.0].map(Some).to_vec() };
        let shown = sparkline("x", &[line], 2).into_string();
        assert!(shown.contains(r#"points="0,51.8 240,51.8""#), "{shown}");
        // Nothing is drawn where nothing was measured.
        let line = Line { name: "", values: vec![Some(1.0), Some(1.0), None, Some(1.0), None] };
        let shown = chart(&reader, "x", &[line], 5, |it| it.to_string()).into_string();
        assert!(shown.contains(r#"points="0,2 60,2""#) && shown.contains("<strong>–"), "{shown}");
        let none = chart(&reader, "Requests", &[Line { name: "", values: Vec::new() }], 5, |it| {
            it.to_string()
        });
        assert!(none.into_string().contains("–"));
    }
}
