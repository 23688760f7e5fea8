//! Prints and draws the experiment result.

use std::fmt::Write;

use rowhouse_model::{Svg, SvgStyle};

use super::{Cost, HotspotArgs, Measured, RANGE, SERVERS};

/// How many characters the longest bar has.
const BAR_CHARS: f64 = 24.0;

/// Returns the result as a table with bars.
pub(super) fn text(all: &[Measured], args: &HotspotArgs) -> String {
    let mut text = format!(
        "{SERVERS} region servers, each limited to {} operations a second\n\n",
        args.ops_per_server
    );
    let most = greatest(all);
    let width = all.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for it in all {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<width$}  {:>6.0} writes/s {:<24}  busiest server {:>3.0} %   {}",
            it.name,
            it.writes_per_second,
            bar(it.writes_per_second / most),
            it.shares.first().unwrap_or(&0.0) * 100.0,
            it.template,
        );
    }
    let _ = writeln!(text, "\n{:<width$}  one row{:33}{RANGE} rows in order", "", "");
    let head = "servers  rows read  returned    ms";
    let _ = writeln!(text, "{:<width$}  {head}      {head}", "");
    for it in all {
        let _ = writeln!(text, "{:<width$}  {}      {}", it.name, cost(it.get), cost(it.range));
    }
    text.push_str(
        "\nservers: asked by a read; rows read: by the servers; ms: median time of a read.\n",
    );
    text
}

fn cost(of: Cost) -> String {
    format!("{:>7.1} {:>10.0} {:>9.0} {:>5.1}", of.servers, of.rows, of.returned, of.millis)
}

fn bar(share: f64) -> String {
    "█".repeat((share * BAR_CHARS).round() as usize)
}

fn greatest(all: &[Measured]) -> f64 {
    all.iter().map(|it| it.writes_per_second).fold(1.0, f64::max)
}

const WIDTH: f64 = 920.0;
const ROW: f64 = 44.0;
const TOP: f64 = 76.0;
const LABELS: f64 = 240.0;
const BARS: f64 = 330.0;

/// Returns the result as a drawing: for each design a bar with the writes, divided into the server
/// shares.
pub(super) fn svg(all: &[Measured], args: &HotspotArgs) -> String {
    let mut svg = Svg::new();
    let title = format!("Writes per second under {} designs of the row key", all.len());
    svg.text((16.0, 28.0), r#"font-size="16""#, &title);
    let small = r#"class="small""#;
    let limit = format!(
        "{SERVERS} region servers, each limited to {} operations a second; a bar is divided into the \
         shares of the servers, the busiest first",
        args.ops_per_server
    );
    svg.text((16.0, 48.0), small, &limit);
    svg.text((LABELS + BARS + 70.0, 68.0), small, "one row: servers, ms");
    svg.text((LABELS + BARS + 210.0, 68.0), small, &format!("{RANGE} rows: servers, ms"));
    let most = greatest(all);
    for (at, it) in all.iter().enumerate() {
        let y = TOP + ROW * at as f64;
        svg.text((16.0, y + 14.0), "", it.name);
        svg.text((16.0, y + 30.0), small, it.template);
        let mut x = LABELS + 50.0;
        for (server, share) in it.shares.iter().enumerate() {
            let width = BARS * 0.75 * share * it.writes_per_second / most;
            svg.element(format_args!(
                r#"<rect class="s{server}" x="{x:.1}" y="{y}" width="{width:.1}" height="18"><title>{:.0} % of the writes</title></rect>"#,
                share * 100.0
            ));
            x += width;
        }
        svg.text((x + 6.0, y + 14.0), "", &format!("{:.0}", it.writes_per_second));
        for (offset, cost) in [(70.0, it.get), (210.0, it.range)] {
            let costs = format!("{:.1}, {:.1}", cost.servers, cost.millis);
            svg.text((LABELS + BARS + offset, y + 14.0), "", &costs);
        }
    }
    svg.finish((WIDTH, TOP + ROW * all.len() as f64 + 40.0), &STYLE)
}

const STYLE: SvgStyle<'_> = SvgStyle {
    font_size: 13,
    rules: ".small { font-size: 11px; fill: #666 } .s0 { fill: #b3341f } .s1 { fill: #2f6f9f } \
            .s2 { fill: #5b9ac4 } .s3 { fill: #9cc3de }",
    dark: ".small { fill: #999 }",
    print: "",
};
