//! Small charts: functions from numbers to SVG, without scripts.

use maud::{Markup, PreEscaped, html};
use rowhouse_model::{Svg, escape_xml};

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

/// A point of a scatter chart.
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// The class that determines color and form.
    pub(super) class: &'static str,
    /// The text beside the point.
    pub(super) label: Option<String>,
    /// The tooltip.
    pub(super) title: String,
    /// The address to which the point leads.
    pub(super) link: Option<String>,
}

/// Shows points on two logarithmic axes with these names.
pub(super) fn scatter(label: &str, axes: [&str; 2], points: &[Point]) -> Markup {
    let across =
        Axis::of(points.iter().map(|point| point.x), (SCATTER_LEFT, SCATTER_SIZE.0 - 20.0));
    let up = Axis::of(points.iter().map(|point| point.y), (SCATTER_SIZE.1 - 46.0, SCATTER_TOP));
    let mut svg = Svg::new();
    let frame = (across.ends.1 - across.ends.0, up.ends.0 - up.ends.1);
    svg.rect("frame", (across.ends.0, up.ends.1), frame);
    svg.text((across.ends.0, up.ends.1 - 8.0), "", axes[1]);
    svg.text((across.ends.1, up.ends.0 + 36.0), END, axes[0]);
    for power in across.powers() {
        let text = power_of_ten(power);
        svg.text((across.place(10f64.powi(power)), up.ends.0 + 18.0), MIDDLE, &text);
    }
    for power in up.powers() {
        let place = (across.ends.0 - 6.0, up.place(10f64.powi(power)) + 4.0);
        svg.text(place, END, &power_of_ten(power));
    }
    // The first points are drawn last, above the others.
    for point in points.iter().rev() {
        let (x, y) = (across.place(point.x), up.place(point.y));
        let link = point.link.as_deref().map(escape_xml);
        if let Some(link) = &link {
            svg.element(format_args!(r#"<a href="{link}">"#));
        }
        svg.element(format_args!(
            r#"<circle class="{}" cx="{x:.1}" cy="{y:.1}" r="6"><title>{}</title></circle>"#,
            point.class,
            escape_xml(&point.title)
        ));
        if let Some(label) = &point.label {
            // Points at one place have their labels beside each other.
            let nth = label.parse::<u32>().unwrap_or(0) % 4;
            svg.text((x + 8.0 + 16.0 * f64::from(nth), y - 6.0), "", label);
        }
        if link.is_some() {
            svg.element("</a>");
        }
    }
    html! { (PreEscaped(svg.inline_in_proportion(SCATTER_SIZE, "scatter", label))) }
}

/// The view box of a scatter chart, and where the frame begins.
const SCATTER_SIZE: (f64, f64) = (560.0, 320.0);
const SCATTER_LEFT: f64 = 56.0;
const SCATTER_TOP: f64 = 28.0;
const END: &str = r#"text-anchor="end""#;
const MIDDLE: &str = r#"text-anchor="middle""#;

/// A logarithmic axis.
struct Axis {
    /// The powers of ten at the ends.
    low: i32,
    high: i32,
    /// The places of the ends.
    ends: (f64, f64),
}

impl Axis {
    /// Returns an axis for these values. Values below 1 are at the axis' begin.
    fn of(values: impl Iterator<Item = f64>, ends: (f64, f64)) -> Self {
        let logs: Vec<f64> = values.map(|value| value.max(1.0).log10()).collect();
        let low = logs.iter().copied().fold(f64::INFINITY, f64::min).floor();
        let low = if low.is_finite() { low as i32 } else { 0 };
        let high = logs.iter().copied().fold(0.0, f64::max).ceil() as i32;
        Self { low, high: high.max(low + 1), ends }
    }

    fn place(&self, value: f64) -> f64 {
        let part = (value.max(1.0).log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        self.ends.0 + part * (self.ends.1 - self.ends.0)
    }

    fn powers(&self) -> impl Iterator<Item = i32> + use<> {
        self.low..=self.high
    }
}

/// Returns a power of ten as a label: `1000`, `1e6`.
fn power_of_ten(power: i32) -> String {
    if power < 5 { format!("{}", 10f64.powi(power)) } else { format!("1e{power}") }
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
    fn points_are_placed_by_the_logarithms_of_their_values() {
        let point = |x, y, label: Option<&str>| Point {
            x,
            y,
            class: "other",
            label: label.map(str::to_owned),
            title: "a < b".to_owned(),
            link: label.map(|label| format!("#design-{label}")),
        };
        let points =
            [point(10.0, 1000.0, Some("1")), point(1e6, 10.0, None), point(0.0, 1e4, None)];
        let shown = scatter("Designs", ["reads", "writes"], &points).into_string();
        // The frame reaches from 56 to 540 and from 274 to 28: from 1 to 1e6, and from 10 to 1e4.
        for expected in [
            r##"<a href="#design-1">"##,
            r#"cx="136.7" cy="110.0""#,
            r#"cx="540.0" cy="274.0""#,
            r#"cx="56.0" cy="28.0""#,
            "<title>a &lt; b</title>",
            ">1e6</text>",
            r#"aria-label="Designs""#,
        ] {
            assert!(shown.contains(expected), "{expected}: {shown}");
        }
        assert!(scatter("Designs", ["x", "y"], &[]).into_string().contains("scatter"));
    }

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
