//! The full form of an index template: each name gets its type, and the fields that determine the
//! row's key are appended.
//!
//! ```text
//! key       [user text]_[at millis digits desc]
//! index     [sender]
//! full form [sender string][user string][at millis desc]
//! ```

use crate::columns::{Column, ColumnSchema};
use crate::computed::Computed;
use crate::encode::{Body, Container, End, FieldType, Separation, Sequence, Terminated};
use crate::error::Fault;
use crate::field::Field;
use crate::key::KeySchema;
use crate::spelling::closest;
use crate::template::{Element, Naming};
use crate::time::FixedZone;
use crate::transform::{HashFunction, Modifiers};

/// Where the value of a field of an entry comes from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// The whole row key.
    Row,
    /// A stored field of the key.
    Key(usize),
    /// The newest cell of a column with one qualifier, by the position of the column.
    Column(usize),
    /// A field of the qualifier of each cell of a column with a template.
    Qualifier { column: usize, slot: usize },
}

/// How an entry determines the key of its row.
#[derive(Clone, Debug)]
pub(super) enum KeySource {
    /// The slot that holds the key.
    Row(usize),
    /// The slots that hold the key's stored fields.
    Fields(Box<[usize]>),
}

/// The template of the entries, and where its fields come from.
pub(super) struct FullForm {
    pub(super) template: KeySchema,
    pub(super) sources: Vec<Source>,
    pub(super) key_source: KeySource,
    /// The numbers of declared fields and elements, which precede those appended.
    pub(super) named: usize,
    pub(super) named_elements: usize,
}

/// The key and the columns of the table.
#[derive(Clone, Copy)]
pub(super) struct Base<'b> {
    pub(super) key: Option<&'b KeySchema>,
    pub(super) columns: Option<&'b ColumnSchema>,
}

const ROW: &str = "row";

impl FullForm {
    /// Derives the full form of the template `text`, which begins at offset `at`.
    pub(super) fn new(text: &str, at: usize, base: Base<'_>) -> Result<Self, Fault> {
        let named = Named::read(text, at, base)?;
        if let Some(fields) = base.key.and_then(|key| named.missing(key)) {
            let full: String = fields.iter().map(|(_, field)| format!("[{field}]")).collect();
            let appended = fields.iter().map(|(at, _)| Source::Key(*at));
            if let Ok(form) = named.finish(&full, appended, base)
                && form.holds_all(base, named.sources.len()..).is_none()
            {
                return form.checked(&named, base);
            }
        }
        if named
            .sources
            .iter()
            .zip(&named.lossy)
            .any(|(source, lossy)| matches!(source, Source::Row) && !lossy)
        {
            return named.finish("", [], base)?.checked(&named, base);
        }
        let taken = base.key.is_some_and(|key| key.slot(ROW).is_some())
            || base.columns.is_some_and(|columns| columns.position(ROW).is_some());
        if taken {
            let message = "the index has to hold the whole key as `row`, and the table has a field \
                           or column of that name";
            return Err(Fault::new(at, message));
        }
        named.finish("[row blob]", [Source::Row], base)?.checked(&named, base)
    }

    /// Checks that every declared field can hold all values of its source.
    fn checked(self, named: &Named, base: Base<'_>) -> Result<Self, Fault> {
        let Some(slot) = self.holds_all(base, 0..) else { return Ok(self) };
        let field = &self.template.fields()[slot];
        let message = format!("`{field}` cannot hold every value of `{}`", field.name());
        Err(Fault::new(named.places[slot], message)
            .hint("a row with another value would have no entry"))
    }

    /// Returns the first of these slots that cannot hold every value of its source.
    fn holds_all(&self, base: Base<'_>, slots: std::ops::RangeFrom<usize>) -> Option<usize> {
        let holds = |slot: &usize| {
            let source = base.field(&self.sources[*slot]);
            source.is_none_or(|source| holds(&source.codec.body, &self.template.codec(*slot).body))
        };
        (slots.start..self.sources.len()).find(|slot| !holds(slot))
    }
}

/// The declared part of a template, with types.
struct Named {
    full: String,
    /// For each part of `full`, its offset, the offset of its origin in the declaration, and
    /// whether it is a copy.
    origins: Vec<(usize, usize, bool)>,
    /// The offset of the end of the declared template.
    end: usize,
    sources: Vec<Source>,
    /// Whether each field holds only a part of its value.
    lossy: Vec<bool>,
    /// The offset of each name.
    places: Vec<usize>,
}

