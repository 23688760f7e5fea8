//! A column's values: a type, and the number form. A value ends with the cell.

use super::bracket::Words;
use super::{field_type, modifier};
use crate::encode::FieldType;
use crate::encode::{Arrangement, Body, Codec, Container, Content, End, Sequence};
use crate::error::Fault;
use crate::field::Field;
use crate::order::FieldOrder;
use crate::transform::Modifiers;

/// Parses the type and the form for the values in the column `name`.
pub(crate) fn parse_value(name: &str, text: &str) -> Result<Field, Fault> {
    let mut words = Words::new(text);
    let (at, word) = words.expect("a type")?;
    let field_type = field_type::parse(at, word, &mut words)?;
    let modifiers = modifier::parse(&field_type, &mut words)?;
    if let Some(word) = of_keys(&modifiers) {
        let at = text.find(&format!(" {word}")).map_or(0, |space| space + 1);
        let fault = Fault::new(at, format!("`{word}` is for keys, a value is stored as it is"));
        return Err(match word {
            "null" => fault.hint("a column without a value does not exist"),
            _ => fault,
        });
    }
    let codec = codec(&field_type, &modifiers).map_err(|why| Fault::new(at, why))?;
    let order = FieldOrder::of(&codec);
    Ok(Field { name: name.to_owned(), field_type, modifiers, codec, order })
}

/// The word for a modifier that applies only to keys, if there is one.
fn of_keys(modifiers: &Modifiers) -> Option<&'static str> {
    let Modifiers { zone: _, floor, form: _, reverse, hash, desc, null } = modifiers;
    let hash = hash.map(|hashing| hashing.function.word());
    let word = |is: bool, word: &'static str| is.then_some(word);
    word(floor.is_some(), "floor")
        .or(word(*reverse, "reverse"))
        .or(hash)
        .or(word(*desc, "desc"))
        .or(word(null.is_some(), "null"))
}

/// As at a key's end, but without escapes and terminators for native types, and without separators,
/// which Phoenix does not write in cells either.
fn codec(field_type: &FieldType, modifiers: &Modifiers) -> Result<Codec, String> {
    let plain = |content| Sequence {
        content,
        arrangement: Arrangement::AsGiven,
        container: Container::Open(End::Key),
    };
    match field_type {
        FieldType::String => return Ok(Codec::of(Body::Sequence(plain(Content::Text)))),
        FieldType::Blob => return Ok(Codec::of(Body::Sequence(plain(Content::Raw)))),
        _ => {}
    }
    let mut codec = Codec::new(field_type, modifiers, End::Key)?;
    if let Body::Sequence(Sequence { container, .. }) = &mut codec.body
        && matches!(container, Container::Separated(_))
    {
        *container = Container::Open(End::Key);
    }
    Ok(codec)
}
