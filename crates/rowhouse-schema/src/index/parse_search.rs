//! The parser for full-text index declarations, after the word `search`.
//!
//! ```text
//! declaration = name "search" field *( "," field )
//! field       = name *analyser                      a column, or a field of a column's qualifiers
//! analyser    = "keyword" / "simple" / "english" / "chinese"
//! ```

use super::analyser::Analyser;
use super::full_form::holds;
use super::names::{Base, Kind, Source};
use super::parse::DeclarationLexer;
use super::search::{Search, SearchField};
use crate::columns::Column;
use crate::encode::Holds;
use crate::error::Fault;
use crate::field::Field;
use crate::key::KeySchema;
use crate::order::FieldOrder;
use crate::spelling::closest;
use crate::template::Naming;

/// The words that other declarations may have after their template.
const OF_OTHERS: &[&str] = &["unique", "covers", "where"];
const EXAMPLE: &str = "for example text search body english, size";

/// Parses the fields up to the declaration's end.
pub(super) fn read_search(
    words: &mut DeclarationLexer<'_>,
    base: Base<'_>,
) -> Result<Search, Fault> {
    let mut fields: Vec<SearchField> = Vec::new();
    loop {
        let (at, name) = words.item();
        if name.is_empty() {
            return Err(Fault::new(at, "expected the name of a column").hint(EXAMPLE));
        }
        let field = read_field(words, at, name, base)?;
        if fields.iter().any(|other| other.name() == name) {
            return Err(Fault::new(at, format!("`{name}` is named twice")));
        }
        fields.push(field);
        if !words.skip_comma() {
            break;
        }
    }
    match base.columns {
        Some(columns) if fields.iter().any(SearchField::is_text) => {
            Ok(Search::new(fields, columns))
        }
        _ => Err(Fault::new(words.end_offset(), "expected a field with an analyser").hint(EXAMPLE)),
    }
}

fn read_field(
    words: &mut DeclarationLexer<'_>,
    at: usize,
    name: &str,
    base: Base<'_>,
) -> Result<SearchField, Fault> {
    let (source, kind) = source(name, at, base)?;
    let field = base.field(&source).ok_or_else(|| of_key("the whole key", name, at))?;
    let (first, analysers) = read_analysers(words, base)?;
    let order = if analysers.is_empty() { Some(order(field, name, &kind, at)?) } else { None };
    if !analysers.is_empty() && !is_text(field) {
        let message = format!("`{name}` is of the type `{}`, which is no text", field.field_type());
        return Err(Fault::new(first, message).hint("without an analyser, it is a value"));
    }
    Ok(SearchField::new(name.to_owned(), analysers, order, source))
}

/// Returns the analysers up to the next comma, and the first one's offset.
fn read_analysers(
    words: &mut DeclarationLexer<'_>,
    base: Base<'_>,
) -> Result<(usize, Vec<Analyser>), Fault> {
    let mut analysers = Vec::new();
    let mut first = None;
    loop {
        let (at, word) = words.item();
        let first = *first.get_or_insert(at);
        if word.is_empty() {
            return Ok((first, analysers));
        }
        let Ok(analyser) = Analyser::parse(word) else { return Err(no_analyser(word, at, base)) };
        if analysers.contains(&analyser) {
            return Err(Fault::new(at, format!("the analyser `{analyser}` is named twice")));
        }
        analysers.push(analyser);
    }
}

fn no_analyser(word: &str, at: usize, base: Base<'_>) -> Fault {
    if OF_OTHERS.contains(&word) {
        return Fault::new(at, format!("`{word}` is not allowed after `search`"))
            .hint("a full-text index has fields and their analysers, and all rows");
    }
    let fault = Fault::new(at, format!("there is no analyser `{word}`"));
    if base.resolve(word, at).is_ok() {
        return fault.hint("fields are separated by commas");
    }
    let names = Analyser::ALL.map(Analyser::name);
    match closest(word, names) {
        Some(close) => fault.hint(format!("did you mean `{close}`?")),
        None => fault.hint(format!("there are: {}", names.join(", "))),
    }
}

/// Returns the column, or the qualifier field, that a name stands for.
fn source<'b>(name: &str, at: usize, base: Base<'b>) -> Result<(Source, Kind<'b>), Fault> {
    let is_of_key = |key: &KeySchema| match key.field(name) {
        Some(field) => !field.codec.is_lossy(),
        None => key.computed_position(name).is_some(),
    };
    if base.key.is_some_and(is_of_key) {
        return Err(of_key("a field of the key", name, at));
    }
    let column = base.columns.and_then(|columns| Some(&columns.columns()[columns.position(name)?]));
    if let Some(template) = column.and_then(Column::template) {
        let field = template.fields().first().map_or("…", Field::name);
        let message = format!("`{name}` is the name of many columns, and has no single value");
        return Err(Fault::new(at, message)
            .hint(format!("name a field of their qualifiers: {name}.{field}")));
    }
    base.resolve(name, at)
}

fn of_key(part: &str, name: &str, at: usize) -> Fault {
    Fault::new(at, format!("`{name}` is {part}")).hint("conditions on the key need no declaration")
}

/// Returns true if values are texts or bytes, which have words.
fn is_text(field: &Field) -> bool {
    let is_text = |needs: &Holds| matches!(needs, Holds::Text | Holds::Bytes);
    !field.is_hashed() && field.needs().iter().any(is_text)
}

/// Returns a value field's template.
fn order(field: &Field, name: &str, kind: &Kind<'_>, at: usize) -> Result<KeySchema, Fault> {
    let text = format!("[{name}{}]", kind.with_zone(""));
    let order = KeySchema::read_template(&text, Naming::Index).map_err(|mut fault| {
        fault.at = at;
        fault
    })?;
    let codec = order.codec(0);
    let is_ordered = FieldOrder::of(codec) == FieldOrder::Ordered && !codec.is_lossy();
    if is_ordered && holds(&field.codec.body, &codec.body) {
        return Ok(order);
    }
    let message =
        format!("`{name}` is of the type `{}`, which bytes cannot order", field.field_type());
    let fault = Fault::new(at, message);
    Err(if is_text(field) {
        fault.hint(format!("name an analyser: {name} keyword"))
    } else {
        fault.hint("it cannot be a value of a full-text index")
    })
}