impl Named {
    fn read(text: &str, at: usize, base: Base<'_>) -> Result<Self, Fault> {
        let (sources, lossy, places) = (Vec::new(), Vec::new(), Vec::new());
        let (full, origins) = (String::new(), Vec::new());
        let mut named = Self { full, origins, end: at + text.len(), sources, lossy, places };
        let mut copied = 0;
        let mut open = 0;
        while let Some(start) = bracket(text, open) {
            let Some(len) = text[start..].find(']') else {
                return Err(Fault::new(at + start, "this `[` is never closed"));
            };
            open = start + len + 1;
            let inside = &text[start + 1..start + len];
            let (name, rest) = inside.split_at(inside.find(' ').unwrap_or(inside.len()));
            let mut words = rest.split(' ').skip(1);
            if words.next().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
                if name == "salt" {
                    return Err(Fault::new(at + start + 1, "an index has no salt")
                        .hint("its entries are found by their fields: use bucket"));
                }
                continue;
            }
            if name.is_empty() {
                return Err(Fault::new(at + start + 1, "expected the name of a field or column"));
            }
            let (source, kind) = base.resolve(name, at + start + 1)?;
            let behind = start + 1 + name.len();
            named.copy(&text[copied..behind], at + copied);
            named.insert(&kind.with_zone(rest), at + start + 1);
            copied = behind;
            named.add(source, rest, at + start + 1)?;
        }
        named.copy(&text[copied..], at + copied);
        if named.sources.is_empty() {
            return Err(Fault::new(named.end, "expected a field such as [sender]"));
        }
        Ok(named)
    }

    fn add(&mut self, source: Source, modifiers: &str, at: usize) -> Result<(), Fault> {
        let other = |one: &Source| match (one, &source) {
            (Source::Qualifier { column: one, .. }, Source::Qualifier { column, .. }) => {
                one != column
            }
            _ => false,
        };
        if self.sources.iter().any(other) {
            let message = "an index has fields of the qualifiers of one column only";
            return Err(Fault::new(at, message));
        }
        let is_lossy = |word: &str| word == "floor" || HashFunction::named(word).is_some();
        self.sources.push(source);
        self.lossy.push(modifiers.split(' ').any(is_lossy));
        self.places.push(at);
        Ok(())
    }

    fn copy(&mut self, part: &str, at: usize) {
        self.origins.push((self.full.len(), at, true));
        self.full.push_str(part);
    }

    fn insert(&mut self, part: &str, at: usize) {
        self.origins.push((self.full.len(), at, false));
        self.full.push_str(part);
    }

    /// Returns the stored fields of the key that the declared fields do not hold whole; `None` if
    /// fields do not determine the key.
    fn missing(&self, key: &KeySchema) -> Option<Vec<(usize, Field)>> {
        let held = |at: usize| {
            let held = |(source, lossy): (&Source, &bool)| {
                matches!(source, Source::Key(key) if *key == at) && !lossy
            };
            self.sources.iter().zip(&self.lossy).any(held)
        };
        let determines = |field: &Field| {
            let is_open =
                matches!(field.field_type, FieldType::ShortestDigits | FieldType::Repeat(_));
            !field.codec.is_lossy() && !is_open
        };
        if key.computed().iter().any(Computed::is_random) || !key.fields().iter().all(determines) {
            return None;
        }
        let missing = key.fields().iter().enumerate().filter(|(at, _)| !held(*at));
        Some(missing.map(|(at, field)| (at, appended(field))).collect())
    }

    /// Parses the declared template and these fields after it.
    fn finish(
        &self,
        appended: &str,
        sources: impl IntoIterator<Item = Source>,
        base: Base<'_>,
    ) -> Result<FullForm, Fault> {
        let text = format!("{}{appended}", self.full);
        let template = KeySchema::read_template(&text, Naming::Index)
            .map_err(|fault| self.in_declaration(fault))?;
        let sources: Vec<_> = self.sources.iter().cloned().chain(sources).collect();
        let whole = |is: &dyn Fn(&Source) -> bool| {
            (0..sources.len()).rev().find(|at| is(&sources[*at]) && !template.codec(*at).is_lossy())
        };
        let key_source = match whole(&|source| matches!(source, Source::Row)) {
            Some(slot) => KeySource::Row(slot),
            None => {
                let fields = 0..base.key.map_or(0, |key| key.fields().len());
                let slot = |field| {
                    whole(&|source| matches!(source, Source::Key(at) if *at == field))
                        .ok_or_else(|| Fault::new(self.end, "the fields do not determine the key"))
                };
                KeySource::Fields(fields.map(slot).collect::<Result<_, _>>()?)
            }
        };
        let named = self.sources.len();
        let first_appended = |element: &Element| *element == Element::Field(named);
        let elements = template.elements();
        let named_elements = elements.iter().position(first_appended).unwrap_or(elements.len());
        Ok(FullForm { template, sources, key_source, named, named_elements })
    }

    /// Returns a fault in the text with types as one in the declaration.
    fn in_declaration(&self, mut fault: Fault) -> Fault {
        let before = self.origins.iter().rev().find(|(full, ..)| *full <= fault.at);
        fault.at = match before {
            _ if fault.at > self.full.len() => self.end,
            Some((full, origin, true)) => origin + fault.at - full,
            Some((_, origin, false)) => *origin,
            None => self.end,
        };
        fault
    }
}

