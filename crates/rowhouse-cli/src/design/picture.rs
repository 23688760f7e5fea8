//! Designs as a drawing: the read cost from left to right, the busiest region's share from bottom
//! to top, a point for each design.

use rowhouse::advise::{Advice, AdvisedDesign, DesignKind, Simulation, Workload};
use rowhouse_model::{Svg, SvgStyle, clipped, escape_xml};

/// The frame's position and size, in pixels.
const LEFT: f64 = 72.0;
const TOP: f64 = 92.0;
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
/// How many designs have a line in the legend, besides the present one.
const LISTED: usize = 12;
/// How many characters a legend line has.
const LINE_CHARS: usize = 118;
/// A legend line's height, in pixels.
const LINE: f64 = 17.0;
/// The kinds that the literature puts on one line, from the best reads in order to the best writes.
const LITERATURE: [DesignKind; 4] =
    [DesignKind::Sequential, DesignKind::Salted, DesignKind::Promoted, DesignKind::Random];

/// A point in the drawing.
struct Point {
    cost: f64,
    share: f64,
    /// The class that determines the color and form.
    class: &'static str,
    /// The number in the legend.
    number: Option<usize>,
    text: String,
}

/// Returns a design comparison as SVG.
pub(crate) fn advice_svg(workload: &Workload, advice: &Advice) -> String {
    let points: Vec<Point> =
        advice.designs.iter().enumerate().map(|(at, design)| point(advice, at, design)).collect();
    let mut drawing = Drawing::new("Designs: cost of reads against spread of writes", &points);
    drawing.line(&literature(&advice.designs));
    points.iter().rev().for_each(|point| drawing.point(point));
    drawing.finish(workload, &points)
}

/// Returns one design as SVG.
pub(crate) fn simulation_svg(workload: &Workload, simulation: &Simulation) -> String {
    let indexes = simulation.indexes.iter().map(|index| format!(" + {index}"));
    let points = [Point {
        cost: simulation.cost(workload),
        share: simulation.share(),
        class: "best",
        number: Some(1),
        text: format!("{}{}", simulation.key, indexes.collect::<String>()),
    }];
    let mut drawing = Drawing::new("One design: cost of reads against spread of writes", &points);
    points.iter().for_each(|point| drawing.point(point));
    drawing.finish(workload, &points)
}

fn point(advice: &Advice, at: usize, design: &AdvisedDesign) -> Point {
    let is_best = at == 0 && advice.is_change;
    let class = match design {
        _ if is_best => "best",
        design if design.is_present => "present",
        design if !design.refusals.is_empty() => "refused",
        design if design.simulation.is_none() => "estimated",
        _ => "other",
    };
    let is_listed = at < LISTED || design.is_present;
    let notes = [
        (design.is_present, "present"),
        (design.simulation.is_none(), "estimated"),
        (!design.refusals.is_empty(), "refused"),
    ];
    let notes = notes.iter().filter(|(is, _)| *is).map(|(_, note)| format!(", {note}"));
    Point {
        cost: design.cost,
        share: design.share,
        class,
        number: is_listed.then_some(at + 1),
        text: format!("{}{}: {}", design.kind.name(), notes.collect::<String>(), design.text()),
    }
}

/// Returns cost and share for the best key without indexes, by kind in [`LITERATURE`].
fn literature(designs: &[AdvisedDesign]) -> Vec<(f64, f64)> {
    let best = |kind: &DesignKind| {
        let of_kind = designs.iter().filter(|it| it.kind == *kind && it.indexes.is_empty());
        let best = of_kind.min_by(|one, other| one.score.total_cmp(&other.score))?;
        Some((best.cost, best.share))
    };
    LITERATURE.iter().filter_map(best).collect()
}

/// A drawing with the scales.
struct Drawing {
    svg: Svg,
    /// The powers of ten at the ends of the horizontal axis.
    powers: (f64, f64),
}

