//! Answers as JSON: `wt=json`.

use std::fmt::Write;

use super::answer::{CountsForm, Data, Documents, date};

/// Writes an answer.
pub(super) fn written(answer: &Data, is_indented: bool) -> String {
    let mut writer = Writer { out: String::new(), is_indented, depth: 0 };
    writer.data(answer);
    writer.out.push('\n');
    writer.out
}

struct Writer {
    out: String,
    is_indented: bool,
    depth: usize,
}

impl Writer {
    fn data(&mut self, data: &Data) {
        match data {
            Data::Bool(bool) => self.shown(bool),
            Data::Int(number) => self.shown(number),
            Data::Long(number) => self.shown(number),
            Data::Float(number) if number.is_finite() => self.shown(&format_args!("{number:?}")),
            Data::Double(number) if number.is_finite() => self.shown(&format_args!("{number:?}")),
            // As Solr writes them: JSON has no such numbers.
            Data::Float(number) => self.text(&not_finite((*number).into())),
            Data::Double(number) => self.text(&not_finite(*number)),
            Data::Text(text) => self.text(text),
            Data::Date(millis) => self.text(&date(*millis)),
            Data::Bytes(bytes) => self.text(&base64(bytes)),
            Data::List(list) => self.items('[', ']', list, Self::data),
            Data::Named(named) => self.named(named),
            Data::Counts(counts, form) => self.counts(counts, *form),
            Data::Documents(documents) => self.documents(documents),
        }
    }

    fn shown(&mut self, shown: &dyn std::fmt::Display) {
        // A string takes everything.
        let _ = write!(self.out, "{shown}");
    }

    fn text(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                // Scripts take line and paragraph separators for line ends.
                '\0'..='\x1f' | '\x7f' | '\u{2028}' | '\u{2029}' => {
                    let _ = write!(self.out, "\\u{:04x}", u32::from(c));
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    fn items<T>(&mut self, open: char, close: char, items: &[T], write: fn(&mut Self, &T)) {
        self.out.push(open);
        self.depth += 1;
        for (nth, item) in items.iter().enumerate() {
            if nth > 0 {
                self.out.push(',');
            }
            self.line();
            write(self, item);
        }
        self.depth -= 1;
        if !items.is_empty() {
            self.line();
        }
        self.out.push(close);
    }

    fn line(&mut self) {
        if self.is_indented {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', 2 * self.depth));
        }
    }

    fn named(&mut self, named: &[(String, Data)]) {
        self.items('{', '}', named, |writer, (name, data)| {
            writer.text(name);
            writer.out.push(':');
            writer.data(data);
        });
    }

    fn counts(&mut self, counts: &[(String, i64)], form: CountsForm) {
        match form {
            CountsForm::Flat => self.items('[', ']', counts, |writer, (name, count)| {
                writer.text(name);
                writer.out.push(',');
                writer.shown(count);
            }),
            CountsForm::Map => self.items('{', '}', counts, |writer, (name, count)| {
                writer.text(name);
                writer.out.push(':');
                writer.shown(count);
            }),
            CountsForm::Pairs => self.items('[', ']', counts, |writer, (name, count)| {
                writer.out.push('[');
                writer.text(name);
                writer.out.push(',');
                writer.shown(count);
                writer.out.push(']');
            }),
        }
    }

    fn documents(&mut self, page: &Documents) {
        let mut named =
            vec![("numFound", Data::Long(page.count)), ("start", Data::Long(page.start))];
        named.extend(page.score_max.map(|score| ("maxScore", Data::Float(score))));
        named.push(("numFoundExact", Data::Bool(true)));
        self.out.push('{');
        self.depth += 1;
        for (name, data) in named {
            self.line();
            self.text(name);
            self.out.push(':');
            self.data(&data);
            self.out.push(',');
        }
        self.line();
        self.text("docs");
        self.out.push(':');
        self.items('[', ']', &page.documents, |writer, document| writer.named(document));
        self.depth -= 1;
        self.line();
        self.out.push('}');
    }
}

fn not_finite(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number > 0.0 => "Infinity".to_owned(),
        _ => "-Infinity".to_owned(),
    }
}

/// Returns bytes in Base64, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            text.push(if digit <= chunk.len() { DIGITS[value as usize].into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_numbers_are_json() {
        let data = Data::List(vec![
            Data::text("a\"b\\c\n\u{1}\u{2028}分"),
            Data::Long(-5),
            Data::Double(1e300),
            Data::Float(1.0),
            Data::Double(f64::NAN),
            Data::Date(1_669_852_800_120),
            Data::Date(0),
            Data::Bytes(vec![0, 255, 1, 2]),
        ]);
        assert_eq!(
            written(&data, false),
            "[\"a\\\"b\\\\c\\n\\u0001\\u2028分\",-5,1e300,1.0,\"NaN\",\
             \"2022-12-01T00:00:00.120Z\",\"1970-01-01T00:00:00Z\",\"AP8BAg==\"]\n"
        );
        let parsed: serde_json::Value = serde_json::from_str(&written(&data, true)).unwrap();
        assert_eq!(parsed[0], "a\"b\\c\n\u{1}\u{2028}分");
    }

    #[test]
    fn counts_have_three_forms() {
        let counts = |form| {
            let counts = vec![("a".to_owned(), 1), ("b".to_owned(), 2)];
            written(&Data::Counts(counts, form), false)
        };
        assert_eq!(counts(CountsForm::Flat), "[\"a\",1,\"b\",2]\n");
        assert_eq!(counts(CountsForm::Map), "{\"a\":1,\"b\":2}\n");
        assert_eq!(counts(CountsForm::Pairs), "[[\"a\",1],[\"b\",2]]\n");
    }
}
