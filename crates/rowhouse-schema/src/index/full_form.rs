//! An index template's full form: each name gets its type, and the fields that determine the row's
//! key are appended.
//!
//! ```text
//! key       [user text]_[at millis digits desc]
//! index     [sender]
//! full form [sender string][user string][at millis desc]
//! ```

use super::names::{Base, ROW, Source, in_index};
use crate::computed::Computed;
use crate::encode::{Body, Container, End, FieldType, Separation, Sequence, Terminated};
use crate::error::Fault;
use crate::field::Field;
use crate::key::KeySchema;
use crate::template::{Element, Naming};
use crate::transform::{HashFunction, Modifiers};

/// How an entry determines the row key.
#[derive(Clone, Debug)]
pub(super) enum KeySource {
    /// The slot that holds the key.
    Row(usize),
    /// The slots that hold the key's stored fields.
    Fields(Box<[usize]>),
}

/// The entry template, and where the fields come from.
pub(super) struct FullForm {
    pub(super) template: KeySchema,
    pub(super) sources: Vec<Source>,
    pub(super) key_source: KeySource,
    /// How many fields and elements are declared; they precede the appended ones.
    pub(super) named: usize,
    pub(super) named_elements: usize,
}

impl FullForm {
    /// Derives the full form for the template `text`, which begins at offset `at`.
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
        if named.holds(|source| matches!(source, Source::Row)) {
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

    /// Returns the form for an index without entries.
    pub(super) fn of_search() -> Result<Self, Fault> {
        let template = KeySchema::read_template("[row blob]", Naming::Index)?;
        let sources = vec![Source::Row];
        let key_source = KeySource::Row(0);
        Ok(Self { template, sources, key_source, named: 0, named_elements: 0 })
    }

    /// Derives the full form for a copy, which has key fields only. They may have types, which
    /// differ from the key's types at most in how a text ends.
    pub(super) fn of_copy(text: &str, at: usize, base: Base<'_>) -> Result<Self, Fault> {
        let Some(key) = base.key else {
            let message = "`covers *` needs a table with a row-key template";
            return Err(Fault::new(at, message).hint("it is the table under another key"));
        };
        let form = match KeySchema::read_template(text, Naming::Index) {
            Ok(template) => Self::typed(template, at, base)?,
            Err(_) => Self::new(text, at, base)?,
        };
        // Only a text's end may exclude values: a row with such a value is refused.
        let is_open = |slot: usize| {
            matches!(form.template.fields()[slot].field_type, FieldType::Text | FieldType::Domain)
        };
        if form.holds_all(base, 0..).is_some_and(|slot| !is_open(slot)) {
            let message = "a field of the template cannot hold every value of the key";
            return Err(Fault::new(at, message).hint("name the fields without types"));
        }
        let is_of_key = |source: &Source| matches!(source, Source::Key(_));
        if let Some(slot) = form.sources.iter().position(|source| !is_of_key(source)) {
            let name = form.template.fields()[slot].name();
            let message = match form.sources[slot] {
                Source::Row => "`covers *` needs fields that determine the key".to_owned(),
                _ => format!("`{name}` is no field of the key"),
            };
            return Err(Fault::new(at, message).hint("`covers *` names fields of the key alone"));
        }
        let loses_null = |(source, field): &(&Source, &Field)| match source {
            Source::Key(of) => key.fields()[*of].is_nullable() && !field.is_nullable(),
            _ => false,
        };
        match form.sources.iter().zip(form.template.fields()).find(loses_null) {
            None => Ok(form),
            Some((_, field)) => {
                let message = format!("`{}` may be null in keys", field.name());
                Err(Fault::new(at, message).hint("say null first or null last"))
            }
        }
    }

    /// Returns the full form for a template with types.
    fn typed(template: KeySchema, at: usize, base: Base<'_>) -> Result<Self, Fault> {
        let mut sources = Vec::new();
        for field in template.fields() {
            let (source, _) = base.resolve(field.name(), at)?;
            let of = base.field(&source);
            if of.is_none_or(|of| in_index(&of.field_type) != in_index(&field.field_type)) {
                let message = format!("`{field}` has another type than the key");
                return Err(Fault::new(at, message).hint("name the field without a type"));
            }
            sources.push(source);
        }
        if template.computed().iter().any(Computed::is_random) {
            return Err(Fault::new(at, "an index has no salt")
                .hint("its entries are found by their fields: use bucket"));
        }
        let slot = |field: usize| {
            let is_whole = |slot: &usize| {
                matches!(sources[*slot], Source::Key(of) if of == field)
                    && !template.codec(*slot).is_lossy()
            };
            (0..sources.len()).rev().find(is_whole)
        };
        let fields = 0..base.key.map_or(0, |key| key.fields().len());
        let Some(slots) = fields.map(slot).collect() else {
            let message = "a template with types must hold every field of the key whole";
            return Err(Fault::new(at, message).hint("or name the fields without types"));
        };
        let named = sources.len();
        let named_elements = template.elements().len();
        Ok(Self { template, sources, key_source: KeySource::Fields(slots), named, named_elements })
    }

    /// Checks that every declared field can hold all values from the source.
    fn checked(self, named: &Named, base: Base<'_>) -> Result<Self, Fault> {
        let Some(slot) = self.holds_all(base, 0..) else { return Ok(self) };
        let field = &self.template.fields()[slot];
        let message = format!("`{field}` cannot hold every value of `{}`", field.name());
        Err(Fault::new(named.places[slot], message)
            .hint("a row with another value would have no entry"))
    }

    /// Returns the first slot that cannot hold every value from the source.
    fn holds_all(&self, base: Base<'_>, slots: std::ops::RangeFrom<usize>) -> Option<usize> {
        let holds = |slot: &usize| {
            let source = base.field(&self.sources[*slot]);
            source.is_none_or(|source| holds(&source.codec.body, &self.template.codec(*slot).body))
        };
        (slots.start..self.sources.len()).find(|slot| !holds(slot))
    }
}

/// A template's declared part, with types.
struct Named {
    full: String,
    /// For each part of `full`, the offset, the origin's offset in the declaration, and whether it
    /// is a copy.
    origins: Vec<(usize, usize, bool)>,
    /// The offset where the declared template ends.
    end: usize,
    sources: Vec<Source>,
    /// Whether each field holds only part of the value.
    lossy: Vec<bool>,
    /// Each name's offset.
    places: Vec<usize>,
}

impl Named {
    fn read(text: &str, at: usize, base: Base<'_>) -> Result<Self, Fault> {
        let mut named = Self {
            full: String::new(),
            origins: Vec::new(),
            end: at + text.len(),
            sources: Vec::new(),
            lossy: Vec::new(),
            places: Vec::new(),
        };
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
            let end = start + 1 + name.len();
            named.copy(&text[copied..end], at + copied);
            named.insert(&kind.with_zone(rest), at + start + 1);
            copied = end;
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

    /// Returns true if a declared field with such a source holds the whole value.
    fn holds(&self, is: impl Fn(&Source) -> bool) -> bool {
        self.sources.iter().zip(&self.lossy).any(|(source, is_lossy)| is(source) && !is_lossy)
    }

    /// Returns the stored key fields that the declared fields do not hold whole; `None` if fields
    /// do not determine the key.
    fn missing(&self, key: &KeySchema) -> Option<Vec<(usize, Field)>> {
        let determines = |field: &Field| {
            let is_open =
                matches!(field.field_type, FieldType::ShortestDigits | FieldType::Repeat(_));
            !field.codec.is_lossy() && !is_open
        };
        if key.computed().iter().any(Computed::is_random) || !key.fields().iter().all(determines) {
            return None;
        }
        let held = |at: usize| self.holds(|source| matches!(source, Source::Key(of) if *of == at));
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

/// Returns a key field as it is appended: with the modifiers that order it.
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

/// Returns true if a field can hold every value that another can.
pub(super) fn holds(source: &Body, field: &Body) -> bool {
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
