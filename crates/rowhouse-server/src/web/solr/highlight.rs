//! The text parts around a query's words.

use rowhouse_model::{Error, Result, Row};
use rowhouse_schema::{Column, ColumnSchema, Index, SearchField};
use rowhouse_search::{DocumentQuery, Highlighter, text_of};

use super::answer::Data;
use super::request::Highlight;

/// What finds the words in the columns' texts.
pub(super) struct Highlights<'a> {
    highlight: &'a Highlight,
    texts: Vec<(&'a Column, Highlighter)>,
}

impl<'a> Highlights<'a> {
    /// Looks the columns up.
    ///
    /// # Errors
    /// `InvalidRequest` for a name that is no text in a column.
    pub(super) fn new(
        highlight: &'a Highlight,
        documents: &DocumentQuery,
        index: &Index,
        columns: &'a ColumnSchema,
        default_field: Option<&str>,
    ) -> Result<Self> {
        let of_index = index.search().map_or(&[][..], |search| search.fields());
        let is_shown = |field: &&SearchField| {
            let column = columns.column(field.name());
            field.is_text() && column.is_ok_and(|column| column.qualifier().is_some())
        };
        let all: Vec<_> = of_index.iter().filter(is_shown).map(SearchField::name).collect();
        let mut names: Vec<&str> = Vec::new();
        match (&highlight.fields, default_field) {
            (Some(fields), _) => {
                for name in fields {
                    match &name[..] {
                        "*" => names.extend(&all),
                        name if all.contains(&name) => names.push(name),
                        name => {
                            return Err(Error::invalid(format!(
                                "no text of a column of the index: hl.fl={name}, texts={}",
                                all.join(", ")
                            )));
                        }
                    }
                }
            }
            (None, Some(name)) if all.contains(&name) => names.push(name),
            (None, _) => names.extend(&all),
        }
        let mut texts = Vec::new();
        for (nth, name) in names.iter().copied().enumerate() {
            if names[..nth].contains(&name) {
                continue;
            }
            let highlighter = documents.highlighter(index, name, highlight.own_words_only);
            texts.extend(highlighter.map(|it| Ok((columns.column(name)?, it))));
        }
        Ok(Self { highlight, texts: texts.into_iter().collect::<Result<_>>()? })
    }

    /// The columns that have to be read.
    pub(super) fn columns(&self) -> impl Iterator<Item = &'a Column> {
        self.texts.iter().map(|(column, _)| *column)
    }

    /// Returns the parts of a row's texts, by column name, and adds their bytes to `bytes`.
    pub(super) fn of_row(&self, cells: &Row, bytes: &mut u64) -> Data {
        let mut parts = Vec::new();
        for (column, highlighter) in &self.texts {
            let cell = column.qualifier().and_then(|it| cells.cell(column.family(), it));
            let Some(cell) = cell else { continue };
            let decoded = column.decode_value(cell.value()).ok();
            let text = match decoded.as_ref().and_then(|value| value.as_str()) {
                Some(text) => text.into(),
                None => text_of(cell.value()),
            };
            let part = self.part(highlighter, &text);
            *bytes += part.as_ref().map_or(0, |part| part.len() as u64);
            let list = Data::List(part.map(Data::Text).into_iter().collect());
            parts.push((column.name().to_owned(), list));
        }
        Data::Named(parts)
    }

    /// Returns a text part with the words marked; `None` if it has no such word.
    fn part(&self, highlighter: &Highlighter, text: &str) -> Option<String> {
        let chars = match self.highlight.chars {
            0 => text.chars().count(),
            chars => chars,
        };
        let snippet = highlighter.snippet(text, chars);
        if snippet.matches.is_empty() {
            return None;
        }
        let mut part = String::new();
        let mut at = snippet.bytes.start;
        for hit in &snippet.matches {
            self.push(&mut part, &text[at..hit.start]);
            part.push_str(&self.highlight.before);
            self.push(&mut part, &text[hit.clone()]);
            part.push_str(&self.highlight.after);
            at = hit.end;
        }
        self.push(&mut part, &text[at..snippet.bytes.end]);
        Some(part)
    }

    fn push(&self, part: &mut String, text: &str) {
        if !self.highlight.is_html {
            part.push_str(text);
            return;
        }
        for c in text.chars() {
            match c {
                '&' => part.push_str("&amp;"),
                '<' => part.push_str("&lt;"),
                '>' => part.push_str("&gt;"),
                '"' => part.push_str("&quot;"),
                '\'' => part.push_str("&#x27;"),
                '/' => part.push_str("&#x2F;"),
                c => part.push(c),
            }
        }
    }
}