/// The type that a name gets.
struct Kind<'f> {
    field_type: &'f FieldType,
    zone: Option<FixedZone>,
}

impl<'f> From<&'f Field> for Kind<'f> {
    fn from(field: &'f Field) -> Self {
        Self { field_type: &field.field_type, zone: field.modifiers.zone }
    }
}

impl Kind<'_> {
    /// Returns the type, and the zone of the source unless these modifiers name one.
    fn with_zone(&self, modifiers: &str) -> String {
        let kind = in_index(self.field_type);
        match self.zone {
            Some(zone) if !modifiers.starts_with(" tz ") => format!(" {kind} tz {zone}"),
            _ => format!(" {kind}"),
        }
    }
}

impl<'b> Base<'b> {
    /// Returns the source of a name, and its type.
    fn resolve(&self, name: &str, at: usize) -> Result<(Source, Kind<'b>), Fault> {
        let columns = self.columns.map_or(&[][..], ColumnSchema::columns);
        if let Some((column, field)) = name.split_once('.') {
            return self.resolve_qualifier(column, field, at);
        }
        let in_key = self.key.and_then(|key| key.position(name));
        let field = in_key.zip(self.key).map(|(slot, key)| (slot, &key.fields()[slot]));
        let column = columns.iter().position(|column| column.name() == name);
        match (field, column) {
            (Some((slot, field)), _) if !field.codec.is_lossy() => {
                Ok((Source::Key(slot), field.into()))
            }
            (_, Some(column)) if columns[column].template().is_none() => {
                Ok((Source::Column(column), columns[column].field().into()))
            }
            (Some(_), _) => {
                let message = format!("keys hold only a part of `{name}`, a hash or a step");
                Err(Fault::new(at, message).hint("an index needs the value, as a column has it"))
            }
            (None, Some(column)) => {
                let field = columns[column].template().and_then(|of| of.fields().first());
                let field = field.map_or("…", Field::name);
                let message =
                    format!("`{name}` is the name of many columns, and has no single value");
                Err(Fault::new(at, message)
                    .hint(format!("name a field of their qualifiers: [{name}.{field}]")))
            }
            (None, None) if name == ROW && self.key.is_none() => {
                Ok((Source::Row, Kind { field_type: &FieldType::Blob, zone: None }))
            }
            (None, None) => Err(self.unknown(name, at)),
        }
    }

    fn resolve_qualifier(
        &self,
        name: &str,
        field: &str,
        at: usize,
    ) -> Result<(Source, Kind<'b>), Fault> {
        let columns = self.columns.map_or(&[][..], ColumnSchema::columns);
        let Some(column) = columns.iter().position(|column| column.name() == name) else {
            return Err(self.unknown(name, at));
        };
        let Some(template) = columns[column].template() else {
            let message = format!("column `{name}` has one qualifier, without fields");
            return Err(Fault::new(at, message).hint(format!("name its value: [{name}]")));
        };
        let at = at + name.len() + 1;
        let Some(slot) = template.position(field) else {
            let names = || template.fields().iter().map(Field::name);
            let fault =
                Fault::new(at, format!("the qualifiers of `{name}` have no field `{field}`"));
            return Err(match closest(field, names()) {
                Some(close) => fault.hint(format!("did you mean `{close}`?")),
                None => {
                    fault.hint(format!("they have: {}", names().collect::<Vec<_>>().join(", ")))
                }
            });
        };
        let of = &template.fields()[slot];
        if of.codec.is_lossy() {
            let message = format!("the qualifiers of `{name}` hold only a part of `{field}`");
            return Err(Fault::new(at, message));
        }
        Ok((Source::Qualifier { column, slot }, of.into()))
    }

