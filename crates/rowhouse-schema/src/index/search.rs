//! Full-text indexes: which columns are searched, and how their texts become words.
//!
//! ```text
//! declaration = name "search" field *("," field)
//! field       = NAME *analyser
//! analyser    = "keyword" / "simple" / "english" / "chinese"
//! ```

use std::fmt;
use std::sync::Arc;

use rowhouse_model::{Columns, KeyValue, Result, Row};

use super::names::{Base, Source, in_index};
use crate::columns::{Column, ColumnSchema};
use crate::encode::FieldType;
use crate::error::Fault;
use crate::key::KeySchema;
use crate::spelling::closest;
use crate::value::Value;

/// The most fields that a full-text index can have.
const FIELDS_MAX: usize = 256;

/// The way in which a text becomes words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Analyser {
    /// The whole text is one word, as it is.
    Keyword,
    /// Runs of letters and digits, in lower case.
    Simple,
    /// As `Simple`, without stop words, and each word reduced to its stem.
    English,
    /// Runs of Chinese characters by character and by word of a dictionary; other runs as `Simple`.
    Chinese,
}

impl Analyser {
    /// All analysers, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::Keyword, Self::Simple, Self::English, Self::Chinese];

    /// The word in declarations.
    pub fn word(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Simple => "simple",
            Self::English => "english",
            Self::Chinese => "chinese",
        }
    }
}

impl fmt::Display for Analyser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A declared full-text index. Cheap to clone.
///
/// A field is a declared column, or a field of a column's qualifier template. With analysers it is
/// a text that is searched by its words. Without, it is a value that narrows, sorts and counts.
///
/// ```
/// use rowhouse_schema::{Analyser, ColumnSchema, KeySchema, SearchIndex};
///
/// let key = KeySchema::parse("[user string]")?;
/// let columns = ColumnSchema::parse("d:s subject string; d:z size u32; t:[tag string] tagged u8")?;
/// let text = "text search subject english chinese, tagged.tag keyword, size";
/// let index = SearchIndex::parse(text, Some(&key), Some(&columns))?;
/// assert_eq!(index.name(), "text");
/// assert_eq!(index.fields()[0].analysers(), [Analyser::English, Analyser::Chinese]);
/// assert_eq!(index.fields()[1].name(), "tagged.tag");
/// assert!(index.fields()[2].analysers().is_empty());
/// assert_eq!(index.to_string(), text);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone)]
pub struct SearchIndex {
    declared: Arc<Declared>,
}

struct Declared {
    name: String,
    fields: Vec<SearchField>,
    reads: Columns,
    text: String,
}

/// A field of a full-text index.
#[derive(Clone, Debug)]
pub struct SearchField {
    name: String,
    column: Column,
    /// The field of the column's qualifier template; `None` for the column's value.
    slot: Option<usize>,
    analysers: Vec<Analyser>,
    order: KeySchema,
}

impl SearchIndex {
    /// Parses a declaration for a table with this key and these columns.
    ///
    /// # Errors
    /// `InvalidRequest` that points at the mistake: a name that is not a column, a field or an
    /// analyser named twice, an analyser for a column that is no text.
    pub fn parse(
        text: &str,
        key: Option<&KeySchema>,
        columns: Option<&ColumnSchema>,
    ) -> Result<Self> {
        Self::read(text, 0, Base { key, columns }).map_err(|fault| fault.in_text(text))
    }

    /// Parses a declaration that begins at `offset` of a text.
    fn read(text: &str, offset: usize, base: Base<'_>) -> Result<Self, Fault> {
        let example = "for example text search subject english, sender keyword, size";
        let mut words = words(text).map(|(at, word)| (offset + at, word));
        let (at, name) = words.next().unwrap_or((offset, ""));
        crate::template::check_name(at, name).map_err(|fault| fault.hint(example))?;
        match words.next() {
            Some((_, "search")) => {}
            other => {
                let at = other.map_or(offset + text.len(), |(at, _)| at);
                return Err(Fault::new(at, "expected `search`").hint(example));
            }
        }
        let mut fields: Vec<SearchField> = Vec::new();
        loop {
            let (at, name) = words.next().unwrap_or((offset + text.len(), ""));
            if name.is_empty() || name == "," {
                return Err(Fault::new(at, "expected the name of a column").hint(example));
            }
            if fields.iter().any(|other| other.name == name) {
                return Err(Fault::new(at, format!("the field `{name}` is named twice")));
            }
            if fields.len() == FIELDS_MAX {
                let message = format!("a full-text index has at most {FIELDS_MAX} fields");
                return Err(Fault::new(at, message));
            }
            let mut field = SearchField::resolve(name, at, base)?;
            let more = loop {
                match words.next() {
                    None => break false,
                    Some((_, ",")) => break true,
                    Some((at, word)) => field.add(at, word)?,
                }
            };
            fields.push(field);
            if !more {
                break;
            }
        }
        let fields_text: Vec<_> = fields.iter().map(ToString::to_string).collect();
        let text = format!("{name} search {}", fields_text.join(", "));
        let reads = reads(&fields);
        let declared = Declared { name: name.to_owned(), fields, reads, text };
        Ok(Self { declared: Arc::new(declared) })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.declared.name
    }

