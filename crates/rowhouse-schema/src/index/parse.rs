//! The parser for index declarations.
//!
//! ```text
//! declaration = name template ["memory" / "unique"] ["covers" covered] ["where" query]
//!             / name "search" …                                      (see `parse_search`)
//! covered     = "*" / name *("," name)
//! ```

use std::sync::Arc;

use rowhouse_model::{Columns, Result};

use super::cells::select;
use super::change::Parts;
use super::declaration::{Declaration, Index};
use super::full_form::FullForm;
use super::names::{Base, Source};
use super::parse_search::read_search;
use super::search::Search;
use crate::columns::{Column, ColumnSchema};
use crate::encode::End;
use crate::error::Fault;
use crate::field::Field;
use crate::key::KeySchema;
use crate::plan::{Predicate, RowConditions};
use crate::template::{check_name, is_name};

/// Parses declarations.
pub(super) fn parse(
    text: &str,
    key: Option<&KeySchema>,
    columns: Option<&ColumnSchema>,
) -> Result<Vec<Index>> {
    let base = Base { key, columns };
    let mut indexes: Vec<Index> = Vec::new();
    let parts = declarations(text).map_err(|fault| fault.in_text(text))?;
    for (start, end) in parts {
        let written = Written::read(text, start, end, base).map_err(|fault| fault.in_text(text))?;
        if indexes.iter().any(|other| other.name() == written.name) {
            let message = format!("the index `{}` is declared twice", written.name);
            return Err(Fault::new(start, message).in_text(text));
        }
        indexes.push(written.finish(base)?);
    }
    Ok(indexes)
}