impl Drawing {
    fn new(title: &str, points: &[Point]) -> Self {
        let costs = || points.iter().map(|point| point.cost.max(1.0).log10());
        let low = costs().fold(f64::INFINITY, f64::min).floor();
        let high = costs().fold(0.0, f64::max).ceil();
        let low = if low.is_finite() { low } else { 0.0 };
        let powers = (low, high.max(low + 1.0));
        let mut drawing = Self { svg: Svg::new(), powers };
        let head = [
            (28.0, r#"class="title""#, title),
            (
                48.0,
                "",
                "bottom left is best: few rows read, and no region with a large share of the writes",
            ),
            (72.0, "", "share of the busiest region"),
        ];
        head.into_iter().for_each(|(y, class, text)| drawing.svg.text((16.0, y), class, text));
        drawing.axes();
        drawing
    }

    fn x(&self, cost: f64) -> f64 {
        let (low, high) = self.powers;
        LEFT + (cost.max(1.0).log10() - low) / (high - low) * WIDTH
    }

    fn axes(&mut self) {
        let end = r#"text-anchor="end""#;
        let middle = r#"text-anchor="middle""#;
        self.svg.rect("frame", (LEFT, TOP), (WIDTH, HEIGHT));
        for quarter in 0..=4 {
            let share = f64::from(quarter) / 4.0;
            let label = format!("{:.0} %", share * 100.0);
            self.svg.text((LEFT - 8.0, y(share) + 4.0), end, &label);
        }
        for power in self.powers.0 as i32..=self.powers.1 as i32 {
            let cost = 10f64.powi(power);
            self.svg.text((self.x(cost), TOP + HEIGHT + 18.0), middle, &scaled(cost));
        }
        let costs = "rows per second that questions and indexes cost (logarithmic)";
        self.svg.text((LEFT + WIDTH / 2.0, TOP + HEIGHT + 38.0), middle, costs);
    }

    fn line(&mut self, points: &[(f64, f64)]) {
        let places: Vec<String> = points
            .iter()
            .map(|(cost, share)| format!("{:.1},{:.1}", self.x(*cost), y(*share)))
            .collect();
        let places = places.join(" ");
        self.svg.element(format_args!(r#"<polyline class="line" points="{places}"/>"#));
    }

    fn point(&mut self, point: &Point) {
        let x = self.x(point.cost);
        let y = y(point.share);
        let radius = if point.class == "estimated" { 4 } else { 7 };
        self.svg.element(format_args!(
            r#"<circle class="{}" cx="{x:.1}" cy="{y:.1}" r="{radius}"><title>{}</title></circle>"#,
            point.class,
            escape_xml(&point.text)
        ));
        if let Some(number) = point.number {
            // Points at the same place have their numbers beside each other.
            let shift = 9.0 + 18.0 * ((number - 1) % 4) as f64;
            self.svg.text((x + shift, y - 6.0), "", &number.to_string());
        }
    }

    /// Adds the legend.
    fn finish(mut self, workload: &Workload, points: &[Point]) -> String {
        let mut at = TOP + HEIGHT + 66.0;
        for point in points {
            let Some(number) = point.number else { continue };
            let text = clipped(&format!("{number}  {}", point.text), LINE_CHARS);
            let class = point.class;
            let y = at - 4.0;
            self.svg.element(format_args!(r#"<circle class="{class}" cx="22" cy="{y}" r="5"/>"#));
            self.svg.text((34.0, at), "", &text);
            at += LINE;
        }
        let note = format!(
            "dashed: sequential, salted, promoted and random keys without indexes, in the order of the literature; seed {}",
            workload.seed()
        );
        self.svg.text((16.0, at + 8.0), r#"class="small""#, &note);
        self.svg.finish((LEFT + WIDTH + 72.0, at + 26.0), &STYLE)
    }
}

fn y(share: f64) -> f64 {
    TOP + HEIGHT * (1.0 - share)
}

/// Returns a power of ten as a label: `1000`, `1e6`.
fn scaled(cost: f64) -> String {
    if cost < 1e5 { format!("{cost:.0}") } else { format!("1e{:.0}", cost.log10()) }
}

/// Point colors differ in lightness, too, so that they are distinct in print.
const STYLE: SvgStyle<'_> = SvgStyle {
    font_size: 12,
    rules: ".title { font-size: 16px } .small { font-size: 11px } \
            .line { fill: none; stroke: #888; stroke-dasharray: 5 4 } \
            circle { stroke: #222; stroke-width: 1 } .best { fill: #1a7f37 } \
            .present { fill: #f2c14e } .other { fill: #4a90c4 } \
            .refused { fill: #fff; stroke: #b3341f; stroke-width: 2 } .estimated { fill: #bcd6e8 }",
    dark: "circle { stroke: #ddd } .refused { fill: #161616; stroke: #e8735f } \
           .estimated { fill: #2f4a5e }",
    print: "",
};
