//! The parser for a bracket pair: a stored field (name, type, modifiers) or a computed one.

use super::bracket::{Words, check_field_name};
use super::computed::{self, RawComputed};
use super::element::Naming;
use super::words::{self, Role};
use super::{field_type, modifier};
use crate::encode::FieldType;
use crate::encode::{Codec, End};
use crate::error::Fault;
use crate::transform::Modifiers;

/// The field in a bracket pair, as written.
pub(super) enum Bracket {
    Stored(StoredSource),
    Computed(RawComputed),
}

/// A stored field as written.
pub(super) struct StoredSource {
    /// The name's offset.
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) field_type: FieldType,
    pub(super) modifiers: Modifiers,
}

impl StoredSource {
    /// How many bytes the field has, if that is constant.
    pub(super) fn width(&self) -> Option<usize> {
        self.codec()?.width()
    }

    /// Returns the codec that the field would have at the key's end.
    pub(super) fn codec(&self) -> Option<Codec> {
        Codec::new(&self.field_type, &self.modifiers, End::Key).ok()
    }

    /// Returns true if the field is a tuple element, whose bytes never begin with FF.
    pub(super) fn is_element(&self) -> bool {
        match &self.field_type {
            FieldType::Foreign(foreign) => {
                foreign.name().starts_with("tuple.") && self.modifiers.hash.is_none()
            }
            _ => false,
        }
    }

    /// Returns true if the field has no end of its own.
    pub(super) fn is_open(&self) -> bool {
        self.field_type.is_open(self.modifiers.desc) && self.modifiers.hash.is_none()
    }
}

/// Parses the text between brackets; offsets count from the opening bracket, exclusive.
pub(super) fn parse(inside: &str, naming: Naming) -> Result<Bracket, Fault> {
    let mut words = Words::new(inside);
    let (at, name) = words.next()?.ok_or_else(|| {
        Fault::new(0, "expected a name and a type").hint("for example [user string]")
    })?;
    check_field_name(at, name, naming)?;
    if let Some((number_at, number)) = words.number()? {
        return computed::parse((at, name), (number_at, number), naming, &mut words)
            .map(Bracket::Computed);
    }
    let Some((type_at, word)) = words.next()? else {
        return Err(no_type(name, inside.len()));
    };
    let field_type = field_type::parse(type_at, word, &mut words)?;
    let modifiers = modifier::parse(&field_type, &mut words)?;
    Codec::new(&field_type, &modifiers, End::Key).map_err(|why| Fault::new(type_at, why))?;
    Ok(Bracket::Stored(StoredSource { at, name: name.to_owned(), field_type, modifiers }))
}

fn no_type(name: &str, at: usize) -> Fault {
    if Role::Computed.has(name) {
        return Fault::new(at, format!("expected a number after `{name}`"))
            .hint("for example [bucket 16 of user]");
    }
    if Role::Type.has(name) {
        return Fault::new(0, "expected a name before the type")
            .hint(format!("for example [id {name}]"));
    }
    match words::suggest(name, Role::Type) {
        Some(_) => {
            Fault::new(0, "expected a name before the type").hint("for example [user string]")
        }
        None => Fault::new(at, format!("expected a type after `{name}`"))
            .hint(format!("for example [{name} string]")),
    }
}