    /// The fields, in the order of the declaration.
    pub fn fields(&self) -> &[SearchField] {
        &self.declared.fields
    }

    /// The cells of a row that decide what is found. Of a column with a qualifier template, the
    /// whole family.
    pub fn columns(&self) -> &Columns {
        &self.declared.reads
    }
}

impl SearchField {
    fn resolve(name: &str, at: usize, base: Base<'_>) -> Result<Self, Fault> {
        let columns = base.columns.map_or(&[][..], ColumnSchema::columns);
        // Of a column with many qualifiers the values of all cells are searched.
        let templated = columns.iter().find(|it| it.name() == name && it.template().is_some());
        let (column, slot, kind) = match templated {
            Some(column) => (column, None, in_index(column.field_type()).to_string()),
            None => {
                let (source, kind) = base.resolve(name, at)?;
                let (column, slot) = match source {
                    Source::Column(column) => (column, None),
                    Source::Qualifier { column, slot } => (column, Some(slot)),
                    Source::Key(_) | Source::Row => {
                        let message = format!("`{name}` is a field of the key");
                        let fault = Fault::new(at, message);
                        return Err(fault.hint("fields of the key narrow a search by themselves"));
                    }
                };
                (&columns[column], slot, kind.with_zone("").trim_start().to_owned())
            }
        };
        let order = KeySchema::parse(&format!("[{VALUE} {kind}]"))
            .map_err(|error| Fault::new(at, error.message().to_owned()))?;
        let (name, column) = (name.to_owned(), column.clone());
        Ok(Self { name, column, slot, analysers: Vec::new(), order })
    }

    fn add(&mut self, at: usize, word: &str) -> Result<(), Fault> {
        let known = Analyser::ALL.into_iter();
        let Some(analyser) = known.clone().find(|analyser| analyser.word() == word) else {
            let fault = Fault::new(at, format!("`{word}` is not an analyser"));
            return Err(match closest(word, known.map(Analyser::word)) {
                Some(close) => fault.hint(format!("did you mean `{close}`?")),
                None => fault.hint("analysers are: keyword simple english chinese"),
            });
        };
        if !self.is_text() {
            let message = format!("`{}` is no text, so it has no words", self.name);
            return Err(Fault::new(at, message).hint("name it without an analyser"));
        }
        if self.analysers.contains(&analyser) {
            return Err(Fault::new(at, format!("the analyser `{word}` is named twice")));
        }
        self.analysers.push(analyser);
        Ok(())
    }

    fn is_text(&self) -> bool {
        matches!(
            self.order.fields()[0].field_type,
            FieldType::Text
                | FieldType::String
                | FieldType::PaddedText { .. }
                | FieldType::Domain
                | FieldType::Enum(_)
        )
    }

    /// The name of the column, or of the column and the field of its qualifiers.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The analysers, in the order of the declaration. A field without is a value.
    pub fn analysers(&self) -> &[Analyser] {
        &self.analysers
    }

    /// The template whose only field, `value`, encodes values of this field in their order.
    pub fn order(&self) -> &KeySchema {
        &self.order
    }

    /// Returns the values of a row with these visible cells: that of the newest cell of the column,
    /// or one for each cell of a column with a qualifier template. A value that does not fit its
    /// type is left out.
    pub fn values(&self, cells: &Row) -> Vec<Value> {
        let (column, family) = (&self.column, self.column.family());
        let Some(template) = column.template() else {
            let newest = column.qualifier().and_then(|qualifier| cells.cell(family, qualifier));
            return newest.and_then(|cell| column.read_value(cell.value())).into_iter().collect();
        };
        let mut fields = Vec::new();
        let mut value = |cell: KeyValue<'_>| {
            let qualifier = cell.qualifier();
            if !qualifier.starts_with(column.lead())
                || template.decode_into(qualifier, &mut fields).is_err()
            {
                return None;
            }
            match self.slot {
                Some(slot) => Some(fields.swap_remove(slot)).filter(|value| !value.is_null()),
                None => column.read_value(cell.value()),
            }
        };
        cells.cells().filter(|cell| cell.family() == family).filter_map(&mut value).collect()
    }
}

/// The name of the field in [`SearchField::order`].
const VALUE: &str = "value";

/// Splits at white space and before and after commas.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        let ends = |c: char| c.is_whitespace() || c == ',';
        let len = match rest.chars().next()? {
            ',' => 1,
            _ => rest.find(ends).unwrap_or(rest.len()),
        };
        let word = (at, &rest[..len]);
        at += len;
        Some(word)
    })
}

/// Returns the cells that decide what is found.
fn reads(fields: &[SearchField]) -> Columns {
    let mut reads = Columns::all();
    for column in fields.iter().map(|field| &field.column) {
        if let Some(qualifier) = column.qualifier() {
            reads.add_column(column.family.clone(), qualifier.to_vec());
        }
    }
    // A family after its columns: named later, these would narrow it.
    for column in fields.iter().map(|field| &field.column) {
        if column.template().is_some() {
            reads.add_family(column.family.clone());
        }
    }
    reads
}

impl fmt::Display for SearchField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.analysers.iter().try_for_each(|analyser| write!(f, " {analyser}"))
    }
}

impl fmt::Display for SearchIndex {
    /// Writes the declaration.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.declared.text)
    }
}

impl fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SearchIndex({self})")
    }
}