/// Splits a text at line ends and `;` outside quotes; returns each declaration's offsets.
fn declarations(text: &str) -> Result<Vec<(usize, usize)>, Fault> {
    let mut quote = None;
    let mut start = 0;
    let mut parts = Vec::new();
    for (at, c) in text.char_indices().chain([(text.len(), ';')]) {
        match c {
            '\'' => quote = if quote.is_none() { Some(at) } else { None },
            ';' | '\n' if quote.is_none() => {
                let part = &text[start..at];
                let begin = at - part.trim_start().len();
                parts.push((begin, begin + part.trim().len()));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.retain(|(start, end)| start < end);
    match quote {
        Some(at) => Err(Fault::new(at, "this quote is never closed")),
        None => Ok(parts),
    }
}

/// A declaration as written.
struct Written<'t> {
    name: &'t str,
    template: String,
    full: FullForm,
    /// The entries are in memory alone.
    memory: bool,
    unique: bool,
    /// True if it covers `*`.
    copy: bool,
    covers: Vec<Column>,
    condition: Option<Predicate>,
    search: Option<Search>,
}

impl<'t> Written<'t> {
    fn read(text: &'t str, start: usize, end: usize, base: Base<'_>) -> Result<Self, Fault> {
        let mut words = DeclarationLexer { text, at: start, end };
        let (at, name) = words.word();
        if let Some(bracket) = name.find('[').filter(|bracket| is_name(&name[..*bracket])) {
            return Err(Fault::new(at + bracket, "expected a space between name and template"));
        }
        check_name(at, name).map_err(|fault| fault.hint("for example by_sender [sender]"))?;
        if words.is_next("search") {
            let search = read_search(&mut words, base)?;
            return Ok(Self {
                name,
                template: search.to_string(),
                full: FullForm::of_search()?,
                memory: false,
                unique: false,
                copy: false,
                covers: Vec::new(),
                condition: None,
                search: Some(search),
            });
        }
        let (at, template) = words.template()?;
        if words.covers_all() {
            let full = FullForm::of_copy(template, at, base)?;
            return words.end(Self {
                name,
                template: canonical(template),
                full,
                memory: false,
                unique: false,
                copy: true,
                covers: Vec::new(),
                condition: None,
                search: None,
            });
        }
        let full = FullForm::new(template, at, base)?;
        let template = canonical(template);
        let memory = words.is_next("memory");
        if memory {
            words.check_in_memory()?;
        }
        let unique = words.is_next("unique");
        if unique {
            check_unique(&full, at)?;
        }
        let covers = if words.is_next("covers") { words.covers(base)? } else { Vec::new() };
        let condition = if words.is_next("where") { Some(words.condition()?) } else { None };
        let copy = false;
        words.end(Self {
            name,
            template,
            full,
            memory,
            unique,
            copy,
            covers,
            condition,
            search: None,
        })
    }

    fn finish(self, base: Base<'_>) -> Result<Index> {
        let Self { name, template, full, memory, unique, copy, covers, condition, search } = self;
        let bind = |query| RowConditions::of_index(base.key, base.columns, query);
        let rows = condition.as_ref().map(bind).transpose()?;
        let reads = match &search {
            Some(search) => search.reads(),
            None => reads(&full, rows.as_ref(), &covers, base.columns),
        };
        let conditions = rows.iter().flat_map(RowConditions::columns);
        let parts = Parts::new(&full, conditions.chain(&covers), base.columns);
        let covered: Vec<_> = covers.iter().map(|column| column.name().to_owned()).collect();
        let mut text = format!("{name} {template}");
        if memory {
            text.push_str(" memory");
        }
        if unique {
            text.push_str(" unique");
        }
        if copy {
            text.push_str(" covers *");
        } else if !covered.is_empty() {
            text = format!("{text} covers {}", covered.join(", "));
        }
        if let Some(condition) = &condition {
            text = format!("{text} where {condition}");
        }
        let FullForm { template: full, sources, key_source, named, named_elements } = full;
        let declaration = Declaration {
            name: name.to_owned(),
            memory,
            unique,
            copy,
            covers,
            covered,
            condition,
            search,
            rows,
            template,
            full,
            sources,
            named,
            named_elements,
            key: base.key.cloned(),
            columns: base.columns.cloned(),
            key_source,
            reads,
            parts,
            text,
        };
        Ok(Index { declaration: Arc::new(declaration) })
    }
}

/// Writes a template so that it can be part of a declaration.
pub(super) fn canonical(template: &str) -> String {
    template.replace(';', "\\x3B").replace('\'', "\\x27")
}

/// Checks that entries with equal declared fields, and no others, begin with the same bytes.
fn check_unique(full: &FullForm, at: usize) -> Result<(), Fault> {
    let fields = &full.template.fields()[..full.named];
    let has_end = |field: &Field| {
        let codec = &field.codec;
        let is_open = matches!(codec.end(), Some(End::Key | End::Before(_)));
        !is_open && codec.tail().is_none() && codec.is_prefix_free()
    };
    if let Some(field) = fields.iter().find(|field| !has_end(field)) {
        let message = format!("`{field}` has no end of its own, so equal values cannot be found");
        return Err(Fault::new(at, message).hint("put a literal such as _ after it"));
    }
    let is_named = |at: &usize| *at < full.named && !fields[*at].codec.is_lossy();
    match full.template.computed().iter().find(|computed| !computed.depends_only_on(is_named)) {
        Some(computed) => {
            let message = format!("`{computed}` differs between rows with equal declared fields");
            Err(Fault::new(at, message).hint("compute it of declared fields, held whole"))
        }
        None => Ok(()),
    }
}

/// Returns the columns that decide a row's entries or are covered.
fn reads(
    full: &FullForm,
    rows: Option<&RowConditions>,
    covers: &[Column],
    columns: Option<&ColumnSchema>,
) -> Columns {
    let needs_cell = |(source, field): (&Source, &Field)| match source {
        Source::Row | Source::Key(_) => false,
        Source::Column(_) => !field.codec.is_nullable(),
        Source::Qualifier { .. } => true,
    };
    let fields = full.sources.iter().zip(full.template.fields());
    if !fields.clone().any(needs_cell) && !rows.is_some_and(RowConditions::needs_cell) {
        return Columns::all();
    }
    let of_source = |source: &Source| match source {
        Source::Row | Source::Key(_) => None,
        Source::Column(at) | Source::Qualifier { column: at, .. } => {
            columns.map(|columns| &columns.columns()[*at])
        }
    };
    let sources = full.sources.iter().filter_map(of_source);
    let conditions = rows.into_iter().flat_map(RowConditions::columns);
    let all: Vec<_> = sources.chain(conditions).chain(covers).collect();
    select(&all)
}

/// Splits a declaration into words.
pub(super) struct DeclarationLexer<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl<'t> DeclarationLexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..self.end]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Returns the next word and the offset; an empty one at the end.
    fn word(&mut self) -> (usize, &'t str) {
        self.skip_space();
        let at = self.at;
        let rest = self.rest();
        let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        self.at += word.len();
        (at, word)
    }

    /// Returns a list's next word and the offset; an empty one before a comma and at the end.
    pub(super) fn item(&mut self) -> (usize, &'t str) {
        self.skip_space();
        let at = self.at;
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace() || c == ',';
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.at += word.len();
        (at, word)
    }

    /// Skips a comma if that comes next.
    pub(super) fn skip_comma(&mut self) -> bool {
        self.skip_space();
        let is_comma = self.rest().starts_with(',');
        self.at += usize::from(is_comma);
        is_comma
    }

    /// The offset where the declaration ends.
    pub(super) fn end_offset(&self) -> usize {
        self.end
    }

    /// Skips the next word if it is this one.
    fn is_next(&mut self, expected: &str) -> bool {
        let before = self.at;
        let is_next = self.word().1 == expected;
        if !is_next {
            self.at = before;
        }
        is_next
    }

    /// Skips `covers *` if that comes next.
    fn covers_all(&mut self) -> bool {
        let before = self.at;
        let covers_all = self.is_next("covers") && self.is_next("*");
        if !covers_all {
            self.at = before;
        }
        covers_all
    }

    /// Refuses words that may not follow `memory`.
    fn check_in_memory(&mut self) -> Result<(), Fault> {
        let after = self.at;
        let message = match self.word() {
            (at, "unique") => Some((at, "an index in memory is not unique")),
            (at, "covers") if self.is_next("*") => Some((at, "an index in memory is no copy")),
            _ => None,
        };
        self.at = after;
        match message {
            None => Ok(()),
            Some((at, message)) => {
                let fault = Fault::new(at, format!("{message}: it is built after each open"));
                Err(fault.hint("leave out `memory`"))
            }
        }
    }

    /// Returns a declaration if nothing follows it.
    fn end(mut self, read: Written<'t>) -> Result<Written<'t>, Fault> {
        match self.word() {
            (_, "") => Ok(read),
            (at, word) if read.copy => {
                let fault = Fault::new(at, format!("`{word}` is not allowed after `covers *`"));
                Err(fault.hint("every row has its copy"))
            }
            (at, word) => {
                let fault = Fault::new(at, format!("`{word}` is not allowed here"));
                Err(fault.hint("in this order: memory or unique, covers NAMES, where QUERY"))
            }
        }
    }

    /// Returns the template and the offset: up to the first white space outside brackets.
    fn template(&mut self) -> Result<(usize, &'t str), Fault> {
        self.skip_space();
        let at = self.at;
        let rest = self.rest();
        let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        if is_name(word) {
            let message =
                format!("expected a template such as [sender], or the word search, not {word}");
            return Err(Fault::new(at, message));
        }
        let mut inside = false;
        let mut escaped = false;
        let ends = |(_, c): &(usize, char)| {
            let ends = c.is_whitespace() && !inside;
            match c {
                '[' if !escaped => inside = true,
                ']' => inside = false,
                _ => {}
            }
            escaped = *c == '\\' && !escaped && !inside;
            ends
        };
        let len = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
        self.at += len;
        match len {
            0 => Err(Fault::new(at, "expected a template").hint("for example by_sender [sender]")),
            len => Ok((at, &rest[..len])),
        }
    }

    fn covers(&mut self, base: Base<'_>) -> Result<Vec<Column>, Fault> {
        let mut covers: Vec<Column> = Vec::new();
        loop {
            let (at, name) = self.item();
            let column = covered(name, at, base)?;
            if covers.iter().any(|other| other.name() == name) {
                return Err(Fault::new(at, format!("`{name}` is covered twice")));
            }
            covers.push(column.clone());
            if !self.skip_comma() {
                return Ok(covers);
            }
        }
    }

    /// Parses the query up to the declaration's end.
    fn condition(&mut self) -> Result<Predicate, Fault> {
        self.skip_space();
        let part = self.at..self.end;
        self.at = self.end;
        let query = Predicate::read(self.text, part.clone())?;
        if query.is_empty() {
            Err(Fault::new(part.start, "expected a condition after `where`"))
        } else {
            Ok(query)
        }
    }
}

/// Returns the column that an index covers.
fn covered<'b>(name: &str, at: usize, base: Base<'b>) -> Result<&'b Column, Fault> {
    let example = "for example covers subject, size";
    match name {
        "" => return Err(Fault::new(at, "expected the names of columns").hint(example)),
        "*" => {
            let fault =
                Fault::new(at, "`*` stands alone, and an index that covers it is not unique");
            return Err(fault.hint("covers * comes right after the template"));
        }
        _ => {}
    }
    let column = base
        .columns
        .and_then(|columns| columns.position(name).map(|position| &columns.columns()[position]));
    match column {
        Some(column) if column.template().is_none() => Ok(column),
        Some(_) => {
            let message = format!("`{name}` is the name of many columns, and cannot be covered");
            Err(Fault::new(at, message))
        }
        None if base.key.is_some_and(|key| key.slot(name).is_some()) => {
            let message = format!("`{name}` is a field of the key, which every entry has anyway");
            Err(Fault::new(at, message))
        }
        None => {
            let message = format!("no column `{name}` is declared");
            Err(match base.columns {
                Some(columns) => Fault::new(at, columns.no_column_message(name)),
                None => Fault::new(at, message),
            })
        }
    }
}