    /// The error for a name that is neither a field of the key nor a column.
    pub(super) fn unknown(&self, name: &str, at: usize) -> Fault {
        if name == ROW {
            return Fault::new(at, "`row` is the whole key of a table without a key template")
                .hint("name fields of the key");
        }
        if self.key.is_some_and(|key| key.computed_position(name).is_some()) {
            return Fault::new(at, format!("`{name}` is a computed field of the key"))
                .hint("compute one of fields of the index, for example [bucket 8 of user]");
        }
        let fields: Vec<_> =
            self.key.map_or(&[][..], KeySchema::fields).iter().map(Field::name).collect();
        let columns = self.columns.map_or(&[][..], ColumnSchema::columns);
        let columns: Vec<_> = columns.iter().map(Column::name).collect();
        let fault = Fault::new(at, format!("there is no `{name}`"));
        match closest(name, fields.iter().chain(&columns).copied()) {
            Some(close) => fault.hint(format!("did you mean `{close}`?")),
            None => {
                let listed = |names: Vec<&str>| match names.is_empty() {
                    true => "none".to_owned(),
                    false => names.join(", "),
                };
                fault.hint(format!(
                    "fields of the key: {}; columns: {}",
                    listed(fields),
                    listed(columns)
                ))
            }
        }
    }

    /// Returns the field from which a source gets its value; `None` for the whole key.
    fn field(&self, source: &Source) -> Option<&'b Field> {
        let column = |at: usize| self.columns.map(|columns| &columns.columns()[at]);
        match source {
            Source::Row => None,
            Source::Key(at) => self.key.map(|key| &key.fields()[*at]),
            Source::Column(at) => column(*at).map(Column::field),
            Source::Qualifier { column: at, slot } => {
                column(*at).and_then(Column::template).map(|template| &template.fields()[*slot])
            }
        }
    }
}

/// The type that values of a type have in an index: texts have an end there.
fn in_index(field_type: &FieldType) -> FieldType {
    match field_type {
        FieldType::Text | FieldType::Domain => FieldType::String,
        other => other.clone(),
    }
}

/// Returns a field of the key as it is appended: with the modifiers that order it.
fn appended(field: &Field) -> Field {
    let Modifiers { zone, desc, null, .. } = field.modifiers;
    let modifiers = Modifiers { zone, desc, null, ..Modifiers::default() };
    Field { field_type: in_index(&field.field_type), modifiers, ..field.clone() }
}

/// Returns the offset of the first `[` from `at` on that begins a field.
fn bracket(text: &str, at: usize) -> Option<usize> {
    let mut escaped = false;
    let begins = |(_, byte): &(usize, u8)| {
        let begins = *byte == b'[' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        begins
    };
    text.bytes().enumerate().skip(at).find(begins).map(|(at, _)| at)
}

/// Returns whether a field can hold every value that another can.
fn holds(source: &Body, field: &Body) -> bool {
    match (source, field) {
        (source, Body::Hashed(hashed)) => holds(source, &hashed.of),
        (Body::Number(source), Body::Number(field)) => {
            field.domain.min <= source.domain.min && source.domain.max <= field.domain.max
        }
        (Body::Shortest(_), Body::Shortest(_)) | (Body::Repeat(_), Body::Repeat(_)) => true,
        (Body::Sequence(source), Body::Sequence(field)) => holds_bytes(source, field),
        _ => false,
    }
}

fn holds_bytes(source: &Sequence, field: &Sequence) -> bool {
    match (&field.container, &source.container) {
        (Container::Open(End::Key | End::Before(_)), _) => true,
        (Container::Open(End::Literal(_)), _) => false,
        (Container::Terminated(field), source) => {
            let is_same = |other: &Terminated| other.style == field.style;
            field.holds_zeros()
                || matches!(source, Container::Terminated(source) if is_same(source))
        }
        (Container::Fixed(field), Container::Fixed(source)) => {
            (field.width, field.pad) == (source.width, source.pad)
        }
        (Container::Separated(field), source) => {
            field.separation == Separation::Bigtable
                || matches!(source, Container::Separated(of) if of.separation == field.separation)
        }
        (field, source) => field == source,
    }
}
