//! Drawings in SVG.

use std::fmt::{self, Display, Write};

use crate::escape::escape_xml;

/// A drawing in SVG, in colors for a light page, a dark page and for print.
///
/// Lengths are in view box units, from the box's top left corner.
///
/// ```
/// use rowhouse_model::{Svg, SvgStyle};
///
/// let mut svg = Svg::new();
/// svg.text((16.0, 26.0), "", "a < b");
/// svg.rect("bar", (16.0, 40.0), (99.96, 12.0));
/// let style = SvgStyle { rules: ".bar { fill: #36c }", ..SvgStyle::default() };
/// let svg = svg.finish((200.0, 60.0), &style);
/// assert!(svg.contains(r#"<text x="16" y="26">a &lt; b</text>"#));
/// assert!(svg.contains(r#"<rect class="bar" x="16" y="40" width="100" height="12"/>"#));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Svg {
    body: String,
}

/// A drawing's style: CSS rules for the element classes. Texts and the page have rules already.
#[derive(Clone, Copy, Debug)]
pub struct SvgStyle<'a> {
    /// The font size for texts without a rule.
    pub font_size: u8,
    /// The rules.
    pub rules: &'a str,
    /// What differs on dark pages.
    pub dark: &'a str,
    /// What differs in print.
    pub print: &'a str,
}

impl Default for SvgStyle<'_> {
    fn default() -> Self {
        Self { font_size: 11, rules: "", dark: "", print: "" }
    }
}

impl Svg {
    /// Creates an empty drawing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text whose base line begins here. `attributes` are further attributes for the
    /// element.
    pub fn text(&mut self, (x, y): (f64, f64), attributes: &str, text: &str) {
        let blank = if attributes.is_empty() { "" } else { " " };
        let x = Rounded(x);
        let y = Rounded(y);
        let text = escape_xml(text);
        self.element(format_args!(r#"<text x="{x}" y="{y}"{blank}{attributes}>{text}</text>"#));
    }

    /// Adds a rectangle.
    pub fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let ((x, y), (width, height)) =
            ((Rounded(x), Rounded(y)), (Rounded(width), Rounded(height)));
        self.element(format_args!(
            r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}"/>"#
        ));
    }

    /// Adds a line through these points.
    pub fn polyline(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let points = points.into_iter().map(|(x, y)| format!("{},{}", Rounded(x), Rounded(y)));
        let points: Vec<_> = points.collect();
        self.element(format_args!(r#"<polyline class="{class}" points="{}"/>"#, points.join(" ")));
    }

    /// Adds an element as it is written.
    pub fn element(&mut self, element: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{element}");
    }

    /// Returns the drawing as file text.
    pub fn finish(self, (width, height): (f64, f64), style: &SvgStyle<'_>) -> String {
        let width = Rounded(width);
        let height = Rounded(height);
        let SvgStyle { font_size, rules, dark, print } = style;
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="{font_size}">
<style>
  text {{ fill: #222 }} .page {{ fill: #fff }} .frame {{ fill: none; stroke: #888 }} {rules}
  @media (prefers-color-scheme: dark) {{ text {{ fill: #ddd }} .page {{ fill: #161616 }} {dark} }}
  @media print {{ text {{ fill: #000 }} .page {{ fill: #fff }} {print} }}
</style>
<rect class="page" width="{width}" height="{height}"/>
{}</svg>
"##,
            self.body
        )
    }

    /// Returns the drawing as an element of an HTML page, which has the rules for the classes. It
    /// stretches to the size that the page gives it. `label` says what it shows, for readers who do
    /// not see it.
    pub fn inline(self, size: (f64, f64), class: &str, label: &str) -> String {
        self.embedded(size, r#" preserveAspectRatio="none" role="img""#, class, label)
    }

    /// As [`Svg::inline`], in proportion, and with links that a reader can follow.
    pub fn inline_in_proportion(self, size: (f64, f64), class: &str, label: &str) -> String {
        self.embedded(size, r#" role="group""#, class, label)
    }

    fn embedded(
        self,
        (width, height): (f64, f64),
        attributes: &str,
        class: &str,
        label: &str,
    ) -> String {
        let width = Rounded(width);
        let height = Rounded(height);
        let label = escape_xml(label);
        format!(
            r#"<svg class="{class}" viewBox="0 0 {width} {height}"{attributes} aria-label="{label}">{}</svg>"#,
            self.body
        )
    }
}

/// Writes a length with at most one decimal.
struct Rounded(f64);

impl Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.0 * 10.0).round() / 10.0)
    }
}

/// Returns the text, cut to this many characters, where the last one is then an ellipsis.
///
/// ```
/// assert_eq!(rowhouse_model::clipped("123456", 6), "123456");
/// assert_eq!(rowhouse_model::clipped("1234567", 6), "12345…");
/// ```
pub fn clipped(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some(_) => text.chars().take(chars.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}
