//! Numbers, times and keys as pages show them.

use maud::{Markup, html};
use rowhouse_model::{Error, ErrorKind, TableDescriptor, escape, escape_controls};
use rowhouse_schema::{KeySchema, Time};

use super::messages;
use super::reader::Reader;
use super::words;
use crate::limits::WEB_SHOWN_CHARS_MAX;

/// A table's row keys, decoded by the template if it has one.
pub(super) struct Keys(Option<KeySchema>);

impl Keys {
    /// A table's keys. A template in a newer version decodes nothing.
    pub(super) fn of(table: &TableDescriptor) -> Self {
        Self(KeySchema::of_table(table).ok().flatten())
    }

    /// Keys with a template.
    pub(super) fn with(schema: KeySchema) -> Self {
        Self(Some(schema))
    }

    /// Keys for a table that is not there.
    pub(super) fn unknown() -> Self {
        Self(None)
    }

    /// Returns the fields in a key or a key's beginning; without a template the bytes, as HBase
    /// prints them.
    pub(super) fn text(&self, key: &[u8]) -> String {
        shortened(&self.whole_text(key))
    }

    /// As [`Keys::text`], whatever the length.
    pub(super) fn whole_text(&self, key: &[u8]) -> String {
        match &self.0 {
            Some(schema) => escape_controls(&schema.read_prefix(key).to_string()),
            None => escape(key),
        }
    }

    /// Returns the first field of a key with the value, the beginning of [`Keys::whole_text`];
    /// empty without a template, and if the key does not reach the end of the field.
    pub(super) fn first_field(&self, key: &[u8]) -> String {
        let Some(schema) = &self.0 else { return String::new() };
        let whole = self.whole_text(key);
        let prefix = schema.read_prefix(key);
        let [(name, _), (second, _), ..] = prefix.values() else { return String::new() };
        let end = whole.find(&format!(", {second}="));
        let end = end.filter(|_| whole.starts_with(&format!("{name}=")));
        end.map_or_else(String::new, |end| whole[..end].to_owned())
    }

    /// Shows a key. A tooltip has the bytes.
    pub(super) fn show(&self, key: &[u8]) -> Markup {
        let bytes = self.0.as_ref().map(|_| shortened(&escape(key)));
        html! { code title=[bytes] { (self.text(key)) } }
    }

    /// Shows a range's first key.
    pub(super) fn start(&self, reader: &Reader, key: &[u8]) -> Markup {
        match key {
            [] => html! { span.dim { (reader.text(words::FIRST_KEY)) } },
            key => self.show(key),
        }
    }

    /// Shows the key before which a range ends.
    pub(super) fn stop(&self, reader: &Reader, key: &[u8]) -> Markup {
        match key {
            [] => html! { span.dim { (reader.text(words::LAST_KEY)) } },
            key => self.show(key),
        }
    }
}

/// Shows an error. A caret in the message stands under the place that it marks.
pub(super) fn error(reader: &Reader, error: &Error) -> Markup {
    let message = escape_lines(error.message());
    let (first, place) = message.split_once('\n').unwrap_or((&message, ""));
    html! {
        div.error role="alert" {
            p { (sentence(reader, error, first)) }
            @if !place.is_empty() { pre { (place) } }
        }
    }
}

/// Shows the first line of an error message.
fn sentence(reader: &Reader, error: &Error, first: &str) -> Markup {
    match error.kind() {
        // The message is the table name.
        ErrorKind::TableNotFound => html! {
            (reader.text(words::NO_SUCH_TABLE)) (reader.text(words::COLON)) code { (first) }
        },
        _ => message(reader, first),
    }
}

/// Shows a program message in the reader's language; in English if it has no translation.
pub(super) fn message(reader: &Reader, english: &str) -> Markup {
    match messages::translated(reader.lang, english) {
        Some(text) => html! { (text) },
        None => html! { span lang="en" { (english) } },
    }
}

/// Escapes control characters, except for line ends.
fn escape_lines(text: &str) -> String {
    text.split('\n').map(escape_controls).collect::<Vec<_>>().join("\n")
}

/// Returns the beginning and end of a text that is too long to be shown: keys next to each other
/// often begin alike.
pub(super) fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= WEB_SHOWN_CHARS_MAX {
        return text.to_owned();
    }
    let place = |nth: usize| text.char_indices().nth(nth).map_or(text.len(), |(at, _)| at);
    let head = WEB_SHOWN_CHARS_MAX * 3 / 5;
    let tail = WEB_SHOWN_CHARS_MAX * 2 / 5;
    format!("{}…{}", &text[..place(head)], &text[place(count - tail)..])
}

/// Returns a number with the digits in groups.
pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a count of things.
pub(super) fn count(count: usize) -> String {
    number(count as u64)
}

/// Returns a byte count in the largest unit that the count reaches.
pub(super) fn bytes(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (bytes.max(1).ilog2() / 10).min(4);
    match power {
        0 => format!("{bytes} B"),
        power => {
            format!("{:.1} {}", bytes as f64 / 1024f64.powi(power as i32), units[power as usize])
        }
    }
}

/// Returns a time, given in milliseconds since 1970, to the second in UTC.
pub(super) fn time(millis: i64) -> String {
    let text = Time::from_millis(millis).to_string();
    let text = text.split('.').next().unwrap_or_default();
    format!("{} UTC", text.replace('T', " "))
}

/// Returns a duration, given in milliseconds.
pub(super) fn duration(millis: i64) -> String {
    match millis.max(0) {
        millis @ 0..10_000 => format!("{millis} ms"),
        millis @ 10_000..120_000 => format!("{} s", millis / 1000),
        millis @ 120_000..7_200_000 => format!("{} min", millis / 60_000),
        millis @ 7_200_000..172_800_000 => format!("{} h", millis / 3_600_000),
        millis => format!("{} d", millis / 86_400_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_bytes_have_units() {
        for (from, grouped) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(from), grouped);
        }
        let sizes = [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1 << 40, "1.0 TiB")];
        for (from, text) in sizes.into_iter().chain([(u64::MAX, "16777216.0 TiB")]) {
            assert_eq!(bytes(from), text);
        }
        assert_eq!(time(1_669_852_800_123), "2022-12-01 00:00:00 UTC");
        assert_eq!(duration(-5), "0 ms");
        assert_eq!(duration(90_000), "90 s");
        assert_eq!(duration(86_400_000 * 3), "3 d");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = |end: &str| format!("{}{end}", "分".repeat(WEB_SHOWN_CHARS_MAX));
        assert_eq!(shortened(&long("a")).chars().count(), WEB_SHOWN_CHARS_MAX + 1);
        assert!(
            shortened(&long("a")).starts_with("分分") && shortened(&long("a")).ends_with("分a")
        );
        assert_ne!(shortened(&long("a")), shortened(&long("b")));
        assert_eq!(shortened(&long("")), long(""));
    }
}
